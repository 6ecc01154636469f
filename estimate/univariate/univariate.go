// Package univariate learns a mixture of Gaussians in one column about which nothing is known: no
// bound on means or standard deviations, which may differ by any number of orders of magnitude
// between components, and no separation of them.
//
// A spacing histogram, of the gaps between consecutive values, shows in one measurement at which
// scales and about where the rows lie. Then come histograms of the whole line, each with edges
// chosen by the one before, until all components are resolved and no rows are missing; the last has
// its edges where the fitted components say that counts tell most. The mixture is fitted to all of
// them. All rounds of shapes count the tails at every scale: rows that the requested components
// leave out are described by others, marked as background, as far as the overall moments need it;
// misfit and heavy tails are reported. Values on a recording grid are found by bins of their own
// for the numbers that people write down.
//
// Source: [AAL21] Section 5 of the restatement.
// Differs: shares of the budget depend on the rows per component. Two or three histograms of the
// whole line stand for the tree of every root, and all of them count in the fit. Rows that the gaps
// did not show are looked for in the holes between components, with finitely many bins and no
// threshold; so equal values, which have no gaps, are found as well, and so is everything where the
// budget has no delta. See parts/fit1d and parts/fit1d.
package univariate

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Estimator is the method "univariate".
type Estimator struct {
	estimate.Named
	tuning Tuning
}

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe(name, source, "a mixture in one column, components of any scales anywhere: gaps between values, then histograms and a fit"), Usual()}
}

var _ estimate.FactUser = Estimator{}

const (
	name   = "univariate"
	source = "AAL21 Section 5"
)

// Uses says that a known variance is made use of: then the components' are not fitted.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	return estimate.Uses{Covariance: p.Columns == 1}
}

// The steps.
const (
	stepCount  = "count"
	stepGaps   = "gaps"
	stepPlaces = "places"
	stepLooks  = "closer looks"
	stepShapes = "shapes"
)

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for more than one column
// or rows that can show no component.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", name, p.Columns)
	}
	if p.Columns > 1 {
		return kernel.Plan{}, program.Refusal("name one column with --columns, or use --method axis-aligned or --method general",
			"method %s fits one column, %d were asked for", name, p.Columns)
	}
	if p.Relation == privacy.ReplaceOne && p.Mu > 0 && float64(p.Rows) < rowsSeen(p) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few to show any component at this epsilon", p.Rows)
	}
	if p.Relation == privacy.ReplaceOne && p.Components > most(p, float64(p.Rows)) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few to tell %d components apart at this epsilon", p.Rows, p.Components)
	}
	histogram := query.Histogram
	var steps []kernel.Step
	if p.Relation == privacy.AddRemoveOne {
		steps = append(steps, kernel.Step{Name: stepCount, Query: query.Count{}.Kind(), Share: countShare, Most: 1, Source: source})
	}
	if !p.NoDelta {
		steps = append(steps,
			kernel.Step{Name: stepGaps, Query: query.SpacingMasses{}.Kind(), Share: e.tuning.SpacingShare, Most: 1, Slack: 1, Source: source},
			kernel.Step{Name: stepPlaces, Query: histogram, Share: 3 * e.tuning.PlaceShare, Most: mostPlaces, Source: source})
	}
	return kernel.Plan{Method: name, Steps: append(steps,
		kernel.Step{Name: stepLooks, Query: histogram, Share: math.Min(1, e.tuning.RefineShare*mostLooks), Most: mostLooks, Source: source},
		kernel.Step{Name: stepShapes, Query: histogram, Share: 1, Most: mostShapes, Source: source},
	)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return newFit(ctx, s, p, e.tuning).run()
}

// Expect says what to expect from public facts: the rows with which all components are seen.
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Mu > 0) || p.Columns != 1 {
		return estimate.Expectation{}
	}
	e := estimate.Expectation{RowsNeeded: rowsFor(p)}
	if p.Components == 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("the rows are for %d components of about equal weight; fewer need fewer", components(p)))
	}
	return e
}

// advice says what would help.
func advice(p estimate.Problem) string {
	return program.Needs(p, rowsFor(p), program.OfEqualWeight(components(p)), "fewer components")
}
