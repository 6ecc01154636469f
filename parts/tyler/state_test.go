package tyler

import (
	"math"
	"testing"
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
