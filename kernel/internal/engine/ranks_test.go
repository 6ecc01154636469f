package engine

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// hostile are values of every kind: rows with one that is not finite are null in a table.
var hostile = []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 0x1p-1022, -0x1p-1022, 0x1p-1030, 1, 1, 1, -1, 2, math.Nextafter(2, 0), math.Nextafter(2, 3), 1e300, -1e300, 1e308, -1e308,
	math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p-500, -0x1p-500, math.Nextafter(0x1p-500, 1), 3, .1}

func hostileTable(rng *rand.Rand, n, d int) *Table {
	t, row := NewTable(d), make([]float64, d)
	for range n {
		for j := range row {
			switch rng.IntN(4) {
			case 0:
				for row[j] = hostile[rng.IntN(len(hostile))]; rng.IntN(6) > 0 && math.IsNaN(row[j]-row[j]); {
					row[j] = hostile[rng.IntN(len(hostile))]
				}
			case 1:
				row[j] = math.Float64frombits(rng.Uint64() &^ (1 << 62)) // any number up to 2
			case 2:
				row[j] = math.Round(8 * rng.NormFloat64())
			default:
				row[j] = 1e6 + rng.NormFloat64()
			}
		}
		t.Append(row)
	}
	return t
}

// slow counts by comparing numbers, row by row.
func slow(t *Table, q query.Counts) []int64 {
	sums := make([]int64, len(q.Edges))
	for i := range t.Len() {
		for j, v := range t.Row(i) {
			if q.Center != nil {
				v = math.Abs(v - q.Center[j])
			}
			switch e := q.Edges[j][0]; {
			case math.IsNaN(v) || math.IsNaN(e) || q.SkipZero && v == 0:
			case v > e && q.As == query.Balance:
				sums[j]--
			case v > e || q.As == query.Balance:
				sums[j]++
			}
		}
	}
	return sums
}

// counting counts the scans.
type counting struct {
	Engine
	scans *int
}

func (c counting) Scan(s Source, q query.Scan) query.Accumulator {
	*c.scans++
	return c.Engine.Scan(s, q)
}

// place is the number at a place in the order of all finite ones, 0 at 0.
func place(o int64) float64 {
	return math.Copysign(math.Float64frombits(uint64(min(max(o, -o), int64(math.Float64bits(math.MaxFloat64))))), float64(o))
}

// TestRanks: column counts are those that a loop over the rows finds, whatever is in the columns
// and whatever was asked before: by a search of halves among all numbers, wherever it goes, by one
// among octaves of distances, with centres from which distances overflow, and of any edges, such as
// those that values have; and the looks of a search cost a scan for ten of them or more, those
// among octaves one, whatever columns have been left out.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	for _, d := range []int{1, 3, 40} {
		for _, n := range []int{0, 1, 50, 1500} {
			table, scans := hostileTable(rng, n, d), 0
			e := counting{Local{Workers: 1 + rng.IntN(3)}, &scans}
			ask := func(q query.Counts) []int64 {
				t.Helper()
				got := Sum(e, table, q)
				if want := slow(table, q); !slices.Equal(got, want) {
					t.Fatalf("%d rows: %+v: %v, want %v", n, q, got, want)
				}
				return got
			}
			low, high := slices.Repeat([]int64{-math.MaxInt64}, d), slices.Repeat([]int64{math.MaxInt64}, d)
			for halving := range 64 { // to medians, and astray where noise would lead
				edges := make([]float64, d)
				for j := range edges {
					if edges[j] = place(low[j]&high[j] + (low[j]^high[j])>>1); j == 2 && halving > 0 {
						edges[j] = math.NaN()
					}
				}
				for j, signed := range ask(query.Counts{Edges: query.Each(edges), As: query.Balance}) {
					middle := low[j]&high[j] + (low[j]^high[j])>>1
					if (signed >= 0) == (j%3 > 0 || halving%7 > 0) {
						high[j] = middle
					} else {
						low[j] = middle + 1
					}
				}
			}
			if most := 64; d <= 3 && scans > most/10 || scans > most {
				t.Errorf("%d columns: %d scans for a search of halves", d, scans)
			}
			center, octave, any := make([]float64, d), make([]float64, d), make([]float64, d)
			for j := range center {
				for center[j] = hostile[rng.IntN(len(hostile))]; math.IsNaN(center[j] - center[j]); {
					center[j] = hostile[rng.IntN(len(hostile))]
				}
			}
			scans = 0
			for range 12 {
				for j := range octave {
					if octave[j] = math.Nextafter(math.Ldexp(1, rng.IntN(2045)-1021), 0); rng.IntN(4) == 0 {
						octave[j] = math.NaN()
					}
				}
				ask(query.Counts{Center: center, Edges: query.Each(octave), As: query.Balance, SkipZero: true})
				ask(query.Counts{Center: center, Edges: query.Each(octave), As: query.Above})
			}
			if d <= 3 && scans > 1 {
				t.Errorf("%d columns: %d scans for octaves", d, scans)
			}
			for range 20 {
				for j := range any {
					if any[j] = hostile[rng.IntN(len(hostile))]; rng.IntN(2) == 0 && n > 0 {
						any[j] = table.Row(rng.IntN(n))[j]
					}
				}
				q := query.Counts{Edges: query.Each(any), As: []query.Report{query.Above, query.Balance}[rng.IntN(2)], SkipZero: rng.IntN(2) == 0}
				if rng.IntN(2) == 0 {
					q.Center = center
				}
				ask(q)
			}
		}
	}
}

// TestSameAgain: a histogram that is asked for twice in a row, for less noise, takes one scan, and
// what is answered is nobody's else; one of other edges, or of one row more, takes its own.
func TestSameAgain(t *testing.T) {
	table, scans := hostileTable(rand.New(rand.NewPCG(11, 6)), 2*PieceRows, 2), 0
	e := counting{Local{}, &scans}
	ask := func(edges [][]float64, want int) []int64 {
		t.Helper()
		q := query.Counts{Edges: edges}
		got, slow := Sum(e, table, q), make([]int64, q.Size())
		m := q.Compile(2)
		for i := range table.Len() {
			m.Add(slow, table.Row(i)[:2])
		}
		if !slices.Equal(got, slow) || scans != want {
			t.Fatalf("%v by %d scans, want %v by %d", got, scans, slow, want)
		}
		return got
	}
	edges := func() [][]float64 { return [][]float64{{-1, 1}, {0}} }
	clear(ask(edges(), 1))
	ask(edges(), 1)
	ask([][]float64{{-1, 1}, {5e-324}}, 2)
	ask(edges(), 3)
	table.Append([]float64{.5, 5})
	ask(edges(), 4)
}

// TestRanksOfAllRows: what was counted while a scan stopped is not kept, nor what was before a row
// came in.
func TestRanksOfAllRows(t *testing.T) {
	table := hostileTable(rand.New(rand.NewPCG(11, 5)), 3*ChunkRows, 2)
	q := query.Counts{Edges: query.Each([]float64{0, 1}), As: query.Above}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, e := range []Engine{Until(stopped, Local{}), nobody{}, Local{}, nobody{}} {
		got := Sum(e, table, q)
		if e == (Local{}) {
			stopped = t.Context() // from here on all rows were read
		}
		if all := slices.Equal(got, slow(table, q)); all != (stopped.Err() == nil) {
			t.Errorf("%T counts all rows: %v", e, all)
		}
	}
	table.Append([]float64{5, 5})
	if got := Sum(Local{}, table, q); !slices.Equal(got, slow(table, q)) {
		t.Errorf("%v with a row more, want %v", got, slow(table, q))
	}
}
