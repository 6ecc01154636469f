// Package blackbox makes any learner of mixtures private: the method `black-box`.
//
// The course of a fit: the rows are cut into secret blocks and the learner runs on each; if the
// blocks' estimates agree, as a noisy test says, their mean is released behind a mask shaped like
// themselves, which is good to a constant factor; a few rounds of private EM on all rows, started
// there, do the rest. The learner may be anybody's: what it returns decides how well the method
// works, never how private it is.
//
// Source: [PPE] Section B of the restatement.
// Differs: blocks need fewer friends where labels are held more tightly, and the mean moves less
// than is said there (blocks.Rules); private EM undoes clipping and weighs what is measured by its
// noise.
package blackbox

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Estimator is the method "black-box".
type Estimator struct {
	estimate.Named
	learners.List
	tuning Tuning
}

// New returns the estimator, which runs Gauze's learners and others.
func New(others ...learners.Learner) Estimator {
	return Estimator{estimate.Describe(name, source, "a mixture by any learner: blocks whose estimates agree, a masked mean of them, then private EM"), append(learners.Ours(), others...), Usual()}
}

var (
	_ estimate.LearnerUser = Estimator{}
	_ estimate.Capped      = Estimator{}
)

const (
	name   = "black-box"
	source = "PPE Section B"
)

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	cut, refusal := e.tuning.refused(p)
	if refusal == nil && e.TooMany(p, components(p)) {
		refusal = program.Refusal("use another learner: --learner em, or pearson-lines",
			"the learner %s finds fewer components than the %d that were asked for", p.Learner, components(p))
	}
	if refusal != nil {
		return kernel.Plan{}, refusal
	}
	if rows := float64(p.Rows); p.Relation == privacy.ReplaceOne && cut.cut(rows).margin < hopeless {
		return kernel.Plan{}, program.Refusal(e.advice(p), "blocks of %d rows cannot agree on %d components well enough at this epsilon", p.Rows, components(p))
	}
	return kernel.Plan{Method: name, Steps: e.tuning.steps(p, cut.mask)}, nil
}

// refused returns why the method cannot solve p, whatever the number of rows, or else the way to
// cut them.
func (t Tuning) refused(p estimate.Problem) (cutter, error) {
	if refusal := refusedAtOnce(p); refusal != nil {
		return cutter{}, refusal
	}
	c := t.newCutter(p)
	switch {
	case !(c.mask.Gamma > leastGamma):
		return c, program.Refusal("raise epsilon or delta", "the budget leaves nothing for the mask of the blocks' mean")
	case c.cut(mostRows).margin < hopeless:
		return c, program.Refusal("raise epsilon or delta", "no number of blocks up to %d shows through the test's noise at this epsilon", mostBlocks)
	}
	return c, nil
}

// refusedAtOnce returns the refusals that need no accounting.
func refusedAtOnce(p estimate.Problem) error {
	switch {
	case p.NoDelta:
		return program.Refusal("give epsilon and delta instead of rho, or use --method general",
			"the method %s has a test that may fail and a mask that is no Gaussian, which a budget of zCDP cannot pay", name)
	case components(p) == 0:
		return program.Refusal("give --components K, or use --method general, which chooses",
			"the method %s needs the number of components: blocks have to agree on it", name)
	case components(p) > mostComponents || p.Columns > mostColumns:
		return program.Refusal("leave columns out, or use --method general", "the method %s takes up to %d components in up to %d columns, %d in %d were asked for",
			name, mostComponents, mostColumns, components(p), p.Columns)
	case p.Budget.Epsilon > Estimator{}.MostEpsilon(p.Budget.Delta):
		return program.Refusal("use a smaller epsilon or a larger delta", "the precision of a mask's draws costs more than delta = %g leaves for it at epsilon = %g",
			p.Budget.Delta, p.Budget.Epsilon)
	}
	return nil
}

// MostEpsilon returns the epsilon up to which the precision of a mask's draws costs no more than
// what steps leave of delta for it.
func (Estimator) MostEpsilon(delta float64) float64 {
	return math.Log(deltaPart * spared / 2 * delta / blocks.MaskSlack)
}

// What blocks.Rules takes.
const (
	mostComponents = 64
	mostColumns    = 20
)

// components returns k, or 0 if it is not known.
func components(p estimate.Problem) int {
	if p.Components == 0 && p.MaxComponents == 1 {
		return 1
	}
	return p.Components
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	return (&fit{Run: program.Begin(s, p, e.advice), of: e, k: components(p)}).run(ctx)
}

// Expect says what to expect from public facts.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	cut, refusal := e.tuning.refused(p)
	if refusal != nil {
		return estimate.Expectation{}
	}
	out := estimate.Expectation{RowsNeeded: e.tuning.rowsFor(p)}
	if p.Rows > 0 {
		if c := cut.cut(float64(p.Rows)); c.margin > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("%d blocks of about %d rows, of which %d have to agree", c.rules.Estimates, int(c.rows)/c.rules.Estimates, c.rules.Pass))
		}
	}
	if slow := e.Slow(p); slow != "" {
		out.Notes = append(out.Notes, slow+" takes seconds for a block of that many columns: hours for all of them")
	}
	out.Notes = append(out.Notes, "components lie some six standard deviations apart: the closer they are, the more rows blocks need to agree; "+
		"where they do not agree there is no release")
	return out
}

// advice returns what would help with this many rows.
func (e Estimator) advice(p estimate.Problem) string {
	if float64(p.Rows) >= estimate.AboutRows(e.tuning.rowsFor(p)) {
		stray := ""
		if p.Own == "" && p.Trim == 0 && e.Trims(p.Learner) {
			stray = ", or --trim 0.02 if some rows are stray"
		}
		stray += e.Rather(p)
		return "components may overlap, be fewer than stated, or very unequal: needs fewer components, or more rows" + stray + "; or use --method general"
	}
	return program.Needs(p, e.tuning.rowsFor(p), ", more if components overlap,", "fewer components")
}
