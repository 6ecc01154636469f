// Package aal21 holds the algorithms of [AAL21] as they are printed, one file each: mixtures of
// axis-aligned Gaussians without any bound on means and variances, by list decoding and private
// hypothesis selection. They are definitions that run, to compare with: what they choose among is
// exponential in the number of components and of columns, so that only tiny instances can be
// enumerated. Anything else is refused, on public facts or on the sizes of released lists.
//
// Each is a program over the kernel: whatever decides what is measured next is public or was
// released. FAIL of the source is a fit without a release.
//
// Source: [AAL21].
package aal21

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/hypotheses"
	"github.com/gauze-dp/gauze/literal/printed"
)

// Estimator is the method "univariate:aal21" or "axis-aligned:aal21".
//
// Measured with Practical constants (replace-one, delta 1e-6, components far apart; median total
// variation of 3 to 10 fits):
//
//	one column,    k = 1: .02 with  200 rows at epsilon 20, .02 with 2000 at epsilon 1
//	               k = 2: .09 with  400 rows at epsilon 20, .05 with 6000 at epsilon 1
//	               k = 3: .11 with 5000 rows at epsilon 20
//	two columns,   k = 1: .09 with 2500 rows at epsilon 20
//	               k = 2: .23 with 6000 rows at epsilon 20
//	three columns, k = 1: .28 with 4000 rows at epsilon 20
//
// What is left is the net's: the more is to be enumerated, the coarser it is.
type Estimator struct {
	c          Constants
	univariate bool
}

// New returns the estimator of axis-aligned Gaussians in any number of columns. It panics if the
// constants are not valid.
func New(c Constants) Estimator { return Estimator{c: printed.Must(c)} }

// NewUnivariate returns the same for one column only, under the name of the univariate problem.
func NewUnivariate(c Constants) Estimator { return Estimator{printed.Must(c), true} }

var _ estimate.FactUser = Estimator{}

// Name is "univariate:aal21" or "axis-aligned:aal21".
func (e Estimator) Name() string {
	if e.univariate {
		return "univariate:aal21"
	}
	return "axis-aligned:aal21"
}

// Summary is one line for lists of methods.
func (e Estimator) Summary() string {
	if e.univariate {
		return "the published algorithm for mixtures in one column, to compare with: enumerates, so for one to three components"
	}
	return "the published algorithm for axis-aligned mixtures, to compare with: enumerates, so for one or two components and columns"
}

// Source names the algorithm.
func (e Estimator) Source() string {
	if e.univariate {
		return "AAL21 Algorithm 4"
	}
	return "AAL21 Algorithm 5"
}

// Uses reports that a known covariance is used.
func (Estimator) Uses(estimate.Problem) estimate.Uses { return estimate.Uses{Covariance: true} }

// stepCount buys the number of rows where it is private.
const stepCount = "rows"

// Plan states the worst case. It refuses what cannot be enumerated whatever the lists are, and
// tables of so few rows that no list can hold a component.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	if refusal := e.refuse(p); refusal != nil {
		return kernel.Plan{}, refusal
	}
	if n := e.c.seen(p); p.Relation == privacy.ReplaceOne && p.Mu > 0 && float64(p.Rows) < n {
		return kernel.Plan{}, program.Refusal(e.advice(p), "no list of Gaussians can hold a component of 1/%d of %d rows: at this epsilon that takes about %.2g rows",
			program.MostComponents(p), p.Rows, n)
	}
	return kernel.Plan{Method: e.Name(), Steps: e.steps(p)}, nil
}

// refuse says why a problem is none of this method's, whatever its rows; nil if it is not.
func (e Estimator) refuse(p estimate.Problem) error {
	k := program.MostComponents(p)
	switch {
	case e.univariate && p.Columns > 1:
		return program.Refusal("name one column with --columns, or use --method axis-aligned",
			"method %s fits one column, %d were asked for", e.Name(), p.Columns)
	case p.KnownCovariance != nil && knownCovariance(p.KnownCovariance, p.Columns) == nil:
		return program.Refusal("leave out columns that depend on others, or do not state a covariance",
			"method %s cannot whiten the columns by the known covariance: it has no inverse", e.Name())
	case p.KnownCovariance == nil && p.Covariance == estimate.Spherical && p.Columns > 1:
		return program.Refusal("use --covariance diagonal, or --method general",
			"method %s fits diagonal covariances, spherical ones were asked for", e.Name())
	case !e.c.enumerable(k, p.Columns, p.KnownCovariance != nil):
		return program.Refusal("state --components 1 or 2, use fewer columns, or use "+e.practical(),
			"method %s enumerates mixtures: of %d components (columns: %d) there are too many, however short the lists are "+
				"(at most %d of at most %d Gaussians can be enumerated)", e.Name(), k, p.Columns, e.c.MostMixtures, e.c.MostGaussians)
	}
	return nil
}

// enumerable reports whether the mixtures are not too many for lists that are as short as they can
// be expected: in every column each component with two scales, or with one that is known.
func (c Constants) enumerable(k, d int, known bool) bool {
	each := 2
	if known {
		each = 1
	}
	list := math.Pow(float64(each*k), float64(d))
	return list <= float64(c.MostGaussians) && hypotheses.CountMixtures(int(list), k, k) <= float64(c.MostMixtures)
}

// practical is the method to use instead.
func (e Estimator) practical() string {
	if e.univariate {
		return "--method univariate"
	}
	return "--method axis-aligned"
}

// The shares of mu^2: of the count, the scales, the means and the choice.
func (c Constants) shares(p estimate.Problem) (count, scales, means, choice float64) {
	if p.Relation != privacy.ReplaceOne {
		count = c.CountShare
	}
	list := (1 - count) * c.ListShare
	if p.KnownCovariance == nil {
		scales = list * c.ScaleShare
	}
	return count, scales, list - scales, (1 - count) * (1 - c.ListShare)
}

func (e Estimator) steps(p estimate.Problem) (steps []kernel.Step) {
	count, scales, means, choice := e.c.shares(p)
	if count > 0 {
		steps = append(steps, kernel.Step{Name: stepCount, Query: query.Count{}.Kind(), Share: count, Most: 1, Source: "AAL21 Algorithm 1"})
	}
	if scales > 0 {
		steps = append(steps, scaleSteps(scales)...)
	}
	steps = append(steps, meanSteps(means)...)
	return append(steps, hypotheses.Step(stepChoice, choice, hypotheses.Quick, "AAL21 Algorithm 1"))
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if refusal := e.refuse(p); refusal != nil {
		return estimate.Outcome{}, refusal
	}
	r := begin(s.Allotment(), e.c, program.MostComponents(p))
	r.p, r.advice = p, e.advice(p)
	total := s.Allotment().Left()
	count, scales, means, _ := e.c.shares(p)
	if err := r.count(count * total); err != nil {
		return estimate.Outcome{}, err
	}
	l, err := r.decode(knownCovariance(p.KnownCovariance, p.Columns), (scales+means)*total)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	if l.empty() {
		return r.noRelease("the list of Gaussians is empty: no octave of distances or no bin holds as many rows as a component should, or too many do"), nil
	}
	return r.learnMixture(l)
}
