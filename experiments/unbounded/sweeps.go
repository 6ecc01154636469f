package unbounded

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// grid are numbers of rows from low to high in equal ratios, rounded to three digits.
func grid(low, high float64, points int) []int {
	var out []int
	for i := range points {
		n := low * math.Pow(high/low, float64(i)/float64(points-1))
		unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-2))
		out = append(out, int(math.Round(n/unit)*unit))
	}
	return out
}

// apart, overlap and nested are mixtures in one column.
func apart(k int) madeup.Unbounded {
	return madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Apart}
}

func overlap(k int) madeup.Unbounded {
	return madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Overlapping}
}

func nested(k int) madeup.Unbounded {
	return madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Nested}
}

// against changes one thing at a time and follows success and total variation as n grows.
var against = experiment{
	name: "against", title: "Success and total variation against n",
	about: "One thing is changed at a time: the scale of the narrowest component, the number of components, the smallest weight, the distance of overlapping " +
		"components, the ratio of nested scales, the number of columns. A success may miss a component of a weight below .15.",
	cells: func() []cell {
		var out []cell
		add := func(panel, line string, rows []int, u madeup.Unbounded) {
			out = append(out, cell{name: panel + "/" + line, panel: panel, line: line, rows: rows, spec: u})
		}
		for _, s := range []float64{1e-9, 1e-3, 1e3, 1e12} {
			u := apart(3)
			u.Scale = s
			add("scale", fmt.Sprintf("scale %.0e", s), grid(500, 8000, 5), u)
		}
		for _, k := range []int{1, 2, 3, 5, 8} {
			add("k", fmt.Sprintf("k = %d", k), grid(200*float64(k), 3200*float64(k), 5), apart(k))
		}
		for _, w := range []float64{.5, .3, .2, .1, .05} {
			u := apart(2)
			u.Weights = []float64{1 - w, w}
			add("weight", fmt.Sprintf("least weight %g", w), grid(150/w, 2400/w, 5), u)
		}
		for _, gap := range []float64{1, 2, 3, 4, 6} {
			u := overlap(2)
			u.Gap = gap
			add("overlap", fmt.Sprintf("%g sd apart", gap), grid(500, 8000, 5), u)
		}
		for _, ratio := range []float64{3, 10, 100, 1e4, 1e6} {
			u := nested(2)
			u.Ratio = ratio
			add("nested", fmt.Sprintf("scales 1:%.0e", ratio), grid(500, 8000, 5), u)
		}
		for _, d := range []int{1, 2, 4, 8} {
			add("columns", fmt.Sprintf("d = %d", d), grid(500*math.Sqrt(float64(d)), 8000*math.Sqrt(float64(d)), 5),
				madeup.Unbounded{Columns: d, Components: 2, Arrangement: madeup.Apart})
		}
		return out
	},
	runs: 24, summary: panels,
}

// slope follows the error to large n.
var slope = experiment{
	name: "slope", title: "The slope in n",
	about: "What privacy changes should fall like 1/(εn), faster than what sampling leaves, 1/√n.",
	cells: func() []cell {
		var out []cell
		rows := grid(2000, 128_000, 7)
		add := func(line string, u madeup.Unbounded) {
			out = append(out, cell{name: line, panel: "slope", line: line, rows: rows, spec: u})
		}
		add("k = 1", apart(1))
		add("k = 3", apart(3))
		add("overlapping, k = 2", overlap(2))
		add("nested", nested(2))
		add("d = 2, k = 2", madeup.Unbounded{Columns: 2, Components: 2, Arrangement: madeup.Apart})
		add("crossing", madeup.Unbounded{Columns: 2, Components: 2, Arrangement: madeup.Crossing})
		strict := func(line string, u madeup.Unbounded) {
			out = append(out, cell{name: line + ", ε = .2", panel: "slope", line: line + ", ε = .2", rows: grid(8000, 256_000, 6), spec: u, epsilon: .2})
		}
		strict("k = 3", apart(3))
		strict("d = 2", madeup.Unbounded{Columns: 2, Components: 2, Arrangement: madeup.Apart})
		for _, e := range []float64{.1, .2, .5, 1, 2} {
			out = append(out, cell{name: fmt.Sprintf("eps=%g", e), epsilon: e, x: e, rows: []int{16_000}, spec: apart(2)})
		}
		return out
	},
	runs: 24, beside: true,
	summary: func(p *engine.Page, r *results) {
		panels(p, r)
		slopes(p, r)
		budgets(p, r)
	},
}

// components asks how the rows needed grow with k.
var components = experiment{
	name: "components", title: "The rows needed against the number of components",
	about: "AMN24 proves that in one column the rows needed are linear in the number of components, which is optimal. Components apart, of equal weight, the " +
		"number given.",
	cells: func() []cell {
		var out []cell
		for _, k := range []int{1, 2, 3, 4, 5, 6, 8} {
			u := apart(k)
			out = append(out, cell{name: fmt.Sprintf("k=%d", k), panel: "components", line: fmt.Sprintf("k = %d", k), x: float64(k), rows: grid(150*float64(k), 1200*float64(k), 7), spec: u})
		}
		return out
	},
	runs: 40,
	summary: func(p *engine.Page, r *results) {
		linear(p, r)
		panels(p, r)
	},
}

// smallest searches for the numbers of rows.
var smallest = experiment{
	name: "smallest", title: "The smallest sufficient n",
	about: "The smallest n of a grid with steps of 2^(1/4) at which at least 18 of 20 runs are successes, for the kinds of mixtures of the named problems. A search " +
		"stops a number of rows as soon as too many runs have failed.",
	cells: func() []cell {
		out := named.cells()
		for i := range out {
			out[i].rows = out[i].rows[:1]
		}
		return out
	},
	search: true, runs: 20,
	summary: leasts,
}

// literal sets the papers' algorithms beside the practical methods, on problems that they can
// enumerate.
var literal = experiment{
	name: "literal", title: "The algorithms as printed",
	about: "One component N(3, 1), two N(±5, 1) of equal weight, and the same two in two columns. Bounds are stated, a mean within 10 and variances between .25 and 4, " +
		"for the methods that ask for them; the practical methods and those of AAL21 make no use of them. All run on their practical constants, which " +
		"[AAL21](../../../papers/AAL21.md) and [AMN24](../../../papers/AMN24.md) list beside the printed ones.",
	cells: func() []cell {
		facts := estimate.Facts{KnowsMean: true, MeanWithin: 10, Eigenvalues: [2]float64{.25, 4}}
		var out []cell
		add := func(name string, epsilon float64, rows []int, others ...string) {
			out = append(out, cell{name: fmt.Sprintf("%s/eps=%g", name, epsilon), spec: madeup.Unbounded{Printed: name}, epsilon: epsilon, facts: facts, rows: rows,
				others: others})
		}
		for _, e := range []float64{1, 4} {
			rows := func(low float64) []int { return []int{int(low / e), int(4 * low / e), int(16 * low / e)} }
			add("L1", e, rows(1000), univariate+":aal21", univariate+":amn24")
			add("L2", e, rows(2000), univariate+":aal21", univariate+":amn24")
			add("L2d2", e, rows(2000), axisAligned+":aal21", general+":aal21")
			for _, name := range []string{"L1", "L2", "L2d2"} { // a fit takes long
				add(name, e, []int{2000}, general+":amn24")
				out[len(out)-1].name += "/general"
			}
		}
		return out
	},
	runs: 5,
}
