// Package kv18 fits one Gaussian to one column without any bound, as [KV18] do: a histogram of
// distances of pairs gives the scale, a histogram of bins as wide as the scale gives the place, and
// a clipped release there the mean and the variance. The histogram of places has infinitely many
// bins, which is what costs a part of delta. With bounds on mean and variance they are finitely
// many and no delta is spent; where it is 0 all noise is Laplace noise, and the whole is pure. A
// literal algorithm, to compare with: the method gaussian needs no pairs and no threshold, and
// fewer rows.
//
// Source: [KV18] Sections 1, 2 and 3 of the restatement.
package kv18

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
)

// Estimator is the method "univariate:kv18".
type Estimator struct {
	estimate.Named
	c Constants
}

// New returns the estimator with the given constants.
func New(c Constants) Estimator {
	return Estimator{estimate.Describe(name, "KV18 Section 1",
		"one Gaussian in one column: stability histograms for scale and place, then clipped moments"), c}
}

var _ estimate.FactUser = Estimator{}

const name = "univariate:kv18"

// Printed returns the method with the bins and the range of the source.
func (Estimator) Printed() estimate.Estimator { return New(Printed()) }

// Uses returns a bound on the variance, and one on the mean beside it: then there are finitely many
// places, and no delta is needed.
func (e Estimator) Uses(p estimate.Problem) estimate.Uses {
	known := p.Facts.KnowsEigenvalues()
	return estimate.Uses{Eigenvalues: known, Mean: e.c.reach(p.Facts).bins > 0}
}

// Plan returns what Fit measures, or a *estimate.Refusal for more than one column or too few rows
// to see any bin.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", name, p.Columns)
	}
	if refusal := refuse(p); refusal != nil {
		return kernel.Plan{}, refusal
	}
	share, pure := sharesOf(p), p.Budget.Pure()
	place := kernel.Step{Name: stepPlace, Query: query.BoxKeys{}.Kind(), Share: share.place, Most: 1, Slack: 1, Source: "KV18 Section 2"}
	if e.c.reach(p.Facts).bins > 0 {
		place.Query, place.Slack, place.Pure = query.Histogram, 0, pure
	} else if p.NoDelta {
		return kernel.Plan{}, program.Refusal("give epsilon and a delta above 0; or bounds on mean and variance, --mean-within R --eigenvalues-within a,b",
			"the method %s looks for the mean with a threshold unless both are bounded, which takes a delta", name)
	}
	if p.Relation == privacy.ReplaceOne && total(p) > 0 && float64(p.Rows) < e.c.rowsSeen(p) {
		return kernel.Plan{}, program.Refusal(e.advice(p), "no bin of a histogram of %d rows can be told from the noise at this epsilon", p.Rows)
	}
	return kernel.Plan{Method: name, Steps: []kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: share.count, Most: 1, Pure: pure, Source: "TYLERPRESS Section 0.3"},
		{Name: stepScale, Query: query.PairOctaves{}.Kind(), Share: share.scale, Most: 1, Pure: pure, Source: "KV18 Section 1"},
		place,
		{Name: stepMoments, Query: query.ClippedMoments{}.Kind(), Share: share.moments, Most: 1, Pure: pure, Source: "KV18 Section 3"},
	}}, nil
}

// refuse says why a problem is none of this method's, or is nil.
func refuse(p estimate.Problem) error {
	if p.Columns > 1 {
		return program.Refusal("name one column with --columns, or use --method gaussian", "method %s fits one column, %d were asked for", name, p.Columns)
	}
	if err := p.Facts.Validate(); err != nil {
		return program.Refusal("state others", "the method %s was given facts that cannot be: %v", name, err)
	}
	return program.OneComponent(name, p)
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if refusal := refuse(p); refusal != nil {
		return estimate.Outcome{}, refusal
	}
	r := &run{Run: program.Begin(s, p, e.advice), c: e.c, reach: e.c.reach(p.Facts), share: sharesOf(p)}
	r.Mu2 = r.Left() // shares are spent without a safety factor
	return program.Follow(ctx, r.Refuse, r.outcome, r.count, r.findScale, r.findPlace, r.release)
}

// Expect returns the error of the variance of a Gaussian.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if !(total(p) > 0) || refuse(p) != nil {
		return estimate.Expectation{}
	}
	x := estimate.Expectation{RowsNeeded: e.rowsNeeded(p), Notes: []string{
		fmt.Sprintf("below about %s rows its histograms show nothing; %s needs fewer rows", paper.RowsText(e.c.rowsSeen(p)), fewer(p))}}
	if p.Rows > 0 {
		x.RelativeError = e.c.relativeError(p, float64(p.Rows))
	}
	return x
}

// rowsNeeded returns about how many rows have an error of twice the non-private one; 0 if no number
// below 1e12 has.
func (e Estimator) rowsNeeded(p estimate.Problem) float64 {
	for n := math.Max(100, e.c.rowsSeen(p)); n < 1e12; n *= 1.05 {
		if e.c.relativeError(p, n) <= 2 {
			return n
		}
	}
	return 0
}

func (e Estimator) advice(p estimate.Problem) string {
	return fmt.Sprintf("about %s rows are enough to see a Gaussian; or a larger epsilon, or %s, which needs "+
		"fewer rows", paper.RowsText(e.c.rowsShown(p)), fewer(p))
}

// fewer returns what needs fewer rows.
func fewer(p estimate.Problem) string {
	if p.Budget.Pure() {
		return "--method gaussian, with a delta above 0,"
	}
	return "--method gaussian"
}

// FitsPure says that all steps can have a pure loss: with bounds on mean and variance.
func (Estimator) FitsPure() bool { return true }
