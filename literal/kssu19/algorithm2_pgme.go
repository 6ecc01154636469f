// Package kssu19 holds the algorithms of [KSSU19] as they are printed, or as the restatement
// restores them: one file each, named after it. They are for comparison: the practical learner of
// package separated needs far fewer rows.
//
// Each is a program over the kernel: whatever decides what is measured next is public or was
// released. Where the recursion of Algorithm 1 works on several parts of the table, all parts of a
// level are measured at once, over a partition of space, so that a level costs what one part does.
// Costs are shares of mu^2; what the source calls epsilon/2 is half of mu^2 here.
//
// Source: [KSSU19].
package kssu19

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model/flags"
)

// KSSU19 Algorithm 2: PGME.

// Paper is the method "separated:paper".
//
// Measured by TestRecoveryRates (replace-one, delta 1e-6, equal weights, sd 1; components found in
// ten of ten runs, errors of means below .1 sd): epsilon 10: n = 3000, d = 3, k = 2; n = 15000, d =
// 10, k = 2; n = 40000, d = 3, k = 3 (least weight .3 given). Means 85 sds apart, 113 for d = 10,
// 283 for k = 3; 28 sds apart, d = 3, n = 12000: nine of ten. At epsilon 1, d = 3, without a least
// weight: n = 25000 for k = 2, 70000 for k = 3, and 120000 for k = 4, d = 4, means 1130 sds apart
// (two of two runs each).
type Paper struct {
	estimate.Named
	c Constants
}

// NewPaper returns Algorithm 2 with the given constants.
func NewPaper(c Constants) Paper {
	return Paper{estimate.Describe("separated:paper", "KSSU19 Algorithm 2",
		"the published algorithm for separated components, to compare with: terrific balls, level by level; needs very many rows"), c}
}

var (
	_ estimate.FactUser  = Paper{}
	_ estimate.Published = Paper{}
)

// Printed returns Algorithm 2 with the constants of the source.
func (Paper) Printed() estimate.Estimator { return NewPaper(Printed()) }

// Uses says that bounds of the eigenvalues are those of every component, and that the ball that
// holds the mean, which is read as that of every component's mean, is used beside them; and w_min.
func (Paper) Uses(p estimate.Problem) estimate.Uses {
	u := uses(p.Facts)
	u.LeastWeight = p.Facts.LeastWeight > 0
	return u
}

const (
	stepWeights  = "weights"
	weightsShare = .05 // of what the partition leaves
	finalPrefix  = "components: "
	// paperAccurate is by how many times the rows in which components are found make errors small:
	// measured at epsilon 1.
	paperAccurate = 5
)

// Plan states the worst case. It refuses a table in which noise would hide every ball.
func (e Paper) Plan(p estimate.Problem) (kernel.Plan, error) {
	e.c = e.c.with(p.Facts)
	if err := refusal(p, func(n float64) bool { return e.enough(p, n) }); err != nil {
		return kernel.Plan{}, err
	}
	return kernel.Plan{Method: e.Name(), Steps: e.steps(p)}, nil
}

// partitionShare returns the part of mu^2 for Algorithm 1.
func (e Paper) partitionShare(k int) float64 {
	if k <= 1 {
		return 0
	}
	return e.c.PartitionShare
}

func (e Paper) steps(p estimate.Problem) []kernel.Step {
	k := program.MostComponents(p)
	share := e.partitionShare(k)
	steps := append(nSteps(p), rpgmpSteps(k, share, .9)...)
	steps = append(steps, kernel.Step{Name: stepWeights, Query: query.PartsOf(query.Count{}.Kind()), Share: weightsShare, Most: 1, Source: "KSSU19 Section B.10"})
	return append(steps, e.c.pgeSteps(finalPrefix, p.Columns, .1)...)
}

// enough reports that n rows let noise through to every search at the root and below, from public
// facts.
func (e Paper) enough(p estimate.Problem, n float64) bool {
	k := program.MostComponents(p)
	if k == 1 {
		return n >= float64(2*p.Columns)
	}
	r := &run{relation: p.Relation, c: e.c, group: 1}
	parts := 1
	if k > 2 {
		parts = 2
	}
	least := e.c.leastWeight(k) * n
	step := p.Mu * p.Mu * e.c.PartitionShare / float64(levelSteps*(k-1))
	if !r.enoughForBall(1, p.Columns, n, n-e.c.RowsAside*least, step) {
		return false
	}
	if least/2 < e.c.lemma42(n, p.Columns, paper.PureEpsilon(step)/2, privacyDelta(p)) {
		return false
	}
	_, need := r.terrificGamma(parts, 2*e.c.Octaves+1, least/2, step)
	return r.enoughRows(n, least/2, need) && r.enoughForCenter(parts, p.Columns, least/2, step*centerShare) && r.enoughForSeclusion(parts, least/2, step)
}

// privacyDelta returns that of the budget, and what is usual where it is not known.
func privacyDelta(p estimate.Problem) float64 {
	if p.Budget.Delta > 0 {
		return p.Budget.Delta
	}
	return 1e-6
}

// Expect says how many rows it takes, from public facts.
func (e Paper) Expect(p estimate.Problem) estimate.Expectation {
	e.c = e.c.with(p.Facts)
	return expectation(p, paperAccurate, func(n float64) bool { return e.enough(p, n) })
}

// Fit follows the plan with the whole budget of the session: Algorithm 1, then PGE and the weights
// in all leaves at once.
//
// Source: [KSSU19] Algorithm 2; Section B.10 of the restatement.
// Differs: rows are truncated to R + sigma_max sqrt(d) if these are known; the weights are measured
// before PGE, which needs them; mu^2 that the partition did not need goes to PGE; a partition into
// fewer parts than there are components is not released.
func (e Paper) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	e.c = e.c.with(p.Facts)
	r := begin(s.SubBudget(), e.c, 1)
	n, mu2, err := r.count(s.Mu() * s.Mu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	k := program.MostComponents(p)
	// Step 1: truncate.
	root := part{frame: whole(p.Columns), rows: n}
	if e.c.Radius > 0 && e.c.SigmaMax > 0 {
		root = root.and(query.Condition{Map: root.frame, Radius: e.c.Radius + e.c.SigmaMax*math.Sqrt(float64(p.Columns))})
	}
	// Step 2: Algorithm 1.
	leaves, err := r.rpgmp(ctx, root, n, k, mu2*e.partitionShare(k))
	if err != nil {
		return estimate.Outcome{}, err
	}
	if leaves == nil {
		return refuse(p, "no ball was found that holds the rows"), nil
	}
	if k := p.Components; k > len(leaves) {
		return unparted(p, len(leaves), r.c), nil
	}
	// Steps 3 and 4: the weights, and PGE in all leaves at once.
	leaves, err = r.weigh(leaves, mu2*(1-e.partitionShare(k))*weightsShare)
	if err != nil || leaves == nil {
		return refuse(p, "no part of the rows is large enough to be seen"), err
	}
	gaussians, err := r.pge(finalPrefix, leaves, r.a.Left())
	if err != nil {
		return estimate.Outcome{}, err
	}
	return e.outcome(p, n, leaves, gaussians), nil
}

// weigh measures how many rows the leaves hold, and returns those that hold any.
//
// Source: [KSSU19] Algorithm 2 (steps 3 and 4, the weights); Section B.10 of the restatement.
// Differs: Lap(1/eps) as printed is
// calibrated to the relation.
func (r *run) weigh(leaves []part, mu2 float64) (seenParts []part, err error) {
	q := query.Parts{Partition: partition(leaves)}
	for range leaves {
		q.Queries = append(q.Queries, query.Count{})
	}
	ans, err := pure.Laplace(r.a, stepWeights, q, paper.PureEpsilon(mu2))
	if err != nil {
		return nil, err
	}
	for i, p := range leaves {
		if p.rows = ans.Values[i]; p.rows > seen*ans.Sigma && p.rows >= 2 {
			seenParts = append(seenParts, p)
		}
	}
	return seenParts, nil
}

func (e Paper) outcome(p estimate.Problem, n float64, leaves []part, gaussians []*gaussian) estimate.Outcome {
	var parts []found
	var told []estimate.Flag
	lost := 0
	for i, g := range gaussians {
		if g == nil {
			lost++
			continue
		}
		f := found{mean: g.mean, cov: g.cov, rows: leaves[i].rows, noise: g.noise}
		if g.round {
			f.flags = append(f.flags, flags.New(flags.OtherShape, "too few rows for a covariance: its shape is spherical"))
		}
		parts = append(parts, f)
	}
	if lost > 0 {
		told = append(told, flags.New(flags.FewerComponents, "%d parts hold too few rows to be learned, or none that are like a Gaussian, and were left out", lost))
	}
	return e.c.assemble(p, n, parts, p.Covariance, told...)
}
