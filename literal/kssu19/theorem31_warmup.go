package kssu19

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
)

// WarmUp is the method "separated:warm-up": the learner of Theorem 3.1, for spherical components of
// similar size and weight.
//
// Measured by TestRecoveryRates (replace-one, delta 1e-6, sd 1; components found in ten of ten
// runs, errors of means about .1 sd): epsilon 10: n = 3000, d = 6, k = 2; n = 6000, d = 6, k = 3.
// Epsilon 1: n = 20000, d = 6, k = 2; n = 60000, d = 20, k = 3. Means 14 sds apart are enough.
type WarmUp struct {
	estimate.Named
	c Constants
}

// NewWarmUp returns the learner with the given constants.
func NewWarmUp(c Constants) WarmUp {
	return WarmUp{estimate.Describe("separated:warm-up", "KSSU19 Theorem 3.1",
		"spherical components of similar size and weight, to compare with: private PCA, then one ball after another"), c}
}

var (
	_ estimate.FactUser  = WarmUp{}
	_ estimate.Published = WarmUp{}
)

// Printed returns the learner with the constants of the source.
func (WarmUp) Printed() estimate.Estimator { return NewWarmUp(Printed()) }

// Uses says that bounds of the eigenvalues are those of every component, and that the ball that
// holds the mean, which is read as that of every component's mean, is used beside them.
func (WarmUp) Uses(p estimate.Problem) estimate.Uses { return uses(p.Facts) }

// Parts of the total mu^2. Where sigma is not known, a part of PCA's finds the ball that holds the
// rows.
const (
	wholeShare = .10
	pcaShare   = .25
	ballsShare = .50
	aboutShare = .25 // of what is left for PSGE
)

// warmUpAccurate is by how many times the rows in which components are found make errors small:
// measured at epsilon 1.
const warmUpAccurate = 20

// stepAbout finds where the components are in all columns.
const stepAbout = finalPrefix + "about"

// on returns the learner with what is known of the problem. Bounds of sigma that are constants of
// the method come with the source's assumption on the means, |mu| <= k sqrt(d) sigma; those that
// are stated of the rows do not.
//
// Source: [KSSU19] Theorem 3.1 (the family of mixtures).
func (e WarmUp) on(p estimate.Problem) WarmUp {
	if e.c.known() && e.c.Radius == 0 {
		e.c.Radius = math.Min(mostRadius, float64(program.MostComponents(p))*math.Sqrt(float64(p.Columns))*e.c.SigmaMax)
	}
	e.c = e.c.with(p.Facts)
	return e
}

// bounded reports that the ball of step 1 is known beforehand.
func (e WarmUp) bounded() bool { return e.c.known() && e.c.Radius > 0 }

func (e WarmUp) pcaShare() float64 {
	if e.bounded() {
		return pcaShare
	}
	return pcaShare - wholeShare
}

// dimensions returns l for n rows.
func (e WarmUp) dimensions(p estimate.Problem, n float64) int {
	k := program.MostComponents(p)
	most := math.Max(float64(k), e.c.PCAFactor*math.Log(math.Max(2, n*float64(k)/e.c.FailureProb)))
	return int(math.Min(float64(p.Columns), most))
}

// Plan states the worst case. It refuses a table in which noise would hide every ball.
func (e WarmUp) Plan(p estimate.Problem) (kernel.Plan, error) {
	e = e.on(p)
	if err := refusal(p, func(n float64) bool { return e.enough(p, n) }); err != nil {
		return kernel.Plan{}, err
	}
	k := program.MostComponents(p)
	steps := nSteps(p)
	if !e.bounded() {
		steps = append(steps, pglocSteps(prefixAll, wholeShare, 1, .1)...)
	}
	steps = append(steps, pcaStep(stepPCA, e.pcaShare(), 1))
	steps = append(steps, pglocSteps(prefixBall, ballsShare, k, .9)...)
	steps = append(steps, kernel.Step{Name: stepAbout, Query: query.PartsOf(query.ClippedMoments{}.Kind()), Share: aboutShare, Most: 1, Source: "KSSU19 Section B.8"})
	return kernel.Plan{Method: e.Name(), Steps: append(steps, psgeSteps(finalPrefix, 1)...)}, nil
}

// enough reports that n rows let noise through to every search, from public facts.
func (e WarmUp) enough(p estimate.Problem, n float64) bool {
	k := program.MostComponents(p)
	r := &run{relation: p.Relation, c: e.c, group: 1}
	mu2 := p.Mu * p.Mu
	if !e.bounded() && !r.enoughForBall(1, p.Columns, n, (1-e.c.RowsAside)*n, mu2*wholeShare) {
		return false
	}
	if !e.bounded() {
		r.c = r.c.inBall(1)
	}
	return r.enoughForBall(1, e.dimensions(p, n), n, n/float64(2*k), mu2*ballsShare/float64(k))
}

// Expect says how many rows it takes, from public facts.
func (e WarmUp) Expect(p estimate.Problem) estimate.Expectation {
	e = e.on(p)
	return expectation(p, warmUpAccurate, func(n float64) bool { return e.enough(p, n) })
}

// clipped returns the radius of the ball around the origin that holds all rows: R + k sqrt(d)
// sigma, which is 2k sqrt(d kappa) sigma_min where R is the source's.
func (e WarmUp) clipped(p estimate.Problem) float64 {
	k := float64(max(2, program.MostComponents(p)))
	return math.Min(1e150, e.c.Radius+k*math.Sqrt(float64(p.Columns))*e.c.SigmaMax)
}

// Fit follows the plan with the whole budget of the session.
//
// Source: [KSSU19] Theorem 3.1; Section B.8 of the restatement.
// Differs: l = min(d, k); balls found in the projection are moved to their rows' coarse means in
// all columns before PSGE; where sigma is not known, PGLOC finds the ball that rows are clipped to,
// as in Algorithm 1; the weights are the balls' shares of the rows.
func (e WarmUp) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	e = e.on(p)
	r := begin(s.SubBudget(), e.c, 1)
	n, mu2, err := r.count(s.Mu() * s.Mu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	all := part{frame: whole(p.Columns), rows: n, t: (1 - e.c.RowsAside) * n}
	// Step 1: the ball that rows are clipped to.
	clip, err := e.clip(r, p, all, mu2)
	if err != nil || clip == nil {
		return refuse(p, "no ball was found that holds the rows"), err
	}
	all = all.and(clip.within(clip.radius))
	// Step 2: private PCA.
	frames, err := r.pca(stepPCA, []part{all}, []*ball{clip}, e.dimensions(p, n), mu2*e.pcaShare())
	if err != nil {
		return estimate.Outcome{}, err
	}
	all.frame = frames[0]
	if !e.bounded() {
		r.c = r.c.inBall(clip.radius)
	}
	// Step 3: k times PGLOC.
	cells, balls, err := e.balls(ctx, r, p, all, mu2*ballsShare)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if cells, balls, err = e.lift(r, cells, balls, clip, r.a.Left()*aboutShare); err != nil {
		return estimate.Outcome{}, err
	}
	// Step 4: PSGE in the balls.
	spheres, err := r.psge(finalPrefix, cells, balls, r.a.Left())
	if err != nil {
		return estimate.Outcome{}, err
	}
	return e.outcome(p, n, spheres), nil
}

// clip returns the ball that rows are clipped to; nil if none is found.
func (e WarmUp) clip(r *run, p estimate.Problem, all part, mu2 float64) (*ball, error) {
	if e.bounded() {
		return &ball{frame: all.frame, radius: e.clipped(p)}, nil
	}
	found, err := r.pgloc(prefixAll, []part{all}, mu2*wholeShare)
	if err != nil || found[0] == nil {
		return nil, err
	}
	found[0].radius *= r.c.Kept
	if !usable(found[0].frame, found[0].radius) {
		return nil, nil
	}
	return found[0], nil
}

// balls finds one ball after another in the projection, each among the rows that the ones before
// left; every row belongs to the first ball that holds it. It stops early at a ball that is not
// found.
func (e WarmUp) balls(ctx context.Context, r *run, p estimate.Problem, all part, mu2 float64) (cells []part, balls []*ball, err error) {
	k := program.MostComponents(p)
	remaining := all
	remaining.t = all.rows / float64(2*k)
	for range k {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		found, err := r.pgloc(prefixBall, []part{remaining}, mu2/float64(k))
		if err != nil {
			return nil, nil, err
		}
		b := found[0]
		if b == nil || !usable(b.frame, b.radius) {
			break
		}
		cells = append(cells, remaining.and(b.within(b.radius)))
		remaining = remaining.and(b.beyond(b.radius))
		balls = append(balls, b)
	}
	return cells, balls, nil
}

// lift finds the balls in all columns: the noise of PCA tilts the projection, so that a ball's
// centre there may be far from every row of its cell here. The cells' coarse means are the centres;
// per dimension, a sphere's rows are as far from its mean as in the projection.
func (e WarmUp) lift(r *run, cells []part, balls []*ball, clip *ball, mu2 float64) (held []part, lifted []*ball, err error) {
	if len(cells) == 0 {
		return nil, nil, nil
	}
	q := query.Parts{Partition: partition(cells)}
	for range cells {
		q.Queries = append(q.Queries, spherical(clip.frame, clip.radius))
	}
	sums, err := r.sphericalSums(stepAbout, q, parts.Mu(mu2))
	if err != nil {
		return nil, nil, err
	}
	for i, m := range sums {
		if !(m.Count > seen*m.CountSD) {
			continue
		}
		radius := balls[i].radius * math.Sqrt(float64(clip.frame.Out())/float64(balls[i].frame.Out()))
		held = append(held, cells[i])
		lifted = append(lifted, &ball{frame: shifted(clip.frame, meanWithin(m, clip.radius)), radius: radius})
	}
	return held, lifted, nil
}

func (e WarmUp) outcome(p estimate.Problem, n float64, spheres []*sphere) estimate.Outcome {
	var parts []found
	for _, s := range spheres {
		if s == nil {
			continue
		}
		cov := symmetric.Identity(p.Columns)
		cov.ScaleSym(s.variance, cov)
		parts = append(parts, found{mean: s.mean, cov: cov, rows: s.rows, noise: s.noise})
	}
	var told []estimate.Flag
	if p.Covariance != estimate.Spherical {
		told = append(told, flags.New(flags.OtherShape, "this method fits spherical components only"))
	}
	return e.c.assemble(p, n, parts, estimate.Spherical, told...)
}
