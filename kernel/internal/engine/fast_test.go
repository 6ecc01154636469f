package engine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

const columns = 3

// odd are numbers at which comparing, rounding and counting can go wrong, and what is missing.
var odd = []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 0x1p-1022, 1, 1, -1, 2, math.Nextafter(2, 0), math.Nextafter(2, 3), 1e308, -1e308,
	math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), .1, 3}

func cell(rng *rand.Rand) float64 {
	switch rng.IntN(4) {
	case 0:
		return odd[rng.IntN(len(odd))]
	case 1:
		return math.Round(4 * rng.NormFloat64())
	}
	return rng.NormFloat64()
}

// fill appends rows, of which some are null, partial, or the one before again.
func fill(rng *rand.Rand, t *engine.Table, n int) {
	row := make([]float64, columns)
	for range n {
		if rng.IntN(5) > 0 {
			for j := range row {
				row[j] = cell(rng)
			}
		}
		t.Append(row)
	}
}

// edges are sorted and finite, few or many, some equal.
func edges(rng *rand.Rand) (e []float64) {
	for range 1 + rng.IntN(12) {
		if v := cell(rng); v-v == 0 {
			e = append(e, v, v)
		}
	}
	slices.Sort(e)
	return append(e, math.MaxFloat64)
}

// question draws a query of those that have short cuts, or one like it that has none.
func question(rng *rand.Rand, cut query.Partition) query.Sum {
	one := func() query.Counts {
		lists := make([][]float64, columns)
		lists[rng.IntN(columns)] = edges(rng)
		return query.Counts{Edges: lists}
	}
	each := func() query.Counts {
		q := query.Counts{As: query.Above + query.Report(rng.IntN(2)), SkipZero: rng.IntN(2) == 0}
		for range columns {
			q.Edges = append(q.Edges, []float64{[]float64{cell(rng), math.NaN()}[rng.IntN(5)/4]})
		}
		if rng.IntN(2) == 0 {
			q.Center = []float64{0, 1e308, -1}
		}
		return q
	}
	parts := func() query.Sum {
		p := query.Parts{Partition: cut}
		for range cut.Leaves() {
			p.Queries = append(p.Queries, one())
		}
		return p
	}
	frame := query.Affine{Center: []float64{0, 0, .5}, W: [][]float64{{1, 0, 0}, {.5, 1, 0}}}
	base := []func() query.Sum{
		func() query.Sum { return query.Count{} },
		func() query.Sum { return one() },
		func() query.Sum { return query.Counts{Edges: [][]float64{edges(rng), edges(rng), nil}} },
		func() query.Sum { return each() },
		func() query.Sum { return query.Counts{Map: frame, Edges: [][]float64{{1, 2, 30}}, As: query.Above} },
		func() query.Sum { return query.Directions{Map: frame, Lift: 1} },
		parts,
	}
	of := rng.IntN(len(base))
	q := base[of]()
	switch rng.IntN(4) {
	case 0:
		return query.Partial{Sum: q, As: query.Presence}
	case 1:
		return query.Partial{Sum: q, As: query.Filled, Fill: []float64{.5, -1, 1e300}}
	case 2:
		if of > 0 && of < 4 {
			return query.Partial{Sum: q, As: query.Cells}
		}
	}
	return q
}

// TestFastIsTheScan: on hostile tables, in whatever order questions come, and whatever is kept of
// those before, what is asked the short way is what the plain scan finds; what it returns is
// nobody's else.
func TestFastIsTheScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	near := query.Affine{Columns: []int{0}, Center: []float64{.5}, W: [][]float64{{1}}}
	region := func(radius float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: near, Radius: radius}}}
	}
	partitions := []query.Partition{{Regions: []query.Region{region(.5), region(3)}}, {Regions: []query.Region{{}}},
		{Components: []query.Component{{Map: query.Affine{Center: make([]float64, columns), W: [][]float64{{1, 0, 0}, {0, 1, 1}}}, Radius: 2}}}}
	asked := map[string]int{}
	for _, n := range []int{0, 1, 2, 40, engine.PieceRows + 1, engine.ChunkRows + 3} {
		for range 3 {
			table := engine.NewTable(columns)
			fill(rng, table, n)
			var last query.Sum = query.Count{}
			for i := range 60 {
				cut := partitions[rng.IntN(len(partitions))]
				q := last
				if rng.IntN(3) > 0 {
					q = question(rng, cut)
				}
				switch i % 7 {
				case 2: // what the next question may be told from
					engine.EachSorted(engine.Local{}, table, []query.Partition{cut, {}}[rng.IntN(2)], rng.IntN(columns), func(int, []float64) {})
				case 5:
					fill(rng, table, rng.IntN(3))
				}
				if err := q.Validate(columns); err != nil {
					t.Fatal(err)
				}
				want := engine.PlainSum(engine.Local{Workers: 1}, table, q)
				got := engine.Sum(engine.Local{Workers: 1 + rng.IntN(3)}, table, q)
				if !slices.Equal(got, want) {
					t.Fatalf("%d rows, question %d, %+v: %v, the scan says %v", n, i, q, got, want)
				}
				if slices.Max(append(want, 0)) > 0 {
					asked[q.Kind()]++
				}
				clear(got)
				last = q
			}
		}
	}
	for _, kind := range []string{"count", query.Histogram, query.ColumnCounts, "in parts: histogram", "presence: count", "presence: histogram",
		"presence: column counts", "presence: in parts: histogram", "presence: directions", "filled: count", "present cells: histogram"} {
		if asked[kind] < 5 {
			t.Errorf("%s: %d answers that are not zero: the test could hardly fail", kind, asked[kind])
		}
	}
}
