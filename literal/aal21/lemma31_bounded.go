package aal21

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/literal/paper"
)

// bounded is the decoder that asks no row: the list of all rough Gaussians that stated bounds on
// means and eigenvalues allow. Histograms of infinitely many bins need a delta; the choice of
// Lemma 3.1 does not, so that with this list the whole is pure.
//
// Utility: every component within the bounds is listed, whatever its weight.
//
// Source: [AAL21] Lemma 3.1; Algorithm 1.
// Differs: the list is public, in place of one that is decoded.
type bounded struct{ axisAligned }

// Steps returns none: nothing is asked.
func (bounded) Steps(estimate.Problem, float64) []kernel.Step { return nil }

// Rows returns 0: no row is needed to list what is public.
func (bounded) Rows(estimate.Problem, float64, float64) (enough, least float64) { return 0, 0 }

// Shortest returns the list.
func (b bounded) Shortest(p estimate.Problem) List { return b.list(p) }

// Decode returns the list.
func (b bounded) Decode(s Sample) (List, error) { return b.list(s.Problem), nil }

// mostRough is the largest list of a column: more cannot be enumerated anyway.
const mostRough = 100_000

// list returns scales that are powers of two times the least standard deviation, and bins within
// the bound on the mean, in every column.
func (b bounded) list(p estimate.Problem) decoded {
	var line []rough
	low, high := math.Sqrt(p.Facts.Eigenvalues[0]), math.Sqrt(p.Facts.Eigenvalues[1])
	for scale := 2 * low; len(line) <= mostRough; scale *= 2 {
		last := scale >= high*(1-1e-12)
		if last {
			scale = math.Max(low, math.Min(scale, 2*high))
		}
		for bin := -math.Ceil(p.Facts.MeanWithin/scale - .5); bin*scale <= p.Facts.MeanWithin+scale/2 && len(line) <= mostRough; bin++ {
			line = append(line, rough{scale, bin})
		}
		if last {
			break
		}
	}
	columns := make([][]rough, p.Columns)
	for i := range columns {
		columns[i] = line
	}
	return b.c.product(columns)
}

// FitsPure reports whether all steps can have a pure loss: with bounds on means and eigenvalues.
func (e Estimator) FitsPure() bool {
	return e.other == nil && (e.class == inOneColumn || e.class == diagonals)
}

// impure says what a problem without a delta lacks, or returns "".
func (e Estimator) impure(p estimate.Problem) string {
	switch f := p.Facts; {
	case !p.Budget.Pure():
		return ""
	case !e.FitsPure() || p.KnownCovariance != nil:
		return "it decodes its list with a delta"
	case f.Validate() != nil:
		return fmt.Sprintf("the facts cannot be: %v", f.Validate())
	case !f.KnowsMean || !f.KnowsEigenvalues():
		return "without a delta it chooses among all mixtures that bounds on means and variances allow"
	}
	return ""
}

// total returns what the session's filter adds up to: mu^2 or, where delta is 0, epsilon.
func total(p estimate.Problem) float64 {
	if p.Budget.Pure() {
		return p.Budget.Epsilon
	}
	return p.Mu * p.Mu
}

// selection returns the epsilon of a choice that may cost so much of total.
func selection(p estimate.Problem, cost float64) float64 {
	if p.Budget.Pure() {
		return cost * (1 - 1e-12)
	}
	return paper.SelectionEpsilon(cost)
}
