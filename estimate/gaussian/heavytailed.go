package gaussian

import (
	"context"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// HeavyTailed is the method "heavy-tailed".
type HeavyTailed struct {
	estimate.Named
	tuning MomentsTuning
}

// NewHeavyTailed returns the method "heavy-tailed".
func NewHeavyTailed() HeavyTailed {
	return HeavyTailed{estimate.Describe("heavy-tailed", "TYLERPRESS Section 3", "mean and covariance of any law, with heavy or light tails: no bounds, no assumption on the shape"), UsualMoments()}
}

var _ estimate.Estimator = HeavyTailed{}

// With returns the estimator with constants of its own.
func (e HeavyTailed) With(t MomentsTuning) HeavyTailed {
	e.tuning = t
	return e
}

// full reports that the fit goes by way of a full covariance; if not, every column is fitted by
// itself.
func full(p estimate.Problem) bool {
	return p.Covariance == estimate.Full || p.Planned().Columns <= diagonalByFull
}

// roundedProblem returns the problem of rounding the rows: for a full covariance if the fit goes by
// way of one.
func roundedProblem(p estimate.Problem) estimate.Problem {
	full := full(p)
	if p.Covariance = estimate.Diagonal; full {
		p.Covariance = estimate.Full
	}
	return p
}

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal on public facts. Shares
// are worst cases of alternatives.
func (e HeavyTailed) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := checkOne(e.Name(), roundedProblem(p)); err != nil {
		return kernel.Plan{}, err
	}
	if one := roundedProblem(p); !full(p) && p.Rows > 0 && p.Mu > 0 && float64(p.Rows) < heavier*triedFrom(one) {
		needs := program.Needs(one, e.Expect(p).RowsNeeded, "")
		return kernel.Plan{}, program.Refusal(needs, "%d rows are too few for a fit of %d columns at this epsilon", p.Rows, p.Columns)
	}
	steps := openSteps(roundedProblem(p), "", 1)
	if full(p) {
		steps = append(steps, tyler.Step.In("", 1), stepTail.In("", 1))
	}
	steps = append(append(steps, plainSteps(roundedProblem(p), "", 1)...), stepBeyond.In("", 1))
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e HeavyTailed) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := heavyFit{newFit(ctx, e.Name(), Tuning{MomentsTuning: e.tuning}, s.SubBudget(), p, "")}
	return f.End(f.run())
}

// heavyFit is a run of this method.
type heavyFit struct{ *Fit }

func (f heavyFit) run() (estimate.Outcome, error) {
	if err := f.Open(roundedProblem(f.Problem)); err != nil {
		return estimate.Outcome{}, err
	}
	switch {
	case f.Space.Dim() == 0:
		return f.Constant()
	case f.byFull:
		return f.round()
	}
	f.alone()
	return f.Plain(nil)
}

// round rounds the rows and releases their moments.
func (f heavyFit) round() (estimate.Outcome, error) {
	st, out, err := f.Rounded(f.RoundingPart(), f.OutlierShare)
	if err != nil || st == nil {
		return out, err
	}
	return f.Plain(f.WithinReach(st))
}

// Expect gives the rows needed, for a law with heavy tails, and nothing of the error, which depends
// on the law.
func (HeavyTailed) Expect(p estimate.Problem) estimate.Expectation {
	e := expect(roundedProblem(p), p.Covariance)
	if !full(p) {
		e.RowsNeeded *= heavier
	}
	return e
}

// heavier: columns that may have heavy tails are measured one by one, and need this many times the
// rows of the columns of a Gaussian. A guess.
const heavier = 2
