package kmssu22

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
)

// Utility constants of all histograms: a cell is to be sureSDs above its threshold, 2 after 3.5 was
// tried on the cells of TestRecoveryTable. A ball of fewer blocks than leastBlocks, a guess, is no
// majority.
const (
	sureSDs     = 2.0
	leastBlocks = 20
	mostBlocks  = 1 << 20
)

// A means is what the histograms of blocks are bought with: public facts.
type means struct {
	c      Constants
	d      int
	budget privacy.Budget
}

func (c Constants) means(p estimate.Problem) means { return means{c, p.Columns, p.Budget} }

// needed returns t, the number of blocks with which a cell that holds the share mass of them is
// seen in each of the histograms, measured together with loss mu and the part slack of the
// stability delta: what is expected in the cell is sureSDs above the threshold, of the noise and of
// the number of blocks in it.
//
// The threshold is 1 + sigma q and roundings. Its q grows like sqrt(2 epsilon) and sigma falls like
// 1/sqrt(2 epsilon), so that it falls to sqrt(2 histograms/part) for a part of mu^2 and no further:
// a number of blocks that falls with sigma alone is too small at large epsilon. This one falls with
// epsilon, and stays enough.
func (m means) needed(histograms int, slack, mass, mu float64) float64 {
	delta := privacy.ThresholdShare * m.budget.Delta * slack
	noise := math.Sqrt(2*float64(histograms)) / mu
	threshold := 3 + noise*privacy.ThresholdQuantile(privacy.LogSlackOf(m.budget.Epsilon, delta)-math.Log(float64(histograms)))
	// mass t = threshold + sureSDs sqrt(noise^2 + mass (1-mass) t), for x = mass t
	b := sureSDs * sureSDs * (1 - mass) / 2
	x := threshold + b + math.Sqrt(b*b+2*b*threshold+sureSDs*sureSDs*noise*noise)
	return math.Max(leastBlocks, math.Ceil(x/mass))
}

// eigenvalueBlocks returns t of Algorithm 1, and centerBlocks of Algorithm 2 for k of dims
// dimensions, for what the step has of mu^2.
func (m means) eigenvalueBlocks(mu2 float64) float64 {
	return m.needed(m.d, eigenvalueSlack, m.c.EigenvalueMass, parts.Mu(mu2*eigenvalueShare))
}

func (m means) centerBlocks(k, dims int, mu2 float64) float64 {
	return m.needed(dims*m.c.points(k), centersSlack/float64(m.d), m.c.CenterMass, parts.Mu(mu2*centersPart))
}

// enough returns t as a number of blocks if n rows fill them, or bottom.
func (r *run) enough(t float64, dims int, what string) (int, error) {
	if need := t * r.c.blockRows(dims); r.rows < need || t > mostBlocks {
		return 0, &bottom{fmt.Sprintf("about %.0f rows make too few blocks for %s", r.rows, what), need}
	}
	return int(t), nil
}

// leastNeeded returns the least number of rows with which anything can be released: what the
// eigenvalues need.
func (m means) leastNeeded(mu float64) float64 {
	return m.eigenvalueBlocks(mu*mu) * m.c.blockRows(m.d)
}

// gapNeeded returns the number of rows that one gap in the middle of the spectrum needs.
func (m means) gapNeeded(mu float64) float64 {
	k := m.d / 2
	if k == 0 {
		return 0
	}
	return m.centerBlocks(k, m.d, preconditionShare*mu*mu) * m.c.blockRows(m.d)
}
