package component

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/moments"
)

// TestDrift is added to the doubts that an update leaves and changes nothing else; nil means that
// of components that overlap.
func TestDrift(t *testing.T) {
	const d = 2
	start := Gaussian{Weight: .5, Mean: make([]float64, d), Cov: symmetric.Identity(d), Doubt: StartDoubt()}
	s := moments.Sums{Count: 480, CountSD: 5, Sum: []float64{30, -20}, SumSD: 9, Second: mat.NewSymDense(d, []float64{500, 40, 40, 420}), SecondSD: 12, Trace: 920, TraceSD: 17}
	how := Clipping{L: mat.DenseCopyOf(symmetric.Identity(d)), Law: clip.Gaussian(d, 8)}
	apply := func(drift *Doubt) Gaussian {
		return Update{Form: query.FullForm, Rows: 1000, Floor: 1e-9, Drift: drift}.Apply(start, s, how)
	}
	none := apply(&Doubt{})
	for _, c := range []struct {
		drift *Doubt
		want  Doubt
	}{{nil, defaultDrift}, {&Doubt{Shape: 1, Scale: 2, Mean: 3, Weight: 4}, Doubt{Shape: 1, Scale: 2, Mean: 3, Weight: 4}}} {
		got := apply(c.drift)
		near := func(what string, after, before, drift float64) {
			t.Helper()
			if e := after - before - drift; e > 1e-12 || e < -1e-12 {
				t.Errorf("%s: doubt %v after %v, want a drift of %v", what, after, before, drift)
			}
		}
		near("shape", got.Doubt.Shape, none.Doubt.Shape, c.want.Shape)
		near("scale", got.Doubt.Scale, none.Doubt.Scale, c.want.Scale)
		near("mean", got.Doubt.Mean, none.Doubt.Mean, c.want.Mean)
		near("weight", got.Doubt.Weight, none.Doubt.Weight, c.want.Weight)
		if got.Weight != none.Weight || !mat.Equal(got.Cov, none.Cov) || got.Mean[0] != none.Mean[0] || got.Sigma != none.Sigma {
			t.Errorf("drift moved the component: %+v, without %+v", got, none)
		}
	}
	if none.Doubt.Shape >= start.Doubt.Shape || none.Doubt.Weight >= start.Doubt.Weight {
		t.Errorf("a measurement leaves more doubt, %+v, than there was", none.Doubt)
	}
}
