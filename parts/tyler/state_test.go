package tyler

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
)

// TestConsistency: the defining equation in d = 1 has the Cauchy scale of a Gaussian, c = s^2 with
// E[2q/(c+q)] = 1.
//
// Shows: [TYLERPRESS] Section 4.1.
func TestConsistency(t *testing.T) {
	if c := consistency(1, 1); math.Abs(math.Sqrt(c)-.6120) > 1e-3 {
		t.Errorf("d=1: sqrt c = %v, want .6120", math.Sqrt(c))
	}
	for _, d := range []int{1, 5, 50} {
		if a, b := consistency(d, 1), consistency(d, float64(d)); !(a > 0 && a < 1 && b > 0 && b < 1) {
			t.Errorf("d=%d: c = %v, %v, want in (0, 1)", d, a, b)
		}
	}
	if c := consistency(4, 1e9); math.Abs(c-1) > 1e-6 {
		t.Errorf("nu to infinity is the Gaussian: c = %v, want 1", c)
	}
}

// TestStandard: in the space of a state's columns round rows have variances of one and the state's
// correlations.
func TestStandard(t *testing.T) {
	s := New(component.Space{Columns: []int{0, 2}, Center: []float64{10, -3}, Scale: []float64{2, 5}})
	s.M = []float64{.5, 1}
	s.Wi = mat.NewDense(2, 2, []float64{3, 0, 4, 3})
	space, cov := s.Standard()
	if space.Center[0] != 11 || space.Center[1] != 2 || math.Abs(space.Scale[0]-6) > 1e-12 || math.Abs(space.Scale[1]-25) > 1e-12 {
		t.Errorf("space %+v", space)
	}
	if math.Abs(cov.At(0, 0)-1) > 1e-12 || math.Abs(cov.At(1, 1)-1) > 1e-12 || math.Abs(cov.At(0, 1)-.8) > 1e-12 {
		t.Errorf("covariance %v", mat.Formatted(cov))
	}
}
