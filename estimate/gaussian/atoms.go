package gaussian

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/query"
)

// A point that carries more than 1/(d+1) of the rows collapses Tyler's iteration around itself, and
// the certificate cannot see it; then many rows lie far outside. Gaussians and mixtures of three
// have almost no row beyond tailRadius2 d, collapsed fits .09 to .75 of them ([TYLERPRESS] Section
// 4.5).
const (
	tailRadius2     = 25
	tailPart        = .01 // of mu^2, for each tail query
	firstTailLimit  = .07
	secondTailLimit = .10
)

// tailShare releases which share of the rows has |z|^2 > 25 d in the coordinates of the state, less
// two noise sds. nu made the state; 0 says that its unit is the sd already.
func (r *run) tailShare(st *state, nu float64) (float64, error) {
	root := 1.0
	if nu > 0 {
		root = math.Sqrt(consistency(st.rank(), nu))
	}
	frame, ok := st.frame(root)
	if !ok {
		return 1, nil
	}
	q := query.Counts{Frame: frame, As: query.Above, Edges: [][]float64{{tailRadius2 * float64(st.rank())}}}
	mu := math.Min(math.Sqrt(tailPart*r.mu2), r.a.LeftMu())
	answer, err := r.a.Sum(r.prefix+"tail", q, mu)
	if err != nil {
		return 0, err
	}
	return (answer.Values[0] - 2*answer.Sigma) / r.goodRows(), nil
}

// farShare of the rows beyond the tail radius is worth a flag: a Gaussian has none there.
const farShare = .005

// farFlags says how many rows the estimate leaves aside.
func farFlags(share float64) []string {
	if share <= farShare {
		return nil
	}
	return []string{fmt.Sprintf("at least %.1f%% of the rows lie far outside the fitted Gaussian, which describes the others", 100*share)}
}
