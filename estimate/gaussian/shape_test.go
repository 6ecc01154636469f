package gaussian

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// rounded is a run that has rounded the rows and judged their shape, at epsilon 1; nil if the
// preconditioner did not get that far.
func rounded(t testing.TB, rows [][]float64, d int) (r *fit, st *tyler.State, s shape) {
	p := estimate.Problem{Columns: d, Rows: len(rows), Relation: privacy.ReplaceOne, Mu: privacy.MuOf(1, 1e-6), Components: 1}
	steps := Steps(p, "", 1)
	terms := kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Engine: kernel.LocalEngine{Workers: 1}}
	session := kerneltest.Open(t, kerneltest.Table(rows, d, terms.Relation), kernel.Plan{Method: "test", Steps: steps}, terms, kerneltest.Options{Fresh: true})
	r = &fit{newFit(t.Context(), name, Usual(), session.SubBudget(), p, ""), nil}
	if err := r.Open(r.Problem); err != nil {
		t.Fatal(err)
	}
	st, ok, err := r.Tyler.Round(tyler.New(r.Space), 1, Usual().RoundPart)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return nil, nil, s
	}
	if s, err = r.look(st); err != nil {
		t.Fatal(err)
	}
	return r, st, s
}

// TestShapeOfGaussians: moments mode for Gaussian rows in less than one run in a hundred, with up
// to 4 % of the rows far away. By histograms drawn from the law itself; the long test by fits, in
// which the preconditioner's error blurs the law.
func TestShapeOfGaussians(t *testing.T) {
	rng := newRand(t)
	runs := 60
	if long() {
		runs = 2000
	}
	wrong := 0
	for i := range runs {
		d := []int{1, 2, 5, 20}[i%4]
		n := []int{1000, 4000, 40000, 400000}[rng.IntN(4)] * d
		far := []float64{0, .02, .04}[rng.IntN(3)]
		h := &tyler.RadialHistogram{D: d, Edges: shapeEdges(d), Sigma: math.Sqrt2 / (math.Sqrt(Usual().ShapePart) * privacy.MuOf(1, 1e-6)), Rows: float64(n)}
		h.Counts = make([]float64, len(h.Edges)+1)
		above := 1.0
		for b := range h.Counts { // Poisson counts, nearly
			next := 0.0
			if b < len(h.Edges) {
				next = tyler.Pearson{D: d, Scale: .9}.Survival(h.Edges[b])
			}
			want := float64(n) * (1 - far) * (above - next)
			h.Counts[b] = want + math.Sqrt(want+h.Sigma*h.Sigma)*rng.NormFloat64()
			above = next
		}
		h.Counts[len(h.Edges)] += far * float64(n)
		if gaussianRun(t).judge(h, 0).heavy {
			wrong++
		}
	}
	stattest.GoodAtMost(t, wrong, runs, .01, alarm)
	if !long() {
		return
	}
	for _, c := range []struct{ d, n int }{{1, 1600}, {2, 1350}, {2, 20000}, {5, 2900}, {5, 20000}, {10, 5900}, {10, 40000}} {
		wrong, runs := 0, 200
		for range runs {
			w := newWorld(rng, c.d, 1e4, 10, c.d)
			if r, _, s := rounded(t, w.rows(rng, c.n), c.d); r != nil && s.heavy {
				wrong++
			}
		}
		t.Logf("d=%d n=%d: %d of %d", c.d, c.n, wrong, runs)
		stattest.GoodAtMost(t, wrong, runs, .01, alarm)
	}
}

// gaussianRun is a run with a whole budget left and no rows to speak of.
func gaussianRun(t testing.TB) fit {
	p := estimate.Problem{Columns: 1, Rows: 1, Relation: privacy.ReplaceOne, Mu: privacy.MuOf(1, 1e-6), Components: 1}
	session := kerneltest.Open(t, kerneltest.Table([][]float64{{0}}, 1, p.Relation), kernel.Plan{Method: "test", Steps: Steps(p, "", 1)},
		kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{})
	return fit{newFit(t.Context(), name, Usual(), session.SubBudget(), p, ""), nil}
}

// shapes of one column, of mean 0 and variance 1.
var columnLaws = []struct {
	name string
	draw func(rng *rand.Rand) float64
}{
	{"Laplace", func(rng *rand.Rand) float64 { return (rng.ExpFloat64() - rng.ExpFloat64()) / math.Sqrt2 }},
	{"exponential", func(rng *rand.Rand) float64 { return rng.ExpFloat64() - 1 }},
	{"uniform", func(rng *rand.Rand) float64 { return math.Sqrt(12) * (rng.Float64() - .5) }},
	{"lognormal", func(rng *rand.Rand) float64 {
		return (math.Exp(.5*rng.NormFloat64()) - math.Exp(.125)) / math.Sqrt(math.Exp(.5)-math.Exp(.25))
	}},
}

// TestShapeOfOthers: laws whose Gaussian fit is biased ([TYLERPRESS] Section 4.3) go to moments
// mode at the rows of its table.
//
// Shows: [TYLERPRESS] Section 4.3.
func TestShapeOfOthers(t *testing.T) {
	rng := newRand(t)
	runs := 2
	if long() {
		runs = 20
	}
	heavy := func(name string, d int, rows [][]float64) {
		if r, _, s := rounded(t, rows, d); r == nil || !s.heavy {
			t.Errorf("%s d=%d n=%d: taken for Gaussian: %+v", name, d, len(rows), s)
		}
	}
	for range runs {
		for _, law := range columnLaws {
			heavy(law.name, 5, filled(20000, 5, func(i, j int) float64 { return law.draw(rng) }))
		}
		for _, nu := range []int{5, 10} {
			heavy("t", 5, newWorld(rng, 5, 1e4, 10, 5).tailed(rng, 20000, nu))
		}
		heavy("t5", 2, newWorld(rng, 2, 1e4, 10, 2).tailed(rng, 8000, 5))
	}
}

// TestStrayRows: a few percent of far rows leave the core of a Gaussian fit at the error of a clean
// one, times two. In one of some two hundred fits rows of one far point look heavy-tailed; that
// more than half of seven runs do has a probability below 1e-7.
//
// Shows: [TYLERPRESS] Section 4.5.
func TestStrayRows(t *testing.T) {
	rng := newRand(t)
	runs := 7
	if long() {
		runs = 20
	}
	const d, n = 5, 10000
	for _, c := range []struct {
		share, far float64
		point      bool
	}{{0, 1, false}, {.045, 10, false}, {.045, 1e9, false}, {.05, 1000, false}, {.05, 100, true}, {.05, 1e9, true}} {
		var errors []float64
		var missed []string
		for range runs {
			if 2*len(errors) >= runs && !long() {
				break // whatever comes of the others
			}
			w := newWorld(rng, d, 1e4, 10, d)
			rows := w.rows(rng, n)
			for i := range int(c.share * n) {
				for j := range d {
					if rows[i][j] = w.mean[j] + c.far*(rows[i][j]-w.mean[j]); c.point {
						rows[i][j] = w.mean[j] + c.far*w.a.At(j, 0)
					}
				}
			}
			r, st, s := rounded(t, rows, d)
			if r == nil || s.heavy || s.far > firstFar {
				missed = append(missed, fmt.Sprintf("%+v", s))
				continue
			}
			out, err := r.reached(st)
			if err != nil || out.Model == nil {
				t.Fatal(err, out.NoRelease)
			}
			if core := out.Diagnostics.Core; core != nil {
				out.Model.Components[0] = core.Gaussian
			} else if c.share > 0 {
				missed = append(missed, "no core")
				continue
			}
			cov, _, _ := w.errors(out)
			errors = append(errors, cov)
		}
		if 2*len(missed) > runs {
			t.Errorf("%+v: in %d of %d runs the stray rows are not seen to be stray: %s", c, len(missed), runs, missed)
			continue
		}
		m := middle(errors)
		t.Logf("%+v: median error %.3f", c, m)
		if !(m < 2*math.Sqrt(float64(d*(d+1))/n)) {
			t.Errorf("%+v: median error %v", c, m)
		}
	}
}

// tailed makes rows of a world spherical in its own coordinates: multivariate t of nu degrees of
// freedom (0: multivariate Laplace, -1: Gaussian), scaled such that the covariance is the world's.
func (w world) tailed(rng *rand.Rand, n, nu int) [][]float64 {
	rows := w.rows(rng, n)
	for _, x := range rows {
		s := 1.0
		switch {
		case nu > 0:
			sum := 0.0
			for range nu {
				z := rng.NormFloat64()
				sum += z * z
			}
			s = math.Sqrt(float64(nu-2) / sum)
		case nu == 0:
			s = math.Sqrt(rng.ExpFloat64())
		}
		for j := range x {
			x[j] = w.mean[j]*w.scale[j] + s*(x[j]-w.mean[j]*w.scale[j])
		}
	}
	return rows
}

func middle(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(1)
	}
	for i := range x {
		for j := range i {
			if x[j] > x[i] {
				x[i], x[j] = x[j], x[i]
			}
		}
	}
	return x[len(x)/2]
}

// TestAllRows: of rows of which a part lies far away in one column, mean and sd are those of all
// rows, in every column, or a flag names the column; the core has those of the others. Before, they
// were those of the others in 143 of 144 such fits.
func TestAllRows(t *testing.T) {
	rng := newRand(t)
	const runs = 6
	off := 0
	for _, c := range []struct {
		d, n       int
		share, far float64
	}{{1, 2000, .1, 10}, {2, 10000, .03, 10}, {5, 20000, .02, 30}, {10, 20000, .03, 10}} {
		for range runs {
			rows := filled(c.n, c.d, func(i, j int) float64 {
				if x := rng.NormFloat64(); j > 0 || float64(i) >= c.share*float64(c.n) {
					return x
				} else {
					return x + c.far
				}
			})
			o := gaussianSetting(c.d, c.n, privacy.ReplaceOne, 1, 0).fit(t, rows)
			if o.Model == nil {
				off++
				continue
			}
			mean, sd := c.share*c.far, math.Sqrt(1+c.share*(1-c.share)*c.far*c.far)
			g := o.Model.Components[0]
			told := slices.ContainsFunc(o.Diagnostics.Flags, func(f estimate.Flag) bool { return slices.Contains(f.Columns, 0) })
			apart := math.Hypot(g.Mean[0]-mean, math.Sqrt(g.Cov.At(0, 0))-sd)
			if core := o.Diagnostics.Core; core != nil {
				if h := core.Gaussian; math.Abs(h.Mean[0]) > .3 || math.Abs(math.Sqrt(h.Cov.At(0, 0))-1) > .3 || math.Abs(core.Share-1+c.share) > .3*c.share {
					t.Errorf("%+v: a core of %.2f: %v, %v", c, core.Share, h.Mean[0], h.Cov.At(0, 0))
				}
			}
			t.Logf("%+v: off by %.2f sds, told %v", c, apart/sd, told)
			if apart > .2*sd && !told || apart > .4*sd {
				off++
			}
		}
	}
	stattest.GoodAtMost(t, off, 4*runs, .1, 1e-4)
}

var (
	bothRelations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	allShapes     = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

func newRand(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(stattest.Seed(t), 1)) }

// TestTwoGroups: of two groups the steps' centre is anywhere between them; where the last release
// says otherwise, the mean is what it says. Before, the mean of a column was off by more than .15
// of its sd in three fits of ten; now it is in one of 25.
func TestTwoGroups(t *testing.T) {
	rng := newRand(t)
	const n, d, runs = 1000, 2, 60
	off := 0
	for range runs {
		rows, mean, square := make([][]float64, n), [d]float64{}, [d]float64{}
		for i := range rows {
			group := 6 * float64(rng.IntN(2))
			rows[i] = []float64{group + rng.NormFloat64(), group + rng.NormFloat64()}
			for j, v := range rows[i] {
				mean[j] += v / n
				square[j] += v * v / n
			}
		}
		o := gaussianSetting(d, n, privacy.ReplaceOne, 1, 0).fit(t, rows)
		for j := range d {
			if o.Model == nil || math.Abs(o.Model.Components[0].Mean[j]-mean[j]) > .15*math.Sqrt(square[j]-mean[j]*mean[j]) {
				off++
				break
			}
		}
	}
	stattest.GoodAtMost(t, off, runs, .05, 1e-4)
}

// TestFewRows: with too few rows for a full covariance a fit gives means and standard deviations,
// says so, and next to never spends its budget for nothing. 2 of 1,800 such fits had no release:
// more than one of 12 has a chance of 1 in 10,000. Of 160 fits all ended in a release; of
// 2,080 columns the sd was off by 5 to 10 % in the middle and at most by a factor of 1.48, the mean
// at most by .32 sds.
func TestFewRows(t *testing.T) {
	rng, none := newRand(t), 0
	for _, c := range []struct {
		d, n int
		rel  privacy.Relation
	}{{8, 1300, privacy.ReplaceOne}, {12, 1600, privacy.ReplaceOne}, {20, 2200, privacy.ReplaceOne}, {12, 1450, privacy.AddRemoveOne}} {
		for range 3 {
			w := newWorld(rng, c.d, 1e6, 10, c.d)
			rows := w.rows(rng, c.n)
			o := gaussianSetting(c.d, c.n, c.rel, 1, 0).fit(t, rows)
			if o.Model == nil {
				if none++; none > 1 {
					t.Fatalf("%+v: %v", c, o.NoRelease)
				}
				continue
			}
			g := o.Model.Components[0]
			if _, ok := g.Cov.(model.Diagonal); !ok || !slices.ContainsFunc(o.Diagnostics.Flags, func(f estimate.Flag) bool { return f.Code == flags.FewRows }) {
				t.Errorf("%+v: a covariance of type %T, and flags %v", c, g.Cov, o.Diagnostics.Flags)
			}
			for _, f := range o.Diagnostics.Flags {
				var rows, takes int
				if _, err := fmt.Sscanf(f.Text, "%d rows are too few to see how columns vary together, which takes about %d:", &rows, &takes); f.Code == flags.FewRows && (err != nil || rows >= takes) {
					t.Errorf("%+v: %q", c, f.Text)
				}
			}
			for j := range c.d {
				sd := 0.0
				for i := range c.d {
					sd = math.Hypot(sd, w.a.At(j, i))
				}
				own := math.Sqrt(g.Cov.At(j, j))
				if math.Abs(math.Log(own/sd)) > .5 || math.Abs(g.Mean[j]-w.mean[j]) > .4*sd {
					t.Errorf("%+v: column %d has mean %v, sd %v, want %v, %v", c, j+1, g.Mean[j], own, w.mean[j], sd)
				}
			}
		}
	}
}

// TestPlannedWays: whatever rows, budget and facts leave of what was planned with, a fit measures
// what was planned and ends without an error: most rows missing, most of the budget spent before,
// and facts about rows that never get round.
func TestPlannedWays(t *testing.T) {
	rng := newRand(t)
	rows := newWorld(rng, 10, 100, 10, 10).rows(rng, 5000)
	for _, row := range rows[1750:] {
		for j := range row {
			row[j] = math.NaN()
		}
	}
	for _, method := range []estimate.Estimator{New(), NewHeavyTailed()} {
		s := gaussianSetting(10, len(rows), privacy.ReplaceOne, 1, 0)
		s.method = method
		s.fit(t, rows)
	}

	open := func(method estimate.Estimator, p estimate.Problem, rows [][]float64) *kernel.Session {
		plan, err := method.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		terms := kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Engine: kernel.LocalEngine{Workers: 1}}
		return kerneltest.Open(t, kerneltest.Table(rows, p.Columns, p.Relation), plan, terms, kerneltest.Options{Fresh: true})
	}
	rows = newWorld(rng, 20, 100, 10, 20).rows(rng, 4500)
	p := gaussianSetting(20, len(rows), privacy.ReplaceOne, 1, 0).problem()
	for _, part := range []float64{.1, .2, .3} {
		s := open(New(), p, rows)
		if _, err := FitSubBudget(t.Context(), s.SubBudget().Take(part*s.Mu()*s.Mu()), p, "", nil); err != nil {
			t.Errorf("with %v of the budget: %v", part, err)
		}
	}

	rows = newWorld(rng, 6, 1, 10, 6).rows(rng, 4000)
	for _, row := range rows {
		if row[0] = 0; rng.Float64() < .1 {
			row[0] = 1e5
		}
		row[1] = math.Exp(4 * rng.NormFloat64())
	}
	p = gaussianSetting(6, len(rows), privacy.ReplaceOne, 1, 0).problem()
	p.Facts.Eigenvalues = [2]float64{1e-9, 1e9}
	for _, method := range []estimate.Estimator{New(), NewHeavyTailed()} {
		if _, err := method.Fit(t.Context(), open(method, p, rows), p); err != nil {
			t.Error(err)
		}
	}
}

// TestSomethingIsLeft: looks that may cost more than there is leave half of it for what comes
// after.
func TestSomethingIsLeft(t *testing.T) {
	rng := newRand(t)
	rows := newWorld(rng, 3, 10, 1, 3).rows(rng, 1500)
	p := gaussianSetting(3, len(rows), privacy.ReplaceOne, 1, 0).problem()
	plan, err := New().Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	terms := kernel.Terms{Relation: p.Relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Engine: kernel.LocalEngine{Workers: 1}}
	s := kerneltest.Open(t, kerneltest.Table(rows, p.Columns, p.Relation), plan, terms, kerneltest.Options{Fresh: true})
	f := newFit(t.Context(), name, Usual(), s.SubBudget(), p, "")
	if err := f.Open(p); err != nil {
		t.Fatal(err)
	}
	most := columnsMost * f.Mu2 / 2
	f.SubBudget = f.SubBudget.Take(most)
	if _, _, err := f.farFrom(f.Space.Center, []float64{1, 1, 1}, 1e-6); err != nil || !(f.Left() > .49*most) {
		t.Errorf("%v; %v of %v is left", err, f.Left(), most)
	}
}
