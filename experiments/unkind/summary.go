package unkind

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

func lead(r *results) string {
	return fmt.Sprintf("ε = %g, δ = %g, both relations in turn, n log-uniform between %s and %s; every run draws the parameters of its table anew. Verdicts: "+
		"*fine*, the model is right, whatever it says of itself; *flagged*, it is not right and says something that is no routine; *refused* on public facts, for "+
		"free; *exit 3*, no release after spending, where an answer exists (n·μ of at least %d per column, and component of a mixture; and there are moments), and "+
		"*hopeless* the same where none does; *silent wrong*, released, not right, nothing said. What counts as right stands in "+
		"[verdict.go](../../../experiments/unkind/verdict.go).", r.Options.Budget.Epsilon, r.Options.Budget.Delta, engine.Rows(fewestRows), engine.Rows(mostRows), answerRows)
}

// perVerdict returns the columns of the table of all runs.
func perVerdict() (out []engine.Column) {
	for _, v := range verdicts {
		out = append(out, engine.Column{Head: v, Show: func(runs []engine.Result) any { return count(runs, v) }})
	}
	return append(out, engine.Column{Head: "s per fit", Show: func(runs []engine.Result) any { return engine.Seconds(runs) }})
}

// count returns "" for none, so that a table of many zeros can be read.
func count(runs []engine.Result, verdict string) string {
	if n := engine.Total(runs, verdict); n > 0 {
		return fmt.Sprint(n)
	}
	return ""
}

// summary writes method by verdict, family by verdict, and the warnings.
func summary(p *engine.Page, r *results) {
	p.Heading("By method")
	p.Table(table(r, "method", true, func(l *line) string { return l.By }))
	strictTable(p, r)
	p.Heading("By family")
	p.Table(table(r, "family", false, func(l *line) string { return l.Name }))
	p.Heading("What was said")
	p.Text("Every flag, numbers as N, with the number of fits that were fine and of others that carry it.")
	p.Table(flagTable(r))
}

// runsOf returns all runs of some lines.
func runsOf(r *results, of func(*line) bool) (runs []engine.Result) {
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			if of(l) {
				runs = append(runs, l.Results[n]...)
			}
		}
	}
	return runs
}

// table counts verdicts by what key says of lines. rates adds those of the two that must be rare.
func table(r *results, name string, rates bool, key func(*line) string) engine.Table {
	t := engine.Table{Head: append([]string{name, "fits"}, verdicts...)}
	t.Head = append(t.Head, flaggedOK, farOff)
	if rates {
		t.Head = append(t.Head, "silent wrong", "exit 3 where an answer exists")
	}
	add := func(name string, runs []engine.Result) {
		row := []any{name, len(runs)}
		for _, v := range verdicts {
			row = append(row, count(runs, v))
		}
		both, far, answers := 0, 0, 0
		for _, run := range runs {
			if run.Values[fine] == 1 && run.Values[spoke] == 1 {
				both++
			}
			if v := run.Values; v[flagged] == 1 && (v[meanError] > 1 || v[ratio] < .1 || v[ratio] > 10) {
				far++
			}
			if run.Values[hopeless] == 0 && run.Values[refused] == 0 {
				answers++
			}
		}
		row = append(row, both, far)
		if rates {
			row = append(row, engine.Rate(engine.Total(runs, silent), len(runs)), engine.Rate(engine.Total(runs, exit3), answers))
		}
		t.Add(row...)
	}
	for _, k := range r.Distinct(key) {
		add(k, runsOf(r, func(l *line) bool { return key(l) == k }))
	}
	add("all", runsOf(r, func(*line) bool { return true }))
	if rates {
		add("all but kind families", runsOf(r, func(l *line) bool { return !l.Cell.kind() }))
		add("kind families", runsOf(r, func(l *line) bool { return l.Cell.kind() }))
	}
	return t
}

var number = regexp.MustCompile(`[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?`)

// flagTable counts flags.
func flagTable(r *results) engine.Table {
	type tally struct {
		text         string
		fine, others int
	}
	all := map[string]*tally{}
	for _, run := range runsOf(r, func(*line) bool { return true }) {
		_, flags, _ := strings.Cut(run.Note, flagMark)
		for _, f := range strings.Split(flags, flagBetween) {
			if f = number.ReplaceAllString(f, "N"); f == "" {
				continue
			}
			if all[f] == nil {
				all[f] = &tally{text: f}
			}
			if run.Values[fine] == 1 {
				all[f].fine++
			} else {
				all[f].others++
			}
		}
	}
	var list []*tally
	for _, t := range all {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.fine+b.others, a.fine+a.others), strings.Compare(a.text, b.text))
	})
	t := engine.Table{Head: []string{"flag", "fine", "others"}}
	for _, f := range list {
		t.Add(f.text, f.fine, f.others)
	}
	return t
}
