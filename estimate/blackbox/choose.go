package blackbox

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
)

// A choice says how a table with this number of rows, public or released, is cut.
type choice struct {
	rules blocks.Rules
	// margin is the least factor by which estimates of blocks may be worse than expected of like
	// components well apart, before they no longer agree: farther from one another, labelled less
	// surely, or far off more often.
	margin float64
	rows   float64 // that learners see, in all blocks together
}

// Utility constants of the choice, guesses.
const (
	// mostBad of the blocks may be allowed for as far off, tried in steps of stepBad.
	mostBad, stepBad = .2, .03
	enough           = 1.0 // margin that agreement is expected from
	// With less margin none of the blocks of components far apart agreed: 1 to 3 of them in 1 to 5
	// columns, at epsilon 1 and 4.
	hopeless    = .75
	mostBlocks  = 3000
	leastBlocks = 40
	mostRows    = 1e9 // of the search for how many are needed
)

// A cutter chooses among ways to cut the rows of a problem.
type cutter struct {
	tuning Tuning
	k, d   int
	mask   privacy.CovarianceMask
	gap    float64 // of what the test asks below the agreement that is expected
	most   float64 // rows that learners see
}

func (t Tuning) newCutter(p estimate.Problem) cutter {
	c := cutter{tuning: t, k: components(p), d: p.Columns, mask: t.maskOf(p), most: math.Inf(1)}
	if c.mask.Gamma > leastGamma {
		c.gap = math.Ceil((privacy.ThresholdQuantile(math.Log(deltaPart*p.Budget.Delta))+t.Surely)/t.testMu(c.k, gaussianMu2(p, c.mask)) + .5)
	}
	c.most = t.Plenty * parts.Least(1, mostRows, 1.02, func(rows float64) bool { return c.cut(rows).margin >= t.Ample })
	return c
}

// cut takes the number of blocks, and how many of them may be off, that leave the largest margin;
// of several the fewest blocks. They are of a sample where there are more rows than learners see.
func (c cutter) cut(rows float64) (best choice) {
	rows = min(rows, c.most)
	for t := leastBlocks; t <= mostBlocks && rows/float64(t) >= c.tuning.leastRows(c.k, c.d) && best.margin < c.tuning.Ample; t += max(5, t/50) {
		size := rows / float64(t)
		for bad := c.tuning.UsualBad; bad <= mostBad; bad += stepBad {
			r := blocks.Rules{Estimates: t, Components: c.k, Columns: c.d, Core: blocks.Core(t, c.k), Pass: int((1-bad)*float64(t) - c.gap), Radius: 1}
			if r.Pass < r.Core+2 {
				break
			}
			r.Radius = min(blocks.MaxRadius, (c.mask.Gamma-blocks.Slack)/(r.Gamma()-blocks.Slack)*(1-1e-9))
			if margin := min(r.Radius/c.tuning.apart(c.k, c.d, size), c.tuning.labelled(c.k, c.d, size), bad/c.tuning.UsualBad, c.tuning.Ample); margin > best.margin {
				best = choice{r, margin, rows}
			}
		}
	}
	return best
}

// labelled returns the margin of labels (blocks.Rules) for blocks of m rows.
func (t Tuning) labelled(k, d int, m float64) float64 {
	if k == 1 {
		return math.Inf(1)
	}
	means := t.Apart / ((math.Sqrt(float64(d)) + t.MeanTail) * math.Sqrt(2*float64(k)/m))
	return min(means, blocks.SameScale/(t.ScaleTail*math.Sqrt(float64(d)/m)))
}

// leastRows of a block: with fewer, learners see no components.
func (t Tuning) leastRows(k, d int) float64 { return float64(t.RowsPerNumber * k * (d + 1)) }

// apart returns the expected distance of two estimates from blocks of m rows.
func (t Tuning) apart(k, d int, m float64) float64 {
	entries := float64(k*(d+1)*(d+2)) / 2
	return t.Spread * math.Sqrt(1+t.Widen*math.Sqrt(2/entries)) * math.Sqrt(2*float64(k)*entries/m)
}

// rowsFor returns about how many rows well separated components of equal weight need.
func (t Tuning) rowsFor(p estimate.Problem) float64 {
	c := t.newCutter(p)
	return parts.Least(100, mostRows, 1.02, func(rows float64) bool { return c.cut(rows).margin >= enough })
}
