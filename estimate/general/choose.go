package general

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

// candidates are the numbers of components that are tried on the coreset.
var candidates = []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 30, 36, 44, 54, 64}

// Utility constants of the choice of k ([KSSU19] Section E, stage G of the restatement), chosen on
// the public tables, by experiments/files.
const (
	starts       = 12 // of EM, fewer where points and components are many
	leastStarts  = 3
	workOfStarts = 60000 // points times components times starts, about
	leastInTree  = 50    // coreset rows below which only one component is tried
	// leaves of the coreset for a parameter of a component, where components are more than
	// mostAnyway: fewer say where leaves are, not rows. Of 2 and 10, and 2, 12 and 16 or no such
	// limit, on families of made-up tables of 1,000 to 50,000 rows.
	leavesOf   = 10
	mostAnyway = 16
	// numbers of components in a row that are worse, before the search ends: a guess
	mostWorse = 4
)

// choose fits the coreset for every allowed number of components and returns the best start.
func (f *fit) choose(ctx context.Context, c *coreset.Coreset, a *axes) ([]component.Gaussian, error) {
	if c.Total < leastInTree || len(c.Points) < 2 {
		return []component.Gaussian{f.global}, nil
	}
	ks := f.open(c)
	if f.Problem.Components > 0 {
		more := spare
		if f.method.Without.Extra {
			more = 0
		}
		if f.Problem.Covariance == estimate.Full && strength(f.Problem, f.space.Dim(), f.Rows) < leastStrength {
			more = spareWide
		}
		ks = []int{min(f.Problem.Components+more, len(c.Points))}
	}
	m, err := f.best(ctx, c, ks)
	if err != nil {
		return nil, err
	}
	return a.lift(m), nil
}

// open returns the numbers of components that are tried on a coreset if their number is open.
func (f *fit) open(c *coreset.Coreset) []int {
	enough := len(c.Points) / (leavesOf * (c.Dim + 1) * (c.Dim + 2) / 2)
	most := largestK(f.Problem, f.space.Dim(), math.Min(f.Rows, c.Total))
	if f.glanced {
		most = max(2, int(f.Rows*f.Problem.Mu/(rowsGlanced*breadth(f.Problem, f.space.Dim()))))
	}
	most = min(max(mostAnyway, enough), len(c.Points)-1, most)
	ks := []int{1}
	for _, k := range candidates[1:] {
		if k <= most {
			ks = append(ks, k)
		}
	}
	return ks
}

// best returns the best fit to the coreset among those numbers of components: by log-likelihood
// less the nats that the last round's noise is expected to cost. What is too much is joined later,
// in all columns.
func (f *fit) best(ctx context.Context, c *coreset.Coreset, ks []int) (best *coreset.Mixture, err error) {
	bestScore, worse := math.Inf(-1), 0
	for _, k := range ks {
		if worse == mostWorse {
			break
		}
		m, err := coreset.Fit(ctx, c, k, between(leastStarts, workOfStarts/(len(c.Points)*k), starts), program.Starts(k))
		if err != nil {
			return nil, err
		}
		worse++
		if score := f.score(c, m); score > bestScore || best == nil {
			best, bestScore, worse = m, score, 0
		}
	}
	return best, nil
}

// score returns the expected log-likelihood per row, up to a constant, of the mixture that private
// EM would make of the start m.
func (f *fit) score(c *coreset.Coreset, m *coreset.Mixture) float64 {
	r := f.rounds(nil)
	lost, rows := 0.0, math.Min(f.Rows, c.Total)
	for _, w := range m.Weights {
		lost += w * r.Price(w*rows/f.Rows, math.Sqrt(f.schedule.final*f.Mu2))
	}
	return m.LogLik/c.Total - lost
}
