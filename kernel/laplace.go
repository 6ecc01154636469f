package kernel

import (
	"fmt"
	"github.com/gauze-dp/gauze/kernel/engine"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Laws of noise other than the Gaussian, as Measurement.Law names them. With S the Sensitivity and
// b the Noise, the step is e-DP:
const (
	// e = S/b: discrete Laplace of scale b on every number; S in L1
	LawLaplace     = "laplace"
	LawExponential = "exponential" // e = 2S/b: P(option) ~ exp(score/b)
	// e = 4S/b: discrete Laplace of scale b on every score, b/2 on the threshold
	LawAboveThreshold = "above threshold"
	// With a threshold's delta as well:
	// e = S/b: discrete Laplace of scale b on every number, cut at a public bound; S in L1
	LawTruncated = "truncated laplace"
	// e = S/b: a test and a cut exponential mechanism, see SelectLocal
	LawLocal = "local exponential"
	// With a Rényi curve in place of a mu, and a test's delta as well as the former:
	// privacy.PureCurve(S/b): discrete Laplace of scale b on a count of sensitivity S, cut at a
	// public bound
	LawPopular = "popularity test"
	// that of Measurement.Mask; S is its Gamma and b its Eta (of covariances)
	LawMasked = "masked"
)

// Laplace measures counts with pure privacy loss epsilon: epsilon-DP for the whole measurement,
// whatever the number of leaves. It is charged privacy.MuOfPure(epsilon)^2; privacy.PureOfMu is the
// way back.
//
// Answer: the exact counts plus independent discrete Laplace noise P(j) ~ exp(-g |j|), g =
// epsilon/S rounded down, S the L1 sensitivity. Sigma is the sd of that noise.
//
// Theorem: for neighbours the exact answers a, a' are integer vectors with |a-a'|_1 <= S. The
// answer r has probability proportional to exp(-g |r-a|_1) and exp(-g |r-a'|_1), with the same
// constant, and | |r-a|_1 - |r-a'|_1 | <= S: the ratio is at most exp(gS) <= exp(epsilon). Whatever
// is epsilon-DP is MuOfPure(epsilon)-GDP, which is what the session's filter adds up.
//
// Source: [CKS20] Algorithm 2 of the paper on the discrete Gaussian; [KSSU19] Section A.2 of the
// restatement.
func (a *Allotment) Laplace(step string, q query.L1Sum, epsilon float64) (Answer, error) {
	s := a.s
	q, err := query.Own(q)
	if err != nil {
		return Answer{}, err
	}
	if err := q.Validate(s.Columns()); err != nil {
		return Answer{}, err
	}
	l1 := s.grouped(q.L1(s.terms.Relation))
	if !(l1 > 0) || math.IsInf(l1, 0) {
		return Answer{}, fmt.Errorf("kernel: step %q: want a query with an L1 sensitivity, such as counts, got %q", step, q.Kind())
	}
	rate, err := rateOf(step, epsilon, l1)
	if err != nil {
		return Answer{}, err
	}
	values, err := a.pure(step, q, Measurement{Sensitivity: l1, Noise: privacy.DivUp(1, rate), Mu: privacy.MuOfPure(epsilon), Law: LawLaplace}, func() ([]float64, []int64) {
		sums := engine.Sum(s.terms.Engine, s.table.rows(), q)
		values := make([]float64, len(sums))
		for i, v := range sums {
			values[i] = float64(v + s.laplace(rate))
		}
		return values, sums
	})
	if err != nil {
		return Answer{}, err
	}
	return Answer{Values: values, Sigma: 1 / (math.Sqrt2 * math.Sinh(rate/2))}, nil
}

// maxEpsilon bounds a pure step: package privacy's bounds on its own errors reach that far.
const maxEpsilon = 1e7

// rateOf is epsilon/sensitivity, rounded down; an error if the samplers cannot draw at that rate.
// It sees public numbers only.
func rateOf(step string, epsilon, sensitivity float64) (float64, error) {
	if epsilon == 0 { // privacy.PureOfMu of an allotment that is spent
		return 0, fmt.Errorf("kernel: step %q: want a positive epsilon, got 0: %w", step, ErrExhausted)
	}
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return 0, fmt.Errorf("kernel: step %q: want an epsilon in (0, %g], got %v", step, maxEpsilon, epsilon)
	}
	rate := privacy.DivDown(epsilon, sensitivity)
	if !(rate >= 4*noise.MinRate) { // AboveThreshold draws at a quarter of it
		return 0, fmt.Errorf("kernel: step %q: epsilon = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon",
			step, epsilon)
	}
	return rate, nil
}

// pure charges m.Mu, measures and records, in this order; m lacks only what the plan says.
func (a *Allotment) pure(step string, q kinded, m Measurement, measure func() ([]float64, []int64)) ([]float64, error) {
	s := a.s
	run := func() (_ []float64, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer sealed(&err)
		u, _, err := s.reserve(a, step, q.Kind(), m.Mu, false)
		if err != nil {
			return nil, err
		}
		values, exact := measure()
		values = s.watch(step, q, m.Mu, values, exact)
		m.Step, m.Query, m.Source = step, q.Kind(), u.step.Source
		s.record(m)
		return values, nil
	}
	values, err := run()
	if err != nil {
		return nil, err
	}
	s.observe(step)
	return values, nil
}

// rated is the rate that is drawn from; a test's hook may change it. ok is false if no noise is
// wanted.
func (s *Session) rated(rate float64) (float64, bool) {
	if s.hook == nil {
		return rate, true
	}
	return rate / s.hook.NoiseFactor, s.hook.NoiseFactor != 0
}

// laplace draws j with probability proportional to exp(-rate |j|).
func (s *Session) laplace(rate float64) int64 {
	rate, ok := s.rated(rate)
	if !ok {
		return 0
	}
	source, _ := s.random()
	return noise.DiscreteLaplace(source, rate)
}
