package kssu19

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

const (
	prefixSampleBall = "ball of estimates: "
	literalShare     = .45 // of mu^2, for all calls of PGLOC: a utility constant
	// removeBalls: estimates within this many radii of a ball found are not looked at again.
	removeBalls = 4.0
	// finest: the search for radii goes down to this part of the radius of all rows. A utility
	// constant.
	finest = 1. / 1024
)

// literalSteps are the steps of findLiteral.
func literalSteps(k int) []kernel.Step {
	steps := pglocSteps(prefixSampleBall, literalShare, k, 1)
	for i := range steps {
		steps[i].Query = kernel.OfBlocks(steps[i].Query)
	}
	return steps
}

// literalConstants are those of a search in a ball of the given radius, which was released.
func literalConstants(radius float64) Constants {
	c := Practical()
	c.Radius, c.SigmaMin, c.SigmaMax = radius, radius*finest, radius
	return c
}

// literalBlocks is the number of blocks below which GoodRadius gives up.
func literalBlocks(p estimate.Problem) float64 {
	k := float64(p.Components)
	r := run{c: literalConstants(1), group: k}
	_, need := r.radiusGamma(1, p.Columns, literalShare*p.Mu*p.Mu/(2*k))
	return 2 * need
}

// findLiteral calls PGLOC k times, each time for half as many estimates as there are blocks, and
// takes the ball found, four times as wide, out of the next search.
//
// Source: [KSSU19] Section 5 (k calls of PGLOC); Section B.11 of the restatement, step 4.
// Differs: equal parts of mu^2 in place of epsilon/(2k^2), which is group privacy of k estimates
// and basic composition of k calls; the radii are sought within the ball that holds the rows.
func (f *sampling) findLiteral() error {
	k := f.Problem.Components
	r := &run{a: f.pooled, c: literalConstants(f.radius), group: float64(k)}
	var found []rings.Condition
	for j := range k {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		left := part{frame: f.ball(cluster{mean: make([]float64, f.dim())}), rows: float64(f.blocks * (k - j)), t: float64(f.blocks) / 2}
		balls, err := r.pgloc(prefixSampleBall, []part{left.and(found...)}, literalShare*f.Mu2/float64(k)*(1-1e-12))
		if err != nil {
			return err
		}
		b := balls[0]
		if b == nil {
			return nil
		}
		found = append(found, b.beyond(removeBalls*b.radius))
		f.clusters = append(f.clusters, cluster{mean: b.frame.Center, radius: b.radius})
	}
	return nil
}
