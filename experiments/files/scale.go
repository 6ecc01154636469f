package files

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// A scale is what columns are judged in: those that vary, their moments, and the variance of
// rounding.
type scale struct {
	vary               []int
	mean, sd, rounding []float64 // of all columns
}

func scaleOf(train *mat.Dense) (s scale) {
	for j, col := range complete(train) {
		mean, variance := stat.PopMeanVariance(col, nil)
		s.mean, s.sd, s.rounding = append(s.mean, mean), append(s.sd, math.Sqrt(variance)), append(s.rounding, 0)
		if variance > 0 {
			unit := leastDifference(col)
			s.vary, s.rounding[j] = append(s.vary, j), unit*unit/12
		}
	}
	return s
}

// judged returns a component in the columns that vary, standardised, with the variance that
// rounding adds.
func (s scale) judged(g model.Gaussian) (model.Gaussian, error) {
	out := model.Gaussian{Mean: make([]float64, len(s.vary))}
	cov := mat.NewSymDense(len(s.vary), nil)
	for i, a := range s.vary {
		out.Mean[i] = (g.Mean[a] - s.mean[a]) / s.sd[a]
		for j, b := range s.vary[:i+1] {
			cov.SetSym(i, j, g.Cov.At(a, b)/s.sd[a]/s.sd[b])
		}
		cov.SetSym(i, i, cov.At(i, i)+s.rounding[a]/s.sd[a]/s.sd[a])
	}
	var err error
	out.Cov, err = model.NewFull(cov)
	return out, err
}

// densities returns the logarithms of the densities of the complete rows.
func (s scale) densities(m *model.Mixture, rows *mat.Dense) ([]float64, error) {
	var weights []float64
	var gs []model.Gaussian
	for i, g := range m.Components {
		in, err := s.judged(g)
		if err != nil {
			return nil, err
		}
		weights, gs = append(weights, m.Weights[i]), append(gs, in)
	}
	in, err := model.New(nil, weights, gs)
	if err != nil {
		return nil, err
	}
	scorer, err := model.NewScorer(in)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, row := range s.rows(rows) {
		out = append(out, scorer.LogDensity(row))
	}
	return out, nil
}

// rows returns the complete rows, in the columns that vary, standardised.
func (s scale) rows(rows *mat.Dense) (out [][]float64) {
	n, _ := rows.Dims()
	for i := range n {
		row := rows.RawRowView(i)
		if slices.ContainsFunc(row, math.IsNaN) {
			continue
		}
		z := make([]float64, len(s.vary))
		for k, a := range s.vary {
			z[k] = (row[a] - s.mean[a]) / s.sd[a]
		}
		out = append(out, z)
	}
	return out
}

// nobody counts components without a row near them, except background.
func (s scale) nobody(r *release.Release, train *mat.Dense) (none float64) {
	rows := s.rows(train)
	groups, _ := r.Model.Split()
	for _, i := range groups {
		g := r.Model.Components[i]
		in, err := s.judged(g)
		if err != nil || !slices.ContainsFunc(rows, func(row []float64) bool {
			return madeup.LogDensity(in, row) >= madeup.LogDensity(in, in.Mean)-nearSDs*nearSDs/2
		}) {
			none++
		}
	}
	return none
}

// leastDifference returns the smallest difference of two different values of a column: its unit, if
// it has one.
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
