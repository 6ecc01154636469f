package papers

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// MultisetOverlap scores an option by the best of its multisets of lattice points: every row is
// rounded to the nearest of Points (ties: the first), X is the multiset of what it is rounded to,
// and
//
//	score(i) = -min over Y in Lists[i] of (Size - |Y cap X|),   -(Size+1) if Lists[i] is empty,
//
// |Y cap X| = sum over points of the smaller number of copies. -score is how many of Size rows have
// to be changed until they hold such a Y.
//
// Sensitivity 1 under both relations, whatever the lists are. A row that comes or goes changes one
// number of copies in X by 1, a row that is replaced takes 1 from one and adds 1 to another: |Y cap
// X| moves by at most 1 for every Y, and the least of several numbers with it. Rows whose image, or
// whose distance from every point, is not finite are left out, by a rule of the row alone.
//
// Source: [AMN24] Algorithm 2; Section E.1 (the Hamming score).
// Differs: rows are rounded to a public lattice first, which makes the minimum one over a finite
// list.
type MultisetOverlap struct {
	Map    query.Affine
	Points [][]float64 // 1 to 16, one value per coordinate of the frame
	Size   int         // m: 1 to 2^29
	// per multiset, its copies of each point: numbers of at least 0 that sum to Size
	Multisets [][]int
	Lists     [][]int // the options: which multisets each may choose from
}

const maxLattice = 16

// Kind returns "multiset overlap".
func (MultisetOverlap) Kind() string { return "multiset overlap" }

// Validate returns an error if the frame, the points, the multisets or the lists cannot be used.
func (s MultisetOverlap) Validate(d int) error {
	if err := s.Map.Validate(d); err != nil {
		return err
	}
	if len(s.Points) < 1 || len(s.Points) > maxLattice || s.Size < 1 || s.Size > maxPoints || len(s.Lists) == 0 {
		return fmt.Errorf("query: MultisetOverlap: want 1 to %d Points, a Size of 1 to %d and at least one of Lists, got %d, %d and %d",
			maxLattice, maxPoints, len(s.Points), s.Size, len(s.Lists))
	}
	if err := validPoints("MultisetOverlap.Points", s.Points, s.Map.Out()); err != nil {
		return err
	}
	for _, y := range s.Multisets {
		sum := 0
		for _, copies := range y {
			if copies < 0 || copies > s.Size {
				return fmt.Errorf("query: MultisetOverlap.Multisets: want 0 to %d copies, got %d", s.Size, copies)
			}
			sum += copies
		}
		if len(y) != len(s.Points) || sum != s.Size {
			return fmt.Errorf("query: MultisetOverlap.Multisets: want %d numbers that sum to %d, got %v", len(s.Points), s.Size, y)
		}
	}
	for _, list := range s.Lists {
		for _, y := range list {
			if y < 0 || y >= len(s.Multisets) {
				return fmt.Errorf("query: MultisetOverlap.Lists: want indices below %d, got %d", len(s.Multisets), y)
			}
		}
	}
	return nil
}

// Options returns the number of lists.
func (s MultisetOverlap) Options() int { return len(s.Lists) }

// Sensitivity returns 1.
func (MultisetOverlap) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns minus the distance of every option.
func (s MultisetOverlap) Scores(rows []float64, d int) []int64 {
	held, q := make([]int, len(s.Points)), s.Map.Out()
	for z := images(s.Map, rows, d); len(z) > 0; z = z[q:] {
		if p, ok := closest(z[:q], s.Points); ok {
			held[p]++
		}
	}
	overlap := make([]int64, len(s.Multisets))
	for y, copies := range s.Multisets {
		for p, n := range copies {
			overlap[y] += int64(min(n, held[p]))
		}
	}
	scores := make([]int64, len(s.Lists))
	for i, list := range s.Lists {
		scores[i] = -int64(s.Size) - 1
		for _, y := range list {
			scores[i] = max(scores[i], overlap[y]-int64(s.Size))
		}
	}
	return scores
}

// closest returns the first of the points at the least distance; ok is false if none is at a finite
// distance.
func closest(z []float64, points [][]float64) (at int, ok bool) {
	least := 0.0
	for p, y := range points {
		if d2 := squared(z, y); rowkernels.Finite(d2) && (!ok || d2 < least) {
			at, least, ok = p, d2, true
		}
	}
	return at, ok
}
