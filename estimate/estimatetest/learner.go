package estimatetest

import (
	"math"

	"github.com/gauze-dp/gauze/learner"
)

// Signs is a fast learner of one's own, of one or two components: it splits rows by the sign of the
// first column.
type Signs struct{}

// LearnMixture is the mean and covariance of either side.
func (Signs) LearnMixture(rows [][]float64, k int, _ uint64) (mixture []learner.Component, err error) {
	for j := range k {
		var part [][]float64
		for _, x := range rows {
			if k == 1 || (x[0] < 0) == (j == 0) {
				part = append(part, x)
			}
		}
		if len(part) <= len(rows[0]) {
			return nil, learner.ErrTooFew
		}
		mean, root := momentsOf(part)
		mixture = append(mixture, learner.Component{Weight: float64(len(part)) / float64(len(rows)), Mean: mean, Root: root})
	}
	return mixture, nil
}

// momentsOf are the mean and the Cholesky factor of the covariance.
func momentsOf(rows [][]float64) (mean []float64, l [][]float64) {
	d, n := len(rows[0]), float64(len(rows))
	mean, l = make([]float64, d), make([][]float64, d)
	for _, x := range rows {
		for a, v := range x {
			mean[a] += v / n
		}
	}
	for a := range d {
		l[a] = make([]float64, d)
		for b := range a + 1 {
			for _, x := range rows {
				l[a][b] += (x[a] - mean[a]) * (x[b] - mean[b]) / n
			}
			for c := range b {
				l[a][b] -= l[a][c] * l[b][c]
			}
			if a == b {
				l[a][a] = math.Sqrt(l[a][a])
			} else {
				l[a][b] /= l[b][b]
			}
		}
	}
	return mean, l
}
