package kernel

import (
	"errors"
	"fmt"
)

// errInternal is all that is said of a fault in code that has seen rows: what a panic says of itself
// may depend on them.
var errInternal = errors.New("kernel: internal error in a measurement, whose cost is spent")

// errTooLittle reports a mu so small that the sampler cannot draw its noise; it depends on public
// numbers only.
func errTooLittle(step string, mu float64) error {
	return fmt.Errorf("kernel: step %q: mu = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon", step, mu)
}
