package kssu19

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	gaussians "github.com/gauze-dp/gauze/parts/component"
)

// aggregate is the state of one run of SampleAggregate.
type aggregate struct {
	program.Run
	ctx    context.Context
	e      SampleAggregate
	space  gaussians.Space
	radius float64 // of the ball around the centre of the space that holds what the learners see
	blocks int
	pooled *kernel.SubBudget // measures the estimates of the blocks
	balls  []*ball
}

// run runs the whole fit.
func (f *aggregate) run() (estimate.Outcome, error) {
	// The units and the ball of all rows, which the source is given.
	if out, err := f.findRows(); err != nil {
		return estimate.Outcome{}, err
	} else if out != nil {
		return *out, nil
	}
	k := f.Problem.Components
	f.blocks = f.e.blocksOf(f.Problem, f.Rows)
	// Steps 1 to 3: blocks, the learner, and the pool of its estimates.
	if err := f.cut(f.e.Blocks(f.Problem, k, f.blocks)); err != nil {
		return estimate.Outcome{}, err
	}
	// Step 4: k times PGLOC.
	if err := f.findBalls(); err != nil {
		return estimate.Outcome{}, err
	}
	if len(f.balls) < k {
		return f.Refuse("only %d of %d balls of estimates stand out of the noise", len(f.balls), k), nil
	}
	// Step 5: the noisy means of the balls.
	return f.measure()
}

// maxEstimates is how many the kernel pools.
const maxEstimates = 1 << 22

// blocksOf returns the number of blocks of so many rows: amply as many as the search needs, and
// from there on the square root of what is left over, so that blocks get larger too. Noise is one
// over the number of blocks, times clips that larger blocks leave as they are: those of weights and
// variances, and the least radius of a ball.
func (e SampleAggregate) blocksOf(p estimate.Problem, rows float64) int {
	ample, least := amply*e.blocksNeeded(p), e.blockRows(p)
	most := math.Min(ample*math.Sqrt(math.Max(1, rows/(ample*least))), float64(maxEstimates/p.Components))
	return int(math.Max(1, math.Min(most, rows/least)))
}

// of returns the frame of some of the coordinates of an estimate, which are weight, mean and root,
// as they are: at the origin.
func of(first, n int) query.Affine {
	a := whole(n)
	for i := range n {
		a.Columns = append(a.Columns, first+i)
	}
	return a
}

// findBalls calls PGLOC k times, each time for half as many estimates as there are blocks, and
// takes the ball found, four times as wide, out of the next search.
//
// Source: [KSSU19] Section 5 (k calls of PGLOC); Section B.11 of the restatement, step 4.
// Differs: the radii are sought within the ball that holds the rows.
func (f *aggregate) findBalls() error {
	k := f.Problem.Components
	r := begin(f.pooled, f.e.inUnits(f.Problem, f.radius), float64(k))
	var taken []query.Condition
	for j := range k {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		left := part{frame: of(1, f.dim()), rows: float64(f.blocks * (k - j)), t: float64(f.blocks) / 2}
		balls, err := r.pgloc(prefixSampleBall, []part{left.and(taken...)}, f.e.c.PartitionShare*f.Mu2/float64(k)*(1-1e-12))
		if err != nil || balls[0] == nil {
			return err
		}
		taken = append(taken, balls[0].beyond(removeBalls*balls[0].radius))
		f.balls = append(f.balls, balls[0])
	}
	return nil
}

// measure takes, of the estimates in every ball, the noisy clipped means of the component's mean,
// of its variance, and of its weight.
//
// Source: [KSSU19] Section 5 (its average); Section B.11 of the restatement, step 5.
func (f *aggregate) measure() (estimate.Outcome, error) {
	d, root := f.dim(), of(1+f.dim(), f.dim()*f.dim())
	left := f.pooled.LeftMu() * f.pooled.LeftMu()
	bounds, err := f.reach(root, reachPart*left)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if bounds == nil {
		return f.Refuse("in a ball, too few of the estimates of %d blocks agree on a variance to be seen", f.blocks), nil
	}
	traces, err := f.clipped(stepBallTrace, func(j int) (query.Affine, float64) { return root, bounds[j] }, parts.Mu(tracePart*left))
	if err != nil {
		return estimate.Outcome{}, err
	}
	weight := of(0, 1)
	weight.Center[0] = .5
	weights, err := f.clipped(stepBallWeight, func(int) (query.Affine, float64) { return weight, .5 }, parts.Mu(weightPart*left))
	if err != nil {
		return estimate.Outcome{}, err
	}
	means, err := f.clipped(stepBallMean, func(j int) (query.Affine, float64) { return f.balls[j].frame, f.balls[j].radius }, f.pooled.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	least := .1 * float64(f.blocks) // PGLOC found half of them: far fewer are noise
	var parts []found
	for j, b := range f.balls {
		count := math.Max(means[j].Count, least)
		means[j].Count = count
		w := math.Max(.5+weights[j].Sum[0]/math.Max(weights[j].Count, least), lightest)
		variance := math.Max(traces[j].Trace, traces[j].TraceSD) / (math.Max(traces[j].Count, least) * float64(d))
		p := found{mean: shifted(b.frame, meanWithin(means[j], b.radius)).Center, cov: mat.NewSymDense(d, nil), rows: w,
			noise: 2 * traces[j].TraceSD / math.Max(traces[j].Trace, traces[j].TraceSD)}
		for i := range d {
			p.cov.SetSym(i, i, variance)
		}
		if count < .4*float64(f.blocks) {
			p.flags = append(p.flags, flags.New(flags.SurplusComponent, "found in about %.0f of %d blocks", count, f.blocks))
		}
		parts = append(parts, p)
	}
	return f.outcome(parts), nil
}

// lightest is the least weight that is released: a utility constant.
const lightest = 1e-3

// clipped asks, of the estimates in every ball, for the clipped moments of some coordinates. An
// estimate belongs to the first ball that holds it.
func (f *aggregate) clipped(step string, what func(j int) (query.Affine, float64), mu float64) ([]gaussians.Sums, error) {
	q := query.Parts{Partition: f.partition()}
	for j := range f.balls {
		q.Queries = append(q.Queries, spherical(what(j)))
	}
	return begin(f.pooled, f.e.c, float64(f.Problem.Components)).sphericalSums(step, q, mu)
}

func (f *aggregate) partition() query.Partition {
	var p query.Partition
	for _, b := range f.balls {
		p.Regions = append(p.Regions, query.Region{Conditions: []query.Condition{b.within(b.radius)}})
	}
	return p
}

// Utility constants of reach.
const (
	reachBins = 60 // half-octaves down from the radius of all rows
	reachSDs  = 4.0
	reachRows = .05 // of the blocks
)

// reach is, for every ball, about the largest length of a root in it: the upper end of the last
// half-octave that holds a clear number; nil if some ball has none.
func (f *aggregate) reach(root query.Affine, mu2 float64) ([]float64, error) {
	top := f.radius * math.Sqrt(float64(f.dim()))
	var edges []float64
	for b := range reachBins {
		edges = append(edges, top*math.Exp2(float64(b+1-reachBins)/2))
	}
	q := query.Parts{Partition: f.partition()}
	for range f.balls {
		q.Queries = append(q.Queries, query.Counts{Map: root, Edges: [][]float64{edges}})
	}
	ans, err := f.pooled.Sum(stepBallReach, q, parts.Mu(mu2))
	if err != nil {
		return nil, err
	}
	answers, sigmas := q.Split(ans.Values, ans.Sigma)
	var out []float64
	for j, counts := range answers {
		b := len(edges) - 1
		for b >= 0 && counts[b] <= math.Max(reachSDs*sigmas[j], reachRows*float64(f.blocks)) {
			b--
		}
		if b < 0 {
			return nil, nil
		}
		out = append(out, edges[b])
	}
	return out, nil
}

// outcome returns the mixture in the columns' units, heaviest component first.
func (f *aggregate) outcome(parts []found) estimate.Outcome {
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].rows > parts[j].rows })
	draft := program.NewDraft(f.Problem.Columns, f.Notes)
	if f.Problem.Covariance != estimate.Spherical {
		draft.Notes.Flag(flags.New(flags.OtherShape, "sample-and-aggregate learns spherical components only: covariances have one variance for all columns, in their units"))
	}
	total := 0.0
	for _, p := range parts {
		total += p.rows
	}
	for _, p := range parts {
		w := p.rows / total
		note := estimate.ComponentNote{EffectiveRows: w * math.Max(0, f.Rows), EffectiveNoise: p.noise, Flags: p.flags}
		mean, cov, err := f.Raw(f.space, gaussians.Gaussian{Mean: p.mean, Cov: p.cov}, f.Problem.Covariance)
		draft.Add(w, mean, cov, err, note)
	}
	return draft.Outcome()
}
