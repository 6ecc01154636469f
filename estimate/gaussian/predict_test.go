package gaussian

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestRadiusTellsScale: the chosen radius leaves enough of the rows within it for the clipped trace
// to tell the scale. With R^2 = 40.5 in 50 columns the trace had .12 of the scale's change, and
// variances came out a fifth too large.
func TestRadiusTellsScale(t *testing.T) {
	for _, d := range []int{1, 2, 5, 20, 50, 100} {
		for _, rows := range []float64{500, 5000, 34_000, 200_000} {
			for _, count2 := range []float64{1e-8, 1e-6, 1e-4} {
				l := last{privacy.ReplaceOne, d, rows, .2, 6600, true, count2}
				if c := l.bestRadius2(); !(component.ClippedGaussian(d, c.R2).TraceGain() > .2) {
					t.Errorf("d = %d, %v rows, count %v: R^2 = %v, of gain %v", d, rows, count2, c.R2, component.ClippedGaussian(d, c.R2).TraceGain())
				}
			}
		}
	}
}

// TestHopefulEnds: where the predicted error is no number there is no hope, and no search for its
// quantile, which would not end.
func TestHopefulEnds(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if hopeful(30, 9144, v, v) {
			t.Errorf("an error of %g is hopeful", v)
		}
	}
}
