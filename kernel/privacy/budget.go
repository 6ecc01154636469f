package privacy

import (
	"errors"
	"fmt"
)

// The domain in which the error bounds of this package hold; see the package comment.
const (
	MinEpsilon = 1e-12 // also the least rho
	MaxEpsilon = 1e7   // also the largest rho
	MinDelta   = 1e-300
)

// LargestEpsilon is the largest epsilon of a budget that is accepted without being forced.
const LargestEpsilon = 20

// Budget is the loss that a caller allows: Epsilon and Delta, for (epsilon, delta)-DP, Epsilon with
// a Delta of 0, for pure epsilon-DP, or Rho alone, for rho-zCDP. The zero value is invalid.
type Budget struct {
	Epsilon float64 // epsilon, in [MinEpsilon, MaxEpsilon]. Required unless Rho is set.
	Delta   float64 // delta, in [MinDelta, 1), or 0: pure.
	Rho     float64 // rho, in [MinEpsilon, MaxEpsilon]. Must be 0 if Epsilon and Delta are set.
}

// FieldError is a refused value: which field, what was wanted, what was found, and how to fix it.
type FieldError struct{ Field, Wanted, Got, Fix string }

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: wanted %s, got %s; %s", e.Field, e.Wanted, e.Got, e.Fix)
}

// Concentrated reports whether b is a zCDP budget (Rho is set, Epsilon and Delta are not).
func (b Budget) Concentrated() bool { return b.Rho != 0 && b.Epsilon == 0 && b.Delta == 0 }

// Pure reports whether b is a budget of pure differential privacy: only Epsilon is set.
func (b Budget) Pure() bool { return b.Epsilon != 0 && b.Delta == 0 && b.Rho == 0 }

// String returns "(ε, δ) = (1, 1e-06)" or "ρ = 0.5".
func (b Budget) String() string {
	if b.Concentrated() {
		return fmt.Sprintf("ρ = %g", b.Rho)
	}
	return fmt.Sprintf("(ε, δ) = (%g, %g)", b.Epsilon, b.Delta)
}

// Validate returns nil or all faults at once, each a *[FieldError], joined.
func (b Budget) Validate() error {
	var faults []error
	fault := func(bad bool, field, wanted string, got float64, fix string) {
		if bad {
			faults = append(faults, &FieldError{field, wanted, fmt.Sprintf("%g", got), fix})
		}
	}
	outside := func(x float64) bool { return !(x >= MinEpsilon && x <= MaxEpsilon) }
	span := fmt.Sprintf("a number in [%g, %g]", MinEpsilon, MaxEpsilon)
	if b.Rho != 0 {
		const one = "give either rho alone, or epsilon with delta"
		fault(outside(b.Rho), "rho", span, b.Rho, "0.025 is about as strict as epsilon 1 with delta 1e-6")
		fault(b.Epsilon != 0, "epsilon", "nothing beside rho", b.Epsilon, one)
		fault(b.Delta != 0, "delta", "nothing beside rho", b.Delta, one)
	} else {
		fault(outside(b.Epsilon), "epsilon", span, b.Epsilon, "usual values are 0.1 to 10; there is no default")
		fault(!b.Pure() && !(b.Delta >= MinDelta && b.Delta < 1), "delta", fmt.Sprintf("a number in [%g, 1), or 0 beside an epsilon", MinDelta), b.Delta,
			"it should be far below one over the number of rows, for instance 1e-6; there is no default")
	}
	return errors.Join(faults...)
}

// Relation says which two data sets are neighbours, that is, what one person may change. The zero
// value is invalid: a relation is chosen, never assumed.
type Relation int

const (
	// ReplaceOne : the data sets differ in the values of one row; the number of rows n is public.
	ReplaceOne Relation = 1 + iota
	// AddRemoveOne : one data set has one row more; n is private.
	AddRemoveOne
)

var relationWords = map[Relation]string{ReplaceOne: "replace-one", AddRemoveOne: "add-remove-one"}

// Valid reports whether r is one of the two relations.
func (r Relation) Valid() bool { return relationWords[r] != "" }

// String returns "replace-one" or "add-remove-one", the words that [ParseRelation] reads.
func (r Relation) String() string {
	if !r.Valid() {
		return fmt.Sprintf("Relation(%d)", int(r))
	}
	return relationWords[r]
}

// ParseRelation reads "replace-one" or "add-remove-one" and nothing else.
func ParseRelation(s string) (Relation, error) {
	for r, word := range relationWords {
		if s == word {
			return r, nil
		}
	}
	return 0, &FieldError{"relation", "replace-one or add-remove-one", fmt.Sprintf("%q", s),
		"replace-one keeps the number of rows public, add-remove-one hides it"}
}
