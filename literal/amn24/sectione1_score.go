package amn24

import (
	"math"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/literal/paper"
)

// A lattice is what score (3) is computed on: points that rows are rounded to, multisets of them,
// and pairs to choose among.
//
// Source: [AMN24] Section E.1.
// Differs: the score is min over all good multisets Y of m - |Y and X|, the rows of a fixed number
// m that Y has and X has not: for n >= m the least number of rows to change, and of sensitivity 1
// whatever "good" means. An element of Y is a block of Block equal rows, and m is Block times Size,
// because nobody can enumerate the multisets of hundreds of rows; m = w n as printed. Rows are
// rounded to the lattice by a rule for each row.
type lattice struct {
	Robust    robust
	Size, Sub int // elements of Y, and of its subsets Z, printed N
	Multisets [][]int
	Opinions  []opinion // what A says of each multiset, if it is stable
	Pairs     []pair    // to choose among
}

// newLattice enumerates multisets and asks A about them.
func newLattice(r robust, size, sub int, pairs []pair) lattice {
	return lattice{Robust: r, Size: size, Sub: sub, Multisets: multisets(len(r.Points), size), Opinions: r.stable(size, sub), Pairs: pairs}
}

// good returns function (2): 1 for multiset i, pair and region if A says something of the multiset
// that is in the region, close to the pair, and shared by most subsets.
//
// Source: [AMN24] Section E.1.
func (l lattice) good(i int, p pair, omega region) bool {
	o := l.Opinions[i]
	return o.OK && l.Robust.Closeness.close(o.pair(), p) && omega.contains(o.pair())
}

// Options returns the pairs for which some multiset is good, and those multisets: all other pairs
// have the score m+1 in any table.
func (l lattice) Options(omega region) (pairs []pair, good [][]int) {
	within := make([]bool, len(l.Opinions))
	for i, o := range l.Opinions {
		within[i] = o.OK && omega.contains(o.pair())
	}
	for _, p := range l.Pairs {
		var of []int
		for i, o := range l.Opinions {
			if within[i] && l.Robust.Closeness.close(o.pair(), p) {
				of = append(of, i)
			}
		}
		if of != nil {
			pairs, good = append(pairs, p), append(good, of)
		}
	}
	return pairs, good
}

// normals returns the lattice of pairs in one column: sds low (1+z)^i up to high, means j z sd
// within radius. Volume (1) gives every cell of it the same mass, so counting its pairs measures
// volume. It stops when there are more than most.
//
// Source: [AMN24] Section C.1.
func normals(radius, low, high, z float64, most int) (pairs []pair) {
	for sd := low; sd <= high*(1+1e-9); sd *= 1 + z {
		steps := math.Floor(radius/(z*sd) + 1e-9)
		for j := -steps; j <= steps && len(pairs) <= most; j++ {
			pairs = append(pairs, paper.Line(j*z*sd, sd))
		}
	}
	return pairs
}

// points returns count numbers at equal distances from -reach to reach.
func points(reach float64, count int) []float64 {
	at := make([]float64, count)
	for i := range at {
		at[i] = reach * (2*float64(i)/float64(count-1) - 1)
	}
	return at
}

// overlap is score (3) on a lattice, for blocks of so many rows.
type overlap struct {
	lattice
	block     int
	unbounded bool
}

func (s overlap) kind() string { return papers.MultisetOverlap{}.Kind() }
func (s overlap) levels() int  { return 0 }

// rest returns that all rows are rated.
func (s overlap) rest(float64, float64, int, int) (scorer, bool) { return s, false }

func (s overlap) choose(r *run, omega region, epsilon float64) (pair, bool, error) {
	pairs, score := s.options(omega)
	return r.local(s.left(omega), pairs, score, s.unlisted(), 0, epsilon)
}

// left returns all rows.
func (s overlap) left(region) query.Partition { return query.Partition{} }

func (s overlap) near(pair, float64) ([]pair, papers.Score) { return nil, nil }

// unlisted returns what all other pairs have at least, if they are infinitely many, else 0.
func (s overlap) unlisted() int64 {
	if s.unbounded {
		return int64(s.block*s.Size) + 1
	}
	return 0
}

// options returns the pairs of the region among which to choose, and the score that rates them.
func (s overlap) options(omega region) (pairs []pair, score papers.Score) {
	q := papers.MultisetOverlap{Map: query.Affine{Center: []float64{0}, W: [][]float64{{1}}}, Size: s.block * s.Size}
	for _, x := range s.Robust.Points {
		q.Points = append(q.Points, []float64{x})
	}
	for _, y := range s.Multisets {
		copies := make([]int, len(y))
		for i, c := range y {
			copies[i] = c * s.block
		}
		q.Multisets = append(q.Multisets, copies)
	}
	pairs, q.Lists = s.Options(omega)
	return pairs, q
}
