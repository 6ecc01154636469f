package kernel

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// An Answer is a released vector: exact sums plus an ideal Gaussian rounded to the integer grid, in the query's unit.
type Answer struct {
	Values []float64
	// Sigma is the noise sd of a coordinate of weight 1, in the unit of Values.
	Sigma float64
}

// maxSigma is the largest noise, in grid units, that the sampler draws.
const maxSigma = 1 << 55

// Sum measures q with privacy loss mu: mu-GDP.
//
// Theorem: the exact answer is an integer vector with L2 sensitivity S after division by the weights; adding N(0, (w_i S/mu)^2)
// to coordinate i is mu-GDP (Dong, Roth and Su); rounding the sum to integers is post-processing, and because the answer is
// integral it equals adding the rounded Gaussian. Adaptively chosen queries compose because the filter holds the sum of mu^2.
//
// Source: [DRS22] Theorem 2.7 of the paper on Gaussian differential privacy; [KARNEY16] for the sampler.
func (a *Allotment) Sum(step string, q query.Sum, mu float64) (Answer, error) {
	s := a.s
	q, err := query.Own(q)
	if err != nil {
		return Answer{}, err
	}
	if err := q.Validate(s.Columns()); err != nil {
		return Answer{}, err
	}
	return a.measure(step, q, q.Sensitivity(s.terms.Relation), mu, q.Unit(), q.Weight,
		func() []int64 { return s.terms.Engine.Sum(s.table.rows(), q) })
}

// Pairs measures q over secret pairs of rows with privacy loss mu: mu-GDP. buckets is used under add-or-remove-one only (there it
// must be public or released; half the noisy count is right); under replace-one the pairs are a random perfect matching.
//
// Theorem: as for Sum, given the draws of the pairs; see drawPairs for why one row changes one pair.
func (a *Allotment) Pairs(step string, q query.PairSum, buckets int, mu float64) (Answer, error) {
	s := a.s
	q, err := query.Own(q)
	if err != nil {
		return Answer{}, err
	}
	if err := q.Validate(s.Columns()); err != nil {
		return Answer{}, err
	}
	return a.measure(step, q, q.PairSensitivity(), mu, 1, func(int) float64 { return 1 }, func() []int64 {
		source, _ := s.random()
		pairs := drawPairs(source, s.terms.Relation, s.table.rows().Len(), min(max(1, buckets), maxBuckets))
		return s.terms.Engine.SumPairs(s.table.rows(), q, pairs)
	})
}

// maxBuckets bounds the memory of a pairing; buckets is public, so the bound is too.
const maxBuckets = 1 << 26

// kinded is what every query can say of itself.
type kinded interface{ Kind() string }

// measure charges, sums, adds noise and records, in this order.
func (a *Allotment) measure(step string, q kinded, sensitivity, mu, unit float64, weight func(int) float64, exact func() []int64) (Answer, error) {
	s := a.s
	sigma, err := sigmaOf(step, sensitivity, mu)
	if err != nil {
		return Answer{}, err
	}
	run := func() ([]float64, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
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

// A Cell is one released cell of a stability histogram.
type Cell struct {
	Column int
	Key    float64 // the integer c of query.CellKeys
	Count  float64 // noisy
}

// Cells releases the cells of a stability histogram whose noisy count passes the threshold, sorted by column and key.
//
// Theorem: with sd sigma = S/mu, S = sqrt(2J) (replace-one) or sqrt J for J histograms, and slack s, the release is mu-GDP up to
// total variation s: a cell that is empty in the neighbour has count 1, there is at most one per histogram on either side, and
// 1 + round(sigma X) >= 2 + t with t >= sigma PhiInv(1 - s/J) has probability at most s/J. The slack enters delta with the
// factor (1 + e^epsilon).
//
// Source: [KSSU19] Sections A.2 and A.4 of the restatement.
func (a *Allotment) Cells(step string, q query.CellKeys, mu float64) (cells []Cell, sigma float64, err error) {
	s := a.s
	q, _ = query.Own(q)
	if err := q.Validate(s.Columns()); err != nil {
		return nil, 0, err
	}
	j := float64(q.Histograms())
	sensitivity := privacy.SqrtUp(2 * j)
	if s.terms.Relation == privacy.AddRemoveOne {
		sensitivity = privacy.SqrtUp(j)
	}
	if sigma, err = sigmaOf(step, sensitivity, mu); err != nil {
		return nil, 0, err
	}
	run := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		u, delta, err := s.reserve(a, step, q.Kind(), mu, true)
		if err != nil {
			return err
		}
		logTail := privacy.LogSlackOf(s.total.Budget.Epsilon, delta) - math.Log(j)
		cells = s.noisyCells(s.terms.Engine.Keys(s.table.rows(), q), sigma, cellThreshold(sigma, logTail))
		cells = unflat(s.watch(step, q, mu, flat(cells), nil))
		s.record(Measurement{Step: step, Query: q.Kind(), Sensitivity: sensitivity, Noise: sigma, Mu: mu, Delta: delta, Source: u.step.Source})
		return nil
	}
	if err := run(); err != nil {
		return nil, 0, err
	}
	s.observe(step)
	return cells, sigma, nil
}

// cellThreshold is a T with P(1 + round(sigma X) >= T) <= exp(logTail).
func cellThreshold(sigma, logTail float64) float64 {
	return 2 + math.Ceil(privacy.MulUp(sigma, quantileUp(logTail)))
}

// noisyCells draws the noise of the cells in the order of their keys, so that neither maps nor the order of rows matter to a
// seeded run.
func (s *Session) noisyCells(columns []map[float64]int64, sigma, threshold float64) (cells []Cell) {
	for column, counts := range columns {
		for _, k := range slices.Sorted(maps.Keys(counts)) {
			if noisy := float64(counts[k] + s.gaussian(sigma)); noisy >= threshold {
				cells = append(cells, Cell{column, k, noisy})
			}
		}
	}
	return cells
}

// flat writes cells as column, key, count; unflat reads them back.
func flat(cells []Cell) (values []float64) {
	for _, c := range cells {
		values = append(values, float64(c.Column), c.Key, c.Count)
	}
	return values
}

func unflat(values []float64) (cells []Cell) {
	for ; len(values) >= 3; values = values[3:] {
		cells = append(cells, Cell{int(values[0]), values[1], values[2]})
	}
	return cells
}

// quantileUp is a q with P(X >= q) <= exp(logTail) for a standard Gaussian X: by bisection on math.Erfc, which is good to a relative
// error far below the margin left here (math.Erfcinv is not: it computes Erfinv(1-x)), or, where the tail is close to underflow,
// Chernoff's bound P(X >= q) <= exp(-q^2/2).
func quantileUp(logTail float64) float64 {
	if logTail <= -600 {
		return privacy.SqrtUp(-2 * logTail * (1 + 1e-12))
	}
	tail := math.Exp(logTail) * (1 - 1e-9)
	low, high := 0.0, 40.0
	for range 64 {
		if q := (low + high) / 2; math.Erfc(q/math.Sqrt2)/2 <= tail {
			high = q
		} else {
			low = q
		}
	}
	return high
}
