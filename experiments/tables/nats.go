package tables

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// below compares the likelihood of test rows under a Gaussian with that under the one that has the
// moments of the training rows, both in the columns that vary, standardised.
func below(out engine.Values, m *model.Mixture, s engine.Moments, train, test [][]float64) error {
	var vary []int
	for a, sd := range s.SD {
		if sd > 0 {
			vary = append(vary, a)
		}
	}
	d := len(vary)
	mean, cov := m.Mean(), madeup.Covariance(m)
	private, plain, rounding := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil), make([]float64, d)
	shift := make([]float64, d)
	for i, a := range vary {
		shift[i] = (mean[a] - s.Mean[a]) / s.SD[a]
		unit := leastDifference(train[a]) / s.SD[a]
		rounding[i] = unit * unit / 12
		for j, b := range vary[:i+1] {
			private.SetSym(i, j, cov.At(a, b)/s.SD[a]/s.SD[b])
			c := 1.0
			if i != j {
				c = s.Correlation(a, b)
			}
			plain.SetSym(i, j, c)
		}
	}
	z := mat.NewDense(len(test[0]), d, nil)
	for i, a := range vary {
		for r, x := range test[a] {
			z.Set(r, i, (x-s.Mean[a])/s.SD[a])
		}
	}
	ours, err := logDensities(z, shift, private, rounding)
	if err != nil {
		return err
	}
	theirs, err := logDensities(z, make([]float64, d), plain, rounding)
	if err != nil {
		return err
	}
	out[nearly] = stat.Mean(theirs, nil) - stat.Mean(ours, nil)
	out[nearlyMost] = likely(theirs) - likely(ours)
	return nil
}

// likely is the mean without the least.
func likely(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return stat.Mean(v[int(math.Ceil(leastLikely*float64(len(v)))):], nil)
}

// leastDifference is the smallest of two different values of a column: its unit, if it has one.
func leastDifference(col []float64) float64 {
	sorted := slices.Sorted(slices.Values(col))
	least := math.Inf(1)
	for i, x := range sorted[1:] {
		if x > sorted[i] {
			least = math.Min(least, x-sorted[i])
		}
	}
	return least
}

// leastVariance bounds eigenvalues of standardised columns from below, where no rounding does: far
// above the rounding of float64.
const leastVariance = 1e-8

// logDensities are those of rows under a Gaussian whose eigenvalues are raised to what rounding
// gives: that in the direction of the eigenvector.
func logDensities(z *mat.Dense, mean []float64, cov *mat.SymDense, rounding []float64) ([]float64, error) {
	n, d := z.Dims()
	var e mat.EigenSym
	if !e.Factorize(cov, true) {
		return nil, errors.New("tables: no eigenvalues")
	}
	values := e.Values(nil)
	var vectors, along mat.Dense
	e.VectorsTo(&vectors)
	along.Mul(z, &vectors)
	out := make([]float64, n)
	for k, v := range values {
		floor, at := leastVariance, 0.0
		for j := range d {
			c := vectors.At(j, k)
			floor += c * c * rounding[j]
			at += c * mean[j]
		}
		v = math.Max(v, floor)
		for i := range n {
			u := along.At(i, k) - at
			out[i] -= (u*u/v + math.Log(2*math.Pi*v)) / 2
		}
	}
	return out, nil
}
