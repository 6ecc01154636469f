package papers

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// MaxBoxCount scores an offset by the fullest box of its grid: with z = Map(row), box k of the
// grid holds the rows with floor((z_i - Offset_i)/Side) = k_i in every coordinate i, and
//
//	score(offset) = the largest number of rows in one box.
//
// Sensitivity 1 under both relations: given the offset a row is in at most one box (none if a k_i
// overflows), so one row more or less changes one count by 1, and one row replaced takes 1 from a
// count and adds 1 to another (or the same): in either case no count grows, or falls, by more than
// 1, and the largest count neither.
//
// Source: [KSSU19] Section B.2 (step 2) of the restatement.
type MaxBoxCount struct {
	Map  query.Affine // to at most 8 coordinates
	Side float64
	// the options, one value per coordinate; public, drawn independently of the rows
	Offsets [][]float64
}

// Kind returns "max box count".
func (MaxBoxCount) Kind() string { return "max box count" }

// Validate returns an error if the frame, the side or the offsets cannot be used.
func (s MaxBoxCount) Validate(d int) error {
	if err := s.Map.Validate(d); err != nil {
		return err
	}
	if s.Map.Out() > query.MostBoxColumns {
		return fmt.Errorf("query: MaxBoxCount.Map: want at most %d coordinates, got %d", query.MostBoxColumns, s.Map.Out())
	}
	if !(s.Side > 0) || !rowkernels.Finite(s.Side) {
		return fmt.Errorf("query: MaxBoxCount.Side: want a positive number, got %v", s.Side)
	}
	if len(s.Offsets) == 0 {
		return fmt.Errorf("query: MaxBoxCount.Offsets: want at least one offset, got none")
	}
	return validPoints("MaxBoxCount.Offsets", s.Offsets, s.Map.Out())
}

// validPoints returns an error unless all points have q finite coordinates.
func validPoints(name string, points [][]float64, q int) error {
	for _, p := range points {
		if len(p) != q {
			return fmt.Errorf("query: %s: want %d values each, got %d", name, q, len(p))
		}
		if err := query.AllFinite(name, p); err != nil {
			return err
		}
	}
	return nil
}

// Options returns the number of offsets.
func (s MaxBoxCount) Options() int { return len(s.Offsets) }

// Sensitivity returns 1.
func (MaxBoxCount) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns the count of the fullest box for every offset.
func (s MaxBoxCount) Scores(rows []float64, d int) []int64 {
	z := images(s.Map, rows, d)
	scores := make([]int64, len(s.Offsets))
	for m, offset := range s.Offsets {
		counts := map[query.Box]int64{}
	next:
		for at := 0; at < len(z); at += len(offset) {
			var box query.Box
			for i, o := range offset {
				k, ok := query.CellOf(z[at+i], o, s.Side)
				if !ok {
					continue next
				}
				box[i] = k
			}
			counts[box]++
			scores[m] = max(scores[m], counts[box])
		}
	}
	return scores
}
