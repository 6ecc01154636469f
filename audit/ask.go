package audit

import (
	"context"
	"strings"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/release"
)

// asking is a budget that all questions of a fit fit into, and costs no time to calibrate.
var asking = privacy.Budget{Rho: 1e6}

// ask asks a table the queries of a fit, and returns the exact sums: nil for a query that is no
// Gaussian sum over rows, or pairs of rows, of the table itself.
func (s subject) ask(ctx context.Context, rows [][]float64, heard []kerneltest.Heard, lines []release.PlanStep, seed uint64) ([][]int64, error) {
	exact := make([][]int64, len(heard))
	plan, at := kernel.Plan{Method: "audit"}, map[string]int{}
	for k, h := range heard {
		if !s.sums(h, lines[k]) {
			continue
		}
		if _, seen := at[h.Step]; !seen {
			at[h.Step] = len(plan.Steps)
			plan.Steps = append(plan.Steps, kernel.Step{Name: h.Step, Query: lines[k].Query, Share: 1})
		}
		plan.Steps[at[h.Step]].Most++
	}
	if plan.Steps == nil {
		return exact, nil
	}
	script := kerneltest.Script{Replayed: true, Answers: heard, Seed: seed, Codes: s.codes}
	session, err := kernel.Open(ctx, kerneltest.Observed(rows, s.columns, s.relation, &script), plan, kernel.Terms{Relation: s.relation, Budget: asking})
	if err != nil {
		return nil, err
	}
	for k, h := range heard {
		if !s.sums(h, lines[k]) {
			continue
		}
		switch q := h.Query.(type) {
		case query.Pairs:
			_, err = kernel.SumPairs(session.SubBudget(), h.Step, q, h.Mu)
		case query.CategoryCounts:
			_, err = session.SubBudget().Categories(h.Step, q, h.Mu)
		default:
			_, err = session.SubBudget().Sum(h.Step, h.Query.(query.Sum), h.Mu)
		}
		if err != nil {
			return nil, err
		}
		exact[k] = script.Heard[len(script.Heard)-1].Exact
	}
	return exact, nil
}

// sums reports whether a measurement is a vector of sums over the rows of the table itself, or over
// pairs of them, with Gaussian noise. Counts of values that the fit has found are of another table.
func (s subject) sums(h kerneltest.Heard, line release.PlanStep) bool {
	if line.Law != "" || !(line.Noise > 0) || strings.HasPrefix(line.Query, kernel.OfBlocks("")) {
		return false
	}
	switch h.Query.(type) {
	case query.CategoryCounts:
		return s.texts == nil
	case query.Pairs, query.Sum:
		return true
	}
	return false
}
