// Package agree is shared by the tests of agreement of packages blocks and pure. A test is a
// function that receives a Draw, and so rows and noise: whoever can bring one sees all rows, and
// states the charge. So no code outside of the kernel can bring one.
package agree

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
)

// A Component is one Gaussian of a mixture.
type Component struct {
	Weight float64
	// Root is d x d, row-major: the covariance is Root times its transpose; any root
	Mean, Root []float64
}

// Drawn describes secret blocks of rows, which are not drawn yet, with a learner.
type Drawn struct {
	Count, Components, Columns, Width int // t, k and d; the length of an estimate
	// Estimates draws the blocks and runs the learner on each; nil for a block where it failed, or
	// returned no mixture.
	Estimates func(d *core.Draw) ([][]Component, error)
}

// A Test tests whether block estimates agree and, if it passes, releases one masked estimate.
type Test struct {
	Estimates, Components, Columns int                    // t, k and d
	Line, Mask                     core.Measurement       // of the test and of the mask
	Covered                        func(core.Extra) error // returns an error unless that of the plan's step covers the test
	// Run makes the test. It returns whether it passes, its exact statistic, and a function that
	// makes the estimate, which may fail.
	Run func(d *core.Draw, estimates [][]Component) (passed bool, exact int64, release func() []Component)
}

// ValidDelta returns an error if no test of a plan can have this delta.
func ValidDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("want a delta in (0, 1), got %v", delta)
	}
	return nil
}

// Release charges the test and the Gaussian part of its mask, runs the learner on fresh secret
// blocks, tests, releases and records, in this order. A failed test and a failed release are the
// same outcome; the mask is recorded either way, because it has been paid for.
func Release(a *core.SubBudget, step string, q interface{ Kind() string }, b Drawn, t Test) (components []Component, ok bool, err error) {
	if d := b.Columns; b.Count != t.Estimates || b.Components != t.Components || d != t.Columns || b.Width != 1+d+d*d {
		return nil, false, fmt.Errorf("kernel: step %q: want %d blocks of %d components of %d columns, each %d long, got %d of %d of %d, %d long",
			step, t.Estimates, t.Components, t.Columns, 1+t.Columns+t.Columns*t.Columns, b.Count, b.Components, d, b.Width)
	}
	err = core.Measure(a, core.Mechanism{Step: step, Query: q, Mu: t.Line.Mu + t.Mask.Mu, Covered: t.Covered, Release: func(d *core.Draw) error {
		estimates, err := b.Estimates(d)
		if err == nil {
			components = t.release(d, estimates)
		}
		return err
	}})
	if err != nil {
		return nil, false, err
	}
	return components, components != nil, nil
}

// release tests and masks. It returns the components to release, in random order, or nil.
func (t Test) release(d *core.Draw, estimates [][]Component) (components []Component) {
	passed, exact, release := t.Run(d, estimates)
	outcome := []float64{0}
	if passed {
		outcome[0] = 1
	}
	_, t.Line.Delta = d.Step.Extra.Loss(d.Epsilon())
	outcome = d.Record(t.Line, outcome, []int64{exact})
	var values []float64
	if outcome[0] == 1 {
		values = flat(shuffled(d.Source(), release()))
	}
	values = d.Record(t.Mask, values, nil)
	n := t.Columns
	for size := 1 + n + n*n; len(values) >= size; values = values[size:] {
		components = append(components, Component{Weight: values[0], Mean: values[1 : 1+n], Root: values[1+n : size]})
	}
	return components
}

// flat returns the weight, mean and root of each component, one after another.
func flat(components []Component) (values []float64) {
	for _, c := range components {
		values = append(append(append(values, c.Weight), c.Mean...), c.Root...)
	}
	return values
}

// shuffled returns the components in an order that is uniformly random, exactly.
func shuffled(source noise.Source, components []Component) []Component {
	for i := len(components) - 1; i > 0; i-- {
		j := int(noise.Uniform(source, uint64(i+1)))
		components[i], components[j] = components[j], components[i]
	}
	return components
}
