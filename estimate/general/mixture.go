package general

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// Estimator is the method "general".
type Estimator struct{ one program.OneGaussian }

// New returns the estimator; one is what it is for one component.
func New(one program.OneGaussian) Estimator { return Estimator{one} }

var _ estimate.Estimator = Estimator{}

// Name is "general".
func (Estimator) Name() string { return "general" }

// Source names the algorithm.
func (Estimator) Source() string { return source }

// Summary is one line for lists of methods.
func (Estimator) Summary() string {
	return "a mixture of overlapping, unequal, not quite Gaussian components: a private coreset, then private EM"
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal for components that the rows
// can never carry.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	rows, known := float64(p.Rows), p.Relation == privacy.ReplaceOne
	one, sure := becomesOne(p)
	switch least := leastRows(p); {
	case one && sure:
		asked := p
		asked.Components = 1
		if _, err := e.one.Plan(asked); err != nil {
			return kernel.Plan{}, err
		}
	case known && rows < least:
		return kernel.Plan{}, program.TooShort(p, least, advice(p))
	case known && p.Components > 1 && tooFew(p, rows):
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few for %d components at this epsilon", p.Rows, p.Components)
	case known && largestK(p, p.Columns, rows) > 1 && !planned(p, p.Columns, rows).sharp:
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few to find the units of %d columns", p.Rows, p.Columns)
	}
	return kernel.Plan{Method: "general", Steps: e.steps(p)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	if one, sure := becomesOne(p); one && sure {
		return e.one.FitAllotment(ctx, s.Allotment(), p, prefixOne)
	}
	f := &fit{Run: program.Begin(s, p, advice(p)), one: e.one}
	return f.run(ctx)
}

// Expect says what to expect from public facts: rows for the components that are asked for, and for
// one component what the Gaussian says.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if one, sure := becomesOne(p); one && sure {
		return e.one.Expect(p)
	}
	k := max(p.Components, 2)
	x := estimate.Expectation{RowsNeeded: rowsFor(p, k)}
	if p.Rows > 0 {
		rows := float64(p.Rows)
		k = max(p.Components, largestK(p, p.Columns, rows))
		x.RowsNeeded = rowsFor(p, k)
		s := planned(p, p.Columns, rows)
		r := &em.Rounds{Space: component.Space{Columns: make([]int, p.Columns)}, Form: program.Form(p.Covariance), Rows: rows, Misfit: misfit, Factor: math.Sqrt2}
		lost := r.Lost(1/float64(k), p.Mu*math.Sqrt(s.final))
		x.Notes = append(x.Notes, fmt.Sprintf("up to %d components are tried; noise costs about %.2g nats per row with all of them", k, lost))
	}
	return x
}

// leastRows is the number of rows below which no budget helps.
func leastRows(p estimate.Problem) float64 { return float64(2*p.Columns + 8) }

// advice says what would help a fit that was refused.
func advice(p estimate.Problem) string {
	or := []string{"fewer components"}
	if p.Covariance == estimate.Full {
		or = append(or, "--covariance diagonal")
	}
	return program.Needs(p, math.Max(leastRows(p), rowsFor(p, max(p.Components, 2))), "", or...)
}
