package profile

import (
	"math"
	"testing"
)

// TestShareOfOneBar: a bar that holds all cells, and by rounding a little more, has a share that a
// release may hold.
func TestShareOfOneBar(t *testing.T) {
	cells := 4242.7
	c := &column{cells: cells, cellsSD: 20, clear: 100, moments: moments{mean: 1, meanSD: .01, sd: 1, sdSD: .01}}
	c.list = []bin{{0, 2, math.Nextafter(cells, math.MaxFloat64), 20}}
	if p := c.profile(5000, 44); len(p.Histogram) != 1 || p.Histogram[0].Share > 1 {
		t.Errorf("%+v", p.Histogram)
	}
}

// TestSurer: five values that the bins show have the sd of the bins where that of sums is noise,
// or less than they can have; a tail that the bins do not show keeps that of the sums.
func TestSurer(t *testing.T) {
	for _, sums := range []struct {
		sd, noise float64
		bins      bool
	}{{6.4, 2.6, true}, {.43, .18, true}, {1.45, .05, false}, {40, 1, false}} {
		c := &column{cells: 6000, moments: moments{mean: 3, sd: sums.sd, sdSD: sums.noise}}
		for v := 1.0; v <= 5; v++ {
			c.list = append(c.list, bin{v, v, 1200, 120})
		}
		mean, sd, reach := c.byBins()
		bins := c.ofBins(mean, sd, reach)
		if c.surer(bins); (c.sd == bins.sd) != sums.bins || math.Abs(bins.sd-math.Sqrt2) > .01 {
			t.Errorf("sums %+v: %g, by bins %g with noise %g", sums, c.sd, bins.sd, bins.sdSD)
		}
	}
	// cells in one wide bin may all be at one place: neither mean nor sd is known
	c := &column{cells: 500, clear: 100, moments: moments{list: []bin{{1e9 - 40, 1e9 + 40, 500, 20}}}}
	if m := c.ofBins(c.byBins()); m.sdSD < .5*m.sd {
		t.Errorf("one wide bin: %g with noise %g", m.sd, m.sdSD)
	}
}

// TestQuantileBeyond: a quantile beyond what is seen is the end of what is seen, and its noise is
// at least how far the rank of that end is from it.
func TestQuantileBeyond(t *testing.T) {
	c := &column{cells: 1000, moments: moments{list: []bin{{0, 1, 400, 10}, {1, 2, 400, 10}}, outside: [2]float64{120, 80}, spill: [2]float64{20, 20}}}
	for _, x := range []struct{ q, value, off float64 }{{.01, 0, .11}, {.1, 0, .02}, {.95, 2, .03}, {.99, 2, .07}} {
		if got := c.quantile(x.q); got.Value != x.value || got.RankNoise < math.Hypot(x.off, .02) || got.RankNoise > x.off+.05 {
			t.Errorf("quantile %v: %+v, want %v with a noise of at least %v", x.q, got, x.value, x.off)
		}
	}
	if got := c.quantile(.5); math.Abs(got.Value-.95) > .01 || got.RankNoise > .15 {
		t.Errorf("the median is %+v", got)
	}
}
