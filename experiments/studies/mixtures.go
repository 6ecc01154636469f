package studies

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal"
)

// meanBar is the largest Mahalanobis error of a mean that counts as learned.
//
// Source: [KSSU19] Section D.1 of the restatement.
const meanBar = .5

// learned is the total variation distance below which a mixture counts as learned.
//
// Source: [AMN24] Section 7 of the restatement.
const learned = literal.Learned

// mixtureColumns are those of pages of mixtures.
var mixtureColumns = []engine.Column{models, succeeded, spread("TV (90 %)", variation), median("without privacy", reference), spread("worst mean", worstMean), ranged("k", found), seconds}

// separated compares the papers' algorithms for separated components with the practical one.
var separated = &study{
	Name: "separated", About: "mixtures of separated Gaussians: the algorithms as printed",
	Seed: 1, PassRate: .9,
	Experiments: []experiment{{Name: "literal", Title: "The algorithms as printed", Runs: 3, Lines: lines(spheres, mixture(false, func(v engine.Values, _ cell) bool { return v[worstMean] < meanBar })),
		About: "Spheres of equal weight, the number of components given, the closest means as many standard deviations apart as the cell is named. Success: all means " +
			"within 0.5 Mahalanobis. The papers' algorithms run on their practical constants; what the printed ones ask for stands in [KSSU19](../../../papers/KSSU19.md)."}},
	Lead: setting, Columns: mixtureColumns, Noisy: noisy, Printed: []string{found, worstMean, variation},
}

func spheres() (out []cell) {
	for _, l := range []struct {
		d, k int
		gap  float64
		rows []int
	}{{3, 2, 100, []int{10_000, 25_000, 60_000, 250_000}}, {3, 2, 30, []int{25_000, 60_000}}, {3, 3, 300, []int{40_000, 75_000}},
		{6, 2, 14, []int{3000, 6000, 20_000}}, {6, 3, 14, []int{10_000, 40_000}}} {
		s := madeup.Spec{Columns: l.d, Components: l.k, Distance: l.gap}
		out = append(out, cell{name: fmt.Sprintf("%d/%d/%gsd", l.d, l.k, l.gap), law: s, d: l.d, k: l.k, rows: l.rows, ask: gauze.Request{Components: l.k},
			draw: func(seed uint64, n int) (table, error) { return ofMixture(s.Draw(seed, n)) },
			by:   by("separated", "separated:paper", "separated:warm-up", "separated:sample-aggregate")})
	}
	return out
}

// unbounded are mixtures of any places and scales.
var unbounded = &study{
	Name: "unbounded", About: "mixtures of any places and scales: rows needed, and the algorithms as printed",
	PassRate: .9, Grid: engine.GeometricGrid(100, 1.1e5, fine), Farthest: 16,
	Experiments: []experiment{
		{Name: "smallest", Title: "The smallest sufficient n", Runs: 20, Search: true, Lines: lines(named, mixture(true, within(learned))), Summary: leasts,
			About: "The smallest n of a grid with steps of 2^(1/4) at which at least 18 of 20 runs are successes. Every run draws a mixture of its own: scales log-uniform over a random part of " +
				"1e-9 to 1e12, offsets, orders and distances at random."},
		{Name: "literal", Title: "The algorithms as printed", Runs: 5, Lines: lines(small, mixture(true, within(learned))),
			About: "One component N(3, 1), two N(±5, 1) of equal weight, and the same two in two columns. Bounds are stated, a mean within 10 and variances between .25 and 4, " +
				"for the methods that ask for them. All run on their practical constants, which [AAL21](../../../papers/AAL21.md) and [AMN24](../../../papers/AMN24.md) list beside the printed ones."},
		{Name: "weights", Title: "Algorithm 2 of AMN24 over weights, columns and bounds", Runs: 3, Lines: lines(overWeights, withFlags(mixture(true, within(learned)))), Summary: silences,
			About: "Every run draws its own mixture: spherical components with standard deviations between .5 and 2, means within 8 in every column and at least three times the larger of two standard deviations apart, " +
				"the weights of the cell's name. ε = 10, the number of components given. Bounds are a mean within 10 and variances between .25 and 4; where there are none, all is in a unit from 10⁻³ to 10³."},
	},
	Lead: func(r *results) string {
		return setting(r) + fmt.Sprintf("A run is a success if it releases a model whose total variation distance from the truth is below %g, all of its components counted. "+
			"Without privacy: EM started at the truth, on the same rows.", learned)
	},
	Columns: mixtureColumns, Noisy: noisy, Printed: []string{found, variation, reference},
}

// anywhere returns a cell of a mixture of any places and scales, by the method for its kind.
func anywhere(name string, u madeup.Unbounded, rows ...int) cell {
	c := cell{name: name, law: u, rows: rows, d: u.Columns, k: u.Components, ask: gauze.Request{Components: u.Components},
		draw: func(seed uint64, n int) (table, error) { return ofMixture(u.Draw(engine.SeedOf(name, seed), n)) }}
	kind, _, _ := strings.Cut(name, "/")
	c.by = by(map[string]string{"uni": "univariate", "axis": "axis-aligned", "general": "general"}[kind])
	if kind != "general" {
		c.ask.Covariance = estimate.Diagonal
	}
	return c
}

// unequal are the weights of the cells of unequal ones.
var unequal = []float64{.6, .3, .1}

// named returns the problems that the practical methods are made for.
func named() (out []cell) {
	add := func(rows int, kind string, a madeup.Arrangement, d, k int, weights []float64) {
		out = append(out, anywhere(fmt.Sprintf("%s/%s/d=%d/k=%d", kind, a, d, k), madeup.Unbounded{Columns: d, Components: k, Arrangement: a, Weights: weights}, rows))
		if weights != nil {
			out[len(out)-1] = anywhere(fmt.Sprintf("%s/weights/d=%d/k=%d", kind, d, k), madeup.Unbounded{Columns: d, Components: k, Arrangement: a, Weights: weights}, rows)
		}
	}
	for _, l := range [][2]int{{1, 168}, {2, 400}, {3, 673}, {5, 951}} {
		add(l[1], "uni", madeup.Apart, 1, l[0], nil)
	}
	add(1500, "uni", madeup.Overlapping, 1, 2, nil)
	add(1500, "uni", madeup.Overlapping, 1, 3, nil)
	add(2000, "uni", madeup.Apart, 1, 3, unequal)
	add(2500, "uni", madeup.Nested, 1, 2, nil)
	for _, l := range [][3]int{{2, 2, 1130}, {2, 3, 4000}, {3, 4, 8000}, {4, 2, 1900}, {4, 3, 7000}, {5, 3, 5000}, {8, 3, 5380}} {
		add(l[2], "axis", madeup.Apart, l[0], l[1], nil)
	}
	add(8000, "axis", madeup.Apart, 2, 3, unequal)
	add(3000, "general", madeup.Crossing, 2, 2, nil)
	add(3000, "general", madeup.Parallel, 2, 2, nil)
	add(5000, "general", madeup.Rotated, 3, 2, nil)
	return out
}

// small returns problems that the papers' algorithms can enumerate.
func small() (out []cell) {
	add := func(kind, name string, epsilon float64, rows []int, methods ...string) {
		c := anywhere(fmt.Sprintf("%s/%s/eps=%g", kind, name, epsilon), madeup.Unbounded{Printed: name}, rows...)
		c.by, c.k, c.d = by(methods...), 2, 1
		if name == "L1" {
			c.k = 1
		}
		if name == "L2d2" {
			c.d = 2
		}
		c.ask.Components, c.ask.Covariance = c.k, estimate.Diagonal
		if kind == "general" {
			c.ask.Covariance = estimate.Full
		}
		c.ask.Budget = privacy.Budget{Epsilon: epsilon, Delta: 1e-6}
		c.ask.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 10, Eigenvalues: [2]float64{.25, 4}}
		out = append(out, c)
	}
	for _, e := range []float64{1, 4} {
		rows := func(low float64) []int { return []int{int(low / e), int(4 * low / e), int(16 * low / e)} }
		add("uni", "L1", e, rows(1000), "univariate", "univariate:aal21", "univariate:amn24")
		add("uni", "L2", e, rows(2000), "univariate", "univariate:aal21", "univariate:amn24")
		add("axis", "L2d2", e, rows(2000), "axis-aligned", "axis-aligned:aal21")
		add("general", "L2d2", e, rows(2000), "general:aal21")
		for _, name := range []string{"L1", "L2", "L2d2"} {
			add("general", name, e, []int{2000}, "general:amn24") // a fit takes long
			out[len(out)-1].name += "/amn24"
		}
	}
	return out
}

// Of the black box: near is a release whose total variation from the truth is at most nearRatio
// times that of EM started at the truth, and nearMore.
const nearRatio, nearMore = 3.5, .005

// reduction is the black box that makes any learner private.
var reduction = &study{
	Name: "reduction", About: "the black-box reduction: the rows that it needs",
	PassRate: .9, Grid: engine.GeometricGrid(500, 1e6, math.Sqrt2), Farthest: 4,
	Experiments: []experiment{{Name: "smallest", Title: "The smallest sufficient n of the black box", Runs: 20, Search: true, Summary: leasts,
		Lines: lines(blocks, mixture(true, func(v engine.Values, _ cell) bool { return v[variation] <= nearRatio*v[reference]+nearMore })),
		About: "The smallest n of a grid with steps of √2 at which at least nine of ten runs are successes, by the black box with EM. Every run draws a mixture of its own: weights within a " +
			"factor of 2, condition numbers of 3 at most, the closest two components at the Mahalanobis distance named, columns in units from 1e-3 to 1e3, the origin about 1e6 away."}},
	Lead: func(r *results) string {
		return setting(r) + fmt.Sprintf("A run is a success if a model is released whose total variation from the truth is at most %g times that of EM started at the truth, and %g more.", nearRatio, nearMore)
	},
	Columns: mixtureColumns, Noisy: noisy, Printed: []string{variation, reference},
}

func blocks() (out []cell) {
	for _, l := range []struct {
		k, d, n    int
		separation float64
	}{{1, 1, 2830, 0}, {1, 2, 5660, 0}, {2, 1, 16_000, 6}, {2, 2, 22_600, 6}, {2, 2, 16_000, 8}, {2, 2, 90_500, 4}, {1, 5, 11_300, 0}, {3, 2, 45_300, 6}, {2, 5, 64_000, 6}, {3, 5, 90_500, 6}} {
		b := madeup.BlackBox{Components: l.k, Columns: l.d, Separation: l.separation}
		name := fmt.Sprintf("k=%d/d=%d/sep=%g", l.k, l.d, l.separation)
		out = append(out, cell{name: name, law: b, d: l.d, k: l.k, rows: []int{l.n}, ask: gauze.Request{Components: l.k, Learner: "em"}, by: by("black-box"),
			draw: func(seed uint64, n int) (table, error) { return ofMixture(b.Draw(engine.SeedOf(name, seed), n)) }})
	}
	return out
}
