package blackbox

import "github.com/gauze-dp/gauze/kernel/blocks"

// A Tuning is the constants of the method. They affect utility only; tests and experiments may set
// them, and no request can. Guesses.
type Tuning struct {
	// The mask's part of what all steps together cost, and the test's of the Gaussian steps' mu^2,
	// of which EM gets the rest; and both for one component, on which blocks agree from so few rows
	// that EM is what needs the budget.
	Mask, Test, MaskOfOne, TestOfOne float64
	ShapePart                        float64 // of the Gaussian steps' mu^2, for the final measurement of shapes
	// Eta is the mask's noise times sqrt(D): the mean is good to that, relative, before EM. With
	// more than MostEta a component of few columns is now and then masked to a tenth of its size,
	// which EM does not find back from.
	Eta, MostEta float64
	// Two estimates of blocks of m rows are expected within Spread k sqrt(D(D+1)/m) of one another,
	// the wider, by Widen, the fewer entries share it; their means within (sqrt(d) + MeanTail)
	// sqrt(2k/m), their scales within ScaleTail sqrt(d/m). Components are taken to lie 4.8 sds
	// apart, of which labels may take Apart, and the part UsualBad of the blocks to be far off.
	Spread, Widen, MeanTail, ScaleTail, Apart, UsualBad float64
	// Surely is how many sds of the test's noise the expected agreement lies above what the test
	// asks. No margin larger than Ample is sought.
	Surely, Ample float64
	RowsPerNumber int // the least rows of a block, for each parameter of a mean
	// Plenty limits the rows of learners to this many times the rows of an ample margin. On two and
	// three components 2 to 4 sds apart blocks agreed less often with 1 in its place, and no more
	// often with 16.
	Plenty float64
	// Uncertainties of a masked mean, in units of the mask's eta squared: what its noise is to
	// first order, and something for the blocks' bias.
	Shape, Scale, Mean, Weight float64
	DroppedSDs                 float64 // a component with fewer rows than this many of their sds is dropped
}

// Usual returns the constants that run.
func Usual() Tuning {
	return Tuning{Mask: .3, Test: .62, MaskOfOne: .15, TestOfOne: .36, ShapePart: .02, Eta: .4, MostEta: .2,
		Spread: 1.83, Widen: 1.64, MeanTail: 2, ScaleTail: 4, Apart: blocks.Share * 4.8, UsualBad: .05, Surely: 2.33, Ample: 3, RowsPerNumber: 3, Plenty: 4,
		Shape: 2.5, Scale: 2.5, Mean: 1.5, Weight: 4.5, DroppedSDs: 5}
}

// With returns the estimator with constants of its own.
func (e Estimator) With(t Tuning) Estimator {
	e.tuning = t
	return e
}
