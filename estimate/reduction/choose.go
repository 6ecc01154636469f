package reduction

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/stable"
)

// A choice is how a table of so many rows is cut: public, as the number of rows is, or released, as it is.
type choice struct {
	rules stable.Rules
	// margin is the least factor by which estimates of blocks may be worse than expected of like components well apart, before they no longer
	// agree: farther from one another, labelled less surely, or far off more often.
	margin float64
}

// Utility constants of the choice.
const (
	etaOf   = .4 // the mask's noise times sqrt(D): the mean is good to that, relative, before EM
	mostEta = .2 // with more, a component of few columns is now and then masked to a tenth of its size, which EM does not find back from
	// Two estimates of blocks of m rows are expected within spread k sqrt(D(D+1)/m) of one another, the wider the fewer entries share it.
	spread = 1.83
	widen  = 1.64
	// Their means are expected within (sqrt(d) + meanTail) sqrt(2k/m), their scales within scaleTail sqrt(d/m).
	meanTail  = 2.0
	scaleTail = 4.0
	expected  = 4.8 // sds that components are taken to lie apart
	// usualBad is the part of the blocks that are taken to be far off, and mostBad what may be allowed for.
	usualBad, mostBad, stepBad = .05, .2, .03
	// surely is how many sds of the test's noise the expected agreement lies above what the test asks.
	surely     = 2.33
	enough     = 1.0 // margin that agreement is expected from
	ample      = 3.0 // no larger margin is sought
	hopeless   = .5
	leastGamma = 1e-4
	mostBlocks = 3000
	// leastRows of a block, per parameter of a mean.
	rowsPerNumber = 3
	leastBlocks   = 40
	mostRows      = 1e9 // of the search for how many are needed
)

// lifted is D, the dimension of a component as one matrix.
func lifted(p estimate.Problem) int { return p.Columns + 1 }

// eta is the mask's noise.
func eta(p estimate.Problem) float64 { return min(mostEta, etaOf/math.Sqrt(float64(lifted(p)))) }

// maskOf is the mask that its part of the budget pays for: of the largest movement that leaves the Gaussian steps the rest.
func maskOf(p estimate.Problem) privacy.Mask {
	share, _ := parts(components(p))
	delta := p.Budget.Delta * (1 - deltaPart) * (1 - 1e-5)
	pays := func(mu2 float64, extra privacy.Curve) bool {
		return extra.Compose(privacy.GaussianCurve(math.Sqrt(mu2))).Epsilon(delta) <= p.Budget.Epsilon
	}
	all := largest(0, math.Pow(2+p.Mu, 2), func(mu2 float64) bool { return pays(mu2, privacy.GaussianCurve(0)) })
	m := privacy.Mask{Dimension: lifted(p), Eta: eta(p)}
	m.Gamma = largest(0, 2, func(gamma float64) bool {
		return gamma <= 0 || pays((1-share)*all, privacy.Mask{Dimension: m.Dimension, Eta: m.Eta, Gamma: gamma}.Curve())
	})
	return m
}

// largest is about the largest x in [low, high] that is ok, if all below it are.
func largest(low, high float64, ok func(float64) bool) float64 {
	for range 40 {
		if mid := (low + high) / 2; ok(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// testMu is the loss of the test, a part of the Gaussian steps' mu.
func testMu(k int, mu2 float64) float64 {
	_, test := parts(k)
	return math.Sqrt(test*mu2) * (1 - 1e-12)
}

// gaussianMu2 is mu^2 of the Gaussian steps beside the mask, as the kernel will calibrate it.
func gaussianMu2(p estimate.Problem, m privacy.Mask) float64 {
	c, err := privacy.Calibrate(p.Budget, privacy.Needs{AddedDelta: deltaPart * p.Budget.Delta * (1 + 1e-5), Extra: m.Curve()})
	if err != nil {
		return 0
	}
	return c.Mu2
}

// choose takes the number of blocks, and how many of them may be off, that leave the largest margin; of several the fewest blocks.
func choose(p estimate.Problem, rows float64) (best choice) {
	k, d, m := components(p), p.Columns, maskOf(p)
	mu := testMu(k, gaussianMu2(p, m))
	gap := math.Ceil((privacy.ThresholdQuantile(math.Log(deltaPart*p.Budget.Delta))+surely)/mu + .5)
	for t := leastBlocks; t <= mostBlocks && rows/float64(t) >= leastRows(k, d) && best.margin < ample; t += max(5, t/50) {
		size := rows / float64(t)
		for bad := usualBad; bad <= mostBad; bad += stepBad {
			c := choice{rules: stable.Rules{Estimates: t, Components: k, Columns: d, Core: stable.Core(t, k), Pass: int((1-bad)*float64(t) - gap), Radius: 1}}
			if c.rules.Pass < c.rules.Core+2 {
				break
			}
			c.rules.Radius = min(stable.MaxRadius, (m.Gamma-stable.Slack)/(c.rules.Gamma()-stable.Slack)*(1-1e-9))
			c.margin = min(c.rules.Radius/apart(p, size), labelled(k, d, size), bad/usualBad, ample)
			if c.margin > best.margin {
				best = c
			}
		}
	}
	return best
}

// labelled is the margin of labels (stable.Rules) for blocks of m rows.
func labelled(k, d int, m float64) float64 {
	if k == 1 {
		return math.Inf(1)
	}
	means := stable.Share * expected / ((math.Sqrt(float64(d)) + meanTail) * math.Sqrt(2*float64(k)/m))
	return min(means, stable.Alike/(scaleTail*math.Sqrt(float64(d)/m)))
}

// leastRows of a block: with fewer, learners see no components.
func leastRows(k, d int) float64 { return float64(rowsPerNumber * k * (d + 1)) }

// apart is how far two estimates of blocks of m rows are expected to lie apart.
func apart(p estimate.Problem, m float64) float64 {
	k, d := float64(components(p)), float64(lifted(p))
	return spread * math.Sqrt(1+widen*math.Sqrt(4/(k*d*(d+1)))) * k * math.Sqrt(d*(d+1)/m)
}

// rowsFor is about how many rows components of equal weight and well apart need.
func rowsFor(p estimate.Problem) float64 {
	low, high := 100.0, mostRows
	for high > 1.02*low {
		if mid := math.Sqrt(low * high); choose(p, mid).margin >= enough {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
