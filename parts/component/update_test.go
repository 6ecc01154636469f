package component

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestNoisyShape: a component whose shape is noise alone is as wide after an update as its trace
// says, and round in its frame; less noise leaves it a shape.
func TestNoisyShape(t *testing.T) {
	const d = 2
	start := Gaussian{Weight: .5, Mean: make([]float64, d), Cov: symmetric.Identity(d), Uncertainty: StartUncertainty()}
	how := Clipping{L: mat.DenseCopyOf(symmetric.Identity(d)), Law: ClippedGaussian(d, 8)}
	for _, c := range []struct {
		noise float64 // of the shape, relative
		round bool
	}{{.9, false}, {1.1, true}} {
		sd := c.noise * mostShapeNoise / 2 * 500 * how.Law.B1
		s := Sums{Count: 500, CountSD: 5, Sum: make([]float64, d), SumSD: 9, Second: mat.NewSymDense(d, []float64{500 + 3*sd, sd, sd, 500 - 3*sd}), SecondSD: sd, Trace: 500 * d * how.Law.A, TraceSD: 1}
		got := Update{Form: query.FullForm, Rows: 1000, Floor: 1e-9}.Apply(start, s, how).Cov
		if round := math.Abs(got.At(0, 0)-1) < 1e-9 && math.Abs(got.At(1, 1)-1) < 1e-9 && got.At(0, 1) == 0; round != c.round {
			t.Errorf("noise of %v times the most that a shape may have: %v", c.noise, mat.Formatted(got))
		}
	}
}
