package program

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
)

// flat is a profile of cells that are spread evenly over bins, with its median.
func flat(median float64, bars ...estimate.Bar) *estimate.ColumnProfile {
	return &estimate.ColumnProfile{Cells: 1, SD: 1, Quantiles: []estimate.Quantile{{P: .5, Value: median, RankNoise: .01}}, Histogram: bars}
}

// TestSettled: the centre is the median, the scale the octave of the .6 quantile of the distances
// to it that are not 0; a column whose median is a value of many cells, or which the noise hides,
// is left to stage 0.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name          string
		of            *estimate.ColumnProfile
		center, scale float64
		ok            bool
	}{
		{"even", flat(10, estimate.Bar{Low: 0, High: 20, Share: 1}), 10, 4, true}, // .6 of 10
		{"two sides", flat(0, estimate.Bar{Low: -8, High: -7, Share: .5}, estimate.Bar{Low: 0, High: 1, Share: .5}), 0, 4, true},
		{"some at the centre", flat(0, estimate.Bar{Share: .3}, estimate.Bar{Low: 0, High: 10, Share: .7}), 0, 4, true},
		{"most at the centre", flat(0, estimate.Bar{Share: .5}, estimate.Bar{Low: 0, High: 10, Share: .5}), 0, 0, false},
		{"tiny", flat(1e-300, estimate.Bar{Low: 0, High: 2e-300, Share: 1}), 0, 0, false},
		{"values alone", flat(1, estimate.Bar{Share: .4}, estimate.Bar{Low: 1, High: 1, Share: .2}, estimate.Bar{Low: 5, High: 5, Share: .4}), 1, 4, true},
	} {
		center, scale, ok := settled(c.of)
		if ok != c.ok || ok && (center != c.center || scale != c.scale) {
			t.Errorf("%s: %v, %v, %v; want %v, %v, %v", c.name, center, scale, ok, c.center, c.scale, c.ok)
		}
	}
	for name, change := range map[string]func(*estimate.ColumnProfile){
		"held out":  func(c *estimate.ColumnProfile) { c.HeldOut = "too few values" },
		"rank":      func(c *estimate.ColumnProfile) { c.Quantiles[0].RankNoise = .2 },
		"beyond":    func(c *estimate.ColumnProfile) { c.Beyond = .3 },
		"no spread": func(c *estimate.ColumnProfile) { c.SD = 0 },
		"no median": func(c *estimate.ColumnProfile) { c.Quantiles = nil },
		"unbounded": func(c *estimate.ColumnProfile) { c.Histogram[0].High = math.MaxFloat64 },
		"no cells":  func(c *estimate.ColumnProfile) { c.Histogram = nil },
	} {
		of := flat(10, estimate.Bar{Low: 0, High: 20, Share: 1})
		if change(of); slices.ContainsFunc([]*estimate.ColumnProfile{of}, func(c *estimate.ColumnProfile) bool { _, _, ok := settled(c); return ok }) {
			t.Errorf("%s: settled", name)
		}
	}
}
