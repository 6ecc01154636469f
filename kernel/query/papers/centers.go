package papers

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TerrificCenters scores a candidate for the centre of a terrific ball by the worst of three
// conditions: with in, ann and out the numbers of points z = Map(row) at distance d <= Radius,
// Radius < d <= C Radius and d > C Radius from the candidate,
//
//	score = min{ in, out, T - ann }.
//
// It is at least T - Gamma iff the ball is (C, Gamma)-terrific for T.
//
// Sensitivity 1 under both relations. The candidates are public or released, so which of the three
// classes a point is in, or none if its image is not finite, depends on the row alone. A row added
// or removed changes one of in, ann and out by 1; a row replaced takes 1 from one of them and adds
// 1 to another (or the same). Either way none of the three, and hence none of the terms in the
// minimum, changes by more than 1; nor does the minimum.
//
// Source: [KSSU19] Definition 4.1 and Lemma 4.2 (the three conditions in one AboveThreshold).
type TerrificCenters struct {
	Map     query.Affine
	Centers [][]float64 // the candidates, one value per coordinate of the frame
	Radius  float64     // in [0, 1e150]
	C       float64     // c: a finite number of at least 1
	T       int         // t: 1 to 2^29
}

// Kind returns "terrific centers".
func (TerrificCenters) Kind() string { return "terrific centers" }

// Validate returns an error if the frame, the candidates, the radius, the factor C or T cannot be
// used.
func (s TerrificCenters) Validate(d int) error {
	if !(s.C >= 1) || !rowkernels.Finite(s.C) || len(s.Centers) == 0 {
		return fmt.Errorf("query: TerrificCenters: want a finite C of at least 1 and at least one of Centers, got %v and %d", s.C, len(s.Centers))
	}
	if err := validPoints("TerrificCenters.Centers", s.Centers, s.Map.Out()); err != nil {
		return err
	}
	return validBalls("TerrificCenters", s.Map, []float64{s.Radius}, s.T, d)
}

// Options returns the number of candidates.
func (s TerrificCenters) Options() int { return len(s.Centers) }

// Sensitivity returns 1.
func (TerrificCenters) Sensitivity(privacy.Relation) int64 { return 1 }

// Scores returns the worst condition of every candidate.
func (s TerrificCenters) Scores(rows []float64, d int) (scores []int64) {
	z, q := images(s.Map, rows, d), s.Map.Out()
	tree, within := newTree(z, q, []float64{s.Radius, max(s.Radius, s.C*s.Radius)}), make([]int64, 2)
	for _, c := range s.Centers {
		tree.Within(c, within)
		scores = append(scores, min(within[0], int64(len(z)/q)-within[1], int64(s.T)-(within[1]-within[0])))
	}
	return scores
}
