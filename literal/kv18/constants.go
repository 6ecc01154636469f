package kv18

// Constants are the constants of the source. They affect utility alone.
type Constants struct {
	// Width of the bins that rows are counted in, as a multiple of the lower end of the most
	// frequent octave of distances.
	Width float64
	// Radius: rows are clipped to the centre of the fullest bin plus and minus Radius Width
	// sqrt(ln(n/FailureProb)). 0 weighs the noise against what clipping hides instead, see radius.
	Radius      float64
	FailureProb float64 // in (0, 1)
}

// Practical constants have bins of about one standard deviation, as [TYLERPRESS] has them, and the
// radius of the least error.
//
// Source: [KV18] Sections 1 and 2 of the restatement. Differs: see Constants.
func Practical() Constants { return Constants{Width: 1, FailureProb: .05} }

// Printed returns the source's: no row of a Gaussian is clipped, but for a small probability.
//
// Source: [KV18] Section 3 of the restatement.
func Printed() Constants { return Constants{Width: 4, Radius: 4, FailureProb: .05} }
