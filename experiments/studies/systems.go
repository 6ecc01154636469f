package studies

import (
	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
)

// used are the methods that people use and the learners of black boxes, each with a table that it
// can do.
var used = []task{
	{method: "auto", k: 2, d: 3, gap: 8, rows: 10_000, epsilon: 1},
	{method: "gaussian", k: 1, d: 3, rows: 5000, epsilon: 1},
	{method: "heavy-tailed", k: 1, d: 3, rows: 10_000, epsilon: 1},
	{method: "univariate", k: 3, d: 1, gap: 6, rows: 5000, epsilon: 1},
	{method: "axis-aligned", k: 2, d: 3, gap: 12, rows: 10_000, epsilon: 1},
	{method: "axis-aligned", k: 2, d: 2, gap: 4, rows: 10_000, epsilon: 1, known: true},
	{method: "separated", k: 3, d: 3, gap: 10, rows: 20_000, epsilon: 1},
	{method: "general", k: 2, d: 2, gap: 4, rows: 20_000, epsilon: 1},
	{method: "black-box", k: 2, d: 2, gap: 8, rows: 60_000, epsilon: 1, learner: "em"},
	{method: "black-box", k: 2, d: 2, gap: 8, rows: 60_000, epsilon: 1, learner: "spectral"},
	{method: "black-box", k: 2, d: 2, gap: 8, rows: 60_000, epsilon: 1, learner: "pearson-lines"},
	{method: "black-box", k: 2, d: 2, gap: 8, rows: 240_000, epsilon: 1, learner: "moitra-valiant"},
	{method: "separated:sample-aggregate", k: 2, d: 2, gap: 80, rows: 60_000, epsilon: 10, learner: "vempala-wang"},
}

// systems returns all that a source describes and all for practical use, each once.
func systems() []task { return append(append([]task(nil), tasks...), used...) }

// eachSystem returns the cells of the experiment of systems: practical constants, and printed ones
// if there are some.
func eachSystem(t task) []cell {
	out := []cell{t.cell(t.epsilon, t.own(false), t.rows)}
	if t.learner == "" && t.published() {
		out = append(out, t.cell(t.epsilon, t.own(true), t.rows))
	}
	return out
}

// source returns the source of a method.
func (t task) source() string {
	for _, m := range gauze.Methods().All() {
		if m.Name() == t.method {
			return m.Source()
		}
	}
	return "-"
}

func systemsTable(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"source", "method", "k", "d", "n", "ε", "practical", "printed"}}
	for _, x := range systems() {
		name := x.cell(x.epsilon, contender{}).name
		first := r.Of(name, practical)
		if first == nil {
			continue
		}
		method := x.method
		switch {
		case x.learner != "":
			method += " --learner " + x.learner
		case x.known && x.rival == "":
			method += " --known-covariance"
		}
		printed := told(r.Of(name, asPublished))
		if x.rival == "" {
			printed = "-" // people's methods and learners have one set of constants
		}
		t.Add(x.source(), method, x.k, x.d, engine.Rows(x.rows), x.epsilon, told(first), printed)
	}
	p.Text("What a run of each released and its total variation to the truth, or why there is none: the methods that sources print, the methods that people use, and the learners of black boxes.")
	p.Table(t)
}
