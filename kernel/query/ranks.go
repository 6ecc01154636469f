package query

import (
	"math/bits"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
)

// Ranks counts the values of columns, or their distances from Center, by their rank among all
// float64 numbers. For every column it counts those below the first of 2^Width bins of 2^Shift
// numbers each, those of each bin, those beyond the last, and zeros apart.
//
// It is no Sum: no program can ask for it. An engine scans for Ranks once and computes from them
// the column counts of many edges: see Counts.OfRanks.
type Ranks struct {
	Center []float64 // nil: values
	From   []uint64  // rank of the first bin's first number, per column
	Shift  []int     // per column
	Width  int
}

// octaves is log2 of the count of float64 numbers in an octave.
const octaves = 52

// Ranks returns the widest bins that have an end at each edge of the column counts and whose number
// is a multiple of 2^width. They are the same for all edges that halving them leads to, width
// times.
func (q Counts) Ranks(width int) Ranks {
	r := Ranks{Center: slices.Clone(q.Center), Width: width}
	for _, e := range q.Edges {
		end := rowkernels.Place(e[0], q.Center != nil) + 1
		if e[0] != e[0] { // the edge leaves its column out: any bins do
			end = 1 << 63 // of 0, where a search begins
		}
		steps := (octaves - min(octaves, bits.TrailingZeros64(end)) + width - 1) / width
		shift := max(0, octaves-width*steps)
		r.From, r.Shift = append(r.From, end>>shift>>width<<width), append(r.Shift, shift)
	}
	return r
}

// OfRanks adds the answer of column counts to sum, given the counts of their Ranks. A value is
// above an edge exactly if its rank is, so the result is the count of values, whatever the bins.
func (q Counts) OfRanks(sum []int64, r Ranks, seen []int64) {
	for j, e := range q.Edges {
		cut := int((rowkernels.Place(e[0], q.Center != nil)+1)>>r.Shift[j]-r.From[j]) + 1
		for i, n := range seen[j*r.slots() : (j+1)*r.slots()] {
			switch above := i > cut || i == 0 && e[0] < 0; {
			case e[0] != e[0], i == 0 && q.SkipZero: // zeros come first
			case above == (q.As == Above):
				sum[j] += n
			case above:
				sum[j] -= n
			}
		}
	}
}

// Size returns the number of all counts.
func (r Ranks) Size() int { return len(r.From) * r.slots() }

func (r Ranks) slots() int { return 1<<r.Width + 3 }

// Compile returns the row map.
func (r Ranks) Compile(d int) RowMap { return &rankMap{rowkernels.NewView(nil, r.Center, nil, d), r} }

type rankMap struct {
	*rowkernels.View
	Ranks
}

// Add counts every cell that is not missing, those of null rows among them.
func (m *rankMap) Add(sum []int64, rows []float64) {
	m.Each(rows, func(int) {
		var at [rowkernels.Rows]int
		for j := range m.X {
			rowkernels.Places(&at, &m.X[j], m.From[j], m.Shift[j], 1<<m.Width, m.Center != nil)
			rowkernels.Tally(sum[j*m.slots():(j+1)*m.slots()], &at, &m.X[j])
		}
	})
}

// columnMap answers column counts piece by piece.
type columnMap struct {
	*rankMap
	q    Counts
	seen []int64
}

// Add counts every column of every row.
func (m *columnMap) Add(sum []int64, rows []float64) {
	clear(m.seen)
	m.rankMap.Add(m.seen, rows)
	m.q.OfRanks(sum, m.Ranks, m.seen)
}
