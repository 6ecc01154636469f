package query_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/kernel/query"
)

// TestBoxesBeyond: a coordinate whose cell number overflows is in no cell, and its row in no joint
// box, while the other coordinates keep theirs; cells of any size have one name for zero.
func TestBoxesBeyond(t *testing.T) {
	g := query.Grid{Map: identity(dims, 1), Side: []float64{1, .1, 5e-324}, Offset: []float64{0, 0, 0}}
	for _, row := range [][]float64{{2.5, 1e308, 0}, {2.5, 0, 1e-3}} {
		for _, joint := range []bool{true, false} {
			n := 0
			for _, counts := range boxCounts(query.BoxKeys{Grids: []query.Grid{g}, Joint: joint}, [][]float64{row}) {
				n += len(counts)
			}
			if joint && n != 0 || !joint && n != 2 {
				t.Errorf("row %v, joint %v: in %d cells", row, joint, n)
			}
		}
	}
	zeros := [][]float64{{0, 0, 0}, {math.Copysign(0, -1), math.Copysign(0, -1), math.Copysign(0, -1)}}
	if counts := boxCounts(query.BoxKeys{Grids: []query.Grid{g}, Joint: true}, zeros); counts[0][query.Box{}] != 2 {
		t.Errorf("two zeros are in %v", counts)
	}
}

// TestPairsBeyond: a pair with a null row adds nothing to any query, however the frame maps it; one
// whose image overflows adds nothing to moments, Bound to a spread, and is in the last bin of
// distances; a centre, even none, does not matter.
func TestPairsBeyond(t *testing.T) {
	null := []float64{math.NaN(), math.NaN(), math.NaN()}
	for name, c := range pairCases() {
		if slices.ContainsFunc(pairSum(c.q, null), func(v int64) bool { return v != 0 }) {
			t.Errorf("%s: a null pair adds %v", name, pairSum(c.q, null))
		}
	}
	id := identity(dims, 1)
	id.Center = nil
	moments, spread, distances := papers.PairMoments{Map: id, Radius: 1}, papers.PairSpread{Map: id, Bound: 1}, papers.PairDistances{Map: id, Edges: []float64{1, 1e300}}
	for _, q := range []query.PairSum{moments, spread, distances} {
		if err := q.Validate(dims); err != nil {
			t.Error(err)
		}
	}
	for _, far := range [][]float64{{1e200, 0, 0}, {math.Inf(1), 0, 0}, {math.Inf(1), math.Inf(-1), 1}} {
		if v := pairSum(moments, far); slices.ContainsFunc(v, func(v int64) bool { return v != 0 }) {
			t.Errorf("moments of %v: %v", far, v)
		}
		if v := pairSum(spread, far); v[0] != 3<<28 || v[1] != 710_213_459 {
			t.Errorf("spread of %v: %v", far, v)
		}
		if v := pairSum(distances, far); !slices.Equal(v, []int64{0, 0, 1}) {
			t.Errorf("distances of %v: %v", far, v)
		}
	}
	mixed := query.Affine{W: [][]float64{{1, 1, 0}}} // infinity less infinity is no number
	if v := pairSum(papers.PairSpread{Map: mixed, Bound: 1}, []float64{math.Inf(1), math.Inf(-1), 0}); v[0] != 3<<28 || v[1] != 710_213_459 {
		t.Errorf("spread beyond numbers: %v", v)
	}
}
