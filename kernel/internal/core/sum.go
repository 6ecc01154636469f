package core

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Answer is a released vector: exact sums plus an ideal Gaussian rounded to the integer grid, in
// the query's unit.
type Answer struct {
	Values []float64
	// Sigma is the noise sd of a coordinate of weight 1, in the unit of Values.
	Sigma float64
}

// maxSigma is the largest noise, in grid units, that the sampler draws.
const maxSigma = 1 << 55

// Sum measures q with privacy loss mu: mu-GDP.
//
// Theorem: the exact answer is an integer vector with L2 sensitivity S after division by the
// weights; adding N(0, (w_i S/mu)^2) to coordinate i is mu-GDP (Dong, Roth and Su); rounding the
// sum to integers is post-processing, and because the answer is integral it equals adding the
// rounded Gaussian. Adaptively chosen queries compose because the filter holds the sum of mu^2.
//
// Source: [DRS22] Theorem 2.7 of the paper on Gaussian differential privacy; [KARNEY16] for the
// sampler.
func (a *SubBudget) Sum(step string, q query.Sum, mu float64) (Answer, error) {
	if a.in != nil {
		q = query.Partial{Sum: q, As: a.in.As, Fill: a.in.Fill}
	}
	return Gaussian(a, step, q, mu, func(d *Draw, q query.Sum) []int64 { return engine.Sum(d.Engine(), d.Rows(), q) })
}

// Categories measures q, the one query that sees the table's codes, with privacy loss mu, as Sum
// does.
func (a *SubBudget) Categories(step string, q query.CategoryCounts, mu float64) (Answer, error) {
	if c := a.s.Categories(); c != len(q.Values) {
		return Answer{}, fmt.Errorf("kernel: step %q: want counts of %d columns of categories, as the table has, got %d", step, c, len(q.Values))
	}
	if texts := a.s.Texts(); len(texts) > 0 { // whose codes may depend on other rows
		return Answer{}, fmt.Errorf("kernel: step %q: want columns of categories with codes, got texts in columns %v: find and recode them first", step, texts)
	}
	return Gaussian(a, step, q, mu, func(d *Draw, q query.CategoryCounts) []int64 { return engine.Categories(d.Engine(), d.Rows(), q) })
}

// Summed is a query of integers to which Gaussian noise is added: see query.Sum.
type Summed interface {
	Kind() string
	Validate(d int) error
	Size() int
	Sensitivity(privacy.Relation) float64
	Weight(i int) float64
	Unit() float64
}

// Gaussian measures q with privacy loss mu, as SubBudget.Sum does; exact computes the integers.
func Gaussian[Q Summed](a *SubBudget, step string, q Q, mu float64, exact func(*Draw, Q) []int64) (Answer, error) {
	q, err := Checked(a, q)
	if err != nil {
		return Answer{}, err
	}
	sensitivity := Grouped(a, q.Sensitivity(a.s.terms.Relation))
	sigma, err := Sigma(step, sensitivity, mu)
	if err != nil {
		return Answer{}, err
	}
	line := Measurement{Sensitivity: sensitivity, Noise: sigma, Mu: mu}
	return Noised(a, step, q, line, sigma, exact, func(d *Draw, i int) int64 { return d.Gaussian(privacy.MulUp(sigma, q.Weight(i))) })
}

// Noised measures a valid q of the session's own with noise of sd sigma, in units of integers, and
// records it as line says: exact computes the integers, and draw returns the noise for one of them.
func Noised[Q Summed](a *SubBudget, step string, q Q, line Measurement, sigma float64, exact func(*Draw, Q) []int64, draw func(d *Draw, i int) int64) (Answer, error) {
	unit := q.Unit()
	line.Sensitivity, line.Noise = line.Sensitivity*unit, line.Noise*unit
	values, err := Line(a, step, q, line, false, func(d *Draw) ([]float64, []int64) {
		sums := exact(d, q)
		values := make([]float64, len(sums))
		for i, v := range sums {
			values[i] = float64(v+draw(d, i)) * unit // modulo 2^64: see engine.PlainSum
		}
		return values, sums
	})
	return Answer{Values: values, Sigma: sigma * unit}, err
}

// Sigma returns the noise sd of a coordinate of weight 1, rounded up, in grid units.
func Sigma(step string, sensitivity, mu float64) (float64, error) {
	if mu == 0 { // LeftMu of a spent sub-budget
		return 0, fmt.Errorf("kernel: step %q: want a positive mu, got 0: %w", step, ErrExhausted)
	}
	if !(mu > 0) || math.IsInf(mu, 0) {
		return 0, fmt.Errorf("kernel: step %q: want a positive mu, got %v", step, mu)
	}
	sigma := privacy.DivUp(sensitivity, mu)
	if !(sigma <= maxSigma) {
		return 0, fmt.Errorf("kernel: step %q: mu = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon", step, mu)
	}
	return sigma, nil
}
