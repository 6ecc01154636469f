package coreset

import (
	"math"
	"testing"
)

// TestMisfit: the cells of one Gaussian fit it, those of two far apart do not, and what noise
// explains is no misfit.
func TestMisfit(t *testing.T) {
	for _, x := range []struct {
		what      string
		apart, sd float64
		low, high float64
	}{{"one", 0, 1, 0, .02}, {"two", 5, 1, .15, 1}, {"two in noise", 5, 1e4, 0, 0}} {
		c := &Coreset{Dim: 1, SD: x.sd}
		for at := -6 + .125; at < 6; at += .25 {
			w := 1e4 * (math.Exp(-(at-x.apart/2)*(at-x.apart/2)/2) + math.Exp(-(at+x.apart/2)*(at+x.apart/2)/2))
			c.Points, c.Cells, c.Weights = append(c.Points, []float64{at}), append(c.Cells, []float64{.25 * .25 / 12}), append(c.Weights, w)
			c.Total += w
		}
		if got := c.Misfit(); !(got >= x.low && got <= x.high) {
			t.Errorf("%s: misfit %g, want %g to %g", x.what, got, x.low, x.high)
		}
	}
}
