package papers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/model"
)

// tasks are tables that the methods can do, by what their packages' tests and pages say of them.
var tasks = []task{
	{method: "gaussian:coinpress", k: 1, d: 2, rows: 5000, epsilon: 1, told: true, rival: "gaussian"},
	{method: "univariate:kv18", k: 1, d: 1, rows: 5000, epsilon: 4, rival: "gaussian"},
	{method: "heavy-tailed:paper", k: 1, d: 2, rows: 100_000, epsilon: 4, told: true, rival: "heavy-tailed"},
	{method: "gaussian:kmssu22", k: 1, d: 2, rows: 50_000, epsilon: 10, rival: "gaussian"},
	{method: "separated:paper", k: 2, d: 3, gap: 40, rows: 30_000, epsilon: 3, told: true, rival: "separated"},
	{method: "separated:warm-up", k: 2, d: 3, gap: 40, rows: 30_000, epsilon: 3, told: true, rival: "separated"},
	{method: "separated:sample-aggregate", k: 2, d: 3, gap: 20, rows: 60_000, epsilon: 3, rival: "separated"},
	{method: "univariate:aal21", k: 2, d: 1, gap: 10, rows: 5000, epsilon: 4, rival: "univariate"},
	{method: "axis-aligned:aal21", k: 1, d: 2, rows: 5000, epsilon: 4, rival: "axis-aligned"},
	{method: "general:aal21", k: 1, d: 2, rows: 20_000, epsilon: 4, rival: "gaussian"},
	{method: "univariate:amn24", k: 2, d: 1, gap: 10, rows: 10_000, epsilon: 10, rival: "univariate"},
	{method: "general:amn24", k: 1, d: 1, rows: 2000, epsilon: 4, told: true, rival: "general"},
	{method: "gaussian:ppe-line", k: 1, d: 1, rows: 200_000, epsilon: 20, known: true, rival: "gaussian"},
	{method: "black-box:paper", k: 1, d: 1, rows: 200_000, epsilon: 20, rival: "black-box"},
}

// budgetsTried and timesTried are how much a fit gets in the experiment of more: epsilons, and rows
// as multiples of the task's.
var (
	budgetsTried = []float64{10, 1e3, 1e6}
	timesTried   = []int{1, 4, 16}
	ratesTried   = []int{1, 2, 4, 8}
)

// onConstants are the lines of the experiment of constants.
func onConstants(o engine.Options) (out []*line, note string) {
	for _, t := range tasks {
		if o.Methods != nil && !slices.Contains(o.Methods, t.method) {
			continue
		}
		out = append(out, cell{t, t.epsilon, false}.line(t.rows))
		if !t.published() {
			continue
		}
		for _, epsilon := range slices.Compact([]float64{1, t.epsilon, 1e6}) {
			out = append(out, cell{t, epsilon, true}.line(t.rows))
		}
	}
	return out, ""
}

// budgets are the lines of the experiment of more.
func budgets(o engine.Options) (out []*line, note string) {
	for _, t := range tasks {
		if o.Methods != nil && !slices.Contains(o.Methods, t.method) {
			continue
		}
		for _, epsilon := range budgetsTried {
			out = append(out, cell{t, epsilon, false}.line(t.rows))
		}
		more := cell{t, t.epsilon, false}
		for _, times := range timesTried {
			if rows := times * t.rows; rows <= mostRows {
				l := more.line(rows)
				l.Name += fmt.Sprintf("/rows=%s", engine.Rows(rows))
				out = append(out, l)
			}
		}
	}
	return out, ""
}

// published says that the method has constants of its source.
func (t task) published() bool {
	_, _, err := gauze.Methods().Asked(t.method, estimate.Problem{Printed: true})
	return err == nil
}

// mostRows keeps an experiment within an hour.
const mostRows = 1_000_000

// describe sums up the runs of a line.
func describe(_ *results, l *line, n int) []any {
	runs := l.Results[n]
	tv := engine.Pick(runs, variation)
	return []any{fmt.Sprintf("%d/%d", len(tv), len(runs)), fmt.Sprintf("%d/%d", engine.Count(runs), len(runs)), engine.Spread(tv), engine.Seconds(runs)}
}

// told says what became of a line's runs: released models and their distance, or in a word why
// there is none; the page has the whole of it below.
func told(l *line) string {
	if l == nil {
		return "-"
	}
	runs := l.Results[l.Ran()[0]]
	tv := engine.Pick(runs, variation)
	if len(tv) > 0 {
		return fmt.Sprintf("runs: %d/%d, TV %s", len(tv), len(runs), engine.Spread(tv))
	}
	why, refused := strings.CutPrefix(runs[0].Why, "refused: ")
	why = strings.TrimPrefix(why, "no release: ")
	for _, end := range []string{": ", " (", ", "} {
		why, _, _ = strings.Cut(why, end)
	}
	if refused {
		return "refused: " + why
	}
	return "no release: " + why
}

// outcomes is the summary of the experiment of constants.
func outcomes(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"method", "k", "d", "n", "ε", "practical", "printed", "printed, ε = 1", "printed, ε = 10⁶"}}
	for _, x := range tasks {
		of := func(epsilon float64, printed bool) string {
			c := cell{x, epsilon, printed}
			return told(r.Of(c.String(), c.constants()))
		}
		if first := of(x.epsilon, false); first != "-" {
			t.Add(x.title(), x.k, x.d, engine.Rows(x.rows), x.epsilon, first, of(x.epsilon, true), of(1, true), of(1e6, true))
		}
	}
	p.Text("Released models of all runs with their total variation (median, ninth decile), or why there is none.")
	p.Table(t)
}

// trends is the summary of the experiment of more.
func trends(p *engine.Page, r *results) {
	head := []string{"method", "k", "d", "n"}
	for _, epsilon := range budgetsTried {
		head = append(head, fmt.Sprintf("ε = %g", epsilon))
	}
	for _, times := range timesTried {
		head = append(head, fmt.Sprintf("%d n", times))
	}
	t := engine.Table{Head: head}
	for _, x := range tasks {
		row := []any{x.title(), x.k, x.d, engine.Rows(x.rows)}
		for _, epsilon := range budgetsTried {
			c := cell{x, epsilon, false}
			row = append(row, told(r.Of(c.String(), c.constants())))
		}
		c := cell{x, x.epsilon, false}
		for _, times := range timesTried {
			row = append(row, told(r.Of(c.String()+"/rows="+engine.Rows(times*x.rows), c.constants())))
		}
		if row[4] != "-" {
			t.Add(row...)
		}
	}
	p.Text("Columns of ε: at n rows. Columns of n: at the method's own ε on the page of constants.")
	p.Table(t)
}

// rates are the lines of the experiment of rates.
func rates(o engine.Options) (out []*line, note string) {
	for _, t := range tasks {
		if o.Methods != nil && !slices.Contains(o.Methods, t.method) {
			continue
		}
		var rows []int
		for _, times := range ratesTried {
			rows = append(rows, min(times*t.rows, mostRows))
		}
		rows = slices.Compact(rows)
		out = append(out, cell{t, t.epsilon, false}.line(rows...))
		own := t.practical()
		l := cell{own, t.epsilon, false}.line(rows...)
		l.Name, l.By = cell{t, t.epsilon, false}.String(), "in use"
		out = append(out, l)
	}
	return out, ""
}

// practical is the task of the method that people use.
func (t task) practical() task {
	t.method, t.learner, t.told, t.known = t.rival, "", false, false
	return t
}

// slope is the exponent of a line's total variation in n.
func slope(l *line) string {
	var n, tv []float64
	for _, rows := range l.Ran() {
		n, tv = append(n, float64(rows)), append(tv, engine.Median(engine.Pick(l.Results[rows], variation)))
	}
	return engine.Slope(engine.LogLogSlope(n, tv))
}

// plenty is a number of rows that no method refuses as too few.
const plenty = 1e15

// needed is what a plan says of the rows that a cell's method needs.
func (c cell) needed() string {
	r := c.request()
	r.Columns = gauze.Named(model.DefaultColumns(c.d)...)
	s, err := gauze.Plan(r, plenty)
	switch {
	case err != nil:
		return refused(err.Error())
	case s.Expect.RowsNeeded == 0:
		return "-"
	}
	return fmt.Sprintf("%.2g", s.Expect.RowsNeeded)
}

// onPrinted is needed on the printed constants.
func (t task) onPrinted() string {
	if !t.published() {
		return "-"
	}
	return cell{t, t.epsilon, true}.needed()
}

// exponents is the summary of the experiment of rates.
func exponents(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"statement", "method", "k", "d", "ε", "rows proved, for an error α", "TV in n, measured", "in use: measured",
		"rows, printed constants", "rows, practical", "rows, in use"}}
	for _, x := range tasks {
		own := cell{x, x.epsilon, false}
		l := r.Of(own.String(), own.constants())
		if l == nil {
			continue
		}
		t.Add(statements[x.method], x.title(), x.k, x.d, x.epsilon, statements[x.method].rate, slope(l), slope(r.Of(own.String(), "in use")), x.onPrinted(), own.needed(),
			cell{x.practical(), x.epsilon, false}.needed())
	}
	p.Text("Exponents are those of the median total variation in n, with their standard errors, over the numbers of rows below: where rows of order 1/α² rule it is −.5, where 1/α does −1. What is proved is told as the source's page in `papers` has it, without constants and logarithms; w is the least weight, ρ = μ²/2, κ and u " +
		"the condition number and its bound. Rows are what `gauze plan` says " +
		"that the method needs for what it promises, on its constants and on those printed; the last column is the method that people use.")
	p.Table(t)
}
