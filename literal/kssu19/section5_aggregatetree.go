package kssu19

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// AggregateTree is the method "separated:aggregate-tree": sample and aggregate with the tools of
// the practical learner. Many small secret blocks of rows, k-means on each, and a private search
// for the k clusters of what it found, by a tree of counts in place of k calls of PGLOC. No paper
// prints it: [SampleAggregate] is what Section 5 has, needs some five times the rows, and runs any
// learner.
//
// The components are spherical, in the units of the columns as near pairs of rows show them; where
// units differ by more than a factor of 256 and the covariance need not be spherical, each column
// has its own.
//
// One row moves the k estimates of one block, so all noise on estimates is k times that of a query
// of rows, and there are as many estimates as blocks: it needs some 30 times the rows of the method
// "separated" and is here for comparison.
//
// Source: [KSSU19] Section B.11 of the restatement (practical).
// Differs: units, ball and weights are measured on the rows themselves, where the noise is k times
// less and n is larger than the number of estimates; the clusters are found by a tree of counts, as
// in Part C of the restatement; a noisy clipped mean per ball, three times, each in a ball around
// the last.
type AggregateTree struct{}

var _ estimate.Estimator = AggregateTree{}

// NewAggregateTree returns the estimator.
func NewAggregateTree() AggregateTree { return AggregateTree{} }

// Name is "separated:aggregate-tree".
func (AggregateTree) Name() string { return "separated:aggregate-tree" }

// Source names the algorithm.
func (AggregateTree) Source() string { return sampleSource }

// Summary is one line for lists of methods.
func (AggregateTree) Summary() string {
	return "a mixture of k well separated spherical components: k-means on many small blocks, clustered by a tree of counts (no paper's; many rows)"
}

const sampleSource = "KSSU19 Section B.11"

// The steps of the plan.
const (
	stepSampleSpan   = "span of the estimates"
	stepSampleTree   = "tree of the estimates"
	stepSampleMean   = "means of the clusters"
	stepSampleSpread = "spread of the clusters"
	stepSampleScale  = "scales of the clusters"
	stepSampleWeight = "weights"
	stepSampleLast   = "last means and scales"
)

// Parts of the total mu^2: utility constants. The last step gets what is left.
const (
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
func (e AggregateTree) Plan(p estimate.Problem) (kernel.Plan, error) {
	if none := tooFew(p, float64(p.Rows), e.rowsNeeded, blockRows); none != nil {
		return kernel.Plan{}, program.Refusal(none.Advice, "%s", none.Reason)
	}
	moments, counts := query.ClippedMoments{}.Kind(), query.DistanceCounts
	steps := append(rowSteps(),
		kernel.Step{Name: stepSampleWeight, Query: rings.PartsOf(query.Count{}.Kind()), Share: sampleWeightShare, Most: 1, Source: "KSSU19 Section B.10"})
	pooled := func(name, kind string, share float64, most int, source string) {
		steps = append(steps, kernel.Step{Name: name, Query: kernel.OfBlocks(kind), Share: share, Most: most, Source: source})
	}
	pooled(stepSampleSpan, moments, sampleSpanShare, 1, "KSSU19 Section B.5")
	pooled(stepSampleTree, rings.CellCounts{}.Kind(), sampleFindShare, mostTreeLevels, "KSSU19 Section C.3")
	pooled(stepSampleMean, rings.PartsOf(moments), samplePasses*sampleMeanShare, samplePasses, sampleSource)
	pooled(stepSampleSpread, rings.PartsOf(counts), (samplePasses+1)*sampleSpreadShare, samplePasses+1, sampleSource)
	pooled(stepSampleScale, rings.PartsOf(counts), sampleScaleShare, 1, sampleSource)
	pooled(stepSampleLast, rings.PartsOf(moments), 1, 1, sampleSource)
	return kernel.Plan{Method: e.Name(), Steps: steps}, nil
}

// Expect says how many rows the thresholds need.
func (e AggregateTree) Expect(p estimate.Problem) estimate.Expectation {
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
func (e AggregateTree) rowsNeeded(p estimate.Problem) float64 {
	return clearSDs * float64(p.Components) * math.Sqrt2 / (p.Mu * math.Sqrt(sampleFindShare/mostTreeLevels)) * blockRows(p)
}

// Fit follows the plan with the whole budget of the session.
func (e AggregateTree) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := &sampling{aggregation: begun(ctx, s, p, e.rowsNeeded, blockRows)}
	return f.run()
}

// sampling is the state of one run.
type sampling struct {
	aggregation
	weights  *kernel.Allotment // what the weights may cost
	clusters []cluster
}

// run is the whole fit.
func (f *sampling) run() (estimate.Outcome, error) {
	if out, err := f.findRows(); out != nil || err != nil {
		return orEmpty(out), err
	}
	f.weights = f.Take(sampleWeightShare * f.Mu2)
	f.blocks = max(1, min(mostBlocks, int(f.Rows/blockRows(f.Problem))))
	err := f.cut(blocks.Blocks{Learner: spectral.Learner{Components: f.Problem.Components}, Count: f.blocks, Seed: sampleSeed})
	if err != nil {
		return estimate.Outcome{}, err
	}
	if err := f.findClusters(); err != nil {
		return estimate.Outcome{}, err
	}
	if len(f.clusters) < f.Problem.Components {
		return f.Refuse("only %d of %d clusters of estimates stand out of the noise", len(f.clusters), f.Problem.Components), nil
	}
	return f.refine()
}

// sampleSeed is that of the learner and of EM: public, and independent of the table.
const sampleSeed = 0x4b53535531392e35
