// Package km21 holds the algorithms for heavy tails as they are printed: covariance under
// concentrated DP by truncation and preconditioning [KM21], one file each, and the mean of whitened
// rows [KSU20]. They are for comparison. They need to know between which bounds the eigenvalues of
// the covariance lie, and far more rows than the practical methods.
//
// Each is a program over the kernel: whatever decides what is measured next is public or was
// released, so the facts that the analysis rests on can spoil an estimate and never the guarantee.
//
// Source: [KM21]; [KSU20].
package km21

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// Estimator is the method "heavy-tailed:paper".
//
// Measured by TestRows (Gaussian rows, fourth moments stated, exact bounds on the eigenvalues,
// replace-one, delta 1e-6): a covariance is released from the rows on that the analysis asks for,
// and not before. In thousands of rows, for condition numbers 1, 10, 100:
//
//	mean known:         d = 2: 3.7, 170, 270 at epsilon 1, and 2.3, 41, 54 at epsilon 10
//	                    d = 5: 23, 530, 860 and 14, 170, 190
//	mean within 10 sds: d = 2: 8, 400, 640 at epsilon 1, and 4.5, 87, 120 at epsilon 10
//	                    d = 5: 49, 1100, 1800 and 28, 330, 400
//
// Errors of the covariance are then .01 to .08, far below the bounds that are released with them:
// the analysis is loose, not the estimate. With the printed clamps about half as many rows are
// asked for.
type Estimator struct {
	estimate.Named
	c Constants
}

// New returns the estimator with the given constants.
func New(c Constants) Estimator {
	return Estimator{estimate.Describe("heavy-tailed:paper", "KM21 Algorithm 3",
		"the published algorithm for heavy tails, to compare with: needs bounds on mean and eigenvalues, and very many rows"), c}
}

var _ estimate.FactUser = Estimator{}

// Printed returns the method with the clamps of the source, as it prints them.
func (Estimator) Printed() estimate.Estimator { return New(Printed()) }

// Uses reports that all facts are used or, where delta is 0, those that the mean alone takes.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	if p.Budget.Pure() {
		return estimate.Uses{Mean: true, Covariance: true, Moments: true}
	}
	return estimate.Uses{Mean: true, Eigenvalues: true, Moments: true}
}

const (
	// stepCount buys the number of good rows: nulls under replace-one, n under add-or-remove-one.
	stepCount = "rows"
	// missingSDs: where n is public all rows are good unless the count says otherwise by this many
	// noise sds.
	missingSDs = 4
)

// Plan states the worst case. It refuses, with what is missing, a problem without the facts, and a
// table of fewer rows than the analysis can ever use.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	if p.Budget.Pure() {
		return e.purePlan(p)
	}
	if err := refused(p); err != nil {
		return kernel.Plan{}, err
	}
	if p.Relation == privacy.ReplaceOne && p.Mu > 0 {
		if reason := e.hopeless(p, float64(p.Rows)); reason != "" {
			return kernel.Plan{}, program.Refusal(e.advice(p), "%s", reason)
		}
	}
	return kernel.Plan{Method: e.Name(), Steps: e.steps(p)}, nil
}

// refused returns the refusal of a problem that lacks a fact, or asks for what the method does not
// do; nil if there is none.
func refused(p estimate.Problem) error {
	const method = "method heavy-tailed:paper "
	f := p.Facts
	switch {
	case p.Components > 1:
		return program.OneComponent("heavy-tailed:paper", p)
	case f.Validate() != nil:
		return program.Refusal("state others", method+"was given facts that cannot be: %v", f.Validate())
	case !f.KnowsEigenvalues():
		return program.Refusal("state --eigenvalues-within a,b; or use --method gaussian, which needs none",
			method+"needs bounds on the eigenvalues of the covariance, squares of standard deviations")
	case !f.KnowsMean:
		return program.Refusal("state --mean-within R (0: the mean is the origin); or use --method gaussian, which needs none",
			method+"needs a bound on the mean")
	case f.Moments > mostMoments:
		return program.Refusal("state a lower order", method+"takes moments up to order %d, got %d", mostMoments, f.Moments)
	}
	return nil
}

const (
	defaultMoments = 4 // where no order is stated
	// the highest order at which pairs are proved to keep a Gaussian's bounds; a higher one that
	// was stated bounds this one, too
	mostOfPairs = 6
	mostMoments = 100
)

// steps returns the plan's. Shares are worst cases: what one-steps leave goes to the covariance.
func (e Estimator) steps(p estimate.Problem) []kernel.Step {
	c, pairs := e.c, p.Facts.MeanWithin > 0
	second := query.ClippedMoments{}.Kind()
	covariance := 1 - c.CountShare
	if pairs {
		second = papers.PairMoments{}.Kind()
		covariance *= 1 - c.MeanShare
	}
	steps := []kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: c.CountShare, Most: 1, Source: "TYLERPRESS Section 0.3"},
		{Name: stepPrecondition, Query: second, Share: covariance * c.PreconditionShare, Most: mostSteps - 1, Source: "KM21 Algorithm 2"},
		{Name: stepCovariance, Query: second, Share: covariance, Most: 1, Source: "KM21 Algorithm 1"},
	}
	if !pairs {
		return steps
	}
	mean := (1 - c.CountShare) * c.MeanShare
	for _, s := range []struct {
		name  string
		share float64
	}{{stepStart, mean * c.StartShare}, {stepMean, mean}} {
		steps = append(steps, kernel.Step{Name: s.name, Query: query.ClippedMoments{}.Kind(), Share: s.share, Most: 1, Source: "KSU20 Section 1"})
	}
	return steps
}

// design returns what the analysis knows of the problem if there are the given number of good rows.
func (e Estimator) design(p estimate.Problem, rows float64) design {
	order, bound := p.Facts.Moments, p.Facts.MomentBound
	if order == 0 {
		order = defaultMoments
	}
	x := design{Constants: e.c, d: p.Columns, relation: p.Relation, rows: math.Max(1, rows), pairs: p.Facts.MeanWithin > 0}
	switch {
	case bound > 0:
		if x.class = (class{order / 2, math.Log(bound)}); x.pairs {
			x.class = x.ofPairs()
		}
	case x.pairs:
		x.class = gaussianClass(min(order, mostOfPairs) / 2)
	default:
		x.class = gaussianClass(order / 2)
	}
	if p.Relation == privacy.ReplaceOne {
		x.public = rows
	}
	return x
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if p.Budget.Pure() {
		return e.pureFit(ctx, s, p)
	}
	a := s.SubBudget()
	p.Mu, p.Columns, p.Relation = a.LeftMu(), s.Columns(), s.Relation()
	mu := math.Sqrt(e.c.CountShare) * s.Mu() * (1 - 1e-12)
	c, err := program.Count(a, stepCount, mu)
	if err != nil {
		return estimate.Outcome{}, err
	}
	n, public := s.Rows()
	if public && float64(n)-c.Rows < missingSDs/mu {
		c.Rows = float64(n)
	}
	none := func(n *estimate.NoRelease) (estimate.Outcome, error) {
		if n.Advice == "" {
			n.Advice = e.advice(p)
		}
		return estimate.Outcome{NoRelease: n, Diagnostics: c.Notes}, nil
	}
	x := sample{design: e.design(p, c.Rows), a: a}
	if public {
		x.public = float64(n)
	}
	mean := a.Take(0)
	if x.pairs {
		mean = a.Take(e.c.MeanShare * a.Left())
	}
	t, _, ok := x.steps(p.Facts.Eigenvalues, x.PreconditionShare*a.Left())
	if !ok {
		return none(&estimate.NoRelease{Reason: e.tooFar(p, x.rows)})
	}
	found, failed, err := htpce(ctx, x, p.Facts.Eigenvalues, t)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if failed != nil {
		return none(failed)
	}
	at := make([]float64, p.Columns)
	if x.pairs {
		x.a = mean
		if at, failed, err = heavyTailedMean(x, found, p.Facts.MeanWithin); err != nil {
			return estimate.Outcome{}, err
		} else if failed != nil {
			return none(failed)
		}
	}
	return release(p, at, found, c), nil
}

// release makes the model.
func release(p estimate.Problem, mean []float64, e estimated, c *program.Columns) estimate.Outcome {
	cov, err := shaped(e.Factor, p.Covariance)
	draft := program.NewDraft(p.Columns, c.Notes)
	low, high := variancesWithin(e.Error)
	draft.Notes.Flag(flags.New(flags.Method, "the covariance is the rows' own, whatever their law; if the stated facts hold, "+
		"its relative error in Frobenius norm is at most %.2g with probability .9: then no direction's variance is off by more than factors of "+
		"%.2g and %.2g, and no entry by more than %.2g; %d steps of preconditioning",
		e.Error, low, high, frobeniusOf(e.Error, p.Facts.Eigenvalues[1]), e.Steps))
	if tv := variationOf(0, e.Error); tv < 1 && p.Facts.MeanWithin == 0 {
		draft.Notes.Flag(flags.New(flags.Method, "if the rows are Gaussian as well, the model is within %.2g of their law in total variation", tv))
	}
	draft.Add(1, mean, cov, err, estimate.ComponentNote{EffectiveRows: c.Rows, EffectiveNoise: e.Noise})
	return draft.Outcome()
}

// shaped returns f f^T as a model's type.
func shaped(f *mat.Dense, shape estimate.CovarianceType) (model.Covariance, error) {
	if shape == estimate.Full {
		return model.FullFromFactor(f)
	}
	d, _ := f.Dims()
	variances := make([]float64, d)
	mean := 0.0
	for j := range d {
		row := mat.NewVecDense(d, f.RawRowView(j))
		variances[j] = mat.Dot(row, row)
		mean += variances[j] / float64(d)
	}
	if shape == estimate.Spherical {
		return model.NewSpherical(d, mean)
	}
	return model.NewDiagonal(variances)
}
