package kernel

import "fmt"

// errTooLittle reports a mu so small that the sampler cannot draw its noise; it depends on public
// numbers only.
func errTooLittle(step string, mu float64) error {
	return fmt.Errorf("kernel: step %q: mu = %v is too small to draw noise for; give it a larger share or ask for a larger epsilon", step, mu)
}
