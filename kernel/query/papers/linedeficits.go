package papers

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A LinePair names a Gaussian of the infinite lattice on the line: its standard deviation is
// (4 + Scale mod 4)/4 times a power of two, and its mean Place quarters of that.
type LinePair struct {
	Scale, Place int64
}

// Bounds of the lattice: standard deviations from 2^-900 to 2^900, and means up to 2^45 of them.
// All of it is exact in float64.
const (
	leastScale, mostScale = -3600, 3600
	mostPlace             = 1 << 47
)

// Gaussian returns the mean and the standard deviation, exactly.
func (p LinePair) Gaussian() (mean, sd float64) {
	quarters, octave := p.unit()
	return math.Ldexp(float64(p.Place*quarters), octave-2), math.Ldexp(float64(quarters), octave)
}

// unit returns sd as quarters 2^octave, quarters in 4 to 7.
func (p LinePair) unit() (quarters int64, octave int) {
	return 4 + p.Scale&3, int(p.Scale>>2) - 2
}

// edge returns mean + b/32 sd, exactly.
func (p LinePair) edge(b int64) float64 {
	quarters, octave := p.unit()
	return math.Ldexp(float64(quarters*(8*p.Place+b)), octave-5)
}

// lineCuts are the edges of the cells in 32nds of the standard deviation: N(0, 1) has .098 to .104
// in each of the ten.
var lineCuts = [9]int64{-41, -27, -17, -8, 0, 8, 17, 27, 41}

const (
	// LineCells is the number of cells of a LineDeficits.
	LineCells = len(lineCuts) + 1
	// LineMost is the largest Below, in Targets: what a pair lacks that has rows in three cells.
	LineMost = LineCells - 3

	lineReach, lineNarrow = 41. / 32, 8. / 32 // of the bounded cells, and of the narrowest, in sds
)

// LineDeficits scores every Gaussian of an infinite lattice on the line (see LinePair) by how many
// of its ten cells, of about equal probability, hold fewer rows than they should:
//
//	S(pair) = min(Below, sum over cells of max(0, Target - #{rows in cell})),  score = -S.
//
// So nobody has to state bounds: pairs outside the lattice, infinitely many, count as Below, as all
// do that lack as much.
//
// Sensitivity 1 under both relations, for the reason of CellDeficits: which cell a row is in
// depends on the row and the pair alone, edges being exact numbers that rows are compared with. One
// row more or less changes one count by 1; one replaced takes 1 from a count and adds 1 to another.
// The minimum with a public number keeps it. Listed returns all pairs with S < Below and no others,
// so what it leaves out depends on the rows only as the scores do
// (kernel/query/papers/linedeficits_proof.md).
//
// As a Score it has one option, the best pair's; its sensitivity is 1 as that of each pair is.
//
// Source: [AMN24] Algorithm 2 (the score, in a form that can be computed); Section C.1.
// Differs: as in CellDeficits.
type LineDeficits struct {
	Target int // rows that a cell should hold
	Below  int // 1 to LineMost Target: pairs with S >= Below are not listed
	// Means, SDs and Factor take pairs out of the lattice: those within Factor of a pair that was
	// found, public or released.
	Means, SDs []float64
	Factor     float64
}

// Kind returns "line deficits".
func (LineDeficits) Kind() string { return "line deficits" }

// Validate returns an error if there is more than one column, or the numbers cannot be used.
func (s LineDeficits) Validate(d int) error {
	if d != 1 {
		return fmt.Errorf("query: LineDeficits: want one column, got %d", d)
	}
	if s.Target < 1 || s.Target > maxPoints || s.Below < 1 || s.Below > LineMost*s.Target {
		return fmt.Errorf("query: LineDeficits: want a Target of 1 to %d and a Below of 1 to %d Target, got %d and %d", maxPoints, LineMost, s.Target, s.Below)
	}
	ok := len(s.Means) == len(s.SDs) && (len(s.Means) == 0 || s.Factor >= 1 && s.Factor <= math.MaxFloat64)
	for i := range min(len(s.Means), len(s.SDs)) {
		ok = ok && math.Abs(s.Means[i]) <= math.MaxFloat64 && s.SDs[i] > 0 && s.SDs[i] <= math.MaxFloat64
	}
	if !ok {
		return fmt.Errorf("query: LineDeficits: want as many finite Means as positive SDs, and a finite Factor of at least 1, got %v, %v and %v", s.Means, s.SDs, s.Factor)
	}
	return nil
}

// Options returns 1: the best pair.
func (LineDeficits) Options() int { return 1 }

// Sensitivity returns 1.
func (LineDeficits) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns the score of the best pair.
func (s LineDeficits) Scores(rows []float64, d int) []int64 {
	_, scores := s.Listed(rows, d)
	return []int64{slices.Max(append(scores, -int64(s.Below)))}
}

// Listed returns all pairs with S < Below, and their scores. Why it misses none is in
// kernel/query/papers/linedeficits_proof.md, step 3.
func (s LineDeficits) Listed(rows []float64, d int) (pairs []LinePair, scores []int64) {
	z := images(query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, rows, d)
	sort.Float64s(z)
	m := (LineCells-2)*s.Target - s.Below + 1
	if len(z) < m {
		return nil, nil
	}
	const margin = 1 + 1e-9 // for rounding
	w, wide := newWindows(z, m), shortest(z, len(z)-m+2)
	highest := func(i int, sd float64) int64 {
		return min(mostPlace, placeOf((z[i]+lineReach*sd)/sd, math.Ceil)+1)
	}
	for scale := int64(leastScale); scale < mostScale; scale++ {
		_, sd := LinePair{scale, 0}.Gaussian()
		if lineNarrow*sd > wide*margin {
			break
		}
		next := int64(-mostPlace)
		for i := w.first(0, 2*lineReach*sd*margin); i < w.count; {
			low, high := max(next, placeOf((z[i+m-1]-lineReach*sd)/sd, math.Floor)-1), highest(i, sd)
			for place := low; place <= high; place++ {
				pair := LinePair{scale, place}
				if lacks := s.lacks(z, pair); lacks < s.Below && !s.found(pair) {
					pairs, scores = append(pairs, pair), append(scores, -int64(lacks))
				}
			}
			next = max(next, high+1)
			// all places of the rows before this one were visited
			i++
			i += sort.Search(w.count-i, func(j int) bool { return highest(i+j, sd) >= next })
			i = w.first(i, 2*lineReach*sd*margin)
		}
	}
	return pairs, scores
}

// windows are the lengths of the intervals of m consecutive values, one from each value on, in a
// binary tree: node v has the least of its children 2v and 2v + 1, and leaves begin at size.
type windows struct {
	count, size int
	least       []float64
}

func newWindows(z []float64, m int) windows {
	count := len(z) - m + 1
	size := 1 << bits.Len(uint(count-1))
	w := windows{count, size, make([]float64, 2*size)}
	for i := range size {
		w.least[size+i] = math.Inf(1)
		if i < count {
			w.least[size+i] = z[i+m-1] - z[i]
		}
	}
	for v := size - 1; v > 0; v-- {
		w.least[v] = math.Min(w.least[2*v], w.least[2*v+1])
	}
	return w
}

// first returns the first window from i on that is at most so long; count if there is none.
func (w windows) first(i int, most float64) int {
	if i >= w.count {
		return w.count
	}
	v := w.size + i
	for w.least[v] > most {
		for v&1 == 1 { // all below its parent were seen
			v >>= 1
		}
		if v == 0 {
			return w.count
		}
		v++
	}
	for v < w.size {
		if v *= 2; w.least[v] > most {
			v++
		}
	}
	return v - w.size
}

// shortest returns the length of the shortest interval that holds m of the ascending values.
func shortest(z []float64, m int) float64 {
	length := math.Inf(1)
	for i := range len(z) - m + 1 {
		length = math.Min(length, z[i+m-1]-z[i])
	}
	return length
}

// placeOf returns x in quarters, rounded, and within the lattice.
func placeOf(x float64, round func(float64) float64) int64 {
	return int64(math.Max(-mostPlace, math.Min(mostPlace, round(4*x))))
}

// lacks returns the deficit of a pair for ascending rows.
func (s LineDeficits) lacks(z []float64, p LinePair) (lacks int) {
	before := 0
	for _, b := range lineCuts {
		to := before + sort.SearchFloat64s(z[before:], p.edge(b))
		lacks += max(0, s.Target-(to-before))
		before = to
	}
	return lacks + max(0, s.Target-(len(z)-before))
}

// found reports that the pair is within Factor of a found one.
func (s LineDeficits) found(p LinePair) bool {
	mean, sd := p.Gaussian()
	for i, m := range s.Means {
		ratio := sd / s.SDs[i]
		if v := ratio * ratio; v <= s.Factor && v*s.Factor >= 1 && math.Abs(mean-m)/s.SDs[i] <= s.Factor {
			return true
		}
	}
	return false
}
