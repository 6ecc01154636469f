package blocks

import "fmt"

// Rules say when estimates agree and which of them count in the mean. All fields are public.
//
// Two estimates are friends if their scales, means, sizes and shapes are so close that the
// components of one can be matched to those of the other, and their lifted matrices are within
// Radius. H is the largest number such that at least H estimates have at least H friends. The core
// consists of the estimates with at least Core friends, of which those with Pass-1 or more have
// weight 1; the mean is that of the core, component by component. The definitions, in full, are
// those of rules_proof.md.
//
// Theorem. Replace one estimate by anything. H changes by at most 1; and if H >= Pass before and
// after, there is a mean before and after, and, for some order of the labels, the means of all
// components together move by at most Gamma, in the l2-sum of their distances.
//
// Proof: rules_proof.md, steps 1 to 12; rounding: steps 13 to 17.
//
// Source: [PPE] Section B5 of the restatement; Sections B1, B2 and B4 of the restatement.
// Differs: labels are told by means in a common scale, sizes and shapes instead of a metric of
// components, which bears blocks a third of the size, and hold over walks of four, so that a core
// of two thirds is enough, of one half for one component; what the new weights bring counts by its
// distance from the mean, not from the farthest; Core may be larger than the least, Radius is
// bounded, and friends leave 1e-5 of it for rounding.
type Rules struct {
	Estimates, Components, Columns int // t, k, d
	// an estimate with this many friends counts in the mean; at least Core(t, k)
	Core int
	// the least H at which the mean is private; at least Core+2
	Pass   int
	Radius float64 // the largest distance of friends; 1e-3 to MaxRadius
}

// MaxRadius bounds Radius: wider cores cost digits, and their mean says little.
const MaxRadius = 6

// Bounds on the size of a problem, for the rounding in Rules and because the sets of components are
// bits of a word.
const (
	leastRadius   = 1e-3
	mostEstimates = 1 << 16
	mostParts     = 64
	mostColumns   = 20
)

// Slack is the part of Gamma that covers rounding. Proof: rules_proof.md, step 17.
const Slack = 1e-6

// Core returns the least Rules.Core for t estimates of k components: of the t-1 that stay, any
// three estimates with Core-1 friends each share one; for one component, any two do.
//
// Proof: rules_proof.md, step 4.
func Core(t, k int) int {
	if k == 1 {
		return (t-1)/2 + 2
	}
	return 2*(t-1)/3 + 2
}

// Validate returns an error if the rules cannot be used.
func (r Rules) Validate() error {
	switch {
	case r.Estimates < 1 || r.Estimates > mostEstimates || r.Components < 1 || r.Components > mostParts || r.Columns < 1 || r.Columns > mostColumns:
		return fmt.Errorf("stable: want 1 to %d estimates of 1 to %d components in 1 to %d columns, got %d, %d and %d",
			mostEstimates, mostParts, mostColumns, r.Estimates, r.Components, r.Columns)
	case r.Core < Core(r.Estimates, r.Components):
		return fmt.Errorf("stable: Core: want at least %d for %d estimates, got %d", Core(r.Estimates, r.Components), r.Estimates, r.Core)
	case r.Pass < r.Core+2 || r.Pass > r.Estimates:
		return fmt.Errorf("stable: Pass: want from Core+2 = %d to the %d estimates, got %d", r.Core+2, r.Estimates, r.Pass)
	case !(r.Radius >= leastRadius && r.Radius <= MaxRadius):
		return fmt.Errorf("stable: Radius: want from %v to %v, got %v", leastRadius, MaxRadius, r.Radius)
	}
	return nil
}

// Gamma returns a bound on how far one changed estimate moves the means of all components together,
// if H >= Pass before and after. Its own rounding is part of Slack.
//
// Proof: rules_proof.md, step 11.
func (r Rules) Gamma() float64 {
	t, core, h := float64(r.Estimates), float64(r.Core), float64(r.Pass)
	return r.Radius*(2+min(2, 1+(t-core)/h)*(t-h)/(h-core))/h + Slack
}
