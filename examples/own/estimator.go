// Package own shows what users can bring to Gauze besides a learner: an estimator, and a list
// decoder for AAL21's reduction. gauze.Fit runs both, as Request.Estimator.
package own

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
)

// Histogram is an estimator of one's own: mean and variance of one column from a histogram of equal
// bins within the stated bound on the mean and four of the widest stated standard deviations.
//
// Privacy: it asks the rows one query, through its session, which adds the noise; all else is a
// function of the answer and of public facts.
type Histogram struct{ Bins int }

const bins = "bins"

// Name begins with "own:", by which certificates say that it is not part of Gauze.
func (Histogram) Name() string { return "own:histogram" }

// Summary returns one line for lists.
func (Histogram) Summary() string { return "mean and variance of one column, from a histogram" }

// Source names where it comes from.
func (Histogram) Source() string { return "an example" }

// Uses reports which facts it uses.
func (Histogram) Uses(estimate.Problem) estimate.Uses {
	return estimate.Uses{Mean: true, Eigenvalues: true}
}

// Plan states all that Fit may ask. It refuses on public facts alone, so nothing is spent then.
func (h Histogram) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns != 1 || p.Components > 1 || !p.Facts.KnowsMean || !p.Facts.KnowsEigenvalues() {
		return kernel.Plan{}, &estimate.Refusal{Reason: "own:histogram takes one column, one component, and bounds on mean and variance",
			Advice: "set Facts, and Components to 1"}
	}
	return kernel.Plan{Method: h.Name(), Steps: []kernel.Step{
		{Name: bins, Query: h.query(p.Facts).Kind(), Share: 1, Most: 1, Source: "examples/own"},
	}}, nil
}

// query returns the histogram.
func (h Histogram) query(f estimate.Facts) query.Counts {
	reach := f.MeanWithin + 4*math.Sqrt(f.Eigenvalues[1])
	edges := make([]float64, h.Bins+1)
	for i := range edges {
		edges[i] = reach * (2*float64(i)/float64(h.Bins) - 1)
	}
	return query.Counts{Edges: [][]float64{edges}, As: query.Bins}
}

// Fit follows the plan with the whole budget of its session.
func (h Histogram) Fit(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	q := h.query(p.Facts)
	answer, err := s.SubBudget().Sum(bins, q, s.SubBudget().LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	total, mean, square := 0.0, 0.0, 0.0
	for i, edge := range q.Edges[0][:h.Bins] { // answer 0 counts what lies below the first edge
		rows, at := answer.Values[i+1], (edge+q.Edges[0][i+1])/2
		total += rows
		mean += rows * at
		square += rows * at * at
	}
	if mean /= total; !(total > 10*answer.Sigma*float64(h.Bins)) {
		return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: "noise hides the histogram", Advice: "needs more rows or a larger epsilon"}}, nil
	}
	width := q.Edges[0][1] - q.Edges[0][0]
	variance := square/total - mean*mean - width*width/12
	cov, err := model.NewSpherical(1, math.Max(variance, p.Facts.Eigenvalues[0]))
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: []float64{mean}, Cov: cov}})
	if err != nil {
		return estimate.Outcome{}, err
	}
	return estimate.Outcome{Model: m, Diagnostics: estimate.Diagnostics{Components: []estimate.ComponentNote{{EffectiveRows: total}}}}, nil
}

// Expect says what error to expect, from public facts.
func (h Histogram) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Mu > 0) {
		return estimate.Expectation{}
	}
	return estimate.Expectation{RowsNeeded: 15 * float64(h.Bins) / p.Mu}
}
