package knowncov

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// TestWhiten: the rows of every known covariance that is accepted have the identity, in any units;
// point and between undo each other, and between sees the difference of two places that share all
// but their last digits.
func TestWhiten(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		d := 1 + rng.IntN(12)
		in := draw(t, rng, d, 1, 1, 1)
		if err := estimate.ValidateCovariance(in.known, d, estimate.Full); err != nil {
			t.Fatal(err)
		}
		w, err := whiten(in.known)
		if err != nil {
			t.Fatal(err)
		}
		known := mat.NewSymDense(d, nil)
		for i := range d {
			for j := range d {
				known.SetSym(i, j, in.known[i][j])
			}
		}
		var a, got mat.Dense
		a.Mul(w.inv, known)
		got.Mul(&a, w.inv.T())
		for i := range d {
			for j := range d {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(got.At(i, j)-want) > 1e-8 {
					t.Fatalf("d = %d: entry %d,%d is %v", d, i, j, got.At(i, j))
				}
			}
		}
		z := make([]float64, d)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		back := w.between(make([]float64, d), w.point(z))
		for i := range z {
			if math.Abs(back[i]-z[i]) > 1e-8*(1+math.Abs(z[i])) {
				t.Fatalf("z = %v came back as %v", z, back)
			}
		}
	}
	w, err := whiten([][]float64{{1e-4}})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.between([]float64{1e12}, []float64{1e12 + 0x1p-12})[0]; math.Abs(got/(0x1p-12/1e-2)-1) > 1e-12 {
		t.Errorf("a step of the last digit at 1e12 is %v sds", got)
	}
	if _, err := whiten([][]float64{{1, 2}, {2, 1}}); err == nil {
		t.Error("an indefinite matrix has no whitening")
	}
}

// TestBlocks: every coordinate is in one block, and blocks are of nearly one length, at most
// mostTogether.
func TestBlocks(t *testing.T) {
	for d := 1; d <= 40; d++ {
		next, low, high := 0, d, 0
		for _, b := range blocksOf(d) {
			for _, c := range b {
				if c != next {
					t.Fatalf("d = %d: coordinate %d, want %d", d, c, next)
				}
				next++
			}
			low, high = min(low, len(b)), max(high, len(b))
		}
		if next != d || high > mostTogether || high-low > 1 {
			t.Errorf("d = %d: blocks %v", d, blocksOf(d))
		}
	}
}

// exactFit is a fit whose looks have no noise: parts in d standardised columns, rows of truth, and
// as many looks as asked for at the parts.
func exactFit(t *testing.T, rows [][]float64, parts []part, components int) *fit {
	t.Helper()
	d := len(rows[0])
	c := trial{rows: rows, known: identity(d), eps: 1e4, relation: privacy.ReplaceOne, components: components}
	plan, err := New().Plan(c.problem())
	if err != nil {
		t.Fatal(err)
	}
	s := kerneltest.Open(t, kerneltest.Table(rows, d, c.relation), plan, kernel.Terms{Relation: c.relation, Budget: privacy.Budget{Epsilon: c.eps, Delta: delta}},
		kerneltest.Options{Exact: true})
	white, err := whiten(c.known)
	if err != nil {
		t.Fatal(err)
	}
	f := &fit{Run: program.Begin(s, c.problem(), Usual().advice), tuning: Usual(), white: white, law: newLaw(d, mostPoints), parts: parts}
	if err := f.look(f.Mu(.1)); err != nil {
		t.Fatal(err)
	}
	return f
}

func at(rows float64, x ...float64) part {
	return part{base: x, at: make([]float64, len(x)), rows: rows, atSD: .1}
}

// TestAverage: what the law says of a look is what rows of the mixture give, truncated and with
// soft shares, within five of its sds; a mixture that is off is told.
func TestAverage(t *testing.T) {
	rng := newRand(t)
	const n = 40000
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{2*float64(i%2) + rng.NormFloat64(), rng.NormFloat64()}
	}
	f := exactFit(t, rows, []part{at(n/2, -.5, .3), at(n/2, 2.2, -.1)}, 2)
	truth := []part{at(n/2, 0, 0), at(n/2, 2, 0)}
	l := f.looks[0]
	mean, _ := f.law.average(f.white, l, truth, false)
	for i, v := range mean {
		if math.Abs(v-l.value[i]) > 5*l.sd[i] {
			t.Errorf("statistic %d: got %v of the rows, the law says %v, sd %v", i, l.value[i], v, l.sd[i])
		}
	}
	if good, bad := f.system(f.looks, truth).misfit, f.system(f.looks, []part{at(n/2, .2, 0), at(n/2, 2, 0)}).misfit; bad < good+20 {
		t.Errorf("misfit %v of the truth, %v of a mean that is off by .2", good, bad)
	}
}

// TestSlope: the derivative that average returns is that of its mean, as far as its points can
// tell.
func TestSlope(t *testing.T) {
	rows := make([][]float64, 1000)
	for i := range rows {
		rows[i] = []float64{float64(i%7) / 3, float64(i%5) / 2}
	}
	f := exactFit(t, rows, []part{at(500, .5, .2), at(500, 2, 1)}, 2)
	parts := []part{at(400, .3, .4), at(600, 1.8, 1.1)}
	mean, slope := f.law.average(f.white, f.looks[0], parts, true)
	const h = .2
	for j := range parts {
		for c := range 3 {
			up, down, step := []part{parts[0], parts[1]}, []part{parts[0], parts[1]}, h
			if c == 0 {
				step = 50
				up[j].rows += step
				down[j].rows -= step
			} else {
				up[j].at, down[j].at = []float64{0, 0}, []float64{0, 0}
				up[j].at[c-1], down[j].at[c-1] = h, -h
			}
			a, _ := f.law.average(f.white, f.looks[0], up, false)
			b, _ := f.law.average(f.white, f.looks[0], down, false)
			for i := range mean {
				got, want := slope.At(i, j*3+c), (a[i]-b[i])/(2*step)
				if math.Abs(got-want) > .06*parts[j].rows*math.Max(1, math.Abs(want)/parts[j].rows) && c > 0 || c == 0 && math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("statistic %d by number %d of part %d: slope %v, difference %v", i, c, j, got, want)
				}
			}
		}
	}
}

// TestSolveUndoesOverlap: two components 1.6 sds apart, seen once by two frames that are off, are
// solved for to within what sampling leaves.
func TestSolveUndoesOverlap(t *testing.T) {
	rng := newRand(t)
	const n = 100000
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64()}
		if i%4 == 0 {
			rows[i][0] += 1.6
		}
	}
	f := exactFit(t, rows, []part{at(n/2, -.6), at(n/2, 2)}, 2)
	s := f.solve(f.parts, hardly)
	for j, want := range []float64{0, 1.6} {
		if got := s.parts[j].base[0] + s.parts[j].at[0]; math.Abs(got-want) > .12 {
			t.Errorf("mean %d: %v, want %v", j, got, want)
		}
	}
	if share := s.parts[1].rows / n; math.Abs(share-.25) > .06 {
		t.Errorf("share %v, want a quarter", share)
	}
}

// TestNumber: a frame that holds two components is split, one too many is given up, and one alone
// stays one.
func TestNumber(t *testing.T) {
	rng := newRand(t)
	const n = 20000
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{3*float64(i%2) + rng.NormFloat64(), rng.NormFloat64()}
	}
	one := exactFit(t, rows, []part{at(n, 1.5, 0)}, 0)
	if one.improve(0); len(one.parts) != 2 {
		t.Errorf("%d components of two in one frame", len(one.parts))
	}
	three := exactFit(t, rows, []part{at(n/2, 0, 0), at(n/4, 3, .4), at(n/4, 3, -.4)}, 0)
	if three.improve(0); len(three.parts) != 2 {
		t.Errorf("%d components left of two that had three frames", len(three.parts))
	}
	for i := range rows {
		rows[i][0] -= 3 * float64(i%2)
	}
	single := exactFit(t, rows, []part{at(n, .2, .1)}, 0)
	if single.improve(0); len(single.parts) != 1 {
		t.Errorf("%d components of one", len(single.parts))
	}
	asked := exactFit(t, rows, []part{at(n/2, .2, .1), at(n/2, 0, 1)}, 2)
	if asked.improve(0); len(asked.parts) != 2 {
		t.Errorf("%d components where two were asked for", len(asked.parts))
	}
}

// TestWithin: the fullest box takes its neighbours, in its own leaf alone.
func TestWithin(t *testing.T) {
	g := query.Grid{Side: []float64{4}, Offset: []float64{0}}
	cells := []kernel.HistogramCell{{Leaf: 0, Key: []float64{0}, Count: 10}, {Leaf: 0, Key: []float64{1}, Count: 30}, {Leaf: 0, Key: []float64{3}, Count: 5},
		{Leaf: 1, Key: []float64{2}, Count: 20}}
	got := within([]site{{}, {z: []float64{7}}}, cells, g)
	want := []site{{[]float64{4 * (1.5 - .25)}, 40}, {[]float64{7, 4 * 2.5}, 20}, {[]float64{4 * 3.5}, 5}}
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, w := range want {
		if got[i].rows != w.rows || len(got[i].z) != len(w.z) || math.Abs(got[i].z[len(w.z)-1]-w.z[len(w.z)-1]) > 1e-12 {
			t.Errorf("site %d: got %+v, want %+v", i, got[i], w)
		}
	}
}

// TestFarAway: means 1e12 sds away keep what float64 has of them.
func TestFarAway(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 3000)
	for i := range rows {
		rows[i] = []float64{1e12 + 10*float64(i%2) + rng.NormFloat64(), -1e12 + rng.NormFloat64()}
	}
	f := trial{rows: rows, known: identity(2), eps: 1, relation: privacy.ReplaceOne, components: 2, noise: kerneltest.Options{Seed: 3}}.fit(t)
	if f.Model == nil {
		t.Fatalf("%+v", f.NoRelease)
	}
	for _, g := range f.Model.Components {
		off := g.Mean[0] - 1e12
		off = math.Min(math.Abs(off), math.Abs(off-10))
		if off > .3 || math.Abs(g.Mean[1]+1e12) > .3 {
			t.Errorf("mean %v", g.Mean)
		}
	}
}
