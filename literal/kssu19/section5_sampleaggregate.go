package kssu19

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner/spectral"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// SampleAggregate is the method "separated:sample-aggregate": any learner of mixtures on many small
// secret blocks of rows; k calls of PGLOC, each for half as many of the blocks' estimates as there
// are blocks, on those that no ball before has taken; and one noisy clipped mean per ball.
//
// The components are spherical, in the units of the columns as near pairs of rows show them: a ball
// in l2 is all that PGLOC can find. Where units differ by more than a factor of 256 and the
// covariance need not be spherical, each column has its own.
//
// Privacy: one row moves the k estimates of one block, so every sensitivity is k times that of an
// estimate (blocks.Pool); each PGLOC is charged as it is elsewhere.
//
// Source: [KSSU19] Section 5; Theorem 5.1; Theorem 5.2; Section B.11 of the restatement.
// Differs: units and the ball of all rows, which the source is given as R, sigma_min and sigma_max,
// are measured; equal parts of mu^2 in place of epsilon/(2k^2) and delta e^(-epsilon/2k)/(4k^2),
// which are group privacy of k estimates and basic composition of k calls; variances are clipped at
// a bound from a histogram of the ball's; blocks come from a secret draw.
type SampleAggregate struct {
	estimate.Named
	learners.List
	c Constants
}

var _ estimate.LearnerUser = SampleAggregate{}

// NewSampleAggregate returns the estimator.
func NewSampleAggregate(c Constants) SampleAggregate {
	c.SubsetRows = min(c.SubsetRows, leastSearched)
	list := learners.List{
		{Name: spheres, For: func(k int, _ float64) kernel.Learner { return spectral.Spheres{Components: k} }},
		{Name: vempalaWang, For: func(k int, _ float64) kernel.Learner { return spectral.Spheres{Components: k, Peel: true} }},
		{Name: "spectral", For: func(k int, _ float64) kernel.Learner { return spectral.Mixture{Components: k} }},
	}
	return SampleAggregate{estimate.Describe("separated:sample-aggregate", sectionFive,
		"a mixture of k well separated spherical components: any learner on many small blocks, its estimates found by k searches for a ball (very many rows)"), append(list, learners.Ours()...), c}
}

// The learners of spherical components: k-means in the span of the leading singular vectors, and
// the one that the source plugs in. They make do with fewer rows than those that find whole
// covariances.
const spheres, vempalaWang = "spectral-spheres", "vempala-wang"

// A search for radii looks at leastSearched of the estimates, or more where the noise asks for
// more.
const leastSearched = 2000

// Printed returns the same method with the source's constants.
func (SampleAggregate) Printed() estimate.Estimator { return NewSampleAggregate(Printed()) }

const sectionFive = "KSSU19 Section 5"

// The steps on the estimates.
const (
	prefixSampleBall = "ball of estimates: "
	stepBallReach    = "reach of the variances"
	stepBallTrace    = "variances"
	stepBallWeight   = stepWeights
	stepBallMean     = "means"
)

// Parts of what the searches leave, for the steps before the last: utility constants, guesses.
const (
	reachPart  = .12
	tracePart  = .25
	weightPart = .12
)

// The search for balls.
const (
	// removeBalls: estimates within this many radii of a ball found are not looked at again.
	removeBalls = 4.0
	// searched is sigma_min of the search, in units of near pairs, times k: of k equal clusters
	// these are k sds wide, and estimates scatter by less than the sd. A guess.
	searched = .25
	// octavesApart is how far the rows are taken to reach in units of near pairs, where a number
	// of rows is asked for before any has been looked at. A guess.
	octavesApart = 12
)

// inUnits returns the constants for estimates in a ball of the given radius, which was released.
func (e SampleAggregate) inUnits(p estimate.Problem, radius float64) Constants {
	c := e.c
	c.Radius, c.SigmaMin = radius, math.Min(radius, searched/float64(p.Components))
	c.SigmaMax = math.Max(c.SigmaMin, radius)
	return c
}

// Plan returns the worst case that Fit may measure. It refuses a problem without a number of
// components, and one with too few rows.
func (e SampleAggregate) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.NoDelta {
		return kernel.Plan{}, program.Refusal("state --epsilon and --delta in place of --rho", "the thresholds of PGLOC need a delta")
	}
	if none := e.tooFew(p, float64(p.Rows)); none != nil {
		return kernel.Plan{}, program.Refusal(none.Advice, "%s", none.Reason)
	}
	steps := rowSteps()
	for _, s := range pglocSteps(prefixSampleBall, e.c.PartitionShare, p.Components, 1) {
		s.Query = kernel.OfBlocks(s.Query)
		steps = append(steps, s)
	}
	moments := query.PartsOf(query.ClippedMoments{}.Kind())
	for _, s := range []kernel.Step{
		{Name: stepBallReach, Query: query.PartsOf(query.DistanceCounts), Share: reachPart},
		{Name: stepBallTrace, Query: moments, Share: tracePart},
		{Name: stepBallWeight, Query: moments, Share: weightPart},
		{Name: stepBallMean, Query: moments, Share: 1},
	} {
		s.Query, s.Most, s.Source = kernel.OfBlocks(s.Query), 1, sectionFive
		steps = append(steps, s)
	}
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Expect says how many rows the search for balls needs.
func (e SampleAggregate) Expect(p estimate.Problem) estimate.Expectation {
	if p.Components < 1 || !(p.Mu > 0) || math.IsInf(e.rowsNeeded(p), 1) {
		return estimate.Expectation{}
	}
	return estimate.Expectation{RowsNeeded: e.rowsNeeded(p), Notes: []string{
		"needs components some " + e.apart(p),
		"a literal algorithm, to compare with: its noise is as large as the blocks are many; the method separated needs far fewer rows"}}
}

// Utility constants of the blocks.
const (
	leastBlocks = 64
	leastDelta  = 1e-30 // where none is told
	// roomy: GoodRadius gives up at half as many blocks as it needs; this many times as many leave
	// room for what stage zero costs. A guess.
	roomy = 1.3
	// perCell of the estimates of a component are in one of twice their radius, at least:
	// one over it. perTest: blocks for which the test of boxes is sure, times its epsilon over k.
	// Guesses.
	perCell = 3.0
	perTest = 40.0
	// amply: with more than so many times the blocks that the search needs, blocks get larger
	// as well, and the learner better. A guess.
	amply = 1.5
)

// blocksNeeded returns the number of blocks below which GoodRadius gives up or the thresholds of
// GoodCenter hide a cluster of one estimate per block.
//
// Source: [KSSU19] Theorem 5.1 (m).
func (e SampleAggregate) blocksNeeded(p estimate.Problem) float64 {
	k := float64(p.Components)
	r := run{c: e.inUnits(p, math.Exp2(octavesApart)), group: k}
	mu2 := e.c.PartitionShare * p.Mu * p.Mu / k
	_, need := r.radiusGamma(1, p.Columns, mu2)
	// of GoodCenter: what its two histograms let through, at one of the d axes, and its test of
	// boxes
	step := mu2 / 2 / 4
	slack := math.Log(20*2*k*float64(p.Columns)/math.Max(p.Budget.Delta, leastDelta)) + p.Budget.Epsilon
	threshold := k + math.Sqrt(2*slack)*math.Sqrt(2*float64(p.Columns))*k/parts.Mu(step)
	return math.Max(math.Max(leastBlocks, 2*roomy*need), math.Max(perCell*threshold, perTest*k/paper.PureEpsilon(step)))
}

// rowsNeeded returns the number of rows that makes enough blocks.
func (e SampleAggregate) rowsNeeded(p estimate.Problem) float64 {
	if p.Components < 1 {
		return 0
	}
	return e.blocksNeeded(p) * e.blockRows(p)
}

// Utility constants: the rows of a block, for every component on average and for every column.
const (
	rowsPerComponent = 20
	rowsPerColumn    = 2
)

// rowsPerColumnOfShape is how many rows a component needs for every column, and for two more, where
// its whole covariance is learned. A guess.
const rowsPerColumnOfShape = 4

// blockRows returns the size of the smallest blocks.
func (e SampleAggregate) blockRows(p estimate.Problem) float64 {
	rows := math.Max(rowsPerComponent*float64(p.Components), rowsPerColumn*float64(p.Columns))
	if name := estimate.LearnerOf(e, p); name == spheres || name == vempalaWang {
		return rows
	}
	return math.Max(rows, rowsPerColumnOfShape*float64(p.Components*(p.Columns+2)))
}

// apart returns in words how far components have to be from one another for the learner: Vempala
// and Wang's, as printed, released nothing of two that were 20 and 40 standard deviations apart,
// and both from 60 on (3 of 3 fits each, d = 2 and 5, epsilon 10, 60,000 rows).
func (e SampleAggregate) apart(p estimate.Problem) string {
	if estimate.LearnerOf(e, p) == vempalaWang {
		return "sixty sds apart (ten with --learner " + spheres + ")"
	}
	return "ten sds apart"
}

// Fit follows the plan with the whole budget of the session.
func (e SampleAggregate) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := &aggregate{ctx: ctx, e: e, Run: program.Begin(s, p, func(p estimate.Problem) string {
		return fmt.Sprintf("needs components some %s and about %s rows at this budget; or use the method \"separated\"",
			e.apart(p), paper.RowsText(estimate.AboutRows(e.rowsNeeded(p))))
	})}
	return f.run()
}
