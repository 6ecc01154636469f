package blackbox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// A transformation is x -> Ax + b.
type transformation struct {
	a *mat.Dense
	b []float64
}

// lower is a random lower triangular matrix with positive diagonal, whose columns have units of
// their own, and a shift by as much as far of these.
func lower(rng *rand.Rand, d int, far float64) transformation {
	t := transformation{mat.NewDense(d, d, nil), make([]float64, d)}
	for i := range d {
		unit := math.Pow(10, 6*rng.Float64()-3)
		for j := range i {
			t.a.Set(i, j, unit*rng.NormFloat64())
		}
		t.a.Set(i, i, unit*(.5+rng.Float64()))
		t.b[i] = far * unit * rng.NormFloat64()
	}
	return t
}

// turn is a random matrix of the condition number, and a shift.
func turn(rng *rand.Rand, d int, condition, far float64) transformation {
	orthogonal := func() *mat.Dense {
		g := mat.NewDense(d, d, nil)
		g.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, g)
		var qr mat.QR
		qr.Factorize(g)
		var q mat.Dense
		qr.QTo(&q)
		return &q
	}
	t := transformation{orthogonal(), make([]float64, d)}
	for j := range d {
		size := 1.0
		if d > 1 {
			size = math.Pow(condition, float64(j)/float64(d-1))
		}
		for i := range d {
			t.a.Set(i, j, size*t.a.At(i, j))
		}
		t.b[j] = far * rng.NormFloat64()
	}
	t.a.Mul(t.a, orthogonal())
	return t
}

func (t transformation) rows(rows [][]float64) (out [][]float64) {
	for _, x := range rows {
		y := mat.NewVecDense(len(x), nil)
		y.MulVec(t.a, mat.NewVecDense(len(x), x))
		y.AddVec(y, mat.NewVecDense(len(x), t.b))
		out = append(out, y.RawVector().Data)
	}
	return out
}

// away is how far the image of m under t is from got, in got's own units: the largest relative
// difference of weights, difference of means in sds, and difference of covariances whitened.
func (t transformation) away(m, got *model.Mixture) float64 {
	if len(m.Components) != len(got.Components) {
		return math.Inf(1)
	}
	worst := 0.0
	for j, g := range m.Components {
		h := got.Components[j]
		worst = max(worst, math.Abs(m.Weights[j]/got.Weights[j]-1))
		d := len(g.Mean)
		var f, mean, image, whitened mat.Dense
		f.CloneFrom(h.Cov.(model.Full).Factor())
		diff := t.rows([][]float64{g.Mean})[0]
		for i := range diff {
			diff[i] -= h.Mean[i]
		}
		if mean.Solve(&f, mat.NewDense(d, 1, diff)) != nil {
			return math.Inf(1)
		}
		worst = max(worst, mat.Norm(&mean, 2))
		image.Mul(t.a, g.Cov.(model.Full).Factor())
		if whitened.Solve(&f, &image) != nil {
			return math.Inf(1)
		}
		var cov mat.Dense
		cov.Mul(&whitened, whitened.T())
		for i := range d {
			cov.Set(i, i, cov.At(i, i)-1)
		}
		worst = max(worst, mat.Norm(&cov, 2))
	}
	return worst
}

// equivariant fits a table and its image and fails unless the second model is the image of the
// first, or neither is released; it says which.
func equivariant(t *testing.T, what string, c estimatetest.Case, by transformation, tolerance float64) (released bool) {
	t.Helper()
	f := estimatetest.RunChecked(t, everyLearner, c)
	c.Rows = by.rows(c.Rows)
	g := estimatetest.RunChecked(t, everyLearner, c)
	if f.Model == nil || g.Model == nil {
		if f.Model != nil || g.Model != nil {
			t.Errorf("%s: one of a table and its image is released: %+v, %+v", what, f.NoRelease, g.NoRelease)
		}
		return false
	}
	away := by.away(f.Model, g.Model)
	if t.Logf("%s: %.2g", what, away); !(away < tolerance) {
		t.Errorf("%s: the model of the image is %.3g from the image of the model", what, away)
	}
	return true
}

var invariants = []struct {
	k, d, n int
	eps     float64
	learner string
}{{1, 1, 2000, 4, ""}, {1, 3, 6000, 4, ""}, {2, 1, 8000, 4, ""}, {2, 2, 6000, 8, ""}, {2, 3, 6000, 12, ""}, {3, 2, 6000, 20, ""},
	{2, 2, 6000, 8, "spectral"}, {2, 1, 6000, 8, "pearson-lines"}, {2, 2, 5000, 20, "pearson-lines"}}

// TestTriangularEquivariance: with the same noise the table Ax+b, A lower triangular with positive
// diagonal, gives the image of the model of x, up to rounding: what is measured, masked and rounded
// is so in frames that are triangular.
func TestTriangularEquivariance(t *testing.T) {
	rng := newRand(t)
	released, all := 0, 0
	for i, c := range invariants {
		for j, rel := range relations {
			if (i%2 != 0 || (i/2+j)%2 != 0) && !estimatetest.Long() {
				continue // the others are those of TestEquivariance
			}
			rows := estimatetest.Draw(t, apartTruth(t, rng, c.k, c.d, 7), c.n, rng)
			if all++; equivariant(t, fmt.Sprintf("%+v, %v", c, rel), estimatetest.Case{Rows: rows, Columns: c.d, Relation: rel, Epsilon: c.eps, Delta: delta,
				Components: c.k, Learner: c.learner, Noise: kerneltest.Options{Seed: rng.Uint64()}}, lower(rng, c.d, 1e3), 1e-7) {
				released++
			}
		}
	}
	if released < all-1-all/10 { // the seeds are fixed
		t.Errorf("%d of %d are released", released, all)
	}
}

// TestEquivariance: where the answers are exact, any A of condition number 1e3 will do: a rotation
// turns the noise, not its law. What is left is the kernel's rounding of each row's moments, in
// frames that are turned: a part in 1e6 or so.
func TestEquivariance(t *testing.T) {
	rng := newRand(t)
	released, all := 0, 0
	for i, c := range invariants {
		for j, rel := range relations {
			if (i%2 == 0 || (i/2+j)%2 != 0) && !estimatetest.Long() {
				continue // the others are those of TestTriangularEquivariance
			}
			rows := estimatetest.Draw(t, apartTruth(t, rng, c.k, c.d, 7), c.n, rng)
			if all++; equivariant(t, fmt.Sprintf("%+v, %v", c, rel), estimatetest.Case{Rows: rows, Columns: c.d, Relation: rel, Epsilon: c.eps, Delta: delta,
				Components: c.k, Learner: c.learner, Noise: kerneltest.Options{Seed: rng.Uint64(), Exact: true}}, turn(rng, c.d, 1e3, 1e3), 2e-5) {
				released++
			}
		}
	}
	if released < all-1-all/10 { // the seeds are fixed
		t.Errorf("%d of %d are released", released, all)
	}
}

// TestWorkers: a fit is the same to the last bit whatever the number of workers.
func TestWorkers(t *testing.T) {
	rng := newRand(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, l := range append(everyLearner.Learners(), "one's own") {
		rows := 3000
		if l == "moitra-valiant" { // as printed, it needs larger blocks to agree
			rows = 12_000
		}
		c := estimatetest.Case{Rows: twoGroups(rng, rows, 2), Columns: 2, Relation: relations[i%2], Epsilon: 16, Delta: delta, Components: 2, Learner: l}
		if c.Noise.Seed = rng.Uint64(); l == "one's own" {
			c.Learner, c.Own = "", estimatetest.Signs{}
		}
		var first estimate.Outcome
		for j, workers := range []int{1, 3, 16} {
			if j == 2 && i > 0 && !estimatetest.Long() {
				continue // one learner is enough for more workers than processors
			}
			runtime.GOMAXPROCS(workers)
			if out := fitted(t, c, workers); out.Model == nil {
				t.Errorf("%s: %+v", l, out.NoRelease)
			} else if j == 0 {
				first = out
			} else if !sameOutcome(first, out) {
				t.Errorf("%s: another model with %d workers", l, workers)
			}
		}
	}
}

// sameOutcome compares models and words to the last bit.
func sameOutcome(a, b estimate.Outcome) bool {
	if (a.Model == nil) != (b.Model == nil) || !reflect.DeepEqual(a.NoRelease, b.NoRelease) || !reflect.DeepEqual(a.Diagnostics, b.Diagnostics) {
		return false
	}
	if a.Model == nil {
		return true
	}
	if !reflect.DeepEqual(a.Model.Weights, b.Model.Weights) {
		return false
	}
	for i, g := range a.Model.Components {
		h := b.Model.Components[i]
		if !reflect.DeepEqual(g.Mean, h.Mean) || !mat.Equal(g.Cov.Dense(), h.Cov.Dense()) {
			return false
		}
	}
	return true
}

// TestSeedsMatter: another seed of the noise is another model, so that the tests above compare
// something.
func TestSeedsMatter(t *testing.T) {
	c := estimatetest.Case{Rows: twoGroups(newRand(t), 4000, 2), Columns: 2, Relation: privacy.ReplaceOne, Epsilon: 8, Delta: delta, Components: 2}
	a := fitted(t, c, 1)
	if c.Noise.Seed = 1; sameOutcome(a, fitted(t, c, 1)) {
		t.Error("the same model with another seed")
	}
}
