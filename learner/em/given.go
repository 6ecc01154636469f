package em

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/learner"
)

// errStart is the error of a start that is no mixture.
const errStart learner.Error = "em: the start has a component without a weight or a covariance"

// Polish runs l from a start until it converges, as LearnMixture does with what its search found.
func Polish(l Learner, rows [][]float64, start []learner.Component) ([]learner.Component, error) {
	z, f, err := l.Prepare(rows, len(start))
	if err != nil {
		return nil, err
	}
	m := within(f, start)
	if m == nil {
		return nil, errStart
	}
	return l.Run(z, len(start), len(f.At)).Finish(m, f)
}

// finite says whether all parameters are.
func finite(m *Mixture) bool {
	for _, list := range [][]float64{m.Weight, m.Mean, m.Root} {
		if !dense.AllFinite(list) {
			return false
		}
	}
	return true
}

// within returns the mixture of the components in the frame; nil if they are none.
func within(f *Whitening, components []learner.Component) *Mixture {
	d, k := len(f.At), len(components)
	if k == 0 {
		return nil
	}
	m := NewMixture(k, d)
	t := len(m.Root) / k
	column := make([]float64, d)
	for j, c := range components {
		if len(c.Mean) != d || len(c.Root) != d || !(c.Weight > 0) {
			return nil
		}
		m.Weight[j] = c.Weight
		for i, v := range c.Mean {
			m.Mean[j*d+i] = v - f.At[i]
		}
		into(f, m.Mean[j*d:j*d+d])
		for b := range d {
			for i, row := range c.Root {
				if len(row) != d {
					return nil
				}
				column[i] = row[b]
			}
			into(f, column)
			AddSquare(m.Root[j*t:j*t+t], column, d, 1)
		}
	}
	scales := slices.Clone(m.Root)
	if !m.Refactor() || !finite(m) {
		return nil
	}
	for i, v := range m.Root {
		if at := i % t; at%(d+1) == 0 && !(v > thin*math.Sqrt(scales[i])) {
			return nil
		}
	}
	return m
}

// thin is the least diagonal entry of a component's Cholesky factor of correlations: below,
// rounding may have made it from a singular one.
const thin = 1e-7

// LogLikelihood returns that of the rows under a mixture, in nats per row; not a number if the rows
// have no covariance of full rank, or the mixture is none.
func LogLikelihood(rows [][]float64, components []learner.Component) float64 {
	if len(rows) == 0 {
		return math.NaN()
	}
	z, f, err := Whiten(rows, 0)
	if err != nil {
		return math.NaN()
	}
	m := within(f, components)
	if m == nil {
		return math.NaN()
	}
	d := len(f.At)
	v := Learner{}.Run(z, len(m.Weight), d).Expect(m) / float64(len(rows))
	for i := range d {
		v -= math.Log(f.Root[i*d+i])
	}
	return v - float64(d)*math.Log(2*math.Pi)/2
}

// into replaces x - at by z.
func into(f *Whitening, x []float64) {
	d := len(x)
	for i := range x {
		x[i] = (x[i] - dense.Dot(f.Root[i*d:i*d+i], x[:i])) / f.Root[i*d+i]
	}
}
