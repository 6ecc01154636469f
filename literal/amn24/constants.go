package amn24

import (
	"math"

	"github.com/gauze-dp/gauze/literal/paper"
)

// Constants are what the algorithms take besides the data. [Practical] has values with which they
// run on hundreds or thousands of rows, [Printed] those of the source, as far as it has any: with
// them no table is short enough to enumerate. None of them matters to privacy: wrong ones cost an
// estimate, not a guarantee.
type Constants struct {
	// Accuracy is alpha, the total variation that is aimed at; FailureProb is beta in the bounds.
	Accuracy, FailureProb float64

	// Net is zeta over alpha: how fine the nets of Algorithm 1 are. If |K| is too large zeta is
	// raised, up to Coarsest; 0: it is not.
	Net, Coarsest float64
	// Units is N, weights are multiples of 1/N; 0: ceil(10k/alpha) as printed.
	Units int
	// Factor is G of Algorithm 1, how far a crude pair may be from its component; 0: n^3 as
	// printed. Found is the same for pairs that were found by a score, 0: n^3.
	Factor, Found float64
	// Refinements is how often the chosen mixture is moved and chosen again, by steps half as long
	// each time; 0 as printed.
	Refinements int
	// MostHypotheses guards |K|, and MostNet |B|; at most what literal/paper takes.
	MostHypotheses, MostNet int

	// Places times n is the width of a place of Algorithm 3, in gaps; 0: n^2 as printed. Spread
	// times n/k gaps is a component's sd; 0: one gap, and the place's lower end is its mean, as
	// printed.
	Places, Spread float64

	// LeastWeight is w of score (3) on a lattice, as a part of 1/k: a multiset has w n elements; 0:
	// alpha/(4k) as printed. SureWeight is that of the tractable score, of the rows that found
	// components leave: the heaviest component that is left has at least 1/(k-found) of those.
	LeastWeight, SureWeight float64
	// Points of the lattice that rows are rounded to; Elements of a multiset, Subset elements of
	// its subsets.
	Points, Elements, Subset int
	// Closeness is the closeness of function (2); Changed, Wide and Narrow are phi, B1 and 1/B2 of
	// Lemma B.6, Ties its least number of ties. Changed 0 leaves condition (a) out, and with it the
	// lemma's property 1.
	Closeness             tolerance
	Changed, Wide, Narrow float64
	Ties                  int
	// Spacing is z of the lattice of pairs.
	Spacing float64
	// Unbounded: the pairs that are told by no multiset count as infinitely many, as printed; else
	// the stated facts bound them, too.
	Unbounded bool
	// Removed is B, how far around a found pair nothing more is sought.
	Removed float64
	// RadialCells of the cells of the tractable score. Closer is how often a pair that it found is
	// moved and chosen again, by steps half as long each time.
	RadialCells, Closer int
	// Selection is how a mixture is chosen of a list: by a tournament as printed.
	Selection paper.Form
	// Test is the part of epsilon for the test whether the score's volumes allow a choice.
	Test float64
	// CountShare of mu^2 counts the rows; CrudeShare of it buys the crude pairs; FirstShare of what
	// is left then the choice among all of K.
	CountShare, CrudeShare, FirstShare float64
	// RestShare counts the rows that found components leave; CheckShare measures how far the rows
	// are from the chosen mixture.
	RestShare, CheckShare float64
}

// Practical returns constants with which the algorithms run.
func Practical() Constants {
	return Constants{
		Accuracy:       .15,
		FailureProb:    .1,
		Net:            .1,
		Coarsest:       1,
		Units:          4,
		Factor:         2,
		Found:          1.1,
		Refinements:    3,
		MostHypotheses: 20000,
		MostNet:        400,
		Places:         1,
		Spread:         .6,
		LeastWeight:    .5,
		SureWeight:     .9,
		Points:         13,
		Elements:       4,
		Subset:         3,
		Closeness:      tolerance{.6, .6, .7},
		Wide:           4,
		Narrow:         1e-3,
		Ties:           3,
		Spacing:        .5,
		Removed:        2.6,
		RadialCells:    3,
		Closer:         2,
		Test:           .5,
		CountShare:     .01,
		CrudeShare:     .75,
		FirstShare:     .4,
		RestShare:      .01,
		CheckShare:     .04,
	}
}

// oneOfFour is the least phi with which an element of a multiset of four may change.
const oneOfFour = .26

// Printed returns the constants of the source, as far as it states them; the exponents of Algorithm
// 2, which the text leaves open, are those of Algorithm 3. With them both methods refuse every
// table.
//
// Source: [AMN24] Algorithm 1; Algorithm 2; Algorithm 3.
func Printed() Constants {
	c := Practical()
	c.Coarsest, c.Units, c.Factor, c.Found, c.Refinements, c.Places, c.Spread = 0, 0, 0, 0, 0, 0, 0
	c.LeastWeight, c.Unbounded, c.Closer, c.Ties, c.MostHypotheses, c.MostNet = 0, true, 0, 3, paper.MostListed, paper.MostListed
	c.Selection, c.Changed = paper.Tournament, oneOfFour
	return c
}

// Caps of the enumerations.
const (
	mostPoints    = 16
	mostMultisets = 13000
	mostOptions   = 10000 // pairs among which a score chooses
)

// zeta returns the spacing of the nets at first.
func (c Constants) zeta() float64 { return c.Net * c.Accuracy }

// units returns N.
func (c Constants) units(k int) int {
	if c.Units > 0 {
		return max(c.Units, k)
	}
	return c.printedUnits(k)
}

func (c Constants) printedUnits(k int) int { return int(math.Ceil(10 * float64(k) / c.Accuracy)) }

// within returns G for n rows: the constant, or n^3.
func within(factor, n float64) float64 {
	if factor > 0 {
		return factor
	}
	return math.Max(2, n*n*n)
}

// leastWeight returns w.
func (c Constants) leastWeight(k int) float64 {
	if c.LeastWeight > 0 {
		return c.LeastWeight / float64(k)
	}
	return c.Accuracy / float64(4*k)
}
