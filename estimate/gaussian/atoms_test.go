package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// An atomic law is one with atoms or stray rows.
type atomic struct {
	name string
	row  func(rng *rand.Rand, x []float64)
}

// zeroInflated has independent columns of one law, zero with the given probability.
func zeroInflated(name string, share float64, draw func(rng *rand.Rand) float64) atomic {
	return atomic{name, func(rng *rand.Rand, x []float64) {
		for j := range x {
			if x[j] = 0; rng.Float64() >= share {
				x[j] = draw(rng)
			}
		}
	}}
}

// pointed is the Gaussian with a point that has a share.
func pointed(name string, share float64) atomic {
	return atomic{name, func(rng *rand.Rand, x []float64) {
		at := rng.Float64() < share
		for j := range x {
			if x[j] = rng.NormFloat64(); at {
				x[j] = 1
			}
		}
	}}
}

func normalAt5(rng *rand.Rand) float64  { return 5 + rng.NormFloat64() }
func lognormal1(rng *rand.Rand) float64 { return math.Exp(rng.NormFloat64()) }

// atomTable is that of [TYLERPRESS] Section 4.5: the covariance error over sqrt(d(d+1)/n) that the
// source measured, 0 where it refuses.
var atomTable = []struct {
	atomic
	d, n  int
	x     float64
	heavy bool // the rows' own covariance is far from the law's
}{
	{zeroInflated("zeros 50%", .5, normalAt5), 5, 20000, .9, false},
	{zeroInflated("zeros 80%", .8, normalAt5), 5, 20000, 1.9, false},
	{zeroInflated("zeros 90%", .9, normalAt5), 5, 20000, 0, false},
	{zeroInflated("lognormal, zeros 80%", .8, lognormal1), 5, 20000, 0, true},
	{pointed("atom 25%", .25), 5, 20000, .81, false},
	{pointed("atom 40%", .4), 5, 20000, 1.0, false},
	{pointed("atom 60%", .6), 5, 20000, 0, false},
	{atomic{"one column 90% zeros", func(rng *rand.Rand, x []float64) {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		if rng.Float64() < .9 {
			x[0] = 0
		}
	}}, 5, 20000, 0, false},
	{atomic{"5% at 1000 sd", func(rng *rand.Rand, x []float64) {
		s := 1.0
		if rng.Float64() < .05 {
			s = 1000
		}
		for j := range x {
			x[j] = s * rng.NormFloat64()
		}
	}}, 5, 20000, 0, true},
	{zeroInflated("zeros 50%", .5, normalAt5), 2, 8000, 1.4, false},
	{zeroInflated("zeros 80%", .8, normalAt5), 2, 8000, 0, false},
	{zeroInflated("zeros 90%", .9, normalAt5), 2, 8000, 0, false},
	{pointed("atom 25%", .25), 2, 8000, 1.2, false},
	{pointed("atom 40%", .4), 2, 8000, 1.8, false},
	{pointed("atom 60%", .6), 2, 8000, 0, false},
}

// errorsWithAtoms are the distances of fits to the rows' own covariances, over sqrt(d(d+1)/n),
// refusals left out.
func errorsWithAtoms(t *testing.T, law atomic, d, n, runs int, e estimate.Estimator, shape estimate.CovarianceType) (errors []float64) {
	for range runs {
		rng, rows := rand.New(rand.NewPCG(rand.Uint64(), 1)), make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			law.row(rng, rows[i])
		}
		c := estimatetest.Case{Rows: rows, Columns: d, Mu: privacy.MuOf(1, 1e-6), Components: 1, Covariance: shape, Noise: kerneltest.Options{Fresh: true}}
		if f := estimatetest.RunChecked(t, e, c); f.Model != nil {
			errors = append(errors, relativeTo(covarianceOf(rows), f.Outcome, d)/math.Sqrt(float64(d*(d+1))/float64(n)))
		}
	}
	return errors
}

// TestAtoms: the median error of heavy-tailed is within 2.5 times what the source measured; where
// that refuses, within 10 times that of a Gaussian table, or 40 for tails whose samples are
// themselves 8 apart. A refusal counts as an error beyond. In 200 fits of each law none, but 4 of
// rows at 1000 sds, was refused, and errors were beyond 2.5 times the source's in at most 1 of 28
// and beyond 10 or 40 in at most 1 of 50: that 4 of 6 are has a probability below 2e-4 in all. The
// long form has 60 runs and 1.6 times, 5 and 25; its medians are 1.25 times the source's or less.
//
// Shows: [TYLERPRESS] Section 4.5.
func TestAtoms(t *testing.T) {
	runs, slack, others, heavy := 6, 2.5, 10.0, 40.0
	if long() {
		runs, slack, others, heavy = 60, 1.6, 5, 25
	}
	for _, c := range atomTable {
		limit := others
		switch {
		case c.x > 0:
			limit = slack * c.x
		case c.heavy:
			limit = heavy
		}
		var errors []float64
		within := 0
		for range runs {
			if 2*within >= runs && !long() {
				break // whatever comes of the others
			}
			for _, e := range errorsWithAtoms(t, c.atomic, c.d, c.n, 1, NewHeavyTailed(), estimate.Full) {
				if errors = append(errors, e); e <= limit {
					within++
				}
			}
		}
		t.Logf("%s d=%d, source x%v: %.2f", c.name, c.d, c.x, errors)
		if 2*within < runs {
			t.Errorf("%s d=%d: %d of %d fits within x%.3g, want half: %.2f", c.name, c.d, within, runs, limit, errors)
		}
	}
}

// TestAtomsNeverVanish: rows that no Gaussian fits, in every shape and by every method, that for a
// Gaussian too, end in a refusal or in a spread that is neither zero nor no number.
func TestAtomsNeverVanish(t *testing.T) {
	if !long() {
		t.Skip("takes a minute; set GAUZE_LONG=1")
	}
	for _, e := range []estimate.Estimator{heavyTailed, New()} {
		for _, c := range atomTable {
			for _, shape := range allShapes {
				for _, d := range []int{2, 5, 8} {
					for _, x := range errorsWithAtoms(t, c.atomic, d, c.n, 3, e, shape) {
						if !(x < 1e6) {
							t.Errorf("%s %v %s d=%d: x%v", e.Name(), shape, c.name, d, x)
						}
					}
				}
			}
		}
	}
}

// covarianceOf is the rows' own covariance.
func covarianceOf(rows [][]float64) func(i, j int) float64 {
	d, n := len(rows[0]), float64(len(rows))
	mean, second := make([]float64, d), make([]float64, d*d)
	for _, x := range rows {
		for i, v := range x {
			mean[i] += v / n
			for j, w := range x {
				second[i*d+j] += v * w / n
			}
		}
	}
	return func(i, j int) float64 { return second[i*d+j] - mean[i]*mean[j] }
}

// relativeTo is |A^-1 S A^-T - I|_F for the covariance A A^T = cov.
func relativeTo(cov func(i, j int) float64, o estimate.Outcome, d int) float64 {
	want, got := mat.NewSymDense(d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			got.Set(i, j, o.Model.Components[0].Cov.At(i, j))
			want.SetSym(i, j, cov(i, j))
		}
	}
	var chol mat.Cholesky
	chol.Factorize(want)
	var l mat.TriDense
	chol.LTo(&l)
	var half, whole mat.Dense
	if half.Solve(&l, got) != nil || whole.Solve(&l, half.T()) != nil {
		return math.Inf(1)
	}
	for i := range d {
		whole.Set(i, i, whole.At(i, i)-1)
	}
	return mat.Norm(&whole, 2)
}
