package ppe

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
)

// The steps of the plan.
const (
	stepCount = "rows"
	stepPPE   = "popular estimate"
)

// A design is what is done about a problem: a function of public facts.
type design struct {
	epsilon, delta float64 // of the test
	t              int
	mask           privacy.ParameterMask // its Gamma is r
	alpha          float64
}

// design chooses alpha and with it r, such that what the test, the mask and the count of rows cost
// together is what the budget allows: r is the largest that leaves the count its part. (The
// calibration of the plan is what privacy rests on, whatever r is.) Where alpha is not fixed it is
// the least with which blocks of n/t rows are expected to agree within r/(2z); if none is, or n is
// private, the coarsest, which asks for the fewest rows.
func (c Constants) design(p estimate.Problem, public bool) (x design) {
	k, d, b := program.MostComponents(p), p.Columns, p.Budget
	x.epsilon, x.delta = c.TestShare*b.Epsilon, b.Delta/2
	x.t = blocksFor(x.epsilon, x.delta)
	// of the test, and of the mask's draws
	added := x.delta + 1.01*blocks.MaskSlack*(1+math.Exp(b.Epsilon))
	if !(added <= mostAdded*b.Delta) {
		return x
	}
	beside := privacy.PureCurve(x.epsilon).Compose(privacy.GaussianCurve(math.Sqrt(c.CountShare) * privacy.MuOf(b.Epsilon, b.Delta)))
	for _, x.alpha = range c.alphas(public) {
		x.mask = c.mask(k, d, x.alpha)
		fits := func(gamma float64) bool {
			x.mask.Gamma = gamma
			const room = 1e-9 // for the calibration's own rounding
			return x.mask.Validate() == nil && x.mask.Curve().Compose(beside).Epsilon(b.Delta-added*(1+room)) <= b.Epsilon*(1-room)
		}
		most := float64(mostGamma)
		if c.ClosedForm {
			most = math.Min(most, c.closedGamma(k, d, x.alpha, b.Epsilon-x.epsilon, b.Delta-x.delta))
		}
		x.mask.Gamma = largest(most, fits)
		if x.mask.Gamma > 0 && margin*x.rowsNeeded(p) <= float64(p.Rows) {
			break
		}
	}
	return x
}

// mostGamma is the largest r, beyond which dist_PARAM has no triangle inequality, and leastGamma
// the least, which is well above the rounding of distances (pure.Popularity.Radius). mostAdded
// is the part of delta that the plan may add.
const (
	mostGamma  = 1
	leastGamma = 2e-5
	mostAdded  = .8
)

// Utility constants of what is expected.
const (
	// agreeing of the pairs of blocks have to agree for the test to pass nearly surely: .9 + 2 %
	// for the noise of the test, which is within a fifth of its support with probability .93.
	agreeing = .93
	// both is how much farther estimates lie apart in the larger of the distances of means and
	// covariances than in the larger of their quantiles.
	both = 1.08
	// margin is how many times the rows that are needed a finer mask is taken for.
	margin = 1.5
	// hopeless is how many times too few rows are refused: estimates are then four times too far
	// apart.
	hopeless = 16
)

// spread returns how much farther apart than those of maximum likelihood a learner's estimates are
// expected to be: measured, one component's are not, and those of two components six to eight sds
// apart .9 to 1.1 times.
func spread(p estimate.Problem) float64 {
	if program.MostComponents(p) == 1 {
		return 1
	}
	return 1.1
}

// apart returns how far two estimates of blocks of one row are expected to lie apart in dist_PARAM,
// for components of equal weight that do not overlap, in a part agreeing of the pairs: it falls
// with the square root of the rows. Of m_j = m/k rows, |S - S'|_F^2 is 4/m_j times a chi-square of
// d(d+1)/2 degrees of freedom in the frame of the truth, and |m - m'|^2 is 2/m_j times one of d.
func apart(p estimate.Problem) float64 {
	k, d := float64(program.MostComponents(p)), float64(p.Columns)
	z := math.Sqrt2 * math.Erfinv(2*math.Pow(agreeing, 1/k)-1)
	// of chi-square, Wilson and Hilferty's
	quantile := func(n float64) float64 { return n * math.Pow(1-2/(9*n)+z*math.Sqrt(2/(9*n)), 3) }
	return both * spread(p) * math.Sqrt(k*math.Max(4*quantile(d*(d+1)/2), 2*quantile(d)))
}

// rowsNeeded returns about how many rows let the blocks' estimates agree.
func (x design) rowsNeeded(p estimate.Problem) float64 {
	return float64(x.t) * math.Pow(apart(p)*2*relaxation/x.mask.Gamma, 2)
}

// blockRows returns the least that a block needs to say anything of k components.
func blockRows(k, d int) int { return k * (d + 2) }

// Plan states the worst case. It refuses what public facts show to be hopeless: no delta, no number
// of components, far too few rows.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	if refusal := e.refuse(p); refusal != nil {
		return kernel.Plan{}, refusal
	}
	x := e.c.design(p, p.Relation == privacy.ReplaceOne)
	if refusal := e.outOfReach(p, x); refusal != nil {
		return kernel.Plan{}, refusal
	}
	return kernel.Plan{Method: e.Name(), Steps: []kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: 1, Most: 1, Source: "PPE Algorithm 1"},
		{Name: stepPPE, Query: pure.PopularKind, Share: 1e-9, Most: 1, Source: "PPE Algorithm 1",
			Extra: pure.Closeness{Mask: x.mask, Delta: x.delta, Pure: x.epsilon}},
	}}, nil
}

// outOfReach returns the refusal of a design that cannot end in a model; nil if it may.
func (e Estimator) outOfReach(p estimate.Problem, x design) error {
	k, n := program.MostComponents(p), float64(p.Rows)
	const larger = "use --method black-box, or a larger epsilon or delta"
	switch {
	case p.Budget.Epsilon > mostEpsilon && !(x.mask.Gamma >= leastGamma):
		return program.Refusal(fmt.Sprintf("use an epsilon of at most %d", mostEpsilon),
			"epsilon = %g is more than the draws of a mask, of a finite precision, can be said to cost", p.Budget.Epsilon)
	case !(x.mask.Gamma >= leastGamma):
		return program.Refusal(larger, "estimates of %d components in %d columns would have to agree within the rounding of their distances for a mask "+
			"to hide what a row may move at this epsilon and delta", k, p.Columns)
	case x.t > mostBlocks:
		return program.Refusal(larger, "%d blocks would be needed, more than %d", x.t, mostBlocks)
	case p.Relation != privacy.ReplaceOne:
		return nil
	case p.Rows/x.t < blockRows(k, p.Columns) || p.Own == "" && n*hopeless < x.rowsNeeded(p):
		return program.Refusal(advice(x, p), "%d blocks of %d rows cannot agree within %.2g in dist_PARAM", x.t, p.Rows/x.t, x.friends())
	}
	return nil
}

// What the kernel takes. Epsilons above mostEpsilon may be too large for the precision of its
// draws, according to delta.
const (
	mostBlocks     = 1 << 16
	mostComponents = 64
	mostColumns    = 20
	mostEpsilon    = 40
)

// friends returns r/(2z), the distance within which estimates agree.
func (x design) friends() float64 { return x.mask.Gamma / (2 * relaxation) }

// advice says what would help.
func advice(x design, p estimate.Problem) string {
	if float64(p.Rows) > x.rowsNeeded(p) {
		return "components may overlap, or be fewer than stated: needs fewer components, more rows, or a larger epsilon; or --method black-box"
	}
	return fmt.Sprintf("needs about %s rows at this epsilon, if components are far apart, or a larger epsilon; or --method black-box, "+
		"which needs far fewer", paper.RowsText(x.rowsNeeded(p)))
}

// Expect returns what public facts say of the number of rows: that of this method, and those of the
// restatement's accounting. The error never falls to twice the non-private one: it is a single
// block's, and the mask's.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	if p.Columns < 1 || e.refuse(p) != nil {
		return estimate.Expectation{}
	}
	public := p.Relation == privacy.ReplaceOne && p.Rows > 0
	x, least := e.c.design(p, public), e.c.design(p, false)
	if !(x.mask.Gamma > 0) {
		return estimate.Expectation{}
	}
	k, d := program.MostComponents(p), p.Columns
	printed, tight := RowsNeeded(k, d, p.Budget.Epsilon, p.Budget.Delta)
	closed := Printed().design(p, false)
	return estimate.Expectation{RowsNeeded: math.Ceil(least.rowsNeeded(p)), Notes: []string{
		"a literal algorithm, to compare with: it releases one block's estimate behind a mask; the method black-box needs far fewer rows",
		fmt.Sprintf("%d blocks, whose estimates agree if they are within %.2g of one another in dist_PARAM; what is released is then moved by "+
			"less than %.2g with probability %g", x.t, x.friends(), x.alpha, 1-e.c.Beta),
		fmt.Sprintf("the proof that it succeeds asks for a learner accurate to %.2g", accuracy(x.mask.Gamma)),
		fmt.Sprintf("with the constants of the source and a mask that moves by %.2g it needs about %s rows (blocks that agree within %.2g); "+
			"by the restatement's accounting, of a coarser mask, %s, and %s with the exact loss of one",
			closed.alpha, paper.RowsText(closed.rowsNeeded(p)), closed.friends(), paper.RowsText(printed), paper.RowsText(tight))}}
}
