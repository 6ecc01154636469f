package parts

import "github.com/gauze-dp/gauze/kernel"

// A Step is a step that plans of several methods have: what a plan's line and a measurement share,
// so that its name is spelled once. Its share is of what the method may spend on all of them.
type Step kernel.Step

// In returns the line of a plan, with prefix before the step's name, of a method that may spend
// that share of the total mu^2.
func (s Step) In(prefix string, share float64) kernel.Step {
	s.Name, s.Share = s.Of(prefix), share*s.Share
	return kernel.Step(s)
}

// Of returns the step's name after prefix.
func (s Step) Of(prefix string) string { return prefix + s.Name }

// Times returns the step for at most so many measurements.
func (s Step) Times(most int) Step {
	s.Most = most
	return s
}
