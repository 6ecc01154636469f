package coreset

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Utility constants of the tree ([KSSU19] Section C.3 of the restatement).
const (
	expandAbove = 4.0     // a cell is split if its count exceeds this many sds of one count
	keepAbove   = 2.0     // a cell of the first level is kept if its count exceeds this many sds
	mostSplit   = 1 << 14 // cells that one level may split
)

// Dimension returns the number of leading directions that a tree of a table with d columns sees. A
// utility constant.
func Dimension(d int) int {
	if d == 4 {
		return 3 // finer cells gain more than a fourth direction
	}
	return min(d, 4)
}

// Levels returns the first and the last level (bits per axis) of a tree in q dimensions; fine adds
// one. Utility constants.
func Levels(q int, fine bool) (first, last int) {
	first, last = 2, 4
	switch q {
	case 1:
		first, last = 4, 8
	case 2:
		first, last = 3, 7
	case 3:
		first, last = 2, 5
	}
	if fine {
		last++
	}
	return first, last
}

// A Tree is a dyadic tree of counts that grows level by level: Next is the query of a level, Take
// its answer. It is consistent: the children of a split cell share its count, by projection of
// their noisy counts onto the simplex, so that no mass is lost where cells are too small to stand
// out one by one.
//
// It measures nothing itself: trees of disjoint parts of the rows can be asked in one query of the
// caller.
//
// Source: [KSSU19] Section C.3 of the restatement.
// Differs: the projection; the restatement drops children below a threshold, and their rows with
// them.
type Tree struct {
	frame       query.Affine
	half        []float64
	first, last int
	least       float64
	level       int // of the next query
	drops       *Thresholds
	// parents are the split cells of the level before, totals their counts.
	parents []uint64
	totals  []float64
	leaves  Coreset
}

// NewTree returns a tree in the frame's coordinates y, on the box |y_i| < half_i, from level first
// to level last at most, in bits per axis. Cells of fewer than least rows are never split.
func NewTree(frame query.Affine, half []float64, first, last int, least float64) *Tree {
	return &Tree{frame: frame, half: half, first: first, last: last, least: least, level: first, leaves: Coreset{Dim: frame.Out()}}
}

// Thresholds are those of a tree that drops: a cell is split if its count exceeds Split sds of one
// count, otherwise kept as a leaf if it exceeds Keep.
type Thresholds struct{ Split, Keep float64 }

// NewDroppingTree returns a tree as NewTree does, but not consistent: cells below the thresholds
// are dropped, and their rows with them. The rest holds next to no noise: right for components that
// stand out, wrong for tails.
func NewDroppingTree(frame query.Affine, half []float64, first, last int, least float64, drops Thresholds) *Tree {
	t := NewTree(frame, half, first, last, least)
	t.drops = &drops
	return t
}

// Next returns the query of the next level; false when the tree is finished.
func (t *Tree) Next() (query.GridCounts, bool) {
	if t.level > t.last || t.level > t.first && len(t.parents) == 0 {
		return query.GridCounts{}, false
	}
	return query.GridCounts{Map: t.frame, HalfWidth: t.half, Level: t.level, Parents: t.parents}, true
}

// Take takes the answer to Next's query, which it does not change, and the noise sd of one count.
// It panics if there was no such query or counts are not of its size.
func (t *Tree) Take(counts []float64, sd float64) {
	asked, ok := t.Next()
	if !ok {
		panic("coreset: Take: the tree is finished; want Next to be true before")
	}
	if len(counts) != asked.Size() {
		panic(fmt.Sprintf("coreset: Take: want %d counts, got %d", asked.Size(), len(counts)))
	}
	counts = append([]float64(nil), counts...)
	q := t.leaves.Dim
	t.leaves.SD = sd
	split := expandAbove
	switch {
	case t.drops != nil:
		keepLarge(counts, t.drops.Keep*sd)
		split = t.drops.Split
	case t.level == t.first:
		keepLarge(counts, keepAbove*sd)
	default:
		for i, total := range t.totals {
			toSimplex(counts[i<<q:(i+1)<<q], total)
		}
	}
	var next []uint64
	var totals []float64
	for i, count := range counts {
		key := uint64(i)
		if t.level > t.first {
			key = query.Child(t.parents[i>>q], i&(1<<q-1), q, t.level)
		}
		switch {
		case count > max(split*sd, t.least) && t.level < t.last && len(next) < mostSplit:
			next, totals = append(next, key), append(totals, count)
		case count > 0:
			t.addLeaf(key, count)
		}
	}
	t.parents, t.totals = next, totals
	t.level++
}

// Finest returns the variance within a cell of the last level allowed, per coordinate: side^2/12.
func (t *Tree) Finest() []float64 {
	v := make([]float64, len(t.half))
	for i, h := range t.half {
		side := 2 * h / math.Ldexp(1, t.last)
		v[i] = side * side / 12
	}
	return v
}

// Coreset returns the leaves. Before Next is false, the rows of cells that are still to be split
// are missing.
func (t *Tree) Coreset() *Coreset { return &t.leaves }

// idle returns a query that asks nothing of the rows, for a tree that is finished.
func (t *Tree) idle() query.GridCounts {
	return query.GridCounts{Map: t.frame, HalfWidth: slices.Repeat([]float64{1}, len(t.half)), Level: 1, Parents: []uint64{}}
}

// Grow measures trees of disjoint parts of the rows, level by level, all of them in one query of
// ask, which returns their answers.
func Grow(trees []*Tree, ask func([]query.GridCounts) ([]kernel.Answer, error)) error {
	for {
		queries, any := make([]query.GridCounts, len(trees)), false
		for i, t := range trees {
			q, open := t.Next()
			if any = any || open; !open {
				q = t.idle()
			}
			queries[i] = q
		}
		if !any {
			return nil
		}
		answers, err := ask(queries)
		if err != nil {
			return err
		}
		for i, t := range trees {
			if _, open := t.Next(); open {
				t.Take(answers[i].Values, answers[i].Sigma)
			}
		}
	}
}

// Build measures a whole tree, one measurement per level of an equal part of mu.
func Build(a *kernel.SubBudget, step string, frame query.Affine, half []float64, first, last int, least, mu float64) (*Coreset, error) {
	t := NewTree(frame, half, first, last, least)
	per := mu / math.Sqrt(float64(last-first+1))
	err := Grow([]*Tree{t}, func(q []query.GridCounts) ([]kernel.Answer, error) {
		ans, err := a.Sum(step, q[0], per)
		return []kernel.Answer{ans}, err
	})
	return t.Coreset(), err
}

// keepLarge sets counts below low to zero.
func keepLarge(counts []float64, low float64) {
	for i, v := range counts {
		if v < low {
			counts[i] = 0
		}
	}
}

// toSimplex moves counts to the nearest non-negative vector with the given sum.
func toSimplex(counts []float64, total float64) {
	sorted := append([]float64(nil), counts...)
	sort.Sort(sort.Reverse(sort.Float64Slice(sorted)))
	sum, shift := 0.0, 0.0
	for i, v := range sorted {
		sum += v
		if t := (sum - total) / float64(i+1); v > t {
			shift = t
		}
	}
	for i, v := range counts {
		counts[i] = math.Max(0, v-shift)
	}
}

func (t *Tree) addLeaf(key uint64, count float64) {
	c := &t.leaves
	at := query.Unpack(key, c.Dim, t.level)
	p, v := make([]float64, c.Dim), make([]float64, c.Dim)
	for i, h := range t.half {
		side := 2 * h / math.Ldexp(1, t.level)
		p[i] = -h + (float64(at[i])+.5)*side
		v[i] = side * side / 12
	}
	c.Points = append(c.Points, p)
	c.Cells = append(c.Cells, v)
	c.Weights = append(c.Weights, count)
	c.Total += count
}
