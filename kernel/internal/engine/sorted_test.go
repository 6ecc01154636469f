package engine

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// oddColumn draws values with ties, zeros of either sign, extremes and null rows.
func oddColumn(rng *rand.Rand, n int) *Table {
	odd := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, 1, -1, math.NaN(), 1e-300}
	t := NewTable(2)
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

func (nobody) Scan(_ Source, q query.Scan) query.Accumulator { return q.Start(2) }

// cuts are partitions of tables of two columns: none, boxes that overlap, cells of components and
// cuts of cells.
func cuts(rng *rand.Rand) []query.Partition {
	condition := func(outside bool) query.Condition {
		return query.Condition{Map: query.Affine{Columns: []int{rng.IntN(2)}, Center: []float64{rng.NormFloat64()}, W: [][]float64{{1}}}, Radius: rng.ExpFloat64(), Outside: outside}
	}
	regions := query.Partition{Regions: []query.Region{{Conditions: []query.Condition{condition(false), condition(true)}}, {Conditions: []query.Condition{condition(false)}}}}
	near := func(x float64) query.Component {
		return query.Component{Map: query.Affine{Center: []float64{x, -x}, W: [][]float64{{1, .5}, {0, 1}}}, LogWeight: rng.NormFloat64(), Radius: 3}
	}
	nested := query.Partition{Components: []query.Component{near(1), near(-1)}, Below: []query.Partition{{}, regions}}
	all := query.Partition{Regions: []query.Region{{}}}
	return []query.Partition{{}, all, regions, nested, {Regions: regions.Regions[1:]}, {Regions: regions.Regions, Project: query.Affine{Center: []float64{0, 1e308}, W: [][]float64{{1, 0}, {0, 1}}}}}
}

// TestBinsOfSorted: once a column is in order in the leaves of a partition, its bins there are
// counted from the copy, and every count is that of the scan; other histograms, in other leaves, of
// other columns or of several, are scanned as before.
func TestBinsOfSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{0, 1, 7, 300, 5000} {
		for round := range 6 {
			table, partitions := oddColumn(rng, n), cuts(rng)
			edges := func() []float64 {
				e := slices.Clone([]float64{0, math.Copysign(0, -1), 1, 1, -1, 5e-324, math.MaxFloat64, -math.MaxFloat64}[:rng.IntN(8)+1])
				for range rng.IntN(20) {
					e = append(e, rng.NormFloat64(), math.Round(8*rng.NormFloat64())/4)
				}
				slices.Sort(e)
				return e
			}
			asked, column := partitions[round], rng.IntN(2)
			type question struct {
				query.Sum
				copied bool
			}
			var questions []question
			for range 10 {
				for c := range 2 {
					alone := make([][]float64, 2)
					alone[c] = edges()
					questions = append(questions, question{query.Counts{Edges: alone}, asked.Cut() == nil && c == column}, question{query.Counts{Edges: [][]float64{edges(), edges()}}, false})
					for i, p := range partitions[1:] {
						part, own := query.Parts{Partition: p}, c == column && (i+1 == round || round == 0 && i == 0)
						for range p.Leaves() {
							one := make([][]float64, 2)
							one[c] = edges()
							part.Queries = append(part.Queries, query.Counts{Edges: one})
						}
						questions = append(questions, question{part, own})
						if mixed := slices.Clone(part.Queries); len(mixed) > 1 {
							mixed[1] = query.Counts{Edges: [][]float64{edges(), edges()}}
							questions = append(questions, question{query.Parts{Partition: p, Queries: mixed}, false})
						}
						counts := make([]query.Sum, p.Leaves())
						for j := range counts {
							counts[j] = query.Count{}
						}
						questions = append(questions, question{query.Parts{Partition: p, Queries: counts}, false})
					}
				}
			}
			questions = append(questions, question{query.Counts{Edges: [][]float64{{1}, {2}}, As: query.Above}, true}, question{query.Count{}, true})
			var scanned [][]int64
			for _, q := range questions {
				scanned = append(scanned, Sum(Local{}, table, q.Sum))
			}
			for i, q := range questions {
				EachSorted(Local{Workers: 3}, table, asked, column, func(int, []float64) {})
				if got := Sum(Local{}, table, q.Sum); !slices.Equal(got, scanned[i]) {
					t.Fatalf("%d rows, %+v: %v by scan, %v sorted", n, q.Sum, scanned[i], got)
				}
				if rows := slices.ContainsFunc(scanned[i], func(c int64) bool { return c != 0 }); rows && (q.copied || q.Kind() == query.Histogram) != slices.Equal(Sum(nobody{}, table, q.Sum), scanned[i]) {
					t.Errorf("%d rows, cut %d, %+v: sorted copy used: %v", n, round, q.Sum, !q.copied)
				}
			}
		}
	}
}

// TestSortedOfAllRows: what was put in order while a scan stopped is not kept.
func TestSortedOfAllRows(t *testing.T) {
	table := oddColumn(rand.New(rand.NewPCG(3, 3)), 3*ChunkRows)
	bins := query.Parts{Partition: cuts(rand.New(rand.NewPCG(3, 4)))[2]}
	for range bins.Partition.Leaves() {
		bins.Queries = append(bins.Queries, query.Counts{Edges: [][]float64{nil, {-1, 0, 1}}})
	}
	want := Sum(Local{}, table, bins)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, e := range []Engine{Until(stopped, Local{}), nobody{}} {
		EachSorted(e, table, bins.Partition, 1, func(int, []float64) {})
		if got := Sum(Local{}, table, bins); !slices.Equal(got, want) {
			t.Errorf("%v after a scan that was stopped, want %v", got, want)
		}
	}
}

func masses(e Local, t *Table, q query.SpacingQuery) []query.SpacingMass {
	p, column := q.Of()
	own := make([][]query.SpacingMass, p.Leaves())
	EachSorted(e, t, p, column, func(leaf int, sorted []float64) { own[leaf] = q.Masses(leaf, sorted) })
	return slices.Concat(own...)
}

// TestGaps: the buckets of each leaf are those of the table of its rows alone, whatever the number
// of workers and the order of rows; hard buckets are of all rows. Rows in no leaf and null rows are
// no values.
func TestGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	table := oddColumn(rng, 3*ChunkRows/2)
	near := query.Condition{Map: query.Affine{Columns: []int{0}, Center: []float64{.5}, W: [][]float64{{1}}}, Radius: .5}
	far := near
	far.Radius, far.Outside = 1, true
	cut := query.Partition{Regions: []query.Region{{Conditions: []query.Condition{near}}, {Conditions: []query.Condition{far}}}}
	backwards, parts := NewTable(2), [3]*Table{NewTable(2), NewTable(2), NewTable(2)}
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
	whole := query.SpacingMasses{Column: 1, LogWindow: 15}
	var want []query.SpacingMass
	for leaf := range 2 {
		for _, m := range masses(Local{}, parts[leaf], whole) {
			m.Leaf = leaf
			want = append(want, m)
		}
	}
	split := whole
	split.Partition = cut
	for _, e := range []Local{{Workers: 1}, {Workers: 3}} {
		for _, tab := range []*Table{table, backwards} {
			if got := masses(e, tab, split); !reflect.DeepEqual(got, want) || len(got) < 6 {
				t.Errorf("%d workers: %d buckets, want %d", e.Workers, len(got), len(want))
			}
			for _, q := range []query.SpacingQuery{whole, papers.SpacingBuckets{Column: 1, Rows: 9}} {
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
	if got := masses(Local{}, NewTable(2), split); len(got) != 0 {
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
