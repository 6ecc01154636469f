package univariate

import (
	"cmp"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Parts of the total mu^2, and how often a step is taken at most: utility constants, guesses.
const (
	countShare     = .02
	mostGapShare   = .4
	mostPlaceShare = .12
	mostPlaces     = 2
	mostLookShare  = .05
	mostLooks      = 16
	leastShare     = .01
	reserveShare   = .15 // for the shapes, at least
	mostShapes     = 4
	coarsePart     = .4 // of what is left, for a round of shapes that is not the last
)

// Utility constants: how many noise sds of rows a measurement is laid out for, guesses.
const (
	gapSDs   = 5.8 + 1.5 // the threshold, and beyond it
	gapNoise = 1.35      // over that of a histogram
	placeSDs = 13
	zoomSDs  = 6
	huntSDs  = 6.5
	// where there is no end: a wide component is spread over bins on both sides of the others
	wideSDs = 10.0
)

// Utility constants of what is looked for, guesses.
const (
	// of an even share of the rows: the weight of a component for which the shares are laid out
	lightest = .5
	bestNode = .45 // of a component's gaps are in its fullest bucket at least
	guessed  = 4   // components for which they are laid out if their number is open
)

// components returns the requested number, or the number for which the budget is planned if it is
// open.
func components(p estimate.Problem) int {
	return cmp.Or(p.Components, max(1, min(p.MaxComponents, guessed)))
}

// light returns the number of rows of the lightest component for which the shares are planned.
func (f *fit) light() float64 { return math.Max(1, lightest*f.Rows/float64(components(f.Problem))) }

// gapShare returns the share that the gaps of a component of this many rows need to be seen.
func (f *fit) gapShare(rows float64) float64 {
	return f.share(bestNode*rows-2, gapSDs*gapNoise, mostGapShare)
}

// share returns the share that a count of this many rows needs to be sds noise sds.
func (f *fit) share(rows, sds, most float64) float64 {
	need := sds * f.sigma(1) / math.Max(1, rows)
	return math.Max(leastShare, math.Min(most, need*need))
}

// penalty returns the least decrease of the cost that a component must bring: little if their
// number is known; else the Bayesian information criterion's for its three numbers, and more
// because it is the best of many places.
func (f *fit) penalty() float64 {
	if f.Problem.Components > 0 {
		return knownPenalty
	}
	return f.openPenalty()
}

func (f *fit) openPenalty() float64 { return openPenalty + 1.5*math.Log(math.Max(f.Rows, 1)) }

// Utility constants of the penalties, in squared noise sds, guesses.
const (
	knownPenalty = 5.0
	openPenalty  = 8.0
)

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
