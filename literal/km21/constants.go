package km21

// Constants are what the algorithms take besides the data. None of them matters to privacy: wrong
// ones cost an estimate, not a guarantee.
type Constants struct {
	// StepAccuracy is a of oneStepHTPPCE, in (0, 1): the bias that its truncation may have is a/2.
	StepAccuracy float64
	// FailureProb is the probability with which some bound of the analysis fails: half of it for
	// all one-steps, half for the last release.
	FailureProb float64
	// Target: one-steps end when lambda_min(L) is at least this; Theorem 3.2 is about smaller ones.
	Target float64
	// AsPrinted: one-steps cut eigenvalues at 1-s and return L as printed. See oneStepHTPPCE for
	// what is wrong with that.
	AsPrinted bool
	// CountShare of mu^2 counts the rows; MeanShare of the rest buys the mean, StartShare of that
	// its start; PreconditionShare of what the covariance gets is for all one-steps together.
	CountShare, MeanShare, StartShare, PreconditionShare float64
}

// Practical returns the constants that the method runs with: those of the source, but for what is
// wrong there.
func Practical() Constants {
	return Constants{
		StepAccuracy:      1. / 16,
		FailureProb:       .1,
		Target:            .25,
		CountShare:        .01,
		MeanShare:         .2,
		StartShare:        .25,
		PreconditionShare: .5,
	}
}

// Printed returns the constants of the source, as far as it states them: it leaves the parts of the
// budget to the caller.
//
// Source: [KM21] Algorithm 3; Theorem 3.2.
func Printed() Constants {
	c := Practical()
	c.AsPrinted = true
	return c
}
