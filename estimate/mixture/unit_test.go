package mixture

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/clip"
	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestToSimplex: the projection x of v is non-negative, sums to the total and satisfies the conditions of Karush, Kuhn and Tucker: v-x
// is one number where x is positive and at most that number elsewhere.
func TestToSimplex(t *testing.T) {
	rng := newRand(t)
	for range 2000 {
		v := make([]float64, 1+rng.IntN(16))
		for i := range v {
			v[i] = 100 * rng.NormFloat64() * math.Pow(10, float64(rng.IntN(4)))
		}
		total := math.Pow(10, 5*rng.Float64()-1)
		x := append([]float64(nil), v...)
		toSimplex(x, total)
		sum, shift := 0.0, math.NaN()
		for i, a := range x {
			sum += a
			if a < 0 {
				t.Fatalf("negative: %v", x)
			}
			if a > 0 {
				shift = v[i] - a
			}
		}
		if math.Abs(sum-total) > 1e-9*(total+1e6) {
			t.Fatalf("sum %v, want %v", sum, total)
		}
		for i, a := range x {
			if d := v[i] - a - shift; a > 0 && math.Abs(d) > 1e-7 || d > 1e-7 {
				t.Fatalf("%v of %v: entry %d violates the conditions by %v", x, v, i, d)
			}
		}
	}
}

// TestCoresetKeepsMass: whatever the noise, the leaves weigh what the kept cells of the first level weigh, lie in the box and have
// positive weight.
func TestCoresetKeepsMass(t *testing.T) {
	rng := newRand(t)
	for _, q := range []int{1, 2, 3, 4} {
		for range 8 {
			rows := make([][]float64, 600)
			for i := range rows {
				rows[i] = make([]float64, q)
				for j := range rows[i] {
					rows[i][j] = rng.NormFloat64() * math.Pow(2, float64(i%3))
				}
			}
			frame := space{columns: columnsTo(q), center: make([]float64, q), scale: ones(q)}.frame(make([]float64, q), mat.DenseCopyOf(identity(q)))
			half := ones(q)
			for i := range half {
				half[i] = boxSDs * 2
			}
			first, last := treeLevels(q, false)
			var tr kerneltest.Transcript
			plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "tree", Query: query.CellCounts{}.Kind(), Share: 1, Most: last}}}
			mu := .3 + 3*rng.Float64()
			s := kerneltest.Open(t, kerneltest.Table(rows, q), plan, kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: mu * mu / 2}},
				kerneltest.Options{Seed: rng.Uint64(), Record: &tr})
			c, err := buildCoreset(s.Allotment(), "tree", frame, half, first, last, 3, s.Mu()*(1-1e-12))
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for _, v := range tr.Answers[0] {
				if v >= keepAbove*c.sd {
					want += v
				}
			}
			sum := 0.0
			for i, p := range c.points {
				sum += c.weight[i]
				if c.weight[i] <= 0 {
					t.Errorf("q %d: a leaf weighs %v", q, c.weight[i])
				}
				for l, x := range p {
					if math.Abs(x)+math.Sqrt(3*c.cell[i][l]) > half[l]*(1+1e-12) {
						t.Errorf("q %d: a leaf at %v reaches out of the box", q, p)
					}
				}
			}
			if math.Abs(sum-want) > 1e-6*want || math.Abs(c.total-sum) > 1e-6*want {
				t.Errorf("q %d: leaves weigh %v (total %v), want %v", q, sum, c.total, want)
			}
		}
	}
}

func columnsTo(d int) []int {
	out := make([]int, d)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestGain: a measurement counts less the noisier it is, fully without noise and not at all in infinite noise; what is left in doubt
// is less than before the measurement and grows with the noise.
func TestGain(t *testing.T) {
	rng := newRand(t)
	for range 500 {
		prior, dist2, entries := math.Pow(10, 4*rng.Float64()-3), math.Pow(10, 4*rng.Float64()-3), 1+rng.IntN(50)
		lastK := 1.0
		for noise2 := 1e-9; noise2 < 1e9; noise2 *= 3 {
			k, left := gain(prior, dist2, noise2, entries)
			if !(k >= 0 && k <= lastK) {
				t.Fatalf("gain %v after %v at noise %v", k, lastK, noise2)
			}
			if !(left >= 0 && left <= math.Max(prior, dist2/float64(entries))*(1+1e-12)) || left > noise2*(1+1e-6) {
				t.Fatalf("doubt %v left of %v, distance %v, noise %v", left, prior, dist2, noise2)
			}
			lastK = k
		}
		if k, _ := gain(prior, dist2, 0, entries); k != 1 {
			t.Errorf("without noise the gain is %v", k)
		}
		if k, _ := gain(prior, 0, 1e12, entries); k > 1e-8 {
			t.Errorf("in huge noise the gain is %v", k)
		}
	}
}

// TestJoinedMatchesMoments: the joined component has the weight, the mean and the second moment of the two.
func TestJoinedMatchesMoments(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		d := 1 + rng.IntN(6)
		a, b := randomGauss(rng, d), randomGauss(rng, d)
		m := joined(a, b)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("%s: got %v, want %v", what, got, want)
			}
		}
		near("weight", m.w, a.w+b.w)
		for i := range d {
			near("mean", m.w*m.mean[i], a.w*a.mean[i]+b.w*b.mean[i])
			for j := range d {
				second := func(g gauss) float64 { return g.w * (g.cov.At(i, j) + g.mean[i]*g.mean[j]) }
				near("second moment", second(m), second(a)+second(b))
			}
		}
	}
}

func randomGauss(rng *rand.Rand, d int) gauss {
	f := mat.NewDense(d, d, nil)
	mean := make([]float64, d)
	for i := range d {
		mean[i] = 3 * rng.NormFloat64()
		for j := range d {
			f.Set(i, j, rng.NormFloat64())
		}
		f.Set(i, i, f.At(i, i)+1)
	}
	return gauss{w: .1 + rng.Float64(), mean: mean, cov: congruence(f, identity(d)), rows: 100, doubt: startDoubt}
}

// TestMerge: identical components become one; distant ones never do.
func TestMerge(t *testing.T) {
	for _, shape := range shapes {
		for _, mu := range []float64{.05, 1, 1e3} {
			r := &rounds{space: space{columns: []int{0, 1, 2}}, shape: shape, rows: 20000, factor: math.Sqrt2, misfit: misfit}
			g := gauss{w: .3, mean: make([]float64, 3), cov: identity(3)}
			far := gauss{w: .4, mean: []float64{40, 0, 0}, cov: identity(3)}
			r.components = []gauss{g, far, g}
			r.merge(mu)
			if len(r.components) != 2 {
				t.Fatalf("%v mu %v: %d components of two equal and one far", shape, mu, len(r.components))
			}
			for _, c := range r.components {
				if c.mean[0] == 0 && math.Abs(c.w-.6) > 1e-12 || c.mean[0] == 40 && c.w != .4 {
					t.Errorf("weights %v", c.w)
				}
			}
		}
	}
}

// TestFactorEnds: the factorisation ends on any symmetric matrix, numbers or not, and is exact on positive definite ones.
func TestFactorEnds(t *testing.T) {
	rng := newRand(t)
	odd := []float64{0, 1, -1, 1e300, -1e300, 1e-300, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}
	for range 3000 {
		d := 1 + rng.IntN(5)
		s := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				s.SetSym(i, j, rng.NormFloat64())
				if rng.IntN(3) == 0 {
					s.SetSym(i, j, odd[rng.IntN(len(odd))])
				}
			}
		}
		l, inv, logDet := factor(s)
		floored(s, 1e-3, 25)
		if math.IsNaN(logDet) || math.IsInf(logDet, 0) {
			t.Fatalf("log det %v of %v", logDet, mat.Formatted(s))
		}
		for i := range d {
			for j := range d {
				if !finite(l.At(i, j)) || !finite(inv.At(i, j)) {
					t.Fatalf("factor of %v: %v, %v", mat.Formatted(s), mat.Formatted(l), mat.Formatted(inv))
				}
			}
		}
	}
	for range 100 {
		g := randomGauss(rng, 1+rng.IntN(6))
		l, inv, _ := factor(g.cov)
		var back, one mat.Dense
		back.Mul(l, l.T())
		one.Mul(l, inv)
		if !mat.EqualApprox(&back, g.cov, 1e-9) || !mat.EqualApprox(&one, identity(len(g.mean)), 1e-6) {
			t.Fatalf("L L^T is not the matrix: %v", mat.Formatted(&back))
		}
	}
}

// TestFloored: eigenvalues end between the bounds, and a matrix within them stays.
func TestFloored(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		d := 1 + rng.IntN(6)
		s := randomGauss(rng, d).cov
		var e mat.EigenSym
		if !e.Factorize(floored(s, .5, 2), false) {
			t.Fatal("no eigenvalues")
		}
		for _, v := range e.Values(nil) {
			if v < .5*(1-1e-9) || v > 2*(1+1e-9) {
				t.Fatalf("eigenvalue %v outside [.5, 2]", v)
			}
		}
		if !mat.EqualApprox(floored(s, 0, 1e9), s, 1e-9) {
			t.Fatal("a matrix within the bounds changed")
		}
	}
}

// TestBackgroundBounds: whatever the released counts are, each rung keeps its least weight, all together stay below their most, and what
// a rung without rows adds to the variance of the whole is bounded.
func TestBackgroundBounds(t *testing.T) {
	rng := newRand(t)
	for range 500 {
		b := newBackground(gauss{mean: []float64{0}, cov: identity(1)}, estimate.Full)
		sums := make([]moments.Sums, len(rungs))
		for i := range sums {
			sums[i].Count = 1e4 * rng.NormFloat64() * math.Pow(10, 6*rng.Float64()-3)
			sums[i].CountSD = 1e3 * rng.Float64()
		}
		b.update(sums, 1e4)
		if total := b.total(); !(total > 0 && total <= backgroundMost*(1+1e-12)) {
			t.Fatalf("the background weighs %v", total)
		}
		for i, w := range b.weight {
			if w < least(rungs[i]) || least(rungs[i])*rungs[i] > leastSpread*(1+1e-12) {
				t.Fatalf("rung %v weighs %v, at least %v", rungs[i], w, least(rungs[i]))
			}
			if sums[i].Count < backgroundSDs*sums[i].CountSD && w != least(rungs[i]) {
				t.Fatalf("rung %v weighs %v on a count of %v +- %v", rungs[i], w, sums[i].Count, sums[i].CountSD)
			}
		}
	}
}

// TestApplyUndoesClipping: from a component a little off the truth one update without noise removes nearly all of what is off, in
// every form: what is left is of second order, and falls by more than half where what is off is halved.
//
// The means are over 300000 public rows; their sampling error, about .004, is what the tolerances allow for.
func TestApplyUndoesClipping(t *testing.T) {
	const d, n = 2, 300000
	rng := newRand(t)
	z := make([][]float64, n)
	for i := range z {
		z[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	frame := query.Affine{Center: make([]float64, d), W: [][]float64{{1, 0}, {0, 1}}}
	for _, shape := range shapes {
		for _, off := range []float64{.1, .2} {
			scale := []float64{1 + off, 1 + off}
			if shape != estimate.Spherical {
				scale[1] = 1 - off/2
			}
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = []float64{off + math.Sqrt(scale[0])*z[i][0], math.Sqrt(scale[1]) * z[i][1]}
			}
			law := clip.Gaussian(d, 4) // clips a seventh of the rows
			r := &rounds{space: space{columns: []int{0, 1}, center: make([]float64, d), scale: ones(d)}, shape: shape, rows: n, factor: 1, floor: 1e-4}
			q := query.ClippedMoments{Form: r.form(), Lift: lift, Components: []query.Component{{Frame: frame, Radius: 2}}}
			plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: 1}}}
			s := kerneltest.Open(t, kerneltest.Table(rows, d), plan, kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: 1e4}},
				kerneltest.Options{Exact: true})
			ans, err := s.Allotment().Sum("m", q, s.Allotment().LeftMu())
			if err != nil {
				t.Fatal(err)
			}
			start := gauss{w: 1, mean: make([]float64, d), cov: identity(d), doubt: doubt{4, 4, 4, 1}}
			got := r.apply(start, moments.Unpack(q, ans)[0], law, mat.DenseCopyOf(identity(d)))
			limit := .012 + 1.5*off*off
			for i := range d {
				want := 0.0
				if i == 0 {
					want = off
				}
				if e := got.mean[i] - want; math.Abs(e) > limit {
					t.Errorf("%v off by %v: mean %d is wrong by %.4f", shape, off, i, e)
				}
				if e := got.cov.At(i, i) - scale[i]; math.Abs(e) > limit {
					t.Errorf("%v off by %v: variance %d is wrong by %.4f", shape, off, i, e)
				}
			}
			if shape == estimate.Full && math.Abs(got.cov.At(0, 1)) > limit {
				t.Errorf("off by %v: covariance %.4f, want 0", off, got.cov.At(0, 1))
			}
		}
	}
}

// TestExpectNeverFails: what a planner is told is finite for any problem.
func TestExpectNeverFails(t *testing.T) {
	for _, c := range combinations() {
		for _, n := range []int{0, 1, 100, 1 << 40} {
			for _, d := range []int{1, 3, 60} {
				for _, mu := range []float64{1e-6, muOne, 1e4} {
					p := c.Problem()
					p.Columns, p.Mu = d, mu
					if p.Relation == privacy.ReplaceOne {
						p.Rows = n
					}
					if e := New().Expect(p); !finite(e.RowsNeeded) || !finite(e.RelativeError) || e.RowsNeeded < 0 {
						t.Errorf("%+v: %+v", p, e)
					}
				}
			}
		}
	}
}
