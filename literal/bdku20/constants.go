package bdku20

import "math"

// Constants are the constants of the source. They affect utility alone.
type Constants struct {
	// CovarianceSteps and MeanSteps are the numbers t of steps of the two iterations; 0 chooses
	// them from public numbers, see schedule.
	CovarianceSteps, MeanSteps int
	// LastShare is the part of an iteration's budget for its last step, in (0, 1); the others share
	// the rest evenly.
	LastShare float64
	// CovarianceShare is the part of the budget for the covariance where the mean is unknown too,
	// in (0, 1).
	CovarianceShare float64
	// CountShare is the part of the budget for the number of good rows, in [0, 1). With 0, n is
	// taken for it where n is public, and countShare is spent where it is private.
	CountShare float64
	// CovarianceTail and MeanTail are the probabilities beta of a row beyond the clipping radius,
	// in (0, 1).
	CovarianceTail, MeanTail float64
	// Pairings is how many releases, of fresh pairs each, the last second moment is the mean of
	// where the mean is unknown; 1 or more. The noise of their mean is that of one release; its
	// sampling error is less, because every row meets several others.
	Pairings int
	// NoiseInWhitener adds the spectral norm of the noise to what the eigenvalues of a step are
	// raised by, so that they stay bounds.
	NoiseInWhitener bool
	// MostNoise is the largest norm that noise has (but for a small probability) in the last second
	// moment, relative to its least eigenvalue, of an estimate that is released. Positive; +Inf
	// releases any.
	MostNoise float64
}

// countShare buys the number of rows within a few hundredths of what it has to be.
const countShare = .01

// Practical returns the published constants, with the fixed whitener, several pairings, a count of
// good rows, and an estimate only where every direction can be told from the noise.
//
// Source: [BDKU20] Section 4 of the restatement.
// Differs: see NoiseInWhitener, Pairings, CountShare and MostNoise. The source does not say how to
// share the budget between covariance and mean; the covariance's noise is larger by about the
// clipping radius.
func Practical() Constants {
	return Constants{
		LastShare:       .75,
		CovarianceShare: .85,
		CountShare:      countShare,
		CovarianceTail:  .1,
		MeanTail:        .01,
		Pairings:        4,
		NoiseInWhitener: true,
		MostNoise:       1,
	}
}

// Printed returns the settings of the source's experiments with t steps of each iteration.
//
// Source: [BDKU20] Section 4 of the restatement.
func Printed(t int) Constants {
	c := Practical()
	c.CovarianceSteps, c.MeanSteps = t, t
	c.CountShare, c.Pairings, c.NoiseInWhitener, c.MostNoise = 0, 1, false, math.Inf(1)
	return c
}

// split returns the parts of an iteration's budget for its t steps.
//
// Source: [BDKU20] Section 4 of the restatement.
func (c Constants) split(t int) []float64 {
	parts := make([]float64, t)
	for i := range parts {
		parts[i] = (1 - c.LastShare) / float64(t-1)
	}
	parts[t-1] = c.LastShare
	if t == 1 {
		parts[0] = 1
	}
	return parts
}
