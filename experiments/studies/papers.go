package studies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// A task is a table that a method can do: k spheres of standard deviation 1 in d columns, each gap
// from the next along a random line, at so many rows and so large an epsilon.
type task struct {
	method  string
	k, d    int
	gap     float64
	rows    int
	epsilon float64
	// told: true bounds are stated, for methods that need them.
	told bool
	// known: the covariance is.
	known   bool
	rival   string // the method that people use
	learner string // of a black box
}

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

// wider are tables of the method whose rate depends most on components and columns, for the rates
// alone.
var wider = []task{
	{method: "general:amn24", k: 2, d: 1, gap: 5, rows: 4000, epsilon: 4, told: true, rival: "general"},
	{method: "general:amn24", k: 1, d: 2, rows: 4000, epsilon: 4, told: true, rival: "general"},
}

// nearBar is the total variation up to which a run is a success: a guess of what "learned" means.
const nearBar = .25

// Contenders of the papers' studies.
const practical, asPublished, inUse = "practical", "printed", "in use"

// papers are the methods as papers print them.
var papers = &study{
	Name: "papers", About: "methods as papers print them: what runs on which constants, and at which rate",
	PassRate: .9,
	Experiments: []experiment{
		{Name: "printed", Title: "The papers' methods on their constants", Runs: 5, Lines: ofTasks(literals, onConstants), Summary: outcomes,
			About: "Every method that runs what a paper prints, at the ε and n of a table that it can do, on the constants that work and on those that the paper prints; " +
				"and on the latter at ε = 1 and 10⁶ beside."},
		{Name: "systems", Title: "All systems, a run of each", Runs: 1, Lines: ofTasks(systems, eachSystem), Summary: systemsTable,
			About: "Every method that runs what a source prints, every method that people use and every learner, each on a table that it can do."},
		{Name: "rates", Title: "Rates proved and measured", Runs: 10, Lines: ofTasks(rated, rates), Summary: exponents,
			About: "The same tables at 1, 2, 4 and 8 times the rows, by the paper's method on practical constants and by the one that people use."},
	},
	Lead: func(*results) string {
		return fmt.Sprintf("δ = 1e-6, replace-one. The table of a method: k spheres of standard deviation 1 in d columns, each `gap` from the next along a random line; a success is a total variation of "+
			"at most %g. Bounds that hold are stated where the method asks for some: the mean, the eigenvalues, moments of the fourth order, the least weight.", nearBar)
	},
	Columns: []engine.Column{models, succeeded, spread("TV (90 %)", variation), seconds},
	Printed: []string{variation, found},
}

// ofTasks returns the lines of the tasks' cells, for the methods that are asked for.
func ofTasks(of func() []task, cells func(task) []cell) func(engine.Options) ([]*line, string) {
	return func(o engine.Options) ([]*line, string) {
		asked := o.Methods
		o.Methods = nil
		return lines(func() (out []cell) {
			for _, t := range of() {
				if asked == nil || slices.Contains(asked, t.method) {
					out = append(out, cells(t)...)
				}
			}
			return out
		}, mixture(false, within(nearBar)))(o)
	}
}

// literals returns the tasks of the methods that sources print.
func literals() []task { return tasks }

// rated returns the tasks whose rates are measured.
func rated() []task { return slices.Concat(tasks, wider) }

// cell returns a task at an epsilon.
func (t task) cell(epsilon float64, by contender, rows ...int) cell {
	c := cell{name: fmt.Sprintf("%s/k=%d/d=%d/eps=%g", t.method, t.k, t.d, epsilon), law: fmt.Sprintf("%+v", t), d: t.d, k: t.k, rows: rows, by: []contender{by}, task: t, x: epsilon,
		draw: func(seed uint64, n int) (table, error) { return ofMixture(t.draw(engine.SeedOf(t.method, seed), n)) }}
	c.ask = gauze.Request{Budget: privacy.Budget{Epsilon: epsilon, Delta: 1e-6}, Components: t.k, Learner: t.learner}
	if t.learner != "" {
		c.name += "/" + t.learner
	}
	if t.known {
		if t.rival == "" {
			c.name += "/known"
		}
		c.ask.KnownCovariance = make([][]float64, t.d)
		for i := range t.d {
			c.ask.KnownCovariance[i] = make([]float64, t.d)
			c.ask.KnownCovariance[i][i] = 1
		}
	}
	if t.told {
		c.ask.Facts = estimate.Facts{KnowsMean: true, MeanWithin: t.gap*float64(t.k) + 1, Eigenvalues: [2]float64{.5, 2}}
		if t.k > 1 {
			c.ask.Facts.LeastWeight = .5 / float64(t.k)
		} else {
			c.ask.Facts.Moments = 4
		}
	}
	return c
}

// own and rivals are the contenders of a task.
func (t task) own(printed bool) contender {
	if printed {
		return contender{name: asPublished, method: t.method, printed: true, told: true}
	}
	return contender{name: practical, method: t.method, told: true}
}

// published says that the method has constants of its source.
func (t task) published() bool {
	_, _, err := gauze.Methods().Requested(t.method, estimate.Problem{Printed: true})
	return err == nil
}

func onConstants(t task) []cell {
	out := []cell{t.cell(t.epsilon, t.own(false), t.rows)}
	if t.published() {
		for _, epsilon := range slices.Compact([]float64{1, t.epsilon, 1e6}) {
			out = append(out, t.cell(epsilon, t.own(true), t.rows))
		}
	}
	return out
}

// mostRows keeps an experiment within an hour.
const mostRows = 1_000_000

func rates(t task) []cell {
	var rows []int
	for _, times := range []int{1, 2, 4, 8} {
		rows = append(rows, min(times*t.rows, mostRows))
	}
	c := t.cell(t.epsilon, t.own(false), slices.Compact(rows)...)
	c.by = append(c.by, contender{name: inUse, method: t.rival})
	return []cell{c}
}

// draw draws a truth and its rows.
func (t task) draw(seed uint64, n int) (*madeup.Instance, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	along, length := make([]float64, t.d), 0.
	for length == 0 {
		for j := range along {
			along[j] = rng.NormFloat64()
			length += along[j] * along[j]
		}
	}
	sphere, err := model.NewSpherical(t.d, 1)
	if err != nil {
		return nil, err
	}
	var components []model.Gaussian
	for i := range t.k {
		g := model.Gaussian{Mean: make([]float64, t.d), Cov: sphere}
		for j := range g.Mean {
			g.Mean[j] = t.gap * (float64(i) - float64(t.k-1)/2) * along[j] / math.Sqrt(length)
		}
		components = append(components, g)
	}
	truth, err := model.New(nil, nil, components)
	if err != nil {
		return nil, err
	}
	in := &madeup.Instance{Truth: truth, Rows: mat.NewDense(n, t.d, nil)}
	return in, madeup.Draw(truth, in.Rows, rng)
}

// told describes the results of a line's runs: released models and their distance, or in a word why
// there is none; the page has the details below.
func told(l *line) string {
	if l == nil {
		return "-"
	}
	runs := l.First()
	if tv := engine.Pick(runs, variation); len(tv) > 0 {
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

func outcomes(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"method", "k", "d", "n", "ε", "practical", "printed", "printed, ε = 1", "printed, ε = 10⁶"}}
	for _, x := range tasks {
		of := func(epsilon float64, by string) string { return told(r.Of(x.cell(epsilon, contender{}).name, by)) }
		if first := of(x.epsilon, practical); first != "-" {
			t.Add(x.method, x.k, x.d, engine.Rows(x.rows), x.epsilon, first, of(x.epsilon, asPublished), of(1, asPublished), of(1e6, asPublished))
		}
	}
	p.Text("Released models of all runs with their total variation (median, ninth decile), or why there is none.")
	p.Table(t)
}

// exponent returns the exponent of a line's total variation in n, with its standard error: by
// resampling runs, each at all numbers of rows, since one seed is one truth.
func exponent(l *line) string {
	runs := len(l.First())
	var n []float64
	for _, rows := range l.Ran() {
		n, runs = append(n, float64(rows)), min(runs, len(l.Results[rows]))
	}
	slope := func(chosen []int) float64 {
		var tv []float64
		for _, rows := range l.Ran() {
			var of []engine.Result
			for _, i := range chosen {
				of = append(of, l.Results[rows][i])
			}
			tv = append(tv, engine.Median(engine.Pick(of, variation)))
		}
		b, _ := engine.LogLogSlope(n, tv)
		return b
	}
	return engine.Slope(engine.Bootstrap(runs, slope))
}

// plenty is a number of rows that no method refuses as too few.
const plenty = 1e15

// needed returns the number of rows that a contender needs, by its plan.
func (t task) needed(by contender) string {
	if by.printed && !t.published() {
		return "-"
	}
	r := t.cell(t.epsilon, by).request(engine.Options{Relation: privacy.ReplaceOne}, by)
	r.Columns = gauze.Named(model.DefaultColumns(t.d)...)
	s, err := gauze.Plan(r, plenty)
	switch {
	case err != nil:
		return refused(err.Error())
	case s.Expect.RowsNeeded == 0:
		return "-"
	}
	return fmt.Sprintf("%.2g", s.Expect.RowsNeeded)
}

func exponents(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"statement", "method", "k", "d", "ε", "rows proved, for an error α", "TV in n, measured", "in use: measured",
		"rows, printed constants", "rows, practical", "rows, in use"}}
	for _, x := range rated() {
		name := x.cell(x.epsilon, contender{}).name
		if l := r.Of(name, practical); l != nil {
			t.Add(statements[x.method], x.method, x.k, x.d, x.epsilon, statements[x.method].rate, exponent(l), exponent(r.Of(name, inUse)), x.needed(x.own(true)), x.needed(x.own(false)),
				x.needed(contender{method: x.rival}))
		}
	}
	p.Text("Exponents are those of the median total variation in n over the numbers of rows below, with their standard errors by a bootstrap over runs: where rows of order 1/α² rule it is −.5, where 1/α does −1. What is " +
		"proved is told as the source's page in `papers` has it, without constants and logarithms; w is the least weight, ρ = μ²/2, κ and u the condition number and its bound. Rows are what " +
		"`gauze plan` says that the method needs for what it promises, on its constants and on those printed; the last column is the method that people use.")
	p.Table(t)
}
