package gaussian

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

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

// heavyErrors are the errors of the covariance in repeated fits of t_nu rows of condition number
// 1e6, refusals left out.
func heavyErrors(t *testing.T, e estimate.Estimator, nu, d, n, runs int, rel privacy.Relation) (errors []float64) {
	t.Helper()
	for range runs {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		w := newWorld(rng, d, 1e6, 10, d)
		c := estimatetest.Case{Rows: w.tailed(rng, n, nu), Columns: d, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1}
		c.Noise.Fresh = true
		if f := estimatetest.RunChecked(t, e, c); f.Model != nil {
			cov, _, _ := w.errors(f.Outcome)
			errors = append(errors, cov)
		}
	}
	return errors
}

// TestHeavyBars: the errors of the covariance at condition number 1e6, unknown mean, epsilon 1. The
// bars of heavy-tailed are what [TYLERPRESS] Section 3 measured, and lie far above; those of the
// elliptical method are within 8 % of it. Errors of runs vary by half of their median at most runs;
// that the median of 60 is a tenth above the bar, or of 9 a third, takes most of them that far off:
// less than one test in 1e4.
func TestHeavyBars(t *testing.T) {
	for _, c := range []struct {
		nu, d, n       int
		loose, trusted float64
	}{
		{5, 2, 5000, .141, .095}, {5, 5, 10000, .145, .083}, {10, 5, 10000, .094, .073}, {5, 10, 20000, .247, .113}, {10, 10, 20000, .156, .098},
		{5, 5, 100000, .047, .027}, {10, 10, 100000, .055, .041},
	} {
		if !long() && c.n*c.d > 100000 {
			continue
		}
		runs, slack := 9, 1.35
		if long() {
			runs, slack = 60, 1.1
		}
		for i, bar := range [...]float64{c.loose, c.trusted} {
			e := HeavyTailed{elliptical: i == 1}
			errors := heavyErrors(t, e, c.nu, c.d, c.n, runs, privacy.ReplaceOne)
			m := middle(errors)
			t.Logf("t%d d=%d n=%d %s: median error %.4f of %d", c.nu, c.d, c.n, e.Name(), m, len(errors))
			if len(errors) < runs || m > slack*bar {
				t.Errorf("t%d d=%d n=%d %s: median error %.3f in %d of %d runs, want %.3f in all", c.nu, c.d, c.n, e.Name(), m, len(errors), runs, bar)
			}
		}
	}
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

// TestHeavyShapes: other relations, shapes and laws end in errors of the size that their rows
// allow.
func TestHeavyShapes(t *testing.T) {
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, nu := range []int{-1, 0, 5} {
			for _, e := range []estimate.Estimator{NewHeavyTailed(), NewElliptical()} {
				if m := middle(heavyErrors(t, e, nu, 3, 8000, 3, rel)); !(m < .3) {
					t.Errorf("%v law %d %s: median error %v", rel, nu, e.Name(), m)
				}
			}
		}
		for _, shape := range []estimate.CovarianceType{estimate.Diagonal, estimate.Spherical} {
			for _, d := range []int{2, 9} {
				for _, e := range []estimate.Estimator{NewHeavyTailed(), NewElliptical()} {
					t.Run(fmt.Sprint(rel, shape, d, e.Name()), func(t *testing.T) { heavyShape(t, e, rel, shape, d) })
				}
			}
		}
	}
}

func heavyShape(t *testing.T, e estimate.Estimator, rel privacy.Relation, shape estimate.CovarianceType, d int) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	w := newWorld(rng, d, 1, 1000, d)
	if shape == estimate.Diagonal {
		for j := range d {
			w.scale[j] = math.Pow(1000, float64(j%3))
		}
	}
	c := estimatetest.Case{Rows: w.tailed(rng, 20000, 5), Columns: d, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1, Covariance: shape}
	c.Noise.Fresh = true
	f := estimatetest.RunChecked(t, e, c)
	if f.Model == nil {
		t.Fatalf("no release: %+v", f.NoRelease)
	}
	for j := range d {
		v := f.Model.Components[0].Cov.At(j, j) / math.Pow(w.scale[j], 2)
		m := f.Model.Components[0].Mean[j]/w.scale[j] - w.mean[j]
		if !(math.Abs(math.Log(v)) < .5 && math.Abs(m) < .2) {
			t.Errorf("column %d: mean off by %v, variance %v, want 0 and 1", j, m, v)
		}
	}
}
