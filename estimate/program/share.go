package program

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
)

// Parts of the total mu^2 that the units may cost. Utility constants, guesses.
const (
	mostPart  = .07
	leastPart = .01
	ofCenters = .5 // part of the units' budget that finds the centres
	// The targets: rank noise relative to n, and the part of the rows that may differ from a
	// constant unseen.
	rankNoise  = .05
	unseenPart = .025
)

// mostShare is the largest share, up to a rounding error that the kernel grants: a table for which
// Share is sharp never needs more.
const mostShare = columns.LargestPart / ofCenters

// Share returns the part of the total mu^2 that the units of d columns should cost: the least that
// reaches the targets, within .01 to .07, and in a short table the least that location and scale
// need, up to mostShare. It is a function of public or released numbers: the problem's relation and
// Mu, and the rows, public or released. sharp is false if even mostShare is too little; then the
// units should not be sought.
func Share(p estimate.Problem, d int, rows float64) (share float64, sharp bool) {
	root := math.Sqrt(float64(d))
	// Rank noise of a median: 8 sqrt(d) S/mu_part. The least that location and scale needs comes
	// first.
	want := math.Max(square(8*root/(rankNoise*rows*p.Mu))/ofCenters,
		square(columns.ConstantSDs*root/(unseenPart*rows*p.Mu))/(columns.VariedPart*(1-ofCenters)))
	share = math.Max(leastPart, math.Min(want, mostPart))
	if columns.SharpEnough(p.Relation, d, rows, ofCenters*share*p.Mu*p.Mu) {
		return share, true
	}
	mu2 := p.Mu * p.Mu
	need, _ := columns.CenterShare(p.Relation, d, rows, mu2)
	share = need / ofCenters * (1 + 1e-10) // rounding must not make it too little
	return share, columns.SharpEnough(p.Relation, d, rows, ofCenters*share*mu2)
}

// SharpRows returns about the least number of rows for which Share is sharp.
func SharpRows(p estimate.Problem, d int) float64 {
	return parts.Least(1, 1e18, 1+1e-6, func(rows float64) bool {
		_, sharp := Share(p, d, rows)
		return sharp
	})
}

// Steps returns the steps of Open for any share of Share's, with prefix before their names and weak
// the part of mu^2 for columns in which few rows differ from one value.
func Steps(p estimate.Problem, prefix string, weak float64) []kernel.Step {
	if p.Profiled {
		return OthersSteps(prefix, 1)
	}
	steps := columns.UnitsSteps(prefix, columns.LargestPart, mostShare*(1-ofCenters))
	return append(steps, columns.WeakStep.In(prefix, weak), columns.SparseStep.In(prefix, weak), RecordedStep(prefix))
}

// Config returns what location and scale may spend of the total mu2 when the units get share and
// weak columns get weak: within Steps(prefix, weak).
func Config(prefix string, share, weak, mu2 float64) columns.UnitsConfig {
	part := share * mu2
	weak *= mu2 * (1 - 1e-9)
	return columns.UnitsConfig{Prefix: prefix, CenterMu2: ofCenters * part, ScaleMu2: (1 - ofCenters) * part, WeakMu2: weak, SparseMu2: weak}
}

func square(x float64) float64 { return x * x }
