package component

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestDrift is added to the doubts that an update leaves and changes nothing else: all of it where
// no rows are a component's own, a part of it where all are.
func TestDrift(t *testing.T) {
	const d = 2
	start := Gaussian{Weight: .5, Mean: make([]float64, d), Cov: symmetric.Identity(d), Uncertainty: StartUncertainty()}
	s := Sums{Count: 480, CountSD: 5, Sum: []float64{30, -20}, SumSD: 9, Second: mat.NewSymDense(d, []float64{500, 40, 40, 420}), SecondSD: 12, Trace: 920, TraceSD: 17}
	how := Clipping{L: mat.DenseCopyOf(symmetric.Identity(d)), Law: ClippedGaussian(d, 8)}
	apply := func(settled float64) Gaussian {
		return Update{Form: query.FullForm, Rows: 1000, Floor: 1e-9, Settled: settled}.Apply(start, s, how)
	}
	none, all := apply(1), apply(0)
	for _, c := range []struct{ settled, part float64 }{{0, 1}, {.5, .5}, {1, settledPart}} {
		got, more := apply(c.settled), (c.part-settledPart)/(1-settledPart)
		near := func(what string, after, before, most float64) {
			t.Helper()
			if e := after - before - more*(most-before); e > 1e-12 || e < -1e-12 {
				t.Errorf("settled to %v: %s is left in doubt by %v, between %v and %v", c.settled, what, after, before, most)
			}
		}
		near("shape", got.Uncertainty.Shape, none.Uncertainty.Shape, all.Uncertainty.Shape)
		near("scale", got.Uncertainty.Scale, none.Uncertainty.Scale, all.Uncertainty.Scale)
		near("mean", got.Uncertainty.Mean, none.Uncertainty.Mean, all.Uncertainty.Mean)
		near("weight", got.Uncertainty.Weight, none.Uncertainty.Weight, all.Uncertainty.Weight)
		if got.Weight != none.Weight || !mat.Equal(got.Cov, none.Cov) || got.Mean[0] != none.Mean[0] || got.Sigma != none.Sigma {
			t.Errorf("drift moved the component: %+v, without %+v", got, none)
		}
	}
	if d := all.Uncertainty.Shape - none.Uncertainty.Shape - (1-settledPart)*overlapping.Shape; d > 1e-12 || d < -1e-12 {
		t.Errorf("components that overlap are doubted by %v more", d)
	}
	if none.Uncertainty.Shape >= start.Uncertainty.Shape || none.Uncertainty.Weight >= start.Uncertainty.Weight {
		t.Errorf("a measurement leaves more doubt, %+v, than there was", none.Uncertainty)
	}
}
