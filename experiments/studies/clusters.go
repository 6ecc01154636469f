package studies

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A plainCell is a placement with a gap, in a number of columns. A run draws the rest.
type plainCell struct {
	columns   int
	placement madeup.Placement
	gap       float64
}

// Placements beside those of two clusters and more: a single one; and more than the usual number of
// rows pays for, with more rows, anywhere.
const one, many madeup.Placement = "one", "many"

var (
	allColumns = []int{1, 2, 3, 8, 20, 30}
	allGaps    = []float64{5, 6, 30, 300, 1e5, 1e9}
)

// Numbers of rows, and of columns from which on there are more; the most clusters; and the n mu
// that every column of every cluster needs to have an answer.
const (
	usualRows, wideRows, wide = 12_000, 30_000, 20
	mostClusters              = 10
	answerRows                = 60
)

// manyRows are those that pay for the most clusters.
var manyRows = map[int]int{8: 21_000, 20: 60_000, 30: 130_000}

// leastBar and mostBar are the least and the largest madeup.Limit of a total variation: there are
// no more clusters than the latter allows.
const leastBar, mostBar = .08, .35

// Values of a run of clusters: what it drew, and whether it warned or had the number of clusters.
const (
	limit, trueK, exact, warned, sure             = "limit", "true_k", "exact", "warned", "sure"
	scaled, uneven, ellipsoids, mapped, addRemove = "scaled", "uneven", "ellipsoids", "mapped", "add_remove"
)

// clusters asks whether clusters that a glance at the right picture shows are found. Its instances
// have fresh seeds in every run: nothing can be chosen on them twice.
var clusters = &study{
	Name: "plain", About: "plain clusters in any place, units and number: are they found?",
	PassRate: .85,
	Experiments: []experiment{{Name: "clusters", Title: "Plain clusters", Runs: 6, Lines: lines(plainCells, rightClusters), Summary: clustersSummary,
		About: "One to ten clusters, far from one another. Right: a total variation (of the whole model, background and all, from the true mixture) of at most a limit that depends on k, d and n alone."}},
	Lead: func(r *results) string {
		return setting(r) + fmt.Sprintf("n = %s, from %d columns on %s. Every run draws an instance anew: the number of clusters (2 to %d, as far as rows pay for them; *many* is 6 to %d with as many rows "+
			"as they need), spheres or ellipsoids of condition number 10, standard deviations all 1 or some 20, weights equal or up to 1:4, columns in units of their own from .01 to 1000 or a "+
			"random linear map of condition number 100, the relation. Gaps are of the closest two, in half the sum of their standard deviations; *nested* are pairs that are 30 gaps apart.",
			engine.Rows(usualRows), wide, engine.Rows(wideRows), mostClusters, mostClusters)
	},
	Columns: []engine.Column{succeeded, {Head: "k exact", Show: func(runs []engine.Result) any { return fmt.Sprintf("%d/%d", engine.Total(runs, exact), len(runs)) }},
		median("TV", variation), median("limit", limit), ranged("k", found), seconds},
	Printed: []string{variation, limit, found, trueK},
	Prints:  func(r engine.Result) bool { return !r.Success },
}

func (c plainCell) rows() int {
	switch {
	case c.placement == many:
		return manyRows[c.columns]
	case c.columns >= wide:
		return wideRows
	}
	return usualRows
}

// most returns the largest number of clusters that the rows pay for: the limit is at most mostBar,
// and there is an answer at the usual budget.
func (c plainCell) most() int {
	n, k := c.rows(), 1
	for k < mostClusters && madeup.Limit(k+1, c.columns, n) <= mostBar+1e-9 && float64(n)*privacy.MuOf(1, 1e-6) >= float64(answerRows*c.columns*(k+1)) {
		k++
	}
	return k
}

// least returns the smallest number of clusters that there are.
func (c plainCell) least() int {
	switch c.placement {
	case one:
		return 1
	case madeup.Paired, madeup.Simplex:
		return 3
	case many:
		return 6
	}
	return 2
}

func (c plainCell) String() string {
	if c.placement == one || c.placement == many {
		return fmt.Sprintf("d=%d/%s", c.columns, c.placement)
	}
	return fmt.Sprintf("d=%d/%s/gap=%g", c.columns, c.placement, c.gap)
}

// plainCells returns all cells: no random line in one column, and no placement of more clusters
// than there may be.
func plainCells() (out []cell) {
	add := func(c plainCell) {
		if c.most() >= c.least() {
			out = append(out, cell{name: c.String(), plain: c, d: c.columns, law: c.String(), rows: []int{c.rows()}, draw: c.draw,
				by: []contender{{name: "auto", method: "auto"}, {name: "separated", method: "separated", runs: 2}}})
		}
	}
	for _, d := range allColumns {
		add(plainCell{d, one, 1})
		for _, p := range []madeup.Placement{madeup.Along, madeup.OnLine, madeup.Simplex, madeup.Paired} {
			for _, gap := range allGaps {
				if d > 1 || p != madeup.OnLine && p != madeup.Simplex {
					add(plainCell{d, p, gap})
				}
			}
		}
		if manyRows[d] > 0 {
			add(plainCell{d, many, 1})
		}
	}
	return out
}

// draw draws an instance, the same for all contenders.
func (c plainCell) draw(seed uint64, n int) (table, error) {
	seed = engine.SeedOf(c.String(), seed)
	p, relation := c.instance(rand.New(rand.NewPCG(seed, 1)))
	t, err := ofMixture(p.Draw(seed, n))
	t.relation = relation
	t.drawn = engine.Values{trueK: float64(p.Components), limit: madeup.Limit(p.Components, c.columns, n), scaled: number(p.Scaled), uneven: number(p.Uneven),
		ellipsoids: number(p.Ellipsoids), mapped: number(p.Mapped), addRemove: number(relation == privacy.AddRemoveOne)}
	return t, err
}

// instance draws what a cell leaves open.
func (c plainCell) instance(rng *rand.Rand) (madeup.Plain, privacy.Relation) {
	coin := func() bool { return rng.IntN(2) == 0 }
	relation := privacy.ReplaceOne
	p := madeup.Plain{Components: 1, Columns: c.columns, Placement: c.placement, Distance: c.gap, Ellipsoids: coin(), Mapped: coin()}
	if coin() {
		relation = privacy.AddRemoveOne
	}
	switch c.placement {
	case one:
		p.Placement = madeup.Along
		return p, relation
	case many:
		p.Distance = allGaps[1+rng.IntN(len(allGaps)-1)]
		p.Placement = madeup.Simplex
		if coin() {
			p.Placement = madeup.OnLine
		}
	}
	p.Components = c.least() + rng.IntN(c.most()-c.least()+1)
	p.Scaled, p.Uneven = coin(), coin()
	return p, relation
}

// rightClusters measures a fit of clusters.
func rightClusters(c cell, t table, f engine.Fitted) (engine.Outcome, error) {
	out, err := mixture(false, func(v engine.Values, _ cell) bool { return v[variation] <= t.drawn[limit] })(c, t, f)
	maps.Copy(out.Values, t.drawn)
	if f.Release == nil {
		out.Values[variation] = 1
		return out, err
	}
	flags, _, _ := engine.Warnings(f.Release)
	out.Values[warned], out.Values[exact] = number(len(flags) > 0), number(out.Values[found] == out.Values[trueK])
	out.Values[sure] = 1
	if n := f.Release.Diagnostics.Number; n != nil {
		out.Values[sure] = n.Confidence
	}
	return out, err
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// A view is a way to sort runs.
type view struct {
	name string
	of   func(c plainCell, v engine.Values) string
}

func either(name, yes, no string) func(plainCell, engine.Values) string {
	return func(_ plainCell, v engine.Values) string {
		if v[name] == 1 {
			return yes
		}
		return no
	}
}

var views = []view{
	{"columns", func(c plainCell, _ engine.Values) string { return fmt.Sprintf("d = %d", c.columns) }},
	{"placement and gap", func(c plainCell, _ engine.Values) string {
		if c.placement == one || c.placement == many {
			return string(c.placement)
		}
		return fmt.Sprintf("%s, %g", c.placement, c.gap)
	}},
	{"clusters", func(_ plainCell, v engine.Values) string { return fmt.Sprintf("k = %2.0f", v[trueK]) }},
	{"standard deviations", either(scaled, "1 and 20", "1")},
	{"weights", either(uneven, "unequal", "equal")},
	{"shapes", either(ellipsoids, "ellipsoids", "spheres")},
	{"columns' units", either(mapped, "linear map", "units of their own")},
	{"relation", either(addRemove, "add/remove one", "replace one")},
}

// doubtful: a release that gives its number of components less doubts it, and names another.
const doubtful = .8

// clustersSummary writes how often each contender is right, and has the number of components, by
// everything that was drawn.
func clustersSummary(p *engine.Page, r *results) {
	all := engine.Table{Head: []string{"method", "right", "k exact", "no model", "k exact of those said to be at .95 or more", "wrong, no flag", "and k said at .8 or more", "s per fit"}}
	for _, by := range r.Contenders() {
		var runs []engine.Result
		none, quiet, unsaid, sures, right := 0, 0, 0, 0, 0
		for _, l := range r.By(by) {
			runs = append(runs, l.First()...)
		}
		for _, run := range runs {
			switch {
			case run.Why != "":
				none++
				continue
			case !run.Success && run.Values[warned] == 0:
				if quiet++; run.Values[sure] >= doubtful {
					unsaid++
				}
			}
			if run.Values[sure] >= .95 {
				sures, right = sures+1, right+int(run.Values[exact])
			}
		}
		all.Add(by, engine.Rate(engine.Count(runs), len(runs)), engine.Rate(engine.Total(runs, exact), len(runs)), none, fmt.Sprintf("%d/%d", right, sures), quiet, unsaid, engine.Seconds(runs))
	}
	p.Table(all)
	for _, v := range views {
		p.Heading("By " + v.name)
		p.Table(v.table(r))
	}
}

// table counts the runs that are right, and those with the right number, for each contender.
func (v view) table(r *results) engine.Table {
	runs := map[string]map[string][]engine.Result{}
	var order []string
	for _, l := range r.Lines {
		for _, run := range l.First() {
			key := v.of(l.Cell.plain, run.Values)
			if runs[key] == nil {
				runs[key] = map[string][]engine.Result{}
				order = append(order, key)
			}
			runs[key][l.By] = append(runs[key][l.By], run)
		}
	}
	if v.name == "clusters" {
		slices.Sort(order)
	}
	t := engine.Table{Head: []string{v.name}}
	for _, by := range r.Contenders() {
		t.Head = append(t.Head, by+": right", "k exact")
	}
	for _, key := range order {
		row := []any{key}
		for _, by := range r.Contenders() {
			of := runs[key][by]
			row = append(row, fmt.Sprintf("%d/%d", engine.Count(of), len(of)), engine.Total(of, exact))
		}
		t.Add(row...)
	}
	return t
}
