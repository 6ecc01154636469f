package amn24

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// Univariate is the method "univariate:amn24": crude pairs from the gaps between consecutive
// values, without any bound, then Algorithm 1.
//
// Measured (replace-one, delta 1e-6, epsilon 20; median total variation of five runs and how many
// were below .15, in brackets the practical method's median): N(3.7e5, .01^2): n = 500 .046, 3
// (.023); 1000 .020, 5 (.008). Half N(0, 1), half N(1e6, .001^2): n = 1500 .50, 0 (.023); 2000
// .034, 5 (.018); 3000 .025, 5 (.016).
//
// Three components of weights .3 to .4, four runs each, epsilon 20: apart, n = 3000 .02 to .04,
// 15000 .014 to .019; overlapping, 3000 .05, 15000 .02 to .06; nested, 3000 two of four below .03,
// 15000 .013 to .016. Of weights .8, .1 and .1, or .6, .3 and .1, places and widths at random (4 to
// 12 sds from the edge of one to the next, sds .25 to 4), n = 15000: .01 to .08 in 36 fits,
// .10 to .20 before the search for pairs started from unlike shares and moved pairs between
// octaves.
type Univariate struct {
	estimate.Named
	c Constants
}

// NewUnivariate returns the learner with the given constants.
func NewUnivariate(c Constants) Univariate {
	return Univariate{estimate.Describe("univariate:amn24", "AMN24 Algorithm 3",
		"the published algorithm for one column, by enumeration, to compare with: hard buckets of gaps, few components"), c}
}

var _ estimate.Published = Univariate{}

// Printed returns the method with the printed constants.
func (Univariate) Printed() estimate.Estimator { return NewUnivariate(Printed()) }

// Plan states the worst case. It refuses more than one column, more components than can be
// enumerated, and budgets or tables with which no bucket can be released.
func (e Univariate) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	if p.Columns > 1 {
		return kernel.Plan{}, program.Refusal("use --method axis-aligned or general", "method %s takes one column, there are %d", e.Name(), p.Columns)
	}
	if err := e.c.enumerable(1, program.MostComponents(p), e.c.Factor, p); err != nil {
		return kernel.Plan{}, err
	}
	if p.Mu > 0 {
		if err := e.hopeless(p); err != nil {
			return kernel.Plan{}, err
		}
	}
	return kernel.Plan{Method: e.Name(), Steps: append(append(append(e.c.countSteps(), e.c.gapSteps()...), e.c.fineSteps()...), e.c.distanceSteps()...)}, nil
}

// support returns A of the truncated Laplace noise, for a total mu^2.
func (e Univariate) support(p estimate.Problem, mu2, logSlack float64) float64 {
	sensitivity := 6.
	if p.Relation == privacy.AddRemoveOne {
		sensitivity = 3
	}
	rate := paper.PureEpsilon(e.c.CrudeShare*mu2) / sensitivity
	return (logSlack + math.Log(math.Tanh(sensitivity*rate/2))) / rate
}

// surelyHidden is a -ln of the truncation's slack below that of any sensible delta: where it is not
// known.
const surelyHidden = 10.

// hopeless returns the refusal of a budget, or a public number of rows, with which no bucket can be
// released.
func (e Univariate) hopeless(p estimate.Problem) error {
	if epsilon := paper.PureEpsilon(e.c.CrudeShare * p.Mu * p.Mu); epsilon < leastEpsilon {
		return program.Refusal("needs a larger epsilon; --method univariate needs far less",
			"at this epsilon the histogram of gaps would be %.2g-private, less than %g is noise", epsilon, leastEpsilon)
	}
	if p.Relation == privacy.ReplaceOne {
		if few := e.few(p, float64(p.Rows)); few != "" {
			return program.Refusal(advice(e.Expect(p)), "%s", few)
		}
	}
	return nil
}

// luckiest is how many times the gaps that it is expected to hold (see fullestBucket) the fullest
// bucket holds in one of ten tables, about: measured at epsilon 10, k = 2, where 0 of 12 fits
// released anything with 850 and 1,000 rows, 1 of 6 with 1,300, and all with 1,700.
const luckiest = 1.5

// few says why so many rows have hardly a chance to fill a bucket: the fullest one would have to
// hold luckiest times what it is expected to, to be more than noise can be. "" if they have one.
func (e Univariate) few(p estimate.Problem, n float64) string {
	slack := surelyHidden
	if delta := p.Budget.Delta; delta > 0 {
		slack = slackOf(p.Mu, delta)
	}
	noise, k := e.support(p, p.Mu*p.Mu, slack), program.MostComponents(p)
	if holds := luckiest * fullestBucket * n / float64(k); holds < noise {
		return fmt.Sprintf("a bucket of gaps is released only if it holds more than noise can be, at least %.0f, "+
			"and those of %.0f rows of %d components hold %.0f at most", noise, n, k, math.Max(0, holds))
	}
	return ""
}

// Fit follows the plan with the whole budget of the session.
func (e Univariate) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	p.Columns, p.Relation = s.Columns(), s.Relation()
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	r, notes, err := begin(s, e.c, program.MostComponents(p))
	if err != nil {
		return estimate.Outcome{}, err
	}
	mu := parts.Mu(e.c.CrudeShare * s.Mu() * s.Mu())
	var found crude
	none := r.noRows()
	if none == nil && privacy.PureOfMu(mu) < leastEpsilon {
		none = &estimate.NoRelease{Reason: "the budget is too small for a histogram of gaps"}
	}
	if p.Mu = s.Mu(); none == nil {
		if few := e.few(p, r.n); few != "" {
			none = &estimate.NoRelease{Reason: few}
		}
	}
	if none == nil {
		if found, none, err = r.gaps(mu); err != nil {
			return estimate.Outcome{}, err
		}
	}
	return r.finish(ctx, p, notes, found, none, func() estimate.Expectation { return e.Expect(p) })
}
