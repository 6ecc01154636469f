package engine

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// mixedTable has ordinary rows, null rows and rows of every size.
func mixedTable(n, d int) *Table {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	t := NewTable(d)
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
	qs["marginal"] = query.ClippedMoments{Form: query.ColumnForm, Lift: .4, Components: diagonal.Components[:1]}
	qs["completed"] = query.ClippedMoments{Form: query.CompletedForm, Lift: .1, Components: diagonal.Components[:1]}
	qs["count"] = query.Count{}
	qs["tails"] = query.Counts{Map: lower(d, 0), As: query.Above, Edges: [][]float64{{1, 2, 30}}}
	unit := query.Component{Map: lower(d, 0)}
	qs["log ratio"] = query.LogRatio{F: diagonal.Components, G: []query.Component{unit}, Bound: 1}
	return qs
}

// TestWorkersAndChunks: the answer is the sum over single rows, whatever the number of workers and
// wherever chunks and pieces end.
func TestWorkersAndChunks(t *testing.T) {
	const d = 3
	for _, n := range []int{0, 1, 2, 31, 32, 33, 1023, 1025, ChunkRows - 1, ChunkRows, ChunkRows + 1, 2*ChunkRows + 1057} {
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
				if got := Sum(Local{Workers: workers}, table, q); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s, n = %d, %d workers: %v, row by row %v", name, n, workers, got, want)
				}
			}
		}
	}
}

// TestPresence: what is asked of presence is the sum over the images of single rows, whatever the
// rows; and how many are good is known without a scan.
func TestPresence(t *testing.T) {
	const d = 3
	table, images, kinds := NewTable(d), []float64(nil), [][]float64{{1, 2, 3}, {1, 0, 0}, {0, 1, 1}, {0, 0, 0}, {1e308, 5e-324, -1}}
	for i := range 3*ChunkRows + 5 {
		row, image, cells := append([]float64(nil), kinds[i*i*i%len(kinds)]...), make([]float64, d), 0
		for j, v := range row {
			if v == 0 {
				row[j] = []float64{math.NaN(), math.Inf(1)}[i%2]
				continue
			}
			image[j] = 1
			cells++
		}
		if table.Append(row); cells > 0 {
			images = append(images, image...)
		}
	}
	for name, q := range allQueries(d) {
		want, m := make([]int64, q.Size()), q.Compile(d)
		for at := 0; at < len(images); at += d {
			m.Add(want, images[at:at+d])
		}
		for _, workers := range []int{0, 1, 7} {
			if got := Sum(Local{Workers: workers}, table, query.Partial{Sum: q, As: query.Presence}); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %d workers: %v, image by image %v", name, workers, got, want)
			}
		}
	}
	want := []int64{0}
	for i := range table.Len() {
		query.Count{}.Compile(d).Add(want, table.Row(i)[:d])
	}
	if got := Sum(nobody{}, table, query.Count{}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v good rows, want %v", got, want)
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

// TestPairsAndBoxes compares pairs, leaves and boxes with loops over the rows.
func TestPairsAndBoxes(t *testing.T) {
	table := mixedTable(ChunkRows+50, 2)
	pairs := [][2]int32{{0, ChunkRows + 1}, {3, 7}, {ChunkRows - 1, ChunkRows}}
	for i := range 2*PieceRows + 7 { // more than one batch
		pairs = append(pairs, [2]int32{int32(i), int32(table.Len() - 1 - i)})
	}
	q := query.PairOctaves{Columns: 2, Low: -4, High: 4}
	want := make([]int64, q.Size())
	m := q.Compile(2)
	for _, p := range pairs {
		x, y := table.Row(int(p[0])), table.Row(int(p[1]))
		m.Add(want, []float64{x[0] - y[0], x[1] - y[1]})
	}
	for _, workers := range []int{0, 1, 2, 7} {
		if got := SumPairs(Local{Workers: workers}, table, q, pairs); !reflect.DeepEqual(got, want) {
			t.Errorf("pairs, %d workers: %v, want %v", workers, got, want)
		}
	}
	near := query.Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}, {0, 1}}}
	ball := func(r float64) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: near, Radius: r}}}
	}
	cut := query.Partition{Regions: []query.Region{ball(1), ball(30)}}
	grid := query.Grid{Map: near, Side: []float64{1, 2}, Offset: []float64{0, .5}}
	for _, k := range []query.BoxKeys{{Grids: []query.Grid{grid}}, {Grids: []query.Grid{grid}, Joint: true},
		{Partition: cut, Grids: []query.Grid{grid, grid}}, {Partition: cut, Grids: []query.Grid{grid, grid}, Joint: true}} {
		checkLeavesAndBoxes(t, table, k)
	}
}

// checkLeavesAndBoxes compares leaves and boxes of all rows with those of one row at a time.
func checkLeavesAndBoxes(t *testing.T, table *Table, k query.BoxKeys) {
	sorter, m := k.Partition.Sorter(2), k.Start(2).(*query.Boxes)
	places, place := make([]int32, table.Len()), make([]int, 1)
	in := 0
	for i := range places {
		sorter.Sort(place, table.Row(i))
		places[i] = int32(place[0])
		m.Add(i, table.Row(i))
		if places[i] >= 0 {
			in++
		}
	}
	if in < 1000 || in == table.Len() {
		t.Errorf("%d rows of %d are in leaves", in, table.Len())
	}
	for _, workers := range []int{0, 1, 7} {
		e := Local{Workers: workers}
		if got := Leaves(e, table, k.Partition); !reflect.DeepEqual(got, places) {
			t.Errorf("%d workers: the leaves differ from those row by row", workers)
		}
		if got := e.Scan(table, k).(*query.Boxes).Counts; !reflect.DeepEqual(got, m.Counts) {
			t.Errorf("%d workers: the boxes differ from those row by row", workers)
		}
	}
}
