package general

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts/component"
)

// Utility constants of short tables, guesses tried on mixtures of 500 to 4,000 rows.
const (
	// From this n mu on several components are looked for in rows that the method for one Gaussian
	// has made round, where there are too few for a search of their own.
	leastLooked = 180.0
	// of mu^2: for the lines of a split there, for each of the next smallFrames rounds, and for
	// each of smallRounds after them
	smallLine, smallFrame, smallRound = .08, .06, .04
	smallFrames, smallRounds          = 2, 3
	smallKeep                         = .2 // of mu^2, that looking again leaves
)

// rowsOfLooking returns the number of rows from which on several components are looked for.
func rowsOfLooking(p estimate.Problem) float64 {
	if p.Covariance != estimate.Full {
		return rowsOfSeveral(p)
	}
	return math.Min(rowsOfSeveral(p), leastLooked/p.Mu)
}

// looks returns what looks for several components in a table whose rows, public or released, are
// too few for a search of its own: nil if they are not enough even for that, or one component is
// asked for.
func (e Estimator) looks(p estimate.Problem, rows float64) program.Several {
	if p.Components == 1 || program.MostComponents(p) <= 1 || p.Covariance != estimate.Full || rows < rowsOfLooking(p) {
		return nil
	}
	return e.several
}

// several looks for several components along a few lines, which one Gaussian hardly pays for, and
// ends the fit by private EM if it finds any. What the lines show is strong: all of the budget goes
// to them and to few rounds.
func (e Estimator) several(ctx context.Context, run *program.Run, space component.Space, cov *mat.SymDense) (out estimate.Outcome, done bool, err error) {
	f := &fit{Run: *run, method: e, space: space, table: run.SubBudget, drawn: run.SubBudget, all: run.Rows, odds: 1, whole: true}
	f.Advise = advice
	f.schedule = schedule{lean: 1, rounds: smallRounds, em: smallRounds * smallRound, final: 1 - smallRounds*smallRound}
	f.global = component.Gaussian{Weight: 1, Mean: make([]float64, space.Dim()), Cov: cov, Rows: f.Rows, Uncertainty: component.StartUncertainty()}
	r := f.rounds([]component.Gaussian{f.global})
	r.Floor = f.floor()
	for range mostSplits {
		if f.Left() < (smallLine+smallKeep)*f.Mu2 {
			break
		}
		before := len(r.Components)
		if err := f.split(ctx, r, smallLine); err != nil {
			return out, true, err
		}
		if len(r.Components) == before {
			break
		}
		r.SharedShape = true
		for range smallFrames {
			component.ShareShape(r.Components)
			if err := r.Round(f.SubBudget, program.StepRounds, f.Mu(smallFrame), false); err != nil {
				return out, true, err
			}
		}
		r.SharedShape = false
	}
	if len(r.Components) == 1 {
		return out, false, nil
	}
	if r, err = f.begin(ctx, r.Components); err == nil {
		err = f.em(ctx, r)
	}
	if err != nil {
		return out, true, err
	}
	return f.outcome(r), true, nil
}
