package univariate

import (
	"cmp"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A Tuning is the constants of the method. They affect utility only; tests and experiments may set
// them, and no request can. Those without a word on how they were chosen are guesses.
type Tuning struct {
	// Parts of the total mu^2, at most: of the histogram of gaps, of each of the whole line where
	// the gaps are, and of each closer look. LeastShare is what each measurement gets at least,
	// ReserveShare what is kept for the shapes, and CoarsePart the part of what is left that a
	// round of shapes takes which is not the last.
	SpacingShare, PlaceShare, RefineShare, LeastShare, ReserveShare, CoarsePart float64
	// How many noise sds of rows a measurement is laid out for. Of gaps: 5.8 for the threshold and
	// 1.5 beyond it, times 1.35, their noise over that of a histogram. WideSDs are for holes
	// without an end, where a wide component is spread over bins on both sides of the others.
	SpacingSDs, PlaceSDs, RefineSDs, SearchSDs, WideSDs float64
	// Rows less clear than LeastSDs are not worth a histogram. A bin is a hole if it holds HoleSDs
	// more rows than the components explain, and they explain at most HolePart of it.
	LeastSDs, HoleSDs, HolePart float64
	// Lightest is the weight of a component for which the shares are laid out, of an even one;
	// FullestBucket is the part of its gaps that its fullest bucket holds at least.
	Lightest, FullestBucket float64
	// A grid of values is looked for where components are that hold GridPart of the rows, GridReach
	// sds beyond their means, so that all their rows are GridSDs noise sds: then a sum over a
	// hundred values stands out. Two such looks differ by GridApart in the logarithm of width.
	GridPart, GridReach, GridSDs, GridApart float64
	// The least decrease of the cost, in squared noise sds, that one more component must bring: if
	// their number is known, and if it is open, beside the information criterion.
	KnownPenalty, OpenPenalty float64
	// Extra is how many more components are fitted on the way than asked for, since a false one
	// must not take the place of a true one; Background, how many carry what these leave out, at
	// most. SameMean and SameSD are what the overall moments of a fit may differ by, in sds, from
	// those of one with more components.
	Extra, Background int
	SameMean, SameSD  float64
	// Reweighings is how often counts are weighed by what is expected of them.
	Reweighings int
}

// Usual returns the constants that run.
func Usual() Tuning {
	return Tuning{SpacingShare: .4, PlaceShare: .12, RefineShare: .05, LeastShare: .01, ReserveShare: .15, CoarsePart: .4,
		SpacingSDs: 9.855, PlaceSDs: 13, RefineSDs: 6, SearchSDs: 6.5, WideSDs: 10, LeastSDs: 4.5, HoleSDs: 4.5, HolePart: .1,
		Lightest: .5, FullestBucket: .45, GridPart: .02, GridReach: 3.2, GridSDs: 140, GridApart: .6, KnownPenalty: 5, OpenPenalty: 8,
		Extra: 1, Background: 6, SameMean: .02, SameSD: .05, Reweighings: 2}
}

// With returns the estimator with constants of its own.
func (e Estimator) With(t Tuning) Estimator {
	e.tuning = t
	return e
}

// The part of the total mu^2 of the count, how often a step is taken at most, and how many
// components the shares are laid out for if their number is open.
const (
	countShare = .02
	mostPlaces = 2
	mostLooks  = 16
	mostShapes = 4
	guessed    = 4
)

// components returns the requested number, or the number for which the budget is planned if it is
// open.
func components(p estimate.Problem) int {
	return cmp.Or(p.Components, max(1, min(p.MaxComponents, guessed)))
}

// light returns the number of rows of the lightest component for which the shares are planned.
func (f *fit) light() float64 {
	return math.Max(1, f.tuning.Lightest*f.Rows/float64(components(f.Problem)))
}

// gapShare returns the share that the gaps of a component of this many rows need to be seen.
func (f *fit) gapShare(rows float64) float64 {
	return f.share(f.tuning.FullestBucket*rows-2, f.tuning.SpacingSDs, f.tuning.SpacingShare)
}

// share returns the share that a count of this many rows needs to be sds noise sds.
func (f *fit) share(rows, sds, most float64) float64 {
	need := sds * f.sigma(1) / math.Max(1, rows)
	return math.Max(f.tuning.LeastShare, math.Min(most, need*need))
}

// penalty returns the least decrease of the cost that a component must bring: little if their
// number is known; else the Bayesian information criterion's for its three numbers, and more
// because it is the best of many places.
func (f *fit) penalty() float64 {
	if f.Problem.Components > 0 {
		return f.tuning.KnownPenalty
	}
	return f.openPenalty()
}

func (f *fit) openPenalty() float64 { return f.tuning.OpenPenalty + 1.5*math.Log(math.Max(f.Rows, 1)) }

// Utility constants of what is promised, fitted to runs at (1, 1e-6).
const (
	rowsUnit     = 500 * .236 // per component, at mu = 1
	rowsSeenUnit = 150 * .236
	// the least rows, on average, that components can have if this many are to be distinguished
	rowsLeastUnit = 75 * .236
)

// most returns how many components this many rows can show.
func most(p estimate.Problem, rows float64) int {
	if !(p.Mu > 0) {
		return program.MostComponents(p)
	}
	return max(1, min(program.MostFor(p, rows), int(rows*p.Mu/(rowsLeastUnit*lighter(p)))))
}

// rowsFor returns about how many rows the components need.
func rowsFor(p estimate.Problem) float64 {
	return float64(components(p)) * rowsUnit / p.Mu * lighter(p)
}

// rowsSeen returns about how many rows show anything at all.
func rowsSeen(p estimate.Problem) float64 { return rowsSeenUnit / p.Mu * lighter(p) }

// lighter returns how much less noise the relation needs.
func lighter(p estimate.Problem) float64 {
	if p.Relation == privacy.AddRemoveOne {
		return 1 / math.Sqrt2
	}
	return 1
}
