package ppe

import "math"

// Constants are what the reduction takes besides the data. None of them matters to privacy: the
// plan states the mask's loss, whatever it is, and the kernel charges it.
type Constants struct {
	// Alpha is how far the mask may move what is released, in dist_PARAM, with probability 1 -
	// Beta. 0: the least in [LeastAlpha, MostAlpha] with which blocks of the rows are expected to
	// agree, and MostAlpha where the number of rows is private.
	Alpha, LeastAlpha, MostAlpha float64
	Beta                         float64
	// CovFactor is C_1/sqrt d of Algorithm 2. 7 is proved for alpha up to 1; see etas.
	CovFactor float64
	// ClosedForm: the radius is that of the closed forms of Lemmas 5.0.2 and 6.2.1; otherwise the
	// largest that the mask's Rényi curve allows.
	ClosedForm bool
	// TestShare of epsilon and half of delta pay for the test.
	TestShare float64
	// CountShare of mu^2, as the budget would buy it alone, pays for the number of rows.
	CountShare float64
	// LeastWeight is what a released weight counts at least, times 1/k.
	LeastWeight float64
}

// Practical returns constants with which fits end in a model from a few hundred thousand rows on at
// epsilon 20.
//
// Source: [PPE] Algorithm 2. Differs: the radius is the largest that the exact Rényi curve allows;
// the mask is as coarse as it has to be; the test gets the three tenths of epsilon with which n ~
// t/r^2 is least; C_1 is measured (TestConcentration).
func Practical() Constants {
	return Constants{
		LeastAlpha:  .02,
		MostAlpha:   1,
		Beta:        .1,
		CovFactor:   2,
		TestShare:   .3,
		CountShare:  .01,
		LeastWeight: .02,
	}
}

// Printed returns the constants of the source, for a mixture within 1 of the truth in dist_PARAM:
// the mask is then to move it by 1/(2z) at most, with half of the probability of failure. Halves of
// epsilon and delta are for the test.
//
// Source: [PPE] Theorem 7.1.3; Lemma 6.2.1.
// Differs: C_1 = 7 sqrt d, with a proof, where the source says that it is large enough; errata as
// in papers/PPE.md.
func Printed() Constants {
	c := Practical()
	c.Alpha, c.Beta, c.CovFactor, c.ClosedForm, c.TestShare = 1/(2*relaxation), .05, 7, true, .5
	return c
}

// alphas returns the accuracies that a mask may have, in increasing order: one if it is fixed, and
// the coarsest alone where the number of rows, which decides, is private.
func (c Constants) alphas(public bool) (alphas []float64) {
	switch {
	case c.Alpha > 0:
		return []float64{c.Alpha}
	case !public:
		return []float64{c.MostAlpha}
	}
	for a := c.LeastAlpha; a < c.MostAlpha; a *= math.Sqrt2 {
		alphas = append(alphas, a)
	}
	return append(alphas, c.MostAlpha)
}
