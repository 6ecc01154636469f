package km21

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model/flags"
)

// Where delta is 0 the method is KSU20's mean alone, of rows whose covariance is stated: the
// covariance of KM21 has Gaussian noise, and no pure form in its paper.

// FitsPure says that all steps can have a pure loss: with a known covariance and a bound on the
// mean.
func (Estimator) FitsPure() bool { return true }

// Shares of epsilon where delta is 0: of the count of rows, and of the start of what that leaves.
// Guesses.
const pureCountShare, pureStartShare = .04, .25

// missingLaplaceSDs: where n is public all rows are good unless the count says otherwise by so many
// sds of Laplace noise.
const missingLaplaceSDs = 5.4

// impure returns the refusal of a problem without a delta that lacks what the pure mean takes; nil
// if there is none.
func impure(p estimate.Problem) error {
	const method = "method heavy-tailed:paper with delta 0 "
	switch {
	case p.Components > 1:
		return program.OneComponent("heavy-tailed:paper", p)
	case p.Facts.Validate() != nil:
		return program.Refusal("state others", method+"was given facts that cannot be: %v", p.Facts.Validate())
	case len(p.KnownCovariance) != p.Columns || !p.Facts.KnowsMean:
		return program.Refusal("state --known-covariance FILE and --mean-within R, or give a delta above 0",
			method+"finds a mean only, of rows whose covariance is known and whose mean is within stated bounds")
	case p.Facts.Moments > mostMoments:
		return program.Refusal("state a lower order", method+"takes moments up to order %d, got %d", mostMoments, p.Facts.Moments)
	}
	return nil
}

// A pureMean is what the pure mean knows: public facts.
type pureMean struct {
	design
	estimated
	within  float64 // of the mean from the origin, in whitened coordinates
	epsilon float64
}

// pureMean returns it for so many rows.
func (e Estimator) pureMean(p estimate.Problem, rows float64) pureMean {
	within := p.Facts.MeanWithin
	p.Facts.MeanWithin = 0 // the design is then that of single rows, not of pairs
	x := pureMean{design: e.design(p, rows), epsilon: p.Budget.Epsilon}
	cov := mat.NewSymDense(p.Columns, nil)
	for i, row := range p.KnownCovariance {
		for j := range i + 1 {
			cov.SetSym(i, j, row[j])
		}
	}
	x.Factor, x.Whitener, _ = symmetric.Factor(cov)
	x.within = within * mat.Norm(x.Whitener, 2)
	return x
}

// started reports that a first mean has to be found: that the origin is farther than sqrt d.
func (x pureMean) started() bool { return !(x.within <= math.Sqrt(float64(x.d))) }

// shares returns the parts of epsilon: of the count, the start and the mean.
func (x pureMean) shares() (count, start, mean float64) {
	count = pureCountShare
	if x.started() {
		start = (1 - count) * pureStartShare
	}
	return count, start, 1 - count - start
}

// radius returns where rows are clipped, about a start within sqrt d, for a part of epsilon: where
// what clipping moves the mean by has the order of the noise.
func (x pureMean) radius(epsilon float64) float64 {
	d := float64(x.d)
	return math.Sqrt(d) * math.Pow(math.Max(1, x.rows*epsilon/d), 1/float64(2*x.k))
}

// noise returns the sd of a coordinate of a mean of rows clipped to a radius: the spherical form's
// d+2 numbers have an L1 sensitivity of sqrt(d+2) times 3/2 of the radius, and sqrt 2 times that
// under replace-one.
func (x pureMean) noise(radius, epsilon float64) float64 {
	sd := math.Sqrt2 * 1.5 * radius * math.Sqrt(float64(x.d+2)) / (x.rows * epsilon)
	if x.relation == privacy.ReplaceOne {
		sd *= math.Sqrt2
	}
	return sd
}

// startable reports that the start is within sqrt d of the mean but for bad luck.
func (x pureMean) startable() bool {
	_, start, _ := x.shares()
	clip := x.radius(start * x.epsilon)
	noise := x.noise(x.within+clip, start*x.epsilon)
	return !x.started() || 3*noise*math.Sqrt(float64(x.d)) <= math.Sqrt(float64(x.d))/2
}

// purePlan states the worst case, or refuses.
func (e Estimator) purePlan(p estimate.Problem) (kernel.Plan, error) {
	if err := impure(p); err != nil {
		return kernel.Plan{}, err
	}
	x := e.pureMean(p, math.Max(1, float64(p.Rows)))
	if p.Relation == privacy.ReplaceOne && p.Rows > 0 && !x.startable() {
		return kernel.Plan{}, program.Refusal(fmt.Sprintf("needs about %s rows at this epsilon, or a closer bound on the mean", paper.RowsText(e.pureRows(p))),
			"the mean is known to within %.2g standard deviations only: the noise of a first mean is too large", x.within)
	}
	count, start, mean := x.shares()
	steps := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: count, Most: 1, Pure: true, Source: "TYLERPRESS Section 0.3"}}
	if start > 0 {
		steps = append(steps, kernel.Step{Name: stepStart, Query: query.ClippedMoments{}.Kind(), Share: start, Most: 1, Pure: true, Source: "KSU20 Section 1"})
	}
	steps = append(steps, kernel.Step{Name: stepMean, Query: query.ClippedMoments{}.Kind(), Share: mean, Most: 1, Pure: true, Source: "KSU20 Section 1"})
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// pureRows returns the least number of rows, about, with which the start is found.
func (e Estimator) pureRows(p estimate.Problem) float64 {
	n := float64(fewestRows)
	for n < mostRows && !e.pureMean(p, n).startable() {
		n *= 1.1
	}
	return n
}

// pureFit finds the mean with Laplace noise: rows are whitened by the known covariance, clipped
// about a start, and averaged.
//
// Failures: the noise of a first mean is too large for the rows there are.
//
// Source: [KSU20] Section 1 of the restatement.
// Differs: as heavyTailedMean; all coordinates are one measurement, which costs a factor sqrt(d+2)
// in noise, where the paper's pure estimator in many columns enumerates a net.
func (e Estimator) pureFit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	p.Columns, p.Relation = s.Columns(), s.Relation()
	if err := impure(p); err != nil {
		return estimate.Outcome{}, err
	}
	x := e.pureMean(p, 1)
	count, start, mean := x.shares()
	part := func(share float64) float64 { return share * x.epsilon * (1 - 1e-12) }
	counted, err := pure.Laplace(s.SubBudget(), stepCount, query.Count{}, part(count))
	if err != nil {
		return estimate.Outcome{}, err
	}
	c := &program.Columns{All: p.Columns, Rows: math.Max(1, counted.Values[0])}
	if n, public := s.Rows(); public {
		if missing := float64(n) - c.Rows; missing < missingLaplaceSDs*counted.Sigma {
			c.Rows = float64(n)
		} else {
			c.Notes.Flag(flags.New(flags.IncompleteRows, "about %.0f of %d rows are incomplete: they count in n, and the weights are shares of the others", missing, n).
				Of(missing/float64(n), counted.Sigma/float64(n)))
		}
	}
	x = e.pureMean(p, c.Rows)
	if !x.startable() {
		return estimate.Outcome{Diagnostics: c.Notes, NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the mean is known to within %.2g standard deviations only: the noise of a first mean is too large", x.within),
			Advice: fmt.Sprintf("needs about %s rows at this epsilon, or a closer bound on the mean", paper.RowsText(e.pureRows(p)))}}, nil
	}
	at := make([]float64, p.Columns)
	for _, step := range []struct {
		name    string
		share   float64
		farther float64 // how much farther than sqrt d the mean may be
	}{{stepStart, start, x.within}, {stepMean, mean, 0}} {
		if err := ctx.Err(); err != nil {
			return estimate.Outcome{}, err
		}
		if step.share == 0 {
			continue
		}
		epsilon := part(step.share)
		at, err = x.clipped(x.estimated, at, step.farther+x.radius(epsilon), func(q query.ClippedMoments) (kernel.Answer, error) {
			return pure.Laplace(s.SubBudget(), step.name, q, epsilon)
		})
		if err != nil {
			return estimate.Outcome{}, err
		}
	}
	cov, err := shaped(x.Factor, p.Covariance)
	draft := program.NewDraft(p.Columns, c.Notes)
	draft.Notes.Flag(flags.New(flags.Method, "the covariance is the one that was stated, and only the mean was measured, "+
		"with Laplace noise of %.2g standard deviations in every direction", x.noise(x.radius(part(mean)), part(mean))))
	draft.Add(1, at, cov, err, estimate.ComponentNote{EffectiveRows: c.Rows})
	return draft.Outcome(), nil
}

// pureExpect says what the mean's error is and from how many rows on there is one.
func (e Estimator) pureExpect(p estimate.Problem) estimate.Expectation {
	if p.Columns < 1 || impure(p) != nil {
		return estimate.Expectation{}
	}
	out := estimate.Expectation{RowsNeeded: e.pureRows(p), Notes: []string{"a literal algorithm, to compare with: of the mean alone, with Laplace noise and delta 0"}}
	if p.Rows > 0 {
		x := e.pureMean(p, float64(p.Rows))
		_, _, mean := x.shares()
		out.Notes = append(out.Notes, fmt.Sprintf("the noise of the mean is about %.2g standard deviations in every direction", x.noise(x.radius(mean*x.epsilon), mean*x.epsilon)))
	}
	return out
}
