package gaussian

import (
	"context"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
)

// A Tuning is the constants of the method. They affect utility only; tests and experiments may set
// them, and no request can.
type Tuning struct {
	// RoundPart of what is left is the most that the preconditioner spends; steps count in the last
	// release too. Chosen on Gaussian rows, of which .85 refuses those of large condition numbers.
	RoundPart float64
	ShapePart float64 // of mu^2, for the histogram of the radii: a guess
	// HeavyLoss is by how much the Pearson family must explain the radii better than the Gaussian,
	// in -2 log likelihood with one parameter more. For a Gaussian 12 is a chance of 5e-4
	// (chi-square with one degree), less what the decision on the loss takes off.
	HeavyLoss float64
	// Unlikely is a sum of squares of ten bins, two of them fitted: a Gaussian reaches 45 with a
	// chance of 1e-6.
	Unlikely float64
	// OutlierSDs: rows beyond a Gaussian's reach are measured by themselves only if there are more
	// than this many noise sds of them.
	OutlierSDs float64
	// Shrink is how many times (d+1) v the covariance is scaled down: 1/2 for the curved prior that
	// a scale has, 1 for the relative error.
	Shrink float64
	// Of diagonal and spherical covariances: RoughPart of what is left is for the rough release. Of
	// spherical ones: HiddenPart of the noise is what a rough variance is at least, since the next
	// release could not repair a spread that is too small; a rough mean nearer than Leaning to the
	// clipping radius says that location and scale missed the columns. Guesses.
	RoughPart, HiddenPart, Leaning float64
	MomentsTuning
}

// A MomentsTuning is the constants of fits by the columns' own units: of heavy-tailed ones, and
// where the rows are not for rounding. Guesses.
type MomentsTuning struct {
	// Parts of the remaining budget for a first measurement of all columns and a finer one of some,
	// alone and after whitening, where the frame is good already; the part of what the columns
	// leave for the first moments; the part of mu^2 for a look at the columns of which location and
	// scale has not seen the octaves of pairs.
	FirstReach, FinerReach, WhitenedReach, FinerWhitenedReach, FirstMoments, Glance float64
	// A column is uneven if at least the part UnevenAtom of its rows is at its centre, or
	// UnevenGroup in a group apart, or if its tail falls more slowly than UnevenTail, by UnevenSDs.
	UnevenAtom, UnevenGroup, UnevenTail, UnevenSDs float64
	SomeOutliers                                   float64 // if at least this part of the whitened rows is far out, all columns are measured finely
	ManyRows                                       float64 // so many d/mu rows are enough for moments in the columns' own units
}

// Usual returns the constants that run.
func Usual() Tuning {
	return Tuning{RoundPart: .95, ShapePart: .015, HeavyLoss: 12, Unlikely: 45, OutlierSDs: 3, Shrink: 1.5,
		RoughPart: .1, HiddenPart: .7, Leaning: .8,
		MomentsTuning: UsualMoments()}
}

// UsualMoments returns those that run.
func UsualMoments() MomentsTuning {
	return MomentsTuning{FirstReach: .1, FinerReach: .25, WhitenedReach: .05, FinerWhitenedReach: .1, FirstMoments: .4, Glance: .015,
		UnevenAtom: .45, UnevenGroup: .08, UnevenTail: 2.5, UnevenSDs: 3, SomeOutliers: .02, ManyRows: 60}
}

// With returns the estimator with constants of its own.
func With(t Tuning) Estimator {
	e := New()
	e.tuning = t
	return e
}

// FitSubBudget fits one Gaussian with all that a has left, measuring only the steps of Steps(p,
// prefix, share) for the same prefix, and what several measures, if it is set. Every choice depends
// on what a has left at the start, p and released values.
func FitSubBudget(ctx context.Context, a *kernel.SubBudget, p estimate.Problem, prefix string, several program.Several) (estimate.Outcome, error) {
	return Usual().fit(ctx, a, p, prefix, several)
}

func (t Tuning) fit(ctx context.Context, a *kernel.SubBudget, p estimate.Problem, prefix string, several program.Several) (estimate.Outcome, error) {
	f := &fit{Fit: newFit(ctx, name, t, a, p, prefix), several: several}
	out, err := f.run()
	if f.leavesAlone(err) {
		out, err = f.columnsAlone()
	}
	return f.End(out, err)
}
