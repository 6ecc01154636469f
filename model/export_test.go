package model

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BottleneckAssignment is bottleneckAssignment, for the property test against brute force.
var BottleneckAssignment = bottleneckAssignment

// Match is match without a context, and the largest ComponentDistance within a pair.
func Match(a, b *Mixture) (partner []int, largest float64) {
	partner, _ = match(context.Background(), a, b)
	for i, j := range partner {
		if j >= 0 {
			largest = max(largest, ComponentDistance(a.Weights[i], a.Components[i], b.Weights[j], b.Components[j]))
		}
	}
	return partner, largest
}

// LogDensity returns log p(row) in nats, by the package's convention where m is degenerate. For
// more than a few rows use a Scorer. It panics if m is not valid or row has not d cells.
func (m *Mixture) LogDensity(row []float64) float64 {
	s, err := NewScorer(m)
	if err != nil {
		panic("model: " + err.Error())
	}
	return s.LogDensity(row)
}

// Covariance returns the covariance of a row of m, sum_i w_i (Sigma_i + (m_i - mean)(m_i -
// mean)^T): of the component's own type if there is but one, else Full, from a factor. It panics if
// m is not valid or an entry overflows float64.
func (m *Mixture) Covariance() Covariance {
	if len(m.Components) == 1 {
		return m.Components[0].Cov
	}
	d, mean, total := m.Dim(), m.Mean(), floats.Sum(m.Weights)
	wide := mat.NewDense(d, len(m.Components)*(d+1), nil)
	for i, g := range m.Components {
		root := math.Sqrt(m.Weights[i] / total)
		f := factorOf(g.Cov)
		for j := range d {
			block := wide.RawRowView(j)[i*(d+1) : (i+1)*(d+1)]
			floats.ScaleTo(block[:d], root, f.RawRowView(j))
			block[d] = root * (g.Mean[j] - mean[j])
		}
	}
	out, err := FullFromFactor(wide)
	if err != nil {
		panic("model: " + err.Error())
	}
	return out
}

// Validate reports every fault of g at once, or nil.
func (g Gaussian) Validate() error { return g.validate("mean", "covariance", len(g.Mean)) }

// LogDensity returns log N(row; Mean, Cov) in nats, by the package's convention where Cov is
// degenerate. For more than a few rows use a Scorer. It panics if g is not valid or row has not d
// cells.
func (g Gaussian) LogDensity(row []float64) float64 {
	return g.single().LogDensity(row)
}

// Sample fills dst with one row drawn from g. For more than a few rows use a Sampler. It panics if
// g is not valid or dst has not d cells.
func (g Gaussian) Sample(dst []float64, rng *rand.Rand) {
	mustSampler(g.single()).Row(dst, rng)
}

func (g Gaussian) single() *Mixture {
	return &Mixture{Columns: DefaultColumns(len(g.Mean)), Weights: []float64{1}, Components: []Gaussian{g}}
}

// Sample fills the n x d matrix dst with n independent rows of m. It fails if m is not valid, and
// panics if dst has not d columns.
func (m *Mixture) Sample(dst *mat.Dense, rng *rand.Rand) error {
	s, err := NewSampler(m)
	if err != nil {
		return err
	}
	s.Rows(dst, rng)
	return nil
}

// Rows fills the n x d matrix dst with n independent rows. It panics if dst has not d columns.
func (s *Sampler) Rows(dst *mat.Dense, rng *rand.Rand) {
	n, _ := dst.Dims()
	for r := range n {
		s.Row(dst.RawRowView(r), rng)
	}
}

// TotalVariation estimates TV(a, b) = 1/2 integral of |a - b| from rows drawn from the balanced
// mixture (a+b)/2, half from each: the mean of |a - b| / (a + b), which lies in [0, 1], so that the
// standard error is at most 1/(2 sqrt rows). For identical models it is exactly 0. It fails if a or
// b is not valid, their dimensions differ, or rows < 4.
func TotalVariation(a, b *Mixture, rows int, rng *rand.Rand) (Estimate, error) {
	d, err := monteCarlo(context.Background(), a, b, rows, rng)
	return d.tv, err
}

// Hellinger returns H(a, b), H^2 = 1 - integral of sqrt(a b): GaussianHellinger if each is one
// Gaussian, else estimated as TotalVariation is, from the mean of 1 - sqrt(a b) / ((a+b)/2). It
// fails as TotalVariation does.
func Hellinger(a, b *Mixture, rows int, rng *rand.Rand) (Estimate, error) {
	d, err := monteCarlo(context.Background(), a, b, rows, rng)
	return d.hellinger, err
}

// KL returns KL(a, b) = integral of a log(a/b) in nats: GaussianKL if each is one Gaussian; +Inf if
// a has a component whose support is not that of a component of b; else estimated from rows of the
// balanced mixture (a+b)/2, by the mean of (a log(a/b) + b - a) / ((a+b)/2), which has the right
// mean because a and b have the same mass, and is never negative. It fails as TotalVariation does.
func KL(a, b *Mixture, rows int, rng *rand.Rand) (Estimate, error) {
	d, err := monteCarlo(context.Background(), a, b, rows, rng)
	return d.klAB, err
}

// MeanDistance returns the Mahalanobis distance of the means under b's covariance, sqrt((m_a -
// m_b)^T Sigma_b^-1 (m_a - m_b)), +Inf where the difference leaves the directions in which Sigma_b
// has variance. It panics if a or b is not valid or their dimensions differ.
func MeanDistance(a, b Gaussian) float64 { return relate(a, b).mean }

// CovarianceDistance returns |Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 - I|_F, +Inf where Sigma_a has
// variance in a direction in which Sigma_b has none. A direction in which neither has variance
// counts nothing. It does not change when both are mapped by the same invertible matrix. It panics
// if the dimensions differ.
func CovarianceDistance(a, b Covariance) float64 {
	zero := make([]float64, a.Dim())
	return relate(Gaussian{Mean: zero, Cov: a}, Gaussian{Mean: zero, Cov: b}).covariance()
}

// Inside is the part of component i within the limits of m's cells, for tests of its error.
func (m *Mixture) Inside(i int) float64 { return m.inside(i, boxes(m.Cells)) }
