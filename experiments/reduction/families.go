package reduction

import (
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/internal/madeup"
)

// usualTrim is what learners leave out of tables with outliers.
const usualTrim = .04

// families change a cell, by name.
var families = map[string]func(*cell){
	// Other Gaussian mixtures.
	"weights":   func(c *cell) { c.spec.LeastWeight = .1 },
	"condition": func(c *cell) { c.spec.Condition = 100 },
	"sizes":     func(c *cell) { c.spec.Sizes = 100 },
	"crowded":   func(c *cell) { c.spec.Arrangement = madeup.Crowded },
	"pancakes":  func(c *cell) { c.spec.Arrangement = madeup.Parallel },
	"nested":    func(c *cell) { c.spec.Arrangement, c.spec.Separation = madeup.Nested, 0 },
	"equal": func(c *cell) { // means, and covariances I and 3I
		c.spec.Arrangement, c.spec.Separation, c.spec.Growth, c.spec.Condition = madeup.Nested, 0, math.Sqrt(3), 1
	},
	"spherical": func(c *cell) { c.spec.Condition = 1 },
	"crossing":  func(c *cell) { c.spec.Arrangement, c.spec.Separation = madeup.Crossing, 0 },
	"wide":      func(c *cell) { c.spec.Wide = true },
	"turned":    func(c *cell) { c.spec.Turned = true },
	// Other laws.
	"uniform":   func(c *cell) { c.spec.Law, c.goal = "uniform", likely },
	"gamma3":    func(c *cell) { c.spec.Law, c.goal = "gamma3", likely },
	"t5":        func(c *cell) { c.spec.Law, c.goal = "t5", likely },
	"outliers":  func(c *cell) { c.spec.Outliers, c.trim, c.goal = .01, usualTrim, clean },
	"trimmed":   func(c *cell) { c.trim = usualTrim },
	"untrimmed": func(c *cell) { c.trim = 0 },
	// k is too large, or there is nothing to be found: one component's rows, asked for k.
	"+1":     func(c *cell) { c.given, c.goal = c.spec.Components+1, nothing },
	"+2":     func(c *cell) { c.given, c.goal = c.spec.Components+2, nothing },
	"noise":  noise(""),
	"box":    noise("uniform"),
	"cauchy": noise("cauchy"),
}

// noise is one component of a law.
func noise(law string) func(*cell) {
	return func(c *cell) {
		c.given, c.goal = c.spec.Components, nothing
		c.spec.Components, c.spec.Separation, c.spec.Law = 1, 0, law
	}
}

func familyNames() []string { return slices.Sorted(maps.Keys(families)) }
