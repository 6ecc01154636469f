package local

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query"
)

// mixedTable has ordinary rows, null rows and rows of every size.
func mixedTable(n, d int) *rows.Table {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	t := rows.New(d)
	row := make([]float64, d)
	for i := range n {
		for j := range row {
			row[j] = rng.NormFloat64() * math.Exp(3*rng.NormFloat64())
		}
		switch i % 97 {
		case 3:
			row[i%d] = math.NaN()
		case 5:
			row[i%d] = 1e308
		case 7:
			row[i%d] = 5e-324
		}
		t.Append(row)
	}
	return t
}

func allQueries(d int) map[string]query.Sum {
	qs := benchQueries(d)
	diagonal := qs["moments-soft"].(query.ClippedMoments)
	diagonal.Form = query.DiagonalForm
	qs["diagonal"] = diagonal
	spherical := diagonal
	spherical.Form = query.SphericalForm
	qs["spherical"] = spherical
	qs["count"] = query.Count{}
	qs["tails"] = query.TailCounts{Frame: lower(d, 0), Thresholds: []float64{1, 2, 30}}
	unit := query.Component{Frame: lower(d, 0)}
	qs["log ratio"] = query.LogRatio{F: diagonal.Components, G: []query.Component{unit}, Bound: 1}
	return qs
}

// TestWorkersAndChunks: the answer is the sum over single rows, whatever the number of workers and wherever chunks and pieces end.
func TestWorkersAndChunks(t *testing.T) {
	const d = 3
	for _, n := range []int{0, 1, 2, 31, 32, 33, 1023, 1025, rows.ChunkRows - 1, rows.ChunkRows, rows.ChunkRows + 1, 2*rows.ChunkRows + 1057} {
		table := mixedTable(n, d)
		if table.Len() != n {
			t.Fatalf("%d rows in a table of %d", table.Len(), n)
		}
		for name, q := range allQueries(d) {
			want := make([]int64, q.Size())
			m := q.Compile(d)
			for i := range n {
				m.Add(want, table.Row(i))
			}
			for _, workers := range []int{0, 1, 2, 7} {
				if got := (Engine{Workers: workers}).Sum(table, q); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, n = %d, %d workers: %v, row by row %v", name, n, workers, got, want)
				}
			}
		}
	}
}

// TestWrap: sums are modulo 2^64, not saturated and not an error.
func TestWrap(t *testing.T) {
	q := query.Count{}
	sum := []int64{math.MaxInt64}
	q.Compile(1).Add(sum, []float64{1})
	if sum[0] != math.MinInt64 {
		t.Errorf("got %d", sum[0])
	}
}

// TestPairsAndKeys compares both with loops over the rows.
func TestPairsAndKeys(t *testing.T) {
	table := mixedTable(rows.ChunkRows+50, 2)
	pairs := [][2]int{{0, rows.ChunkRows + 1}, {3, 7}, {rows.ChunkRows - 1, rows.ChunkRows}}
	q := query.PairOctaves{Columns: 2, Low: -4, High: 4}
	want := make([]int64, q.Size())
	for _, p := range pairs {
		q.AddPair(want, table.Row(p[0]), table.Row(p[1]))
	}
	if got := (Engine{}).SumPairs(table, q, pairs); !reflect.DeepEqual(got, want) {
		t.Errorf("pairs: %v, want %v", got, want)
	}
	k := query.CellKeys{Offset: []float64{0, .5}, Cell: []float64{1, 2}}
	counts := (Engine{}).Keys(table, k)
	good, seen := 0, int64(0)
	for i := range table.Len() {
		if _, ok := k.Key(0, table.Row(i)); ok {
			good++
		}
	}
	for _, c := range counts[0] {
		seen += c
	}
	if seen != int64(good) || good == 0 {
		t.Errorf("keys: %d rows counted of %d", seen, good)
	}
}
