package estimatetest

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// EM returns the maximum likelihood estimate of k components with full covariance by plain EM,
// without privacy: a yardstick. It starts at from or, if that is nil, at k rows far from each
// other.
func EM(tb testing.TB, rows [][]float64, k, steps int, from *model.Mixture, rng *rand.Rand) *model.Mixture {
	tb.Helper()
	if from == nil {
		from = farStart(tb, rows, k, rng)
	}
	m, err := madeup.EM(rows, from, steps)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// farStart returns k rows by k-means++, with a part of the rows' variances.
func farStart(tb testing.TB, rows [][]float64, k int, rng *rand.Rand) *model.Mixture {
	tb.Helper()
	d := len(rows[0])
	mean, variance := make([]float64, d), make([]float64, d)
	for _, x := range rows {
		for j, v := range x {
			mean[j] += v / float64(len(rows))
		}
	}
	for _, x := range rows {
		for j, v := range x {
			variance[j] += (v - mean[j]) * (v - mean[j]) / float64(len(rows))
		}
	}
	cov, err := model.NewFull(mat.NewDiagDense(d, variance))
	if err != nil {
		tb.Fatal(err)
	}
	near := make([]float64, len(rows))
	for i := range near {
		near[i] = 1
	}
	var gs []model.Gaussian
	for c := range k {
		at := rows[pick(near, rng)]
		gs = append(gs, model.Gaussian{Mean: append([]float64(nil), at...), Cov: cov})
		for i, x := range rows {
			d2 := 0.0
			for j := range d {
				d2 += (x[j] - at[j]) * (x[j] - at[j]) / variance[j]
			}
			if c == 0 || d2 < near[i] {
				near[i] = d2
			}
		}
	}
	m, err := model.New(nil, nil, gs)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func pick(mass []float64, rng *rand.Rand) int {
	total := 0.0
	for _, m := range mass {
		total += m
	}
	u := rng.Float64() * total
	for i, m := range mass {
		if u -= m; u < 0 {
			return i
		}
	}
	return len(mass) - 1
}
