package kv18

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// between is P(low <= |Z| < high) of a standard Gaussian Z.
func between(low, high float64) float64 { return 2 * (tail(low) - tail(high)) }

// For a Gaussian of any standard deviation the fullest octave of distances of two rows holds
// fullestOctave of them at least, and its lower end is .65 to 1.32 standard deviations: their
// difference is sqrt2 sd Z.
//
// Shows: [KV18] Section 1.
func TestFullestOctave(t *testing.T) {
	least, low, high := 1.0, math.Inf(1), 0.0
	for sd := 1.0; sd < 2; sd *= 1.001 {
		most, at := 0.0, 0.0
		for j := -12; j < 8; j++ {
			end := math.Ldexp(1, j)
			if p := between(end/(math.Sqrt2*sd), 2*end/(math.Sqrt2*sd)); p > most {
				most, at = p, end/sd
			}
		}
		least, low, high = math.Min(least, most), math.Min(low, at), math.Max(high, at)
	}
	t.Logf("holds %.3f at least; lower ends from %.3f to %.3f sds", least, low, high)
	if least < fullestOctave || least > fullestOctave+.02 || low < .65 || high > widestOctave {
		t.Errorf("holds %.3f at least; lower ends from %.3f to %.3f sds", least, low, high)
	}
}

// The fullest bin as wide as the scale holds fullestBin of a Gaussian's rows at least, wherever its
// edges are, and the mean is in it or at its edge.
//
// Shows: [KV18] Section 2.
func TestFullestBin(t *testing.T) {
	least, far := 1.0, 0.0
	for _, c := range []Constants{Practical(), Printed()} {
		for width := .65 * c.Width; width <= widestOctave*c.Width; width *= 1.01 {
			for edge := 0.0; edge < 1; edge += .01 {
				most, at := 0.0, 0.0
				for j := -40.0; j < 40; j++ {
					low := (j + edge) * width
					if p := tail(low) - tail(low+width); p > most {
						most, at = p, low
					}
				}
				least = math.Min(least, most)
				far = math.Max(far, math.Max(at/width, -(at+width)/width)) // how far the mean is outside
			}
		}
	}
	t.Logf("holds %.3f at least; the mean is outside by %.3f of its width at most", least, far)
	if least < fullestBin || far > 1e-9 {
		t.Errorf("holds %.3f at least; the mean is outside by %.3f of its width at most", least, far)
	}
}

// The printed range holds all rows of a Gaussian but for the probability FailureProb, however the
// octaves and the bins lie.
//
// Shows: [KV18] Section 3.
func TestRangeHoldsAll(t *testing.T) {
	c := Printed()
	for n := 10.0; n < 1e12; n *= 3 {
		worst := 0.0
		for _, octave := range []float64{.65, 1, widestOctave} { // the scale in sds
			radius := c.radius(estimate.Problem{Relation: privacy.ReplaceOne}, n, 1) * c.Width * octave
			off := c.Width * octave / 2 // of the bin's centre from the mean, at most
			worst = math.Max(worst, n*2*tail(radius-off))
		}
		if worst > c.FailureProb {
			t.Errorf("n = %v: a row is beyond the range with probability %v", n, worst)
		}
	}
}
