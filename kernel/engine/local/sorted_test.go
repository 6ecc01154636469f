package local

import (
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/engine"
	"github.com/gauze-dp/gauze/kernel/internal/leaves"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/gapbuckets"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

// oddColumn draws values with ties, zeros of either sign, extremes and null rows.
func oddColumn(rng *rand.Rand, n int) *rows.Table {
	odd := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, 1, -1, math.NaN(), 1e-300}
	t := rows.New(2)
	for range n {
		v := math.Round(8*rng.NormFloat64()) / 4
		if rng.IntN(4) == 0 {
			v = odd[rng.IntN(len(odd))]
		}
		t.Append([]float64{rng.NormFloat64(), v})
	}
	return t
}

// nobody is an engine that reads no row.
type nobody struct{}

func (nobody) Scan(_ rows.Source, q query.Scan) query.Accumulator { return q.Start(2) }

// TestBinsOfSorted: once a column is sorted its bins are counted from the copy, and every count is
// that of the scan; other histograms are scanned as before.
func TestBinsOfSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, 7, 300, 5000} {
		table := oddColumn(rng, n)
		var queries []query.Counts
		for range 40 {
			edges := []float64{0, math.Copysign(0, -1), 1, 1, -1, 5e-324, math.MaxFloat64, -math.MaxFloat64}[:rng.IntN(8)+1]
			edges = slices.Clone(edges)
			for range rng.IntN(20) {
				edges = append(edges, rng.NormFloat64(), math.Round(8*rng.NormFloat64())/4)
			}
			slices.Sort(edges)
			queries = append(queries, query.Counts{Edges: [][]float64{nil, edges}}, query.Counts{Edges: [][]float64{edges, edges}})
		}
		var scanned [][]int64
		for _, q := range queries {
			scanned = append(scanned, engine.Sum(Engine{}, table, q))
		}
		table.Sorted(1, leaves.Sort)
		for i, q := range queries {
			if got := engine.Sum(Engine{}, table, q); !slices.Equal(got, scanned[i]) {
				t.Fatalf("%d rows, edges %v: %v by scan, %v sorted", n, q.Edges, scanned[i], got)
			}
			if one := i%2 == 0; n > 7 && one != (slices.Equal(engine.Sum(nobody{}, table, q), scanned[i])) {
				t.Errorf("sorted copy used: %v", !one)
			}
		}
	}
}

func masses(e Engine, t *rows.Table, q rings.GapQuery) []rings.GapMass {
	p, column := q.Of()
	own := make([][]rings.GapMass, p.Leaves())
	leaves.EachSorted(e, t, p, column, func(leaf int, sorted []float64) { own[leaf] = q.Masses(leaf, sorted) })
	return slices.Concat(own...)
}

// TestGaps: the buckets of each leaf are those of the table of its rows alone, whatever the number
// of workers and the order of rows; hard buckets are of all rows. Rows in no leaf and null rows are
// no values.
func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	table := oddColumn(rng, 3*rows.ChunkRows/2)
	near := rings.Condition{Frame: query.Affine{Columns: []int{0}, Center: []float64{.5}, W: [][]float64{{1}}}, Radius: .5}
	far := near
	far.Radius, far.Outside = 1, true
	cut := rings.Partition{Regions: []rings.Region{{Conditions: []rings.Condition{near}}, {Conditions: []rings.Condition{far}}}}
	backwards, parts := rows.New(2), [3]*rows.Table{rows.New(2), rows.New(2), rows.New(2)}
	for i := table.Len() - 1; i >= 0; i-- {
		row := table.Row(i)
		backwards.Append(row)
		leaf := 2
		if d := math.Abs(row[0] - .5); d <= .5 {
			leaf = 0
		} else if d > 1 {
			leaf = 1
		}
		parts[leaf].Append(row)
	}
	whole := rings.GapMasses{Column: 1, LogWindow: 15}
	var want []rings.GapMass
	for leaf := range 2 {
		for _, m := range masses(Engine{}, parts[leaf], whole) {
			m.Leaf = leaf
			want = append(want, m)
		}
	}
	split := whole
	split.Partition = cut
	for _, e := range []Engine{{Workers: 1}, {Workers: 3}} {
		for _, tab := range []*rows.Table{table, backwards} {
			if got := masses(e, tab, split); !reflect.DeepEqual(got, want) || len(got) < 6 {
				t.Errorf("%d workers: %d buckets, want %d", e.Workers, len(got), len(want))
			}
			for _, q := range []rings.GapQuery{whole, gapbuckets.GapBuckets{Column: 1, Rows: 9}} {
				var values []float64
				for i := range tab.Len() {
					if v := tab.Row(i)[1]; v == v {
						values = append(values, v)
					}
				}
				slices.Sort(values)
				if got := masses(e, tab, q); !reflect.DeepEqual(got, q.Masses(0, values)) {
					t.Errorf("%T of all rows differs", q)
				}
			}
		}
	}
	if got := masses(Engine{}, rows.New(2), split); len(got) != 0 {
		t.Errorf("no rows have buckets %v", got)
	}
	total := map[int]int64{}
	for _, m := range want {
		total[m.Leaf] += m.Mass
	}
	distinct := map[int]int64{}
	for leaf := range 2 {
		seen := map[float64]bool{}
		for i := range parts[leaf].Len() {
			if v := parts[leaf].Row(i)[1]; v == v {
				seen[math.Max(-0x1p900, math.Min(0x1p900, v))+0] = true
			}
		}
		maps.DeleteFunc(seen, func(v float64, _ bool) bool { return v != 0 && math.Abs(v) < 0x1p-900 })
		distinct[leaf] = int64(len(seen)-1) << 20
	}
	if !maps.Equal(total, distinct) {
		t.Errorf("masses are %v, want %v", total, distinct)
	}
}
