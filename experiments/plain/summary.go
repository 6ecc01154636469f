package plain

import (
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/experiments/engine"
)

func lead(r *results) string {
	return fmt.Sprintf("ε = %g, δ = %g; n = %s, from %d columns on %s. Every run draws an instance anew: the number of clusters (2 to %d; as many as that n·μ is %d for each column of each: in 8 columns to %d, in 20 to %d, in 30 to %d; *many* is 6 to %d with as many rows as they need), spheres or "+
		"ellipsoids of condition number 10, standard deviations all 1 or some 20, weights equal or up to 1:4, columns in units of their own from .01 to 1000 or a "+
		"random linear map of condition number 100, the relation. Gaps are of the closest two, in half the sum of their standard deviations; *nested* are pairs that are 30 gaps apart. "+
		"Right is a total variation of at most .08 (up to five clusters in three columns), rising with k·d·(d+3)/n to .35 (five in 20 columns); *k exact* counts components that are not background.",
		r.Options.Budget.Epsilon, r.Options.Budget.Delta, engine.Rows(usualRows), wide,
		engine.Rows(wideRows), mostClusters, answerRows, cell{columns: 8}.most(), cell{columns: 20}.most(), cell{columns: 30}.most(), mostClusters)
}

func describe(_ *results, l *line, n int) []any {
	runs := l.Results[n]
	var ratios, off []float64
	for _, run := range runs {
		ratios = append(ratios, run.Values[variation]/run.Values[limit])
		off = append(off, run.Values[found]-run.Values[truth])
	}
	none := 0
	for _, run := range runs {
		if run.Why != "" {
			none++
		}
	}
	return []any{fmt.Sprintf("%d/%d", engine.Count(runs), len(runs)), fmt.Sprintf("%d/%d", engine.Total(runs, exact), len(runs)), engine.Med(runs, variation),
		engine.Spread(ratios), engine.Range(off), none, engine.Seconds(runs)}
}

// A view is a way to sort runs.
type view struct {
	name   string
	of     func(c cell, v engine.Values) string
	sorted bool
}

func either(name, yes, no string) func(cell, engine.Values) string {
	return func(_ cell, v engine.Values) string {
		if v[name] == 1 {
			return yes
		}
		return no
	}
}

var views = []view{
	{"columns", func(c cell, _ engine.Values) string { return fmt.Sprintf("d = %d", c.columns) }, false},
	{"placement and gap", func(c cell, _ engine.Values) string {
		if c.placement == one || c.placement == many {
			return string(c.placement)
		}
		return fmt.Sprintf("%s, %g", c.placement, c.gap)
	}, false},
	{"clusters", func(_ cell, v engine.Values) string { return fmt.Sprintf("k = %2.0f", v[truth]) }, true},
	{"standard deviations", either(scaled, "1 and 20", "1"), true},
	{"weights", either(uneven, "unequal", "equal"), true},
	{"shapes", either(ellipsoids, "ellipsoids", "spheres"), true},
	{"columns' units", either(mapped, "linear map", "units of their own"), true},
	{"relation", either(addRemove, "add/remove one", "replace one"), true},
}

// summary is how often each contender is right, and has the number of components, by all that was
// drawn.
func summary(p *engine.Page, r *results) {
	all := engine.Table{Head: []string{"method", "right", "k exact", "no model", "wrong and nothing said", "TV over limit", "s per fit"}}
	for _, by := range r.Contenders() {
		var runs []engine.Result
		none, quiet := 0, 0
		var ratios []float64
		for _, l := range r.By(by) {
			runs = append(runs, l.First()...)
		}
		for _, run := range runs {
			switch {
			case run.Why != "":
				none++
			case !run.Success && run.Values[warned] == 0:
				quiet++
			}
			ratios = append(ratios, run.Values[variation]/run.Values[limit])
		}
		all.Add(by, engine.Rate(engine.Count(runs), len(runs)), engine.Rate(engine.Total(runs, exact), len(runs)), none, quiet, engine.Spread(ratios), engine.Seconds(runs))
	}
	p.Table(all)
	for _, v := range views {
		p.Heading("By " + v.name)
		p.Table(v.table(r))
	}
}

// table counts the runs that are right, and those with the right number, for each contender.
func (v view) table(r *results) engine.Table {
	type tally struct{ runs, right, exact int }
	count := map[string]map[string]*tally{}
	var order []string
	for _, l := range r.Lines {
		for _, run := range l.First() {
			key := v.of(l.Cell, run.Values)
			if count[key] == nil {
				count[key] = map[string]*tally{}
				order = append(order, key)
			}
			if count[key][l.By] == nil {
				count[key][l.By] = &tally{}
			}
			t := count[key][l.By]
			t.runs++
			t.right += int(number(run.Success))
			t.exact += int(run.Values[exact])
		}
	}
	if v.sorted {
		slices.Sort(order)
	}
	t := engine.Table{Head: []string{v.name}}
	for _, by := range r.Contenders() {
		t.Head = append(t.Head, by+": right", "k exact")
	}
	for _, key := range order {
		row := []any{key}
		for _, by := range r.Contenders() {
			if c := count[key][by]; c != nil {
				row = append(row, fmt.Sprintf("%d/%d", c.right, c.runs), fmt.Sprintf("%d", c.exact))
			} else {
				row = append(row, "", "")
			}
		}
		t.Add(row...)
	}
	return t
}
