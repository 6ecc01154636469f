package kssu19

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/learner/spectral"
	gaussians "github.com/gauze-dp/gauze/parts/component"
)

// SampleAggregate is the method "separated:sample-aggregate": many small secret blocks of rows, a
// non-private learner on each, and a private search for the k clusters of what the learners found.
// The components are spherical, with the units of the columns as they are found; where units differ
// by more than a factor of 16 and the covariance need not be spherical, each column has its own.
//
// One row moves the k estimates of one block, so all noise on estimates is k times that of a query
// of rows, and there are as many estimates as blocks: it needs some 30 times the rows of the method
// "separated" and is here for comparison, and for learners that nobody can make private otherwise.
//
// Source: [KSSU19] Section 5; Section B.11 of the restatement.
// Differs: units, ball and weights are measured on the rows themselves, where the noise is k times
// less and n is larger than the number of estimates; the clusters are found by a tree of counts, as
// in Part C of the restatement, in place of k calls of PGLOC (see Literal); a noisy clipped mean
// per ball, three times, each in a ball around the last.
type SampleAggregate struct {
	// Literal finds the clusters by k calls of PGLOC, as the source does. That needs five times the
	// rows, and a budget with a delta, and finds tighter balls.
	Literal bool
}

var _ estimate.Estimator = SampleAggregate{}

// NewSampleAggregate returns the estimator.
func NewSampleAggregate() SampleAggregate { return SampleAggregate{} }

// Name is "separated:sample-aggregate".
func (SampleAggregate) Name() string { return "separated:sample-aggregate" }

// Source names the algorithm.
func (SampleAggregate) Source() string { return sampleSource }

// Summary is one line for lists of methods.
func (SampleAggregate) Summary() string {
	return "a mixture of k well separated spherical components: a non-private learner on many small blocks, aggregated (needs many rows)"
}

const sampleSource = "KSSU19 Section B.11"

// The steps of the plan.
const (
	stepSampleCount   = "count"
	prefixSampleUnits = "units: "
	stepSampleRadius  = "radius of the rows"
	stepSampleSpan    = "span of the estimates"
	stepSampleTree    = "tree of the estimates"
	stepSampleMean    = "means of the clusters"
	stepSampleSpread  = "spread of the clusters"
	stepSampleScale   = "scales of the clusters"
	stepSampleWeight  = "weights"
	stepSampleLast    = "last means and scales"
)

// Parts of the total mu^2: utility constants. The last step gets what is left.
const (
	sampleCountShare  = .005
	sampleWeakShare   = .01
	sampleRadiusShare = .01
	sampleSpanShare   = .08
	sampleFindShare   = .35
	sampleMeanShare   = .04
	sampleSpreadShare = .04
	sampleScaleShare  = .06
	sampleWeightShare = .02
	// how often means and radii of the clusters are measured before the last time
	samplePasses = 2
)

// Plan is the worst case that Fit may measure. It refuses a problem without a number of components,
// and one with too few rows.
func (e SampleAggregate) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Components < 1 {
		return kernel.Plan{}, program.Refusal("state it, or use the method \"separated\"", "sample-and-aggregate has to know the number of components")
	}
	if p.Rows > 0 {
		if none := e.tooFew(p, float64(p.Rows)); none != nil {
			return kernel.Plan{}, program.Refusal(none.Advice, "%s", none.Reason)
		}
	}
	moments, counts := query.ClippedMoments{}.Kind(), query.DistanceCounts
	steps := []kernel.Step{{Name: stepSampleCount, Query: query.Count{}.Kind(), Share: sampleCountShare, Most: 1, Source: sampleSource}}
	steps = append(steps, program.Steps(prefixSampleUnits, sampleWeakShare)...)
	steps = append(steps,
		kernel.Step{Name: stepSampleRadius, Query: counts, Share: sampleRadiusShare, Most: 1, Source: "KSSU19 Section C.1"},
		kernel.Step{Name: stepSampleWeight, Query: rings.PartsOf(query.Count{}.Kind()), Share: sampleWeightShare, Most: 1, Source: "KSSU19 Section B.10"})
	pooled := func(name, kind string, share float64, most int, source string) {
		steps = append(steps, kernel.Step{Name: name, Query: kernel.OfBlocks(kind), Share: share, Most: most, Source: source})
	}
	if e.Literal {
		steps = append(steps, literalSteps(p.Components)...)
	} else {
		pooled(stepSampleSpan, moments, sampleSpanShare, 1, "KSSU19 Section B.5")
		pooled(stepSampleTree, rings.CellCounts{}.Kind(), sampleFindShare, mostTreeLevels, "KSSU19 Section C.3")
	}
	pooled(stepSampleMean, rings.PartsOf(moments), samplePasses*sampleMeanShare, samplePasses, sampleSource)
	pooled(stepSampleSpread, rings.PartsOf(counts), (samplePasses+1)*sampleSpreadShare, samplePasses+1, sampleSource)
	pooled(stepSampleScale, rings.PartsOf(counts), sampleScaleShare, 1, sampleSource)
	pooled(stepSampleLast, rings.PartsOf(moments), 1, 1, sampleSource)
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Expect says how many rows the thresholds need.
func (e SampleAggregate) Expect(p estimate.Problem) estimate.Expectation {
	if p.Components < 1 || !(p.Mu > 0) {
		return estimate.Expectation{}
	}
	return estimate.Expectation{RowsNeeded: e.rowsNeeded(p)}
}

// Utility constants of the blocks.
const (
	rowsPerComponent = 20 // of a block, for every component on average
	rowsPerColumn    = 2  // of a block
	mostBlocks       = 1 << 17
	// clearSDs: a cluster, which has about one estimate per block, must be this many noise sds of
	// one count of the tree.
	clearSDs = 13.0
)

// blockRows is the size of a block.
func blockRows(p estimate.Problem) float64 {
	return math.Max(rowsPerComponent*float64(p.Components), rowsPerColumn*float64(p.Columns))
}

// rowsNeeded is the number of rows that makes enough blocks.
func (e SampleAggregate) rowsNeeded(p estimate.Problem) float64 {
	k := float64(p.Components)
	need := clearSDs * k * math.Sqrt2 / (p.Mu * math.Sqrt(sampleFindShare/mostTreeLevels))
	if e.Literal {
		need = literalBlocks(p)
	}
	return need * blockRows(p)
}

// tooFew is the reason why so many rows are too few, or nil: public or released facts.
func (e SampleAggregate) tooFew(p estimate.Problem, rows float64) *estimate.NoRelease {
	need := e.rowsNeeded(p)
	if rows >= need {
		return nil
	}
	return &estimate.NoRelease{
		Reason: fmt.Sprintf("about %.0f rows make too few blocks of %.0f rows for the noise, which is %d times that of a query of rows",
			math.Max(0, rows), blockRows(p), p.Components),
		Advice: fmt.Sprintf("needs about %.3g rows at this budget; or use the method \"separated\"", need),
	}
}

// Fit follows the plan with the whole budget of the session.
func (e SampleAggregate) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	advice := fmt.Sprintf("needs components some ten sds apart and about %.3g rows at this budget; or use the method \"separated\"", e.rowsNeeded(p))
	f := &sampling{Run: program.Begin(s, p, func(estimate.Problem) string { return advice }), ctx: ctx, e: e}
	return f.run()
}

// sampling is the state of one run.
type sampling struct {
	program.Run
	ctx      context.Context
	e        SampleAggregate
	pooled   *kernel.Allotment // measures the estimates of the blocks
	weights  *kernel.Allotment // what the weights may cost
	space    gaussians.Space
	radius   float64 // of the ball around the centre of the space that holds what the learners see
	blocks   int
	clusters []cluster
}

func (f *sampling) dim() int { return f.space.Dim() }

// run is the whole fit.
func (f *sampling) run() (estimate.Outcome, error) {
	if out, err := f.findSpace(); out != nil || err != nil {
		return orEmpty(out), err
	}
	if out, err := f.findBall(); out != nil || err != nil {
		return orEmpty(out), err
	}
	f.weights = f.Take(sampleWeightShare * f.Mu2)
	f.blocks = max(1, min(mostBlocks, int(f.Rows/blockRows(f.Problem))))
	var err error
	if f.pooled, err = blocks.Cut(f.Allotment, blocks.Blocks{
		Learner: spectral.Learner{Components: f.Problem.Components}, Count: f.blocks,
		Frame: f.space.Frame(make([]float64, f.dim()), mat.DenseCopyOf(symmetric.Identity(f.dim()))), Radius: f.radius, Seed: sampleSeed,
	}); err != nil {
		return estimate.Outcome{}, err
	}
	find := f.findClusters
	if f.e.Literal {
		find = f.findLiteral
	}
	if err := find(); err != nil {
		return estimate.Outcome{}, err
	}
	if len(f.clusters) < f.Problem.Components {
		return f.Refuse("only %d of %d clusters of estimates stand out of the noise", len(f.clusters), f.Problem.Components), nil
	}
	return f.refine()
}

// sampleSeed is that of the learner and of EM: public, and independent of the table.
const sampleSeed = 0x4b53535531392e35

func orEmpty(out *estimate.Outcome) estimate.Outcome {
	if out == nil {
		return estimate.Outcome{}
	}
	return *out
}

// findSpace measures the number of rows and the units of the columns.
func (f *sampling) findSpace() (*estimate.Outcome, error) {
	if err := f.CountRows(stepSampleCount, sampleCountShare); err != nil {
		return nil, err
	}
	if none := f.e.tooFew(f.Problem, f.Rows); none != nil {
		return &estimate.Outcome{Diagnostics: f.Notes, NoRelease: none}, nil
	}
	share, sharp := program.Share(f.Problem, f.Problem.Columns, f.Rows)
	if !sharp {
		out := f.Refuse("about %.0f rows are too few to find the units of %d columns", f.Rows, f.Problem.Columns)
		return &out, nil
	}
	if out, done, err := f.Open(program.Config(prefixSampleUnits, share, sampleWeakShare, f.Mu2)); done || err != nil {
		return &out, err
	}
	f.space = program.OneUnit(f.Space, f.Problem.Covariance)
	return nil, nil
}

// Utility constants of the ball.
const (
	ballLow, ballHigh = -8, 80 // half-octaves, in units of the columns
	ballCore          = .9     // of the rows are in it in any case
	ballPart          = .01    // a half-octave beyond counts if it holds this part of the rows
	ballSDs           = 4.0    // .. and this many noise sds
	ballGap           = 6      // half-octaves that may be empty before it
)

// findBall finds the ball that holds what belongs together: nine rows in ten, and from there
// outwards over small gaps.
//
// Source: [KSSU19] Section C.1, stage R, of the restatement.
func (f *sampling) findBall() (*estimate.Outcome, error) {
	var edges []float64
	for e := ballLow; e <= ballHigh; e++ {
		edges = append(edges, math.Exp2(float64(e)/2))
	}
	q := query.Counts{Frame: f.space.Frame(make([]float64, f.dim()), mat.DenseCopyOf(symmetric.Identity(f.dim()))), Edges: [][]float64{edges}}
	ans, err := f.Sum(stepSampleRadius, q, f.Mu(sampleRadiusShare))
	if err != nil {
		return nil, err
	}
	last, within := -1, 0.0
	low := math.Max(ballSDs*ans.Sigma, ballPart*f.Rows)
	for b := range edges {
		count := ans.Values[b]
		if within < ballCore*f.Rows && count > ballSDs*ans.Sigma || last >= 0 && b-last <= ballGap && count > low {
			last = b
		}
		within += count
	}
	if last < 0 {
		out := f.Refuse("no distance from the centre holds enough rows to be seen")
		return &out, nil
	}
	f.radius = edges[last]
	return nil, nil
}
