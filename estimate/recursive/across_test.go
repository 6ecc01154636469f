package recursive

import (
	"math"
	"testing"
)

// TestModes: two modes are clear of the noise, at any sizes that are no trifle; one mode, wide or
// flat, is one in 999 of 1,000 columns.
func TestModes(t *testing.T) {
	rng := newRand(t)
	column := func(sd float64, value func() float64) []float64 {
		counts := make([]float64, acrossBins)
		for range 12000 {
			if b := int(math.Floor((value() + acrossSDs) / (2 * acrossSDs) * acrossBins)); b >= 0 && b < acrossBins {
				counts[b]++
			}
		}
		for b := range counts {
			counts[b] += sd * rng.NormFloat64()
		}
		return counts
	}
	two := func(light float64) func() float64 {
		return func() float64 {
			if rng.Float64() < light {
				return 1.9 + .35*rng.NormFloat64()
			}
			return -.5 + .35*rng.NormFloat64()
		}
	}
	for light, sd := range map[float64]float64{.5: 100, .2: 50, .12: 25} {
		missed := 0
		for range 100 {
			if modes(column(sd, two(light)), sd) < modeSDs {
				missed++
			}
		}
		if missed > 10 { // none is expected
			t.Errorf("a second mode of %v of the rows is missed %d times of 100", light, missed)
		}
	}
	wrong := 0
	for range 500 {
		for _, one := range []func() float64{rng.NormFloat64, func() float64 { return 6*rng.Float64() - 3 }} {
			if modes(column(60, one), 60) > modeSDs {
				wrong++
			}
		}
	}
	if wrong > 5 { // the chance is below 1e-5 if one in 1,000 is
		t.Errorf("%d of 1,000 columns with one mode show two", wrong)
	}
}
