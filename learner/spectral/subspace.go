package spectral

import (
	"math/rand/v2"

	"github.com/gauze-dp/gauze/learner"
)

// Subspace is the learner of subspace recovery: where the span of a block's leading principal axes
// takes public points. It projects Points reference points, drawn from N(0, I) with the public
// seed, on the span of the Dimensions leading principal axes of a block's rows about their own
// mean. An estimate is the projections, one after another.
//
// Source: [KMSSU22] Algorithm 2 (the inner loop).
// Differs: covariance about the block's own mean.
type Subspace struct {
	Dimensions int // k, at most d
	Points     int // q
}

// Estimates returns 1.
func (Subspace) Estimates() int { return 1 }

// Coordinates returns q d.
func (l Subspace) Coordinates(d int) int { return l.Points * d }

// Learn needs more than k rows.
func (l Subspace) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	if l.Dimensions < 1 || l.Points < 1 || len(rows) <= l.Dimensions || len(rows[0]) < l.Dimensions {
		return nil, learner.ErrTooFew
	}
	_, vectors, err := axesOf(rows)
	if err != nil {
		return nil, err
	}
	d := len(rows[0])
	rng := rand.New(rand.NewPCG(seed, uint64(d)))
	out := make([]float64, l.Points*d)
	point := make([]float64, d)
	for i := range l.Points {
		for j := range point {
			point[j] = rng.NormFloat64()
		}
		for _, v := range vectors[:l.Dimensions] {
			along := 0.0
			for j, p := range point {
				along += v[j] * p
			}
			for j := range v {
				out[i*d+j] += along * v[j]
			}
		}
	}
	return [][]float64{out}, nil
}
