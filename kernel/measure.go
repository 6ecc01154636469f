package kernel

import (
	"fmt"
	"github.com/gauze-dp/gauze/kernel/engine"
	"math"

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
func (a *Allotment) Sum(step string, q query.Sum, mu float64) (Answer, error) {
	s := a.s
	q, err := query.Own(q)
	if err != nil {
		return Answer{}, err
	}
	if err := q.Validate(s.Columns()); err != nil {
		return Answer{}, err
	}
	return a.measure(step, q, s.grouped(q.Sensitivity(s.terms.Relation)), mu, q.Unit(), q.Weight,
		func() []int64 { return engine.Sum(s.terms.Engine, s.table.rows(), q) })
}

// kinded is what every query can say of itself.
type kinded interface{ Kind() string }

// measure charges, sums, adds noise and records, in this order.
func (a *Allotment) measure(step string, q kinded, sensitivity, mu, unit float64, weight func(int) float64, exact func() []int64) (Answer, error) {
	s := a.s
	sigma, err := sigmaOf(step, sensitivity, mu)
	if err != nil {
		return Answer{}, err
	}
	run := func() (_ []float64, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer sealed(&err)
		u, _, err := s.reserve(a, step, q.Kind(), mu, false)
		if err != nil {
			return nil, err
		}
		sums := exact()
		values := make([]float64, len(sums))
		for i, v := range sums {
			v += s.gaussian(privacy.MulUp(sigma, weight(i))) // modulo 2^64: see engine/local
			values[i] = float64(v) * unit
		}
		values = s.watch(step, q, mu, values, sums)
		s.record(Measurement{Step: step, Query: q.Kind(), Sensitivity: sensitivity * unit, Noise: sigma * unit, Mu: mu, Source: u.step.Source})
		return values, nil
	}
	values, err := run()
	if err != nil {
		return Answer{}, err
	}
	s.observe(step)
	return Answer{Values: values, Sigma: sigma * unit}, nil
}

// sealed, deferred, turns a panic into errInternal.
func sealed(err *error) {
	if recover() != nil {
		*err = errInternal
	}
}

// sigmaOf is the noise sd of a coordinate of weight 1, rounded up, in grid units.
func sigmaOf(step string, sensitivity, mu float64) (float64, error) {
	if mu == 0 { // LeftMu of an allotment that is spent
		return 0, fmt.Errorf("kernel: step %q: want a positive mu, got 0: %w", step, ErrExhausted)
	}
	if !(mu > 0) || math.IsInf(mu, 0) {
		return 0, fmt.Errorf("kernel: step %q: want a positive mu, got %v", step, mu)
	}
	sigma := privacy.DivUp(sensitivity, mu)
	if !(sigma <= maxSigma) {
		return 0, errTooLittle(step, mu)
	}
	return sigma, nil
}

// gaussian draws round(sigma X); a test's hook may change sigma.
func (s *Session) gaussian(sigma float64) int64 {
	if s.hook != nil {
		sigma *= s.hook.NoiseFactor
		if sigma == 0 {
			return 0
		}
	}
	_, draw := s.random()
	return draw.Round(sigma)
}

// watch shows a measurement to a test's hook, which may replace the answer by a recorded one.
func (s *Session) watch(step string, q any, mu float64, values []float64, exact []int64) []float64 {
	if s.hook == nil {
		return values
	}
	if s.hook.Replay != nil {
		n := 0
		for _, m := range s.log {
			n += m.Count
		}
		if replayed, ok := s.hook.Replay(n); ok {
			values = replayed
		}
	}
	if s.hook.Record != nil {
		s.hook.Record(step, q, mu, values, exact)
	}
	return values
}
