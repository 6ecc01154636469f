package reduction

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// usualRuns is how many runs a cell has.
const usualRuns = 20

// must is a cell that there is.
func must(c cell, err error) cell {
	if err != nil {
		panic(err) // the lists of this package are fixed
	}
	return c
}

// bars are the sizes at which the practical method has to succeed, with the separation of their
// mixtures.
var bars = []struct {
	k, d, n int
	sep     float64
}{{1, 1, 5000, 0}, {1, 2, 10_000, 0}, {2, 1, 30_000, 6}, {2, 2, 40_000, 6}, {3, 2, 90_000, 6}, {2, 5, 100_000, 6}, {3, 5, 200_000, 6}, {5, 2, 200_000, 6}}

// named are the problems that the practical method is made for.
var named = experiment{
	name: "named", title: "The named problems",
	about: "Every run draws a mixture of its own: weights within a factor of 2, covariances of condition number 3 at most, the closest two components at the " +
		"Mahalanobis distance named, columns in units from 1e-3 to 1e3, the origin about 1e6 away. Then the same with k too large by 1 or 2 (`+1`, `+2`) and rows of one " +
		"component that are asked for more (`noise`: Gaussian, `box`: uniform, `cauchy`), where nothing should be released; components that are uniform on a box, skewed or " +
		"heavy-tailed (`uniform`, `gamma3`, `t5`); and a hundredth of the rows 30 times as far out as others (`outliers`).",
	cells: func() []cell {
		var out []cell
		add := func(k, d, n int, sep float64, which ...string) {
			out = append(out, must(newCell(k, d, n, sep, which...)))
		}
		for _, b := range bars {
			add(b.k, b.d, b.n, b.sep)
		}
		add(2, 1, 30_000, 6, "+1")
		add(2, 2, 40_000, 6, "+1")
		add(2, 2, 90_000, 6, "+2")
		add(3, 2, 90_000, 6, "+1")
		for _, law := range []string{"noise", "box", "cauchy"} {
			add(2, 1, 30_000, 0, law)
			add(2, 2, 40_000, 0, law)
			add(3, 2, 90_000, 0, law)
		}
		for _, law := range []string{"uniform", "gamma3", "t5"} {
			add(3, 2, 160_000, 7, law)
		}
		add(3, 2, 160_000, 7, "t5", "trimmed")
		add(2, 2, 160_000, 7, "outliers")
		add(3, 2, 160_000, 7, "outliers")
		return out
	},
	runs:    usualRuns,
	summary: writeBars,
}

// wide are many kinds of mixtures.
var wide = experiment{
	name: "wide", title: "Many kinds of mixtures",
	about: "What is changed, one thing at a time: the smallest weight is .1 (`weights`), condition numbers are up to 100 (`condition`), sizes differ up to a hundredfold " +
		"(`sizes`), means are crowded, components are thin plates side by side (`pancakes`), have one mean and growing sizes (`nested`) or cross each other (`crossing`), " +
		"columns have units from 1e-9 to 1e12 (`wide`), or are mixed by a rotation (`turned`); and the distance of the closest two.",
	cells: func() []cell {
		var out []cell
		add := func(k, d, n int, sep float64, which ...string) {
			out = append(out, must(newCell(k, d, n, sep, which...)))
		}
		for _, family := range []string{"weights", "condition", "sizes", "pancakes", "wide", "turned"} {
			add(2, 2, 64_000, 6, family)
		}
		add(2, 1, 64_000, 0, "nested")
		add(2, 2, 64_000, 0, "nested")
		add(2, 2, 64_000, 0, "crossing")
		add(3, 2, 128_000, 6, "crowded")
		add(3, 2, 128_000, 6, "weights")
		for _, sep := range []float64{4, 5, 8, 12} {
			add(2, 2, 64_000, sep)
		}
		return out
	},
	runs: usualRuns,
}

// relations runs both.
var relations = experiment{
	name: "relations", title: "Both relations",
	about: "Under add-or-remove-one n is private: it is measured first, and blocks differ in size.",
	cells: func() []cell {
		var out []cell
		for _, b := range bars[:4] {
			for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
				c := must(newCell(b.k, b.d, b.n, b.sep))
				c.name, c.relation = fmt.Sprintf("%s/%s", c.name, r), &r
				c.rows = []int{b.n, b.n * 3 / 2}
				out = append(out, c)
			}
		}
		return out
	},
	runs: usualRuns,
}
