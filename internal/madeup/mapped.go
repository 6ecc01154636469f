package madeup

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/model"
)

// Affine returns the law of the row with cells scale[j] x_j + shift[j]. A covariance stays of its
// type where it can. It fails if a mean or a variance overflows float64.
func Affine(m *model.Mixture, scale, shift []float64) (*model.Mixture, error) {
	out := &model.Mixture{Columns: slices.Clone(m.Columns), Weights: slices.Clone(m.Weights), Background: slices.Clone(m.Background)}
	for _, g := range m.Components {
		mean := make([]float64, len(g.Mean))
		for j, x := range g.Mean {
			mean[j] = scale[j]*x + shift[j]
		}
		cov, err := scaled(g.Cov, scale)
		if err != nil {
			return nil, err
		}
		out.Components = append(out.Components, model.Gaussian{Mean: mean, Cov: cov})
	}
	return out, out.Validate()
}

// scaled returns diag(scale) Sigma diag(scale).
func scaled(c model.Covariance, scale []float64) (model.Covariance, error) {
	f, d := c.Factor(), c.Dim()
	variances, alike := make([]float64, d), true
	for i := range d {
		row := f.RawRowView(i)
		for j := range row {
			row[j] *= scale[i]
		}
		if variances[i] = scale[i] * c.At(i, i) * scale[i]; !(variances[i] > 0) || math.IsInf(variances[i], 0) {
			variances[i] = row[i] * row[i]
		}
		alike = alike && math.Abs(scale[i]) == math.Abs(scale[0])
	}
	switch name := c.TypeName(); {
	case name == "full":
		return model.FullFromFactor(f)
	case name == "spherical" && alike:
		return model.NewSpherical(d, variances[0])
	}
	return model.NewDiagonal(variances)
}

// Covariance returns the covariance of a row of m: sum_i w_i (Sigma_i + (m_i - mean)(m_i -
// mean)^T), weights that sum to 1.
func Covariance(m *model.Mixture) *mat.SymDense {
	mean, out := m.Mean(), mat.NewSymDense(m.Dim(), nil)
	for i, g := range m.Components {
		off := make([]float64, m.Dim())
		for j := range off {
			off[j] = g.Mean[j] - mean[j]
		}
		var one mat.SymDense
		one.SymRankOne(g.Cov.Dense(), 1, mat.NewVecDense(len(off), off))
		one.ScaleSym(m.Weights[i], &one)
		out.AddSym(out, &one)
	}
	return out
}

// LogDensity returns the log-density of one row under one Gaussian, -Inf if either is not valid.
func LogDensity(g model.Gaussian, row []float64) float64 {
	m, err := model.New(nil, nil, []model.Gaussian{g})
	if err != nil {
		return math.Inf(-1)
	}
	s, err := model.NewScorer(m)
	if err != nil {
		return math.Inf(-1)
	}
	return s.LogDensity(row)
}

// Draw fills the n x d matrix dst with n independent rows of m.
func Draw(m *model.Mixture, dst *mat.Dense, rng *rand.Rand) error {
	s, err := model.NewSampler(m)
	if err != nil {
		return err
	}
	n, _ := dst.Dims()
	for r := range n {
		s.Row(dst.RawRowView(r), rng)
	}
	return nil
}

// Match pairs the components of a and b as model.Compare does: for each of a its partner in b, or
// -1, and the largest distance within a pair.
func Match(a, b *model.Mixture) (partner []int, largest float64, err error) {
	c, err := model.Compare(context.Background(), a, b, 4, rand.New(rand.NewPCG(1, monteCarloStream)))
	partner = slices.Repeat([]int{-1}, len(a.Components))
	for _, m := range c.Matching {
		i, j := m[0], m[1]
		partner[i] = j
		largest = max(largest, model.ComponentDistance(a.Weights[i], a.Components[i], b.Weights[j], b.Components[j]))
	}
	return partner, largest, err
}

// Distances returns the Mahalanobis distance of the means under b's covariance and |Sigma_b^-1/2
// Sigma_a Sigma_b^-1/2 - I|_F; NaN if one is not valid.
func Distances(a, b model.Gaussian) (mean, covariance float64) {
	ma, errA := model.New(nil, nil, []model.Gaussian{a})
	mb, errB := model.New(nil, nil, []model.Gaussian{b})
	if errA != nil || errB != nil {
		return math.NaN(), math.NaN()
	}
	c, err := model.Compare(context.Background(), ma, mb, 4, rand.New(rand.NewPCG(1, monteCarloStream)))
	if err != nil {
		return math.NaN(), math.NaN()
	}
	return float64(c.Components[0].Mean), float64(c.Components[0].Covariance)
}
