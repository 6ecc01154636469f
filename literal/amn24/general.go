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
)

// General is the method "general:amn24": crude pairs by a score that counts rows to change, one
// after another, then Algorithm 1.
//
// In one column no bounds are needed: the pairs are those of an infinite lattice, by the tractable
// score. Stated facts make it the score (3) where a lattice of at most 16 points resolves the
// narrowest component that they allow, and else, where a net of all that they allow is short, the
// tractable score on that net, which takes about a quarter of the rows. In two columns there is
// only that, and bounds have to be stated.
//
// Source: [AMN24] Algorithm 2; Theorem C.3.
// Differs: in two columns the pairs are those that stated bounds allow, where the source has no
// bounds: its exponential mechanism draws from a set of infinite volume, of which the score of all
// but a part of finite volume is too high, and in the plane we know no way to list that part but to
// visit a net (see beyondPlane).
//
// Measured for score (3) (replace-one, delta 1e-6, k = 2, means 6 sds apart, known within 4, sds
// known within .7 to 1.5; median total variation of five runs, in brackets that of the practical
// method): epsilon 20: n = 200 .052 (.055), 1000 .025 (.024); epsilon 5: 3000 .026 (.020); epsilon
// 1: 10000 .015 (.015).
//
// The tractable score with the rows that Expect promises, fresh rows and noise, five runs each,
// means known within 10, sds within .5 to 2: two components 7 sds apart, weights .5 and .5: .03 to
// .05 at epsilon 10, .008 to .014 at epsilon 1; .75 and .25: .03 to .10; .65 and .35, 4.5 sds
// apart: .03 to .06; .6, .2 and .2: .02 to .03; in the plane .03 to .06. Where it settles on a
// wrong pair all the same, the release says how far it is from the rows.
//
// Without bounds, with the rows that Expect promises at epsilon 10 (2,261 for one component, 6,356
// for two, 11,624 for three), fresh rows and noise, three fits each: N(3.7e5, .01^2) .01 to .03;
// halves N(0, 1) and N(1e6, .001^2) .01 to .02; N(0, 1) within N(10, 1e5^2) .01 to .03; those above
// .01 to .04.
type General struct {
	estimate.Named
	c Constants
}

// NewGeneral returns the learner with the given constants.
func NewGeneral(c Constants) General {
	return General{estimate.Describe("general:amn24", "AMN24 Algorithm 2",
		"the published algorithm for arbitrary mixtures, by enumeration, to compare with: one or two columns, few components; in two columns stated bounds"), c}
}

var (
	_ estimate.FactUser  = General{}
	_ estimate.Published = General{}
)

// Printed returns the method with the printed constants.
func (General) Printed() estimate.Estimator { return NewGeneral(Printed()) }

// Uses reports that bounds on means and eigenvalues are used, unless they are so wide that one
// column is better off without.
func (e General) Uses(p estimate.Problem) estimate.Uses {
	x, err := e.design(p)
	used := err != nil || !x.onLine()
	return estimate.Uses{Mean: used, Eigenvalues: used}
}

// A design is what is done about a problem: a function of public facts.
type design struct {
	c       Constants
	d, k    int
	lattice *lattice // if the score is (3)
	pairs   []pair   // else the net; nil: the infinite lattice on the line
	h       float64  // its spacing
	factor  float64  // G; 0: n^3
}

// design chooses score and net, or says why there are none.
func (e General) design(p estimate.Problem) (x design, refused error) {
	f, k := p.Facts, program.MostComponents(p)
	refuse := func(advice, format string, args ...any) (design, error) {
		return x, program.Refusal(advice, "method general:amn24 "+format, args...)
	}
	x = design{c: e.c, d: p.Columns, k: k, factor: e.c.Found}
	switch low, high := f.Eigenvalues[0], f.Eigenvalues[1]; {
	case p.Columns > 2:
		return refuse("use --method general", "enumerates nets in one or two columns, there are %d", p.Columns)
	case f.Validate() != nil:
		return refuse("state others", "was given facts that cannot be: %v", f.Validate())
	case p.Columns == 1 && (!f.KnowsMean || !f.KnowsEigenvalues()):
		x.h = lineSpacing
		return x, e.c.enumerable(1, k, x.factor, p)
	case !f.KnowsMean || !f.KnowsEigenvalues():
		return refuse(e.c.wanted(), "needs bounds on the components' means and on the eigenvalues of their covariances in two columns: %s", beyondPlane())
	case low < 1e-200 || high > 1e200 || f.MeanWithin > 1e150:
		return refuse("record the columns in other units", "takes eigenvalues within 1e-200 and 1e200 and means within 1e150")
	}
	radius, low, high := f.MeanWithin, math.Sqrt(f.Eigenvalues[0]), math.Sqrt(f.Eigenvalues[1])
	if l, ok := e.c.lattice(radius, low, high, k); ok && x.d == 1 {
		x.lattice, x.h, x.factor = &l, e.c.Spacing, e.c.Factor
	} else if x.pairs, x.h = e.c.publicNet(x.d, radius, low, high); x.pairs == nil && x.d == 1 {
		x.h = lineSpacing
	} else if x.pairs == nil {
		return refuse("state closer bounds; or use --method general, which needs none",
			"chooses among at most %d pairs, and a net %.2g standard deviations fine "+
				"of all that the bounds allow has more", mostOptions, x.h)
	}
	if err := e.c.enumerable(x.d, k, x.factor, p); err != nil {
		return x, err
	}
	return x, nil
}

// wanted says in an advice which bounds are missing, and how wide they may be.
func (c Constants) wanted() string {
	r := 1.0
	for r < 1e6 {
		if _, ok := c.finest(2, 2*r, 1, wantedRatio); !ok {
			break
		}
		r *= 2
	}
	return fmt.Sprintf("state --mean-within R and --eigenvalues-within a,b: if the widest standard deviation is %g times the narrowest, "+
		"R may be up to %g of the narrowest; or use --method general, which needs neither", float64(wantedRatio), r)
}

// wantedRatio of the widest and the narrowest standard deviation stands in the advice.
const wantedRatio = 2

// reachSDs is how many of the widest sds the lattice of points reaches beyond the means;
// coarsestStep is how many of the narrowest its points may lie apart. Utility constants.
const (
	reachSDs     = 2
	coarsestStep = 2
)

// lattice returns score (3)'s for one column; ok is false if it would not resolve the narrowest
// component.
func (c Constants) lattice(radius, low, high float64, k int) (l lattice, ok bool) {
	reach := radius + reachSDs*high
	if 2*reach/float64(c.Points-1) > coarsestStep*low {
		return l, false
	}
	pairs := normals(radius, low, high, c.Spacing, mostOptions)
	if len(pairs) > mostOptions {
		return l, false
	}
	r := robust{Points: points(reach, c.Points), Components: k, Ties: c.Ties, Changed: c.Changed, Closeness: c.Closeness, Wide: c.Wide, Narrow: c.Narrow}
	return newLattice(r, c.Elements, c.Subset, pairs), true
}

// onLine reports that the pairs are those of the infinite lattice.
func (x design) onLine() bool { return x.lattice == nil && x.pairs == nil }

// scorer returns the score for n rows, public or released.
func (x design) scorer(n float64) scorer {
	switch {
	case x.onLine():
		return onLine{newDeficits(x.c, nil, 1, x.k, n)}
	case x.lattice == nil:
		return newDeficits(x.c, x.pairs, x.d, x.k, n)
	}
	weight := math.Ceil(math.Max(0, x.c.leastWeight(x.k)*n))
	block := math.Max(1, math.Min(1<<26, math.Round(weight/float64(x.lattice.Size))))
	return overlap{*x.lattice, int(block), x.c.Unbounded}
}

// steps returns the plan's.
func (x design) steps() []kernel.Step {
	steps := append(x.c.countSteps(), x.c.crudeSteps(x.k, x.scorer(1))...)
	return append(append(steps, x.c.fineSteps()...), x.c.distanceSteps()...)
}

// Plan states the worst case. It refuses what public facts show to be hopeless: too many columns,
// components or pairs, no bounds, too little budget.
func (e General) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	x, err := e.design(p)
	if err != nil {
		return kernel.Plan{}, err
	}
	if p.Mu > 0 {
		if err := x.hopeless(p); err != nil {
			return kernel.Plan{}, err
		}
	}
	return kernel.Plan{Method: e.Name(), Steps: x.steps()}, nil
}

// epsilon returns that of one choice of a pair, for a total mu^2.
func (x design) epsilon(mu2 float64) float64 {
	part := x.c.CrudeShare * mu2 / float64(x.k)
	if x.scorer(1).levels() > 0 {
		part *= firstOfPair
	}
	return paper.PureEpsilon(part)
}

// leastEpsilon is the least that a choice of a pair may have.
const leastEpsilon = .01

// hopeless returns the refusal of a budget, or a public number of rows, with which no choice of a
// pair means anything.
func (x design) hopeless(p estimate.Problem) error {
	epsilon := x.epsilon(p.Mu * p.Mu)
	if epsilon < leastEpsilon {
		return program.Refusal("needs a larger epsilon or fewer components; --method general needs far less",
			"at this epsilon the choice of a component would be %.2g-private, less than %g is noise", epsilon, leastEpsilon)
	}
	if need := x.rows(epsilon); p.Relation == privacy.ReplaceOne && float64(p.Rows) < need {
		if x.onLine() {
			return program.Refusal(fmt.Sprintf("needs about %s rows, a larger epsilon, or stated bounds; --method general needs far fewer", paper.RowsText(x.enough(epsilon, p.Mu))),
				"at this epsilon the test of the score's volumes fails with fewer than %s rows", paper.RowsText(need))
		}
		return program.Refusal(fmt.Sprintf("needs about %s rows, or a larger epsilon; --method general needs far fewer", paper.RowsText(x.enough(epsilon, p.Mu))),
			"at this epsilon noise would hide which Gaussian fits %.0f rows, %.2g of all", x.c.leastWeight(x.k)*float64(p.Rows), x.c.leastWeight(x.k))
	}
	return nil
}

// rows returns where w n rows more or less change a pair's probability by as much as there are
// pairs.
func (x design) rows(epsilon float64) float64 {
	if x.onLine() {
		return x.c.lineRows(x.k, epsilon, surelyHidden, 1)
	}
	options := len(x.pairs)
	if x.lattice != nil {
		options = len(x.lattice.Pairs)
	}
	return math.Log(1+float64(options)) / ((1 - x.c.Test) * epsilon / 2) / x.c.leastWeight(x.k)
}

// Fit follows the plan with the whole budget of the session.
func (e General) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	p.Columns, p.Relation = s.Columns(), s.Relation()
	x, err := e.design(p)
	if err != nil {
		return estimate.Outcome{}, err
	}
	r, notes, err := begin(s, e.c, x.k)
	if err != nil {
		return estimate.Outcome{}, err
	}
	var found []pair
	none := r.noRows()
	if none == nil && x.epsilon(s.Mu()*s.Mu()) < leastEpsilon {
		none = &estimate.NoRelease{Reason: "the budget is too small for the choice of a component"}
	}
	if none == nil {
		if found, none, err = r.components(ctx, x.scorer(r.n), x.h, x.c.CrudeShare*s.Mu()*s.Mu()); err != nil {
			return estimate.Outcome{}, err
		}
	}
	return r.finish(ctx, p, notes, crude{pairs: found, factor: within(x.factor, r.n)}, none, func() estimate.Expectation { return x.expect(p) })
}
