package estimatetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// EM is plain maximum likelihood, without privacy and without tricks, of k components of full
// covariance: a yardstick that shares no code with any estimator. Rows should be of order one.
// from, if not nil, is the start; otherwise k rows far from each other are.
func EM(tb testing.TB, rows [][]float64, k, steps int, from *model.Mixture, rng *rand.Rand) *model.Mixture {
	tb.Helper()
	m := from
	if m == nil {
		m = farStart(tb, rows, k, rng)
	}
	d := len(rows[0])
	for range steps {
		s, err := model.NewScorer(m)
		if err != nil {
			tb.Fatal(err)
		}
		share := make([]float64, m.K())
		first := make([][]float64, m.K())
		second := make([]*mat.SymDense, m.K())
		total := make([]float64, m.K())
		for j := range first {
			first[j], second[j] = make([]float64, d), mat.NewSymDense(d, nil)
		}
		for _, x := range rows {
			s.Responsibilities(share, x)
			for j, r := range share {
				if r < 1e-9 {
					continue
				}
				total[j] += r
				c := m.Components[j].Mean
				raw := second[j].RawSymmetric()
				for a := range d {
					first[j][a] += r * (x[a] - c[a])
					for b := a; b < d; b++ {
						raw.Data[a*raw.Stride+b] += r * (x[a] - c[a]) * (x[b] - c[b])
					}
				}
			}
		}
		m = maximised(tb, m, len(rows), total, first, second)
	}
	return m
}

// maximised is the M-step from moments about the old means; a component that lost its rows keeps
// its shape.
func maximised(tb testing.TB, old *model.Mixture, n int, total []float64, first [][]float64, second []*mat.SymDense) *model.Mixture {
	tb.Helper()
	d := old.Dim()
	gs := make([]model.Gaussian, old.K())
	w := make([]float64, old.K())
	for j := range gs {
		gs[j] = old.Components[j]
		w[j] = math.Max(total[j]/float64(n), 1e-12)
		if total[j] < float64(d+1) {
			continue
		}
		mean := make([]float64, d)
		s := mat.NewSymDense(d, nil)
		for a := range d {
			mean[a] = old.Components[j].Mean[a] + first[j][a]/total[j]
			for b := a; b < d; b++ {
				s.SetSym(a, b, (second[j].At(a, b)-first[j][a]*first[j][b]/total[j])/total[j])
			}
			s.SetSym(a, a, s.At(a, a)*(1+1e-9)+1e-12)
		}
		cov, err := model.NewFull(s)
		if err != nil {
			tb.Fatal(err)
		}
		gs[j] = model.Gaussian{Mean: mean, Cov: cov}
	}
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for j := range w {
		w[j] /= sum
	}
	m, err := model.New(nil, w, gs)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// farStart is k rows by k-means++, with a part of the rows' variances.
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
	cov, err := model.NewDiagonal(variance)
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
