package spectral

import "math"

const (
	// PerOctave is the number of units of an estimate per factor of two of an eigenvalue: buckets
	// of ratio 2^(1/4) have width 1.
	PerOctave = 4
	// OfZero stands for an eigenvalue that is zero; all others are far above it.
	OfZero = -1 << 15
)

// Spectrum is the learner of the eigenvalue estimator. It finds PerOctave log2 of every eigenvalue
// of the covariance of a block's rows about their own mean, largest first, or OfZero.
//
// Source: [KMSSU22] Algorithm 1 (the inner loop).
// Differs: covariance about the block's own mean; an eigenvalue is zero if it is so up to rounding
// (see axesOf).
type Spectrum struct{}

// Estimates returns 1.
func (Spectrum) Estimates() int { return 1 }

// Coordinates returns d.
func (Spectrum) Coordinates(d int) int { return d }

// Learn needs two rows; the seed is not used.
func (Spectrum) Learn(rows [][]float64, _ uint64) ([][]float64, error) {
	sds, _, err := axesOf(rows)
	if err != nil {
		return nil, err
	}
	for i, v := range sds {
		if v == 0 {
			sds[i] = OfZero
		} else {
			sds[i] = 2 * PerOctave * math.Log2(v)
		}
	}
	return [][]float64{sds}, nil
}
