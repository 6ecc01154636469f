package separated

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/internal/madeup"
)

// both is a cell with the number of components given, and the same without.
func both(c cell) []cell {
	given, free := c, c
	given.name, free.name = c.name+"/given", c.name+"/auto"
	given.line, free.line = c.line+", k given", c.line+", k free"
	free.auto = true
	return []cell{given, free}
}

const bothAbout = "Success: all means within 0.5 Mahalanobis and the right number of components, which is given or left free (auto)."

// d2 asks for covariances as well.
var d2 = experiment{
	name: "d2", title: "Covariances",
	about: "The numbers of rows at which the prototype (D.2) had all means within 0.5 Mahalanobis and a median over components of the bound √(KL/2) on the " +
		"total variation below .15, which is success here, and one grid step less. For 50/3/C6ell it was .23. The number of components is given.",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct {
			d, k, setting, below, n int
		}{{2, 3, 0, 3000, 4500}, {2, 5, 3, 3000, 4500}, {5, 3, 3, 10_000, 15_000}, {5, 5, 0, 10_000, 15_000}, {10, 3, 0, 10_000, 15_000},
			{10, 5, 3, 30_000, 45_000}, {50, 3, 0, 30_000, 45_000}, {50, 3, 3, 150_000, 200_000}} {
			s := settings[l.setting]
			out = append(out, cell{name: fmt.Sprintf("%d/%d/%s", l.d, l.k, s.name), spec: s.spec(l.d, l.k), rows: []int{l.below, l.n}})
		}
		return out
	},
	runs:    10,
	success: func(s madeup.Score, c cell) bool { return means(s, c) && s.MedianBound < .15 },
}

// auto leaves the number of components free.
var auto = experiment{
	name: "auto", title: "The number of components",
	about: "Nothing is given, at twice the prototype's smallest n with the number given (D.1). Success: all means within 0.5 Mahalanobis and the right number of components.",
	cells: func() []cell {
		cells := tableCells(2)
		for i := range cells {
			cells[i].auto = true
		}
		return cells
	},
	runs: 20, success: meansAndNumber, summary: numbers,
}

// scales has two groups of components of very different size.
var scales = experiment{
	name: "scales", title: "Components of different scale",
	about: "Two groups of three spheres; the standard deviations of the groups are in the ratio given, the closest pair of a group is 6 √6 of its standard " +
		"deviations apart, and the closest pair across groups 100 of the wider ones (D.4). " + bothAbout,
	cells: func() []cell {
		var out []cell
		for _, d := range []int{3, 10} {
			for _, ratio := range []float64{1, 10, 1e3, 1e6} {
				out = append(out, both(cell{name: fmt.Sprintf("%d/%g", d, ratio), rows: []int{20_000, 50_000},
					spec: madeup.Spec{Columns: d, Components: 6, Separation: 6, ScaleRatio: ratio}})...)
			}
		}
		return out
	},
	runs: 20, success: meansAndNumber,
}

// outliers spoils a part of the rows.
var outliers = experiment{
	name: "outliers", title: "Outliers",
	about: "d = 5, three spheres at 6 √3 standard deviations; a part of the rows lies in random directions at distances log-uniform over the range given, in " +
		"standard deviations (D.5). " + bothAbout,
	cells: func() []cell {
		var out []cell
		add := func(share, from, to float64) {
			out = append(out, both(cell{name: fmt.Sprintf("%g%%/%.0e-%.0e", 100*share, from, to), rows: []int{7000, 20_000},
				spec: madeup.Spec{Columns: 5, Components: 3, Separation: 6, OutlierShare: share, OutlierFrom: from, OutlierTo: to}})...)
		}
		for _, share := range []float64{.005, .02, .05, .1} {
			add(share, 1e2, 1e9)
		}
		for _, far := range []float64{1e2, 1e4, 1e9} {
			add(.1, far, far)
		}
		return out
	},
	runs: 20, success: meansAndNumber,
}

// kappa has ill-conditioned covariances.
var kappa = experiment{
	name: "kappa", title: "Condition numbers",
	about: "Three components, the closest means 6 √3 standard deviations of the longest axis apart, eigenvalues geometric from 1/κ to 1. " + bothAbout,
	cells: func() []cell {
		var out []cell
		for _, l := range []struct {
			d     int
			kappa float64
			rows  []int
		}{{5, 100, []int{10_000, 30_000}}, {5, 1000, []int{10_000, 30_000}}, {5, 1e5, []int{10_000, 30_000}}, {10, 1000, []int{20_000, 50_000}}} {
			out = append(out, both(cell{name: fmt.Sprintf("%d/%g", l.d, l.kappa), rows: l.rows,
				spec: madeup.Spec{Columns: l.d, Components: 3, Separation: 6, Covariance: madeup.Conditioned, Kappa: l.kappa}})...)
		}
		return out
	},
	runs: 20, success: meansAndNumber,
}

// tails has components that are no Gaussians.
var tails = experiment{
	name: "tails", title: "Heavy tails",
	about: "d = 5, three multivariate t components with ν degrees of freedom whose scale matrices are spheres, the closest means 6 √3 of their units apart; errors of " +
		"means are in these units. The total variation is to a Gaussian with the scale matrix, and means little. " + bothAbout,
	cells: func() []cell {
		var out []cell
		for _, nu := range []float64{3, 5, 10} {
			out = append(out, both(cell{name: fmt.Sprintf("t%g", nu), rows: []int{10_000, 20_000, 50_000},
				spec: madeup.Spec{Columns: 5, Components: 3, Separation: 6, TailDegrees: nu}})...)
		}
		return out
	},
	runs: 20, success: meansAndNumber,
}

// weights has small components.
var weights = experiment{
	name: "weights", title: "Small components",
	about: "d = 5, spheres, the closest means 12 standard deviations apart; weights as named in percent (F). " + bothAbout,
	cells: func() []cell {
		var out []cell
		for _, w := range [][]float64{{.05, .15, .3, .5}, {.02, .18, .3, .5}} {
			var names []string
			for _, v := range w {
				names = append(names, fmt.Sprintf("%g", 100*v))
			}
			out = append(out, both(cell{name: strings.Join(names, "-"), rows: []int{10_000, 20_000, 50_000, 100_000},
				spec: madeup.Spec{Columns: 5, Components: len(w), Gap: 12, Weights: w}})...)
		}
		return out
	},
	runs: 20, success: meansAndNumber,
}

// ratio sets the error beside the non-private one at ample n.
var ratio = experiment{
	name: "ratio", title: "What privacy costs at ample n",
	about: "At ten times the prototype's smallest n (D.1), the number of components given: the largest error of a mean beside that of EM started at the truth on " +
		"the same rows. The ratio is taken run by run.",
	cells: func() []cell {
		return slices.DeleteFunc(tableCells(10), func(c cell) bool {
			const mostCells = 10_000_000 // of a table, for the memory of the machine
			return c.spec.Separation != 6 || c.rows[0]*c.spec.Columns > mostCells
		})
	},
	runs: 10, reference: true, success: means,
}

// besidePeers sets methods beside others on the same rows.
var besidePeers = experiment{
	name: "peers", title: "Beside scikit-learn",
	about: "The problems of D.6, the number of components given. Success: all means within 0.5 Mahalanobis.",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct{ d, k, setting, n int }{{2, 3, 0, 5000}, {5, 5, 0, 10_000}, {10, 5, 3, 20_000}, {50, 5, 0, 70_000}} {
			s := settings[l.setting]
			out = append(out, cell{name: fmt.Sprintf("%d/%d/%s", l.d, l.k, s.name), spec: s.spec(l.d, l.k), rows: []int{l.n}})
		}
		return out
	},
	runs: 10, success: means, contenders: withPeers,
}

// literal sets the papers' algorithms beside the practical one: cells that each of them can do, and
// cells around their edges, where they refuse or fail.
var literal = experiment{
	name: "literal", title: "The algorithms as printed",
	about: "Spheres of equal weight, the number of components given, the closest means as many standard deviations apart as the cell is named. Success: all means " +
		"within 0.5 Mahalanobis. `separated:paper` and `separated:warm-up` run on their practical constants; what the printed ones ask for stands in [KSSU19](../../../papers/KSSU19.md).",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct {
			d, k int
			gap  float64
			rows []int
		}{{3, 2, 100, []int{10_000, 25_000, 60_000, 250_000}}, {3, 2, 30, []int{25_000, 60_000}}, {3, 3, 300, []int{40_000, 75_000}},
			{6, 2, 14, []int{3000, 6000, 20_000}}, {6, 3, 14, []int{10_000, 40_000}}} {
			out = append(out, cell{name: fmt.Sprintf("%d/%d/%gsd", l.d, l.k, l.gap), rows: l.rows,
				spec: madeup.Spec{Columns: l.d, Components: l.k, Gap: l.gap}})
		}
		return out
	},
	runs: 3, success: means,
	contenders: func() ([]string, string) {
		return []string{practical, practical + ":paper", practical + ":warm-up", practical + ":sample-aggregate"}, ""
	},
}
