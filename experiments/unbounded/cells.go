package unbounded

import (
	"fmt"

	"github.com/gauze-dp/gauze/internal/madeup"
)

// unequal are the unequal weights of the named cells.
var unequal = []float64{.6, .3, .1}

// named are the problems that the practical methods are made for.
var named = experiment{
	name: "named", title: "The named problems",
	about: "Every run draws a mixture of its own: scales log-uniform over a random part of 1e-9 to 1e12, offsets, orders and distances at random. Besides the n " +
		"that are asked for, larger ones: is there a failure that more rows do not cure?",
	cells: func() []cell {
		var out []cell
		add := func(n int, more []int, name string, u madeup.Unbounded) {
			out = append(out, cell{name: name, spec: u, rows: append([]int{n}, more...)})
		}
		large := []int{10_000, 30_000}
		for _, l := range []struct{ k, n int }{{1, 400}, {2, 1000}, {3, 1500}, {5, 3000}} {
			add(l.n, large, fmt.Sprintf("uni/apart/k=%d", l.k), madeup.Unbounded{Columns: 1, Components: l.k, Arrangement: madeup.Apart})
		}
		for _, k := range []int{2, 3} {
			add(1500, large, fmt.Sprintf("uni/overlap/k=%d", k), madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Overlapping})
		}
		add(2000, large, "uni/weights/k=3", madeup.Unbounded{Columns: 1, Components: 3, Arrangement: madeup.Apart, Weights: unequal})
		add(2500, large, "uni/nested/k=2", madeup.Unbounded{Columns: 1, Components: 2, Arrangement: madeup.Nested})
		for _, l := range []struct{ d, k, n int }{{2, 2, 2000}, {2, 3, 4000}, {3, 4, 8000}, {4, 2, 4000}, {4, 3, 7000}, {5, 3, 5000}, {8, 3, 12_000}} {
			add(l.n, []int{3 * l.n}, fmt.Sprintf("axis/d=%d/k=%d", l.d, l.k), madeup.Unbounded{Columns: l.d, Components: l.k, Arrangement: madeup.Apart})
		}
		add(8000, []int{24_000}, "axis/weights/d=2/k=3", madeup.Unbounded{Columns: 2, Components: 3, Arrangement: madeup.Apart, Weights: unequal})
		add(3000, []int{9000}, "general/crossing/d=2", madeup.Unbounded{Columns: 2, Components: 2, Arrangement: madeup.Crossing})
		add(3000, []int{9000}, "general/parallel/d=2", madeup.Unbounded{Columns: 2, Components: 2, Arrangement: madeup.Parallel})
		add(5000, []int{15_000}, "general/rotated/d=3", madeup.Unbounded{Columns: 3, Components: 2, Arrangement: madeup.Rotated})
		return out
	},
	runs: 40,
}

// asPrinted are the problems of the restatement, the same mixture in every run.
var asPrinted = experiment{
	name: "printed", title: "The printed problems",
	about: "The fixed mixtures of Sections 7 and 7.2 of the restatement at 1.5 times the n that its prototype needed (7) and at the n of 7.2; fresh rows in every " +
		"run. Where the restatement gives no numbers (A, G, M) they are ours, after its words.",
	cells: func() []cell {
		var out []cell
		for _, l := range []struct {
			name string
			rows []int
		}{{"U1", []int{450, 10_000}}, {"U2", []int{1050, 10_000}}, {"U3", []int{1050, 10_000}}, {"U5", []int{2250, 10_000}}, {"U2o", []int{1500, 20_000}},
			{"U3o", []int{1500, 20_000}}, {"U2n", []int{1500, 10_000}}, {"F1", []int{1500}}, {"F2", []int{2000}}, {"F3", []int{2000, 4000, 10_000}}, {"F4", []int{700}},
			{"F5", []int{2000, 4000, 10_000}}, {"A2k2", []int{2250, 20_000}}, {"A2k3", []int{4500, 10_000}}, {"A4k2", []int{4500, 10_000}},
			{"A4k3", []int{7500, 10_000}}, {"G2", []int{3000, 20_000}}, {"G2x", []int{2250, 20_000}}, {"G2p", []int{3000, 8000}}, {"M1", []int{5000}},
			{"M2", []int{8000}}, {"M3", []int{8000, 20_000}}, {"M4", []int{3000}}, {"M5", []int{3000}}, {"M6", []int{5000}}} {
			out = append(out, cell{name: l.name, spec: madeup.Unbounded{Printed: l.name}, rows: l.rows})
		}
		return out
	},
	runs: 20,
}

// wide are many kinds of mixtures.
var wide = experiment{
	name: "wide", title: "Many kinds of mixtures",
	about: "k from 1 to 8, tiny and huge scales, overlapping pairs at different scales, small weights, and the number of components unknown or bounded from above.",
	cells: func() []cell {
		var out []cell
		add := func(name string, n int, u madeup.Unbounded) {
			out = append(out, cell{name: name, spec: u, rows: []int{n}})
		}
		for _, k := range []int{1, 2, 3, 4, 6, 8} {
			u := madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Apart}
			add(fmt.Sprintf("wide/apart/k=%d", k), 800*k, u)
			free := cell{name: fmt.Sprintf("wide/apart/free/k=%d", k), spec: u, rows: []int{1200 * k}, free: true}
			most := cell{name: fmt.Sprintf("wide/apart/most/k=%d", k), spec: u, rows: []int{1200 * k}, given: k + 2}
			out = append(out, free, most)
		}
		for _, s := range []float64{1e-9, 1e-3, 1e3, 1e6} {
			add(fmt.Sprintf("wide/scale=%g/k=3", s), 2400, madeup.Unbounded{Columns: 1, Components: 3, Arrangement: madeup.Apart, Scale: s})
		}
		for _, k := range []int{2, 3, 4, 6} {
			add(fmt.Sprintf("wide/overlap/k=%d", k), 1000*k, madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Overlapping})
		}
		for _, k := range []int{4, 6, 8} {
			add(fmt.Sprintf("wide/pairs/k=%d", k), 1000*k, madeup.Unbounded{Columns: 1, Components: k, Arrangement: madeup.Pairs})
		}
		add("wide/nested/k=3", 4000, madeup.Unbounded{Columns: 1, Components: 3, Arrangement: madeup.Nested})
		for _, w := range []float64{.3, .2, .1} {
			add(fmt.Sprintf("wide/weight=%g/k=2", w), int(600/w), madeup.Unbounded{Columns: 1, Components: 2, Arrangement: madeup.Apart, Weights: []float64{1 - w, w}})
			add(fmt.Sprintf("wide/nested/weight=%g/k=2", w), int(800/w), madeup.Unbounded{Columns: 1, Components: 2, Arrangement: madeup.Nested, Weights: []float64{1 - w, w}})
		}
		for _, l := range []struct{ d, k int }{{2, 5}, {3, 2}, {6, 4}} {
			add(fmt.Sprintf("wide/axis/d=%d/k=%d", l.d, l.k), 800*l.d*l.k, madeup.Unbounded{Columns: l.d, Components: l.k, Arrangement: madeup.Apart})
		}
		add("wide/rotated/d=2/k=3", 6000, madeup.Unbounded{Columns: 2, Components: 3, Arrangement: madeup.Rotated})
		return out
	},
	runs: 20,
}
