package program

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/parts/component"
)

// Two components of one column, of variance 1, agree with what was measured of all rows: a variance
// so many noise sds above their own.
func TestAgree(t *testing.T) {
	const noise = .08 // of a variance, relative
	for _, c := range []struct {
		name         string
		apart, sds   float64
		least, most  float64 // of the components' variances afterwards
		wantReported bool
	}{
		{"near, within the noise", 2, 2, 1, 1, false},
		{"near, beyond it", 2, 3, 1.05, 1.3, false},
		{"near, far beyond it", 2, 10, 2, 3, true},
		{"apart, where the noise alone would make them four times as wide", 12, 3, 1, 1, false},
		{"apart, or a quarter", 12, -3, 1, 1, false},
		{"apart, far beyond it", 12, 10, 3.9, 4, true}, // as much as a variance is changed
	} {
		all := 1 + c.apart*c.apart/4
		scale := math.Sqrt(all)
		o := &Overall{center: []float64{c.apart / 2}, scale: []float64{scale}, mean: []float64{0}, variance: []float64{1 + c.sds*noise}, r2: 1e3, meanSD: noise, varianceSD: noise}
		var gs []component.Gaussian
		for i := range 2 {
			gs = append(gs, component.Gaussian{Weight: .5, Mean: []float64{c.apart * float64(i)}, Cov: mat.NewSymDense(1, []float64{1})})
		}
		off := o.Agree(gs, .05)
		for _, g := range gs {
			if v := g.Cov.At(0, 0); v < c.least-1e-12 || v > c.most+1e-12 {
				t.Errorf("%s: variance %g, want %g to %g", c.name, v, c.least, c.most)
			}
		}
		if reported := len(off) > 0; reported != c.wantReported {
			t.Errorf("%s: told %v", c.name, reported)
		}
	}
}
