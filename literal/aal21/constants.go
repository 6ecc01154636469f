package aal21

import (
	"math"

	"github.com/gauze-dp/gauze/literal/paper"
)

// Constants are what the algorithms take besides the data. [Printed] has those of the source; with
// [Practical] ones the enumeration is small enough to run. None of them matters to privacy: wrong
// ones cost an estimate, not a guarantee.
type Constants struct {
	// TargetError is alpha: the net of Gaussians is as fine as alpha asks, components to total
	// variation alpha/9 and weights to alpha/9 in all. 0: as fine as MostMixtures allows for the
	// lists that were released, see rungs.
	TargetError float64
	// FailureProb is beta in the numbers of rows that the analysis asks for.
	FailureProb float64
	// WeightPart: a component of less than WeightPart/k of the rows may be lost, 1-gamma =
	// WeightPart/k. alpha/9 as printed.
	WeightPart float64
	// ScalePart and MeanPart: an octave of distances is listed if it holds ScalePart (1-gamma)^2 of
	// the pairs, a bin of rows if it holds MeanPart (1-gamma) of them. A component puts .27
	// (1-gamma)^2 and .34 (1-gamma) there; 3/32 and 1/8 as printed.
	ScalePart, MeanPart float64
	// Reach: the net of means reaches so many bin widths to each side of a bin's centre. 1 as
	// printed; every point of the bin is within 1/2.
	Reach float64
	// MostGaussians and MostMixtures bound the list and the mixtures that one may be chosen among:
	// time and memory. The source has no such numbers and no end of either.
	MostGaussians, MostMixtures int
	// Selection is how a mixture is chosen of a list: by the minimum distance over all pairs as
	// printed.
	Selection paper.Form
	// Refinements: how often, at most, the net is laid again around the mixture that was chosen,
	// twice as fine; MostMoved is how many mixtures, about, it may then have. 0 as printed.
	Refinements, MostMoved int
	// Correlated: the largest partial correlation in the nets of General.
	Correlated float64
	// TruncatedLaplace: the counts of bins get truncated Laplace noise; otherwise Gaussian noise,
	// whose threshold is lower by a factor of ten and more in a budget of Gaussian DP.
	TruncatedLaplace bool
	// CountShare of mu^2 buys n where it is private; ListShare of the rest the lists, and
	// ScaleShare of that the scales. FirstShare of what the lists leave buys the first choice, if
	// there are Refinements.
	CountShare, ListShare, ScaleShare, FirstShare float64
}

// mostListed bounds MostGaussians and MostMixtures.
const mostListed = paper.MostListed

// Practical returns constants with which instances of one to three components run, from a few
// hundred rows on at large epsilon. All are guesses, but for ScalePart and MeanPart, which are near
// the most that a component puts there.
//
// Source: [AAL21] Algorithm 1. Differs: 1-gamma = 3/(4k), so that a component with less than three
// quarters of an equal share may be lost; what a bin must hold is nearer to what a component puts
// there, so that lists are short; the net reaches as far as the bin; it is as fine as the number of
// mixtures allows, then laid again around the one that was chosen; noise is Gaussian.
func Practical() Constants {
	return Constants{
		FailureProb:   .1,
		WeightPart:    .75,
		ScalePart:     .2,
		MeanPart:      .25,
		Reach:         .5,
		MostGaussians: 10000,
		MostMixtures:  mostListed,
		Selection:     paper.Quick,
		Refinements:   12,
		MostMoved:     50,
		Correlated:    .95,
		CountShare:    .01,
		ListShare:     .6,
		ScaleShare:    .4,
		FirstShare:    .3,
	}
}

// printedError is alpha of Printed methods: the largest at which a mixture says anything.
const printedError = .5

// Printed returns the constants of the source for a total variation of alpha, .001 to 1. One
// component of known variance in one column is about all that can be enumerated with them; other
// problems are refused, and the refusal says by how much they are too large.
//
// Source: [AAL21] Algorithm 1; Algorithm 2; Algorithm 3.
func Printed(alpha float64) Constants {
	c := Practical()
	c.TargetError, c.WeightPart, c.ScalePart, c.MeanPart, c.Reach = alpha, alpha/9, 3./32, 1./8, 1
	c.MostGaussians, c.MostMixtures, c.TruncatedLaplace = mostListed, mostListed, true
	c.Selection, c.Refinements = paper.AllPairs, 0
	return c
}

// leastWeight returns 1-gamma for k components: of a component with that weight the rows are a
// gamma-corruption.
func (c Constants) leastWeight(k int) float64 { return c.WeightPart / float64(k) }

// The caps beyond which a decoder fails: 12/(1-gamma) bins and 16/(1-gamma)^2 octaves as printed.
// Frequencies that sum to 1 and are known to a third of the threshold are no more than that above
// it, whatever the rows.
func (c Constants) mostMeans(w float64) int  { return int(math.Ceil(1.5 / (c.MeanPart * w))) }
func (c Constants) mostScales(w float64) int { return int(math.Ceil(1.5 / (c.ScalePart * w * w))) }

// A rung says how fine a net is.
type rung struct {
	step   float64 // a: standard deviations a factor 1+a apart, means a standard deviations
	grains int     // N: weights are multiples of 1/N
}

// rungs returns the nets over a list that may be used for k components, from the coarsest to the
// finest: one, with components to alpha/9 and weights to alpha/9 in all, if alpha is fixed.
//
// Source: [AAL21] Algorithm 1.
func (c Constants) rungs(l List, k int) (rungs []rung) {
	if c.TargetError > 0 {
		return []rung{{l.Step(c.TargetError / 9), int(math.Ceil(9 * float64(k) / c.TargetError))}}
	}
	for _, r := range []rung{{2, 1}, {1, 1}, {1, 2}, {1. / 2, 2}, {1. / 3, 2}, {1. / 3, 3}, {1. / 4, 3}, {1. / 5, 4}, {1. / 6, 4}, {1. / 8, 5},
		{1. / 10, 6}, {1. / 12, 6}, {1. / 16, 8}, {1. / 20, 8}, {1. / 24, 10}, {1. / 32, 10}} {
		rungs = append(rungs, rung{r.step, r.grains * k})
	}
	return rungs
}
