package program

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/parts/columns"
)

// flat is a profile of cells that are spread evenly over bins, with its median.
func flat(median float64, bars ...estimate.Bar) *estimate.ColumnProfile {
	return &estimate.ColumnProfile{Cells: 1, SD: 1, Quantiles: []estimate.Quantile{{P: .5, Value: median, RankNoise: .01}}, Histogram: bars}
}

// TestSettled: the centre is the median, the scale the octave of the .6 quantile of the distances
// to it that are not 0; of a column of which one value is seen, it is that.
func TestSettled(t *testing.T) {
	one := &estimate.ColumnProfile{HeldOut: "one value", Atoms: []estimate.Atom{{Value: 7}}}
	for _, c := range []struct {
		name          string
		of            *estimate.ColumnProfile
		center, scale float64
		ok            bool
	}{
		{"even", flat(10, estimate.Bar{Low: 0, High: 20, Share: 1}), 10, 4, true}, // .6 of 10
		{"two sides", flat(0, estimate.Bar{Low: -8, High: -7, Share: .5}, estimate.Bar{Low: 0, High: 1, Share: .5}), 0, 4, true},
		{"some at the centre", flat(0, estimate.Bar{Share: .3}, estimate.Bar{Low: 0, High: 10, Share: .7}), 0, 4, true},
		{"most at the centre", flat(0, estimate.Bar{Share: .9}, estimate.Bar{Low: 0, High: 10, Share: .1}), 0, 1, false},
		{"most in a bar, others beside", flat(0, estimate.Bar{Low: -1e-9, High: 1e-9, Share: .7}, estimate.Bar{Low: 1, High: 6, Share: .3}), 0, 4, true},
		{"nearly all in a bar", flat(0, estimate.Bar{Low: -1e-9, High: 1e-9, Share: .95}, estimate.Bar{Low: 1, High: 6, Share: .05}), 0, 0x1p-31, true},
		{"a zero and the next number", flat(0, estimate.Bar{Share: .3}, estimate.Bar{High: math.SmallestNonzeroFloat64, Share: .2}, estimate.Bar{Low: 0, High: 10, Share: .5}), 0, 4, true},
		{"the next number alone", flat(0, estimate.Bar{High: math.SmallestNonzeroFloat64, Share: 1}), 0, 1, false},
		{"tiny", flat(1e-300, estimate.Bar{Low: 0, High: 2e-300, Share: 1}), 1e-300, 1, false},
		{"huge", flat(0, estimate.Bar{Low: -math.MaxFloat64, High: math.MaxFloat64, Share: 1}), 0, 0x1p1023, true},
		{"values alone", flat(1, estimate.Bar{Share: .4}, estimate.Bar{Low: 1, High: 1, Share: .2}, estimate.Bar{Low: 5, High: 5, Share: .4}), 1, 4, true},
		{"constant", &estimate.ColumnProfile{Mean: 3}, 3, 1, false},
		{"one value", one, 7, 1, false},
	} {
		if center, scale, ok := settled(c.of); ok != c.ok || center != c.center || scale != c.scale {
			t.Errorf("%s: %v, %v, %v; want %v, %v, %v", c.name, center, scale, ok, c.center, c.scale, c.ok)
		}
	}
}

// TestValues: those that stand for a column are its quantiles, on its grid, and a column is uneven
// if many of them are equal, or differ by more octaves than those of one group.
func TestValues(t *testing.T) {
	even := flat(10, estimate.Bar{Low: 0, High: 10, Share: .25}, estimate.Bar{Low: 10, High: 20, Share: .25})
	if got, noise := values(even); len(got) != points || math.Abs(got[0]-.05) > 1e-12 || math.Abs(got[points-1]-19.95) > 1e-12 || noise != 0 || columns.UnevenPairs(got, noise) {
		t.Errorf("%d values from %v to %v, with noise %v", len(got), got[0], got[len(got)-1], noise)
	}
	even.Grid, even.Offset = 2, 1
	if got, _ := values(even); got[0] != 1 || got[points-1] != 19 && got[points-1] != 21 {
		t.Errorf("on a grid: from %v to %v", got[0], got[points-1])
	}
	even.Grid = 20
	atom := flat(0, estimate.Bar{Share: .6}, estimate.Bar{Low: 1, High: 2, Share: .4})
	groups := flat(0, estimate.Bar{Low: -1, High: 1, Share: .6}, estimate.Bar{Low: 999, High: 1001, Share: .4, Noise: .01})
	tail := flat(0, estimate.Bar{Low: -1, High: 1, Share: .8}, estimate.Bar{Low: 1, High: 1000, Share: .2})
	hidden := flat(0, estimate.Bar{Low: -1, High: 1, Share: .9, Noise: .03}, estimate.Bar{Low: 999, High: 1001, Share: .1, Noise: .03})
	for name, c := range map[string]*estimate.ColumnProfile{"two values": even, "an atom": atom, "two groups": groups} {
		if !columns.UnevenPairs(values(c)) {
			t.Errorf("%s is not uneven", name)
		}
	}
	var bell []estimate.Bar
	for x := -4.; x < 4; x += .5 {
		bell = append(bell, estimate.Bar{Low: x, High: x + .5, Share: (math.Erf((x+.5)/math.Sqrt2) - math.Erf(x/math.Sqrt2)) / 2})
	}
	for name, c := range map[string]*estimate.ColumnProfile{"a Gaussian": flat(0, bell...), "what noise may be": hidden, "a tail in a wide bar": tail} {
		if columns.UnevenPairs(values(c)) {
			t.Errorf("%s is uneven", name)
		}
	}
}

// TestStepsOfOneWay: a plan has one search for units.
func TestStepsOfOneWay(t *testing.T) {
	stage, profiled := Steps(estimate.Problem{}, "", .05), Steps(estimate.Problem{Profiled: true}, "", .05)
	if len(stage) != 6 || len(profiled) != 2 || profiled[0].Share != variedPart || profiled[1].Share != sparsePart || profiled[0].Share > stage[1].Share || profiled[1].Share > stage[4].Share {
		t.Errorf("%v; %v", stage, profiled)
	}
}

// TestAtoms: values that many rows share are atoms, and bars of a histogram are none, however
// narrow: of clusters that lie far apart each is one.
func TestAtoms(t *testing.T) {
	c := flat(0, estimate.Bar{Low: -1, High: 1, Share: .5}, estimate.Bar{Low: 1e9, High: 1e9, Share: .5})
	if got := atomsOf(c); len(got) != 0 {
		t.Errorf("bars alone: %v", got)
	}
	c.Atoms = []estimate.Atom{{Value: 7, Share: .3, Noise: .01}}
	if got := atomsOf(c); len(got) != 1 || got[0] != (Atom{Value: 7, Share: .3, Noise: .01}) {
		t.Errorf("one value: %v", got)
	}
}
