package estimatetest

import (
	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// Signs is a fast learner of one's own, of one or two components: it splits rows by the sign of the
// first column.
type Signs struct{}

// LearnMixture returns the mean and covariance of either side.
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
		mean, root, ok := momentsOf(part)
		if !ok {
			return nil, learner.ErrTooFew
		}
		mixture = append(mixture, learner.Component{Weight: float64(len(part)) / float64(len(rows)), Mean: mean, Root: root})
	}
	return mixture, nil
}

// momentsOf returns the mean and the Cholesky factor of the covariance; false if it has none.
func momentsOf(rows [][]float64) (mean []float64, l [][]float64, ok bool) {
	d, n := len(rows[0]), float64(len(rows))
	mean = make([]float64, d)
	for _, x := range rows {
		for a, v := range x {
			mean[a] += v / n
		}
	}
	root := make([]float64, d*d)
	for a := range d {
		for b := range a + 1 {
			for _, x := range rows {
				root[a*d+b] += (x[a] - mean[a]) * (x[b] - mean[b]) / n
			}
		}
		l = append(l, root[a*d:a*d+d])
	}
	return mean, l, dense.Cholesky(root, d)
}
