package component

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
)

// TestPoints compares the closed forms with the public points, a Monte-Carlo sum of 20000: each
// within 6 of its sds or so.
func TestPoints(t *testing.T) {
	for _, d := range []int{1, 2, 7} {
		r2 := float64(d) * 1.2
		c := ClippedGaussian(d, r2)
		_, second := NewPoints(d).Moments(make([]float64, d), symmetric.Identity(d), r2)
		if got := mat.Trace(second) / float64(d); math.Abs(got-c.A) > .05 {
			t.Errorf("d=%d: a = %v, points say %v", d, c.A, got)
		}
		shift := make([]float64, d)
		shift[0] = .1
		mean, _ := NewPoints(d).Moments(shift, symmetric.Identity(d), r2)
		if got := mean[0] / .1; math.Abs(got-c.A1) > .05 {
			t.Errorf("d=%d: a1 = %v, points say %v", d, c.A1, got)
		}
	}
}
