package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// boxCases are stability histograms over every partition of the tests, joint and not, with sides
// and offsets from one extreme to the other.
func boxCases() map[string]query.BoxKeys {
	rng := rand.New(rand.NewPCG(8, 2))
	all := partitions()
	all["whole"] = query.Partition{}
	cases := map[string]query.BoxKeys{}
	for name, p := range all {
		for _, joint := range []bool{true, false} {
			q := query.BoxKeys{Partition: p, Joint: joint}
			for range p.Leaves() {
				g := query.Grid{Map: identity(dims, 1)}
				if rng.IntN(3) == 0 {
					g.Map = dense(rng, dims, dims, 1)
				}
				for range dims {
					g.Side = append(g.Side, []float64{1, .5, 1e-300, 1e300, 5e-324, 3}[rng.IntN(6)])
					g.Offset = append(g.Offset, []float64{0, .25, -1e308, 1e-300, math.Copysign(0, -1)}[rng.IntN(5)])
				}
				q.Grids = append(q.Grids, g)
			}
			cases[fmt.Sprintf("%s, joint %v", name, joint)] = q
		}
	}
	plain := query.Grid{Map: identity(dims, 1), Side: []float64{1, 1, 1}, Offset: make([]float64, dims)}
	cases["plain joint"] = query.BoxKeys{Grids: []query.Grid{plain}, Joint: true}
	cases["plain"] = query.BoxKeys{Grids: []query.Grid{plain}}
	moves := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: identity(dims, 1), Radius: 2}}}, {}}}
	cases["moves"] = query.BoxKeys{Partition: moves, Grids: []query.Grid{plain, plain}}
	return cases
}

func boxCounts(q query.BoxKeys, rows [][]float64) []map[query.Box]int64 {
	counted := q.Start(dims).(*query.Boxes)
	counted.Add(0, flatten(rows))
	return counted.Counts
}

// aside returns the squared L2 distance of the counts, and for each of the J histograms, all leaves
// together, how many bins are not empty in a but empty in b; -1 if one of them has a count other
// than 1.
func aside(q query.BoxKeys, a, b []map[query.Box]int64) (square float64, only []int) {
	only = make([]int, q.Histograms())
	for i := range a {
		h := i % q.Histograms()
		for box, n := range a[i] {
			diff := float64(n - b[i][box])
			square += diff * diff
			if b[i][box] == 0 && only[h] >= 0 {
				if only[h]++; n != 1 {
					only[h] = -1
				}
			}
		}
		for box, n := range b[i] {
			if a[i][box] == 0 {
				square += float64(n * n)
			}
		}
	}
	return square, only
}

// TestBoxNeighbours is what the release of a stability histogram rests on: between neighbours,
// under either relation, the counts of all leaves differ by at most the stated sensitivity, and of
// each histogram, over all leaves, at most one bin is empty on one side only, on either side, with
// count 1 on the other. Rows move between leaves, become null, tie, and are extreme.
func TestBoxNeighbours(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	pool := poolRows(4)
	for range 40 { // so that leaves near zero are met often
		row := make([]float64, dims)
		for j := range row {
			row[j] = math.Round(4*rng.NormFloat64()) / 2
		}
		pool = append(pool, row)
	}
	draw := func() []float64 { return pool[rng.IntN(len(pool))] }
	for name, q := range boxCases() {
		if err := q.Validate(dims); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		most := map[privacy.Relation]float64{}
		compare := func(r privacy.Relation, x, y []map[query.Box]int64) {
			square, only := aside(q, x, y)
			_, other := aside(q, y, x)
			most[r] = math.Max(most[r], math.Sqrt(square))
			for h := range only {
				if only[h] < 0 || only[h] > 1 || other[h] < 0 || other[h] > 1 {
					t.Fatalf("%s: histogram %d has bins of its own: %d and %d", name, h, only[h], other[h])
				}
			}
		}
		for range 300 {
			var rows [][]float64
			for range rng.IntN(4) {
				rows = append(rows, draw())
			}
			common := rows[:len(rows):len(rows)]
			x, y := boxCounts(q, append(common, draw())), boxCounts(q, append(common, draw()))
			compare(privacy.ReplaceOne, x, y)
			compare(privacy.AddRemoveOne, x, boxCounts(q, common))
		}
		for r, found := range most {
			// changes are whole numbers: the sum of their squares is no less than that of their
			// sizes
			if l1 := found * found; l1 > privacy.L1(math.MaxInt, q.Sensitivity(r))+1e-9 {
				t.Errorf("%s, %v: found an L1 change of up to %v, stated %v", name, r, l1, privacy.L1(math.MaxInt, q.Sensitivity(r)))
			}
			if stated := q.Sensitivity(r); found > stated || found < .99*stated && (name == "plain" || name == "plain joint" || name == "moves") {
				t.Errorf("%s, %v: found %v of the stated %v", name, r, found, stated)
			}
		}
	}
}

// TestBoxNames: a row is in one box, or one cell per coordinate, of its own leaf, whatever batch it
// is read in; names are whole numbers and zero has one.
func TestBoxNames(t *testing.T) {
	for name, q := range boxCases() {
		for _, row := range poolRows(3) {
			leaf := twinLeaf(q.Partition.OrWhole(), row)
			for i, counts := range boxCounts(q, [][]float64{row}) {
				if len(counts) > 1 || len(counts) == 1 && i/q.Histograms() != leaf {
					t.Fatalf("%s: row %v of leaf %d has %d bins in histogram %d", name, row, leaf, len(counts), i)
				}
				for box, n := range counts {
					if n != 1 || name == "plain joint" && box != plainBox(row) {
						t.Errorf("%s: row %v: %d times in box %v", name, row, n, box)
					}
					for _, k := range box {
						if k != math.Floor(k) || math.IsInf(k, 0) || math.Signbit(k) && k == 0 {
							t.Errorf("%s: row %v: box %v", name, row, box)
						}
					}
				}
			}
		}
		pool := poolRows(3)
		whole, m := boxCounts(q, pool), q.Start(dims).(*query.Boxes)
		single := m.Counts
		for i := range pool {
			m.Add(0, pool[len(pool)-1-i])
		}
		for i := range whole {
			if fmt.Sprint(whole[i]) != fmt.Sprint(single[i]) {
				t.Fatalf("%s: counts depend on batches or order", name)
			}
		}
	}
}

func plainBox(row []float64) (box query.Box) {
	for i, v := range row {
		box[i] = math.Floor(v) + 0
	}
	return box
}
