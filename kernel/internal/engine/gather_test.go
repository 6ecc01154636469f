package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestGather: each kept row is in its leaf once, in the order of the table, over many chunks and
// pieces; null rows and rows in no leaf are nowhere.
func TestGather(t *testing.T) {
	const n = 2*engine.ChunkRows + 77
	rng := rand.New(rand.NewPCG(1, 2))
	table, kept := engine.NewTable(2), make([]bool, n)
	var want [2][3][]float64 // all or kept rows; leaves, and all
	for i := range n {
		row := []float64{rng.Float64()*3 - 1, float64(i)}
		if i%7 == 0 {
			row[0] = math.NaN()
		}
		table.Append(row)
		kept[i] = rng.IntN(3) == 0
		if i%7 == 0 {
			continue
		}
		for which := range want {
			if which == 1 && !kept[i] {
				continue
			}
			want[which][2] = append(want[which][2], row...)
			if row[0] <= 1 {
				leaf := 0
				if row[0] < 0 {
					leaf = 1
				}
				want[which][leaf] = append(want[which][leaf], row...)
			}
		}
	}
	ball := func(center float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: query.Affine{Columns: []int{0}, Center: []float64{center}, W: [][]float64{{1}}}, Radius: .5}}}
	}
	cut := query.Partition{Regions: []query.Region{ball(.5), ball(-.5)}}
	for which, kept := range [][]bool{nil, kept} {
		got := pure.Gather(engine.Local{}, table, cut, kept)
		all := pure.Gather(engine.Local{}, table, query.Partition{}, kept)
		for j, rows := range append(got, all...) {
			if !slices.Equal(rows, want[which][j]) {
				t.Errorf("kept %v, leaf %d: %d values, want %d", which == 1, j, len(rows), len(want[which][j]))
			}
		}
	}
}
