package kernel

import (
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Cell is one released cell of a stability histogram.
type Cell struct {
	Leaf       int
	Coordinate int // of the leaf's frame; -1 if the histogram is joint
	// the integer k of query.BoxKeys: one, or one per coordinate if the histogram is joint
	Key   []float64
	Count float64 // noisy
}

// Cells releases the cells of stability histograms whose noisy count passes the threshold, sorted
// by leaf, coordinate and key.
//
// Theorem. Let J be the number of histograms per leaf, g the number of rows of the table that one
// person can replace (1, but k for a table of block estimates), S = g sqrt(2J) (replace-one) or g
// sqrt J, sigma = S/mu, and s the slack that the step's delta buys. The release is mu-GDP up to
// total variation s: on neighbours X and X' let M~ be the mechanism that never releases a cell that
// is empty on one of the two sides.
//   - M~ is mu-GDP on this pair: it is the Gaussian mechanism for the counts of the cells that are
//     empty on neither side, a fixed list of integers of L2 sensitivity S (query.BoxKeys; g changes
//     in a row by the triangle inequality), followed by post-processing.
//   - M(X) and M~(X) differ only if a cell that is empty in X' passes in X. Such a cell holds none
//     but the g changed rows, so its count is at most g; each changed row is in at most J cells,
//     over all leaves, so there are at most gJ of them. One passes with probability P(g +
//     round(sigma Z) >= T) <= P(sigma Z >= T - g - 1/2) <= s/(gJ), by the choice T = g + 1 +
//     ceil(sigma q), P(Z >= q) <= s/(gJ): at most s in all. The same holds with X and X' exchanged.
//
// The slack enters delta with the factor (1 + e^epsilon): see privacy.Calibrate. How many leaves
// there are does not matter.
//
// Source: [KSSU19] Sections A.2, A.4 and B.11 of the restatement.
func (a *Allotment) Cells(step string, q query.BoxKeys, mu float64) (cells []Cell, sigma float64, err error) {
	s := a.s
	if q, err = query.Own(q); err != nil {
		return nil, 0, err
	}
	if err := q.Validate(s.Columns()); err != nil {
		return nil, 0, err
	}
	sensitivity := s.grouped(q.Sensitivity(s.terms.Relation))
	if sigma, err = sigmaOf(step, sensitivity, mu); err != nil {
		return nil, 0, err
	}
	m := Measurement{Sensitivity: sensitivity, Noise: sigma, Mu: mu}
	values, err := a.stable(step, q, m, func(logSlack float64) []float64 {
		threshold := cellThreshold(s.group, sigma, logSlack-math.Log(s.group*float64(q.Histograms())))
		return flat(noisyCells(q, s.boxes(q), threshold, func() int64 { return s.gaussian(sigma) }))
	})
	if err != nil {
		return nil, 0, err
	}
	return unflat(values), sigma, nil
}

// stable charges m.Mu and the step's slack, releases what passes a threshold, given ln of that
// slack, and records, in this order; m lacks only what the plan says.
func (a *Allotment) stable(step string, q kinded, m Measurement, release func(logSlack float64) []float64) ([]float64, error) {
	s := a.s
	run := func() (_ []float64, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		defer sealed(&err)
		u, delta, err := s.reserve(a, step, q.Kind(), m.Mu, true)
		if err != nil {
			return nil, err
		}
		values := s.watch(step, q, m.Mu, release(privacy.LogSlackOf(s.total.Budget.Epsilon, delta)), nil)
		m.Step, m.Query, m.Delta, m.Source = step, q.Kind(), delta, u.step.Source
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

// boxes counts the cells that are not empty.
func (s *Session) boxes(q query.BoxKeys) []map[query.Box]int64 {
	return s.terms.Engine.Scan(s.table.rows(), q).(*query.Boxes).Counts
}

// cellThreshold is a T with P(rows + round(sigma X) >= T) <= exp(logTail).
func cellThreshold(rows, sigma, logTail float64) float64 {
	return rows + 1 + math.Ceil(privacy.MulUp(sigma, quantileUp(logTail)))
}

// noisyCells draws the noise of the cells in the order of their keys, so that neither maps nor the
// order of rows matter to a seeded run.
func noisyCells(q query.BoxKeys, histograms []map[query.Box]int64, threshold float64, draw func() int64) (cells []Cell) {
	for at, counts := range histograms {
		leaf, coordinate, length := at/q.Histograms(), at%q.Histograms(), 1
		if q.Joint {
			coordinate, length = -1, q.Grids[leaf].Frame.Out()
		}
		for _, box := range slices.SortedFunc(maps.Keys(counts), func(x, y query.Box) int { return slices.Compare(x[:], y[:]) }) {
			if noisy := float64(counts[box] + draw()); noisy >= threshold {
				cells = append(cells, Cell{leaf, coordinate, slices.Clone(box[:length]), noisy})
			}
		}
	}
	return cells
}

// flat writes cells as leaf, coordinate, count, length of the key, key; unflat reads them back.
func flat(cells []Cell) (values []float64) {
	for _, c := range cells {
		values = append(values, float64(c.Leaf), float64(c.Coordinate), c.Count, float64(len(c.Key)))
		values = append(values, c.Key...)
	}
	return values
}

func unflat(values []float64) (cells []Cell) {
	for len(values) >= 4 {
		end := 4 + int(values[3])
		cells = append(cells, Cell{int(values[0]), int(values[1]), slices.Clone(values[4:end]), values[2]})
		values = values[end:]
	}
	return cells
}

// quantileUp is a q with P(X >= q) <= exp(logTail) for a standard Gaussian X: by bisection on
// math.Erfc, which is good to a relative error far below the margin left here (math.Erfcinv is not:
// it computes Erfinv(1-x)), or, where the tail is close to underflow, Chernoff's bound P(X >= q) <=
// exp(-q^2/2).
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
