// Package separated learns mixtures of separated Gaussians: [KSSU19], practical and literal.
//
// The practical learner (method "separated") follows the paper, with a noisy tree of counts in
// place of the search for balls: units of the columns (noisy bisection, then pairs of rows that are
// near each other), the ball that holds the bulk, private PCA, a tree of counts in the leading
// directions whose leaves are a private coreset, EM on it, and the terrific test on what EM finds;
// then the same inside every component found, until nothing splits; last, private moments of every
// component, in the span of the means and in all columns.
//
// Source: [KSSU19] Part C of the restatement.
// Differs: stage 0 finds the units, near pairs those of the clusters; levels go on as long as
// released values say that something splits; nodes are measured in the frame of what is known of
// them; Kalman gains instead of Stein's rule.
package separated

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Estimator is the method "separated".
type Estimator struct{ estimate.Named }

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe("separated", source, "a mixture of well separated components, of any scales and with outliers: a tree of counts, level by level")}
}

var _ estimate.Estimator = Estimator{}

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for a table that is
// known to be too short.
func (Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastFor(p) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few to tell components of %d columns apart at this epsilon", p.Rows, p.Columns)
	}
	return kernel.Plan{Method: "separated", Steps: steps(p)}, nil
}

// Utility constants of what is promised: fitted to the smallest numbers of rows at which nine of
// ten fits find all components, between d = 2 and 50 and k = 2 and 10.
const (
	rowsUnit      = 280 * .2367 // at mu = 1; .2367 is the mu of (1, 1e-6)
	rowsByK       = 1.4
	rowsByColumns = .46
	hopeless      = .3 // with less than this part of these rows a fit is not tried
)

// rowsFor returns about how many rows k components of about equal weight need.
func rowsFor(p estimate.Problem, k int) float64 {
	n := rowsUnit / p.Mu * math.Pow(float64(k), rowsByK) * math.Pow(float64(p.Columns), rowsByColumns)
	if p.Relation == privacy.AddRemoveOne {
		n /= math.Sqrt2
	}
	return n
}

// leastFor returns the number of rows below which a fit is not tried.
func leastFor(p estimate.Problem) float64 {
	return max(hopeless*rowsFor(p, max(2, p.Components)), program.SharpRows(p, p.Columns), recursive.LeastRows)
}

// needed returns about how many rows the requested components need, or two components.
func needed(p estimate.Problem) float64 {
	return math.Max(rowsFor(p, max(2, p.Components)), leastFor(p))
}

// Expect says what to expect from public facts: the rows that the components need.
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	e := estimate.Expectation{RowsNeeded: needed(p)}
	if most := p.MaxComponents; p.Components == 0 && most > 2 {
		e.Notes = append(e.Notes, fmt.Sprintf("the rows are for 2 components of about equal weight; %d need about %.0f", most, estimate.AboutRows(rowsFor(p, most))))
	}
	e.Notes = append(e.Notes, "for components whose means lie at least about 4 standard deviations apart; others are joined: see the method general")
	e.Notes = append(e.Notes, program.WholeRows(p)...)
	return e
}

// Fit follows the plan with the whole budget of the session.
func (Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	return (&fit{Finder: recursive.Finder{Run: program.Begin(s, p, advice), Context: ctx, Keep: refineShare, Beyond: true}}).run()
}

// fit is the state of one run.
type fit struct {
	recursive.Finder
	limit  int     // the number of components asked for, or allowed if there are more; 0 for none
	places float64 // what is kept of the budget to place rows outside every component
}

const source = "KSSU19 Section C"

// run makes the whole fit.
func (f *fit) run() (estimate.Outcome, error) {
	if err := f.CountRows(stepCount, countShare); err != nil {
		return estimate.Outcome{}, err
	}
	if f.Few(leastFor(f.Problem)) {
		return f.Refuse("about %.0f rows are too few to tell components of %d columns apart", math.Max(0, f.Rows), f.All), nil
	}
	share, _ := program.Share(f.Problem, f.All, f.Rows)
	if out, done, err := f.Open(program.Config(prefixUnits, share, weakShare, f.Mu2), 1); done {
		return out, err
	}
	f.Space = program.OneUnit(f.Run.Space, f.Problem.Covariance)
	if err := f.Find(); err != nil {
		return estimate.Outcome{}, err
	}
	found, err := f.refine()
	if err != nil {
		return estimate.Outcome{}, err
	}
	if len(found) == 0 {
		return f.Refuse("no component holds enough rows to be seen"), nil
	}
	if err := f.Place(f.Space, found, f.places); err != nil {
		return estimate.Outcome{}, err
	}
	rows, sd, err := privateem.CountOutside(f.SubBudget, program.StepOutside, f.Space, found, f.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(found, rows, sd), nil
}
