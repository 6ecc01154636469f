package reduction

import (
	"fmt"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// open runs the learners alone.
var open = experiment{
	name: "learners", title: "The learners without privacy",
	about: "Every learner alone on all rows, on the problems of Section C of the restatement and beside scikit-learn's GaussianMixture (one start by k-means, columns " +
		"divided by their standard deviations first). A success is a dist_PARAM below .3 from the truth. What the restatement measured, with a prototype, is beside it: " +
		"the median of dist_PARAM (the part that is below .3).",
	cells: openCells,
	open:  true, runs: 5,
	summary: stated,
}

// An openLine is a problem of the learners with what the restatement measured.
type openLine struct {
	learner string
	k, d, n int
	sep     float64
	change  string
	stated  string
}

// openLines are those of Sections C2 and C3.
var openLines = []openLine{
	{byMoments, 2, 1, 1000, 6, "", ".11 (.9)"}, {byMoments, 2, 1, 10_000, 6, "", ".021 (1)"}, {byMoments, 2, 1, 100_000, 6, "", ".015 (1)"},
	{byMoments, 2, 1, 10_000, 3, "", ".048 (1)"}, {byMoments, 2, 1, 100_000, 3, "", ".019 (1)"},
	{byMoments, 2, 2, 1000, 6, "", ".16 (.9)"}, {byMoments, 2, 2, 10_000, 6, "", ".045 (1)"}, {byMoments, 2, 2, 100_000, 6, "", ".017 (1)"},
	{byMoments, 2, 2, 10_000, 3, "", ".079 (1)"}, {byMoments, 2, 2, 100_000, 3, "", ".028 (1)"}, {byMoments, 2, 2, 10_000, 6, "pancakes", ".037 (1)"},
	{byMoments, 2, 5, 10_000, 6, "", ".38 (.4)"}, {byMoments, 2, 5, 100_000, 6, "", ".057 (1)"},
	{byMoments, 2, 2, 10_000, 0, "equal", ".47 (.17)"}, {byMoments, 2, 2, 100_000, 0, "equal", ".21 (1)"},
	{byMoments, 3, 2, 2000, 6, "", ".14 (1)"}, {byMoments, 3, 2, 20_000, 6, "", ".038 (1)"}, {byMoments, 3, 2, 100_000, 6, "", ".020 (1)"},
	{byMoments, 3, 5, 20_000, 6, "", ".64 (0)"}, {byMoments, 4, 2, 20_000, 6, "", ".053 (1)"},
	{bySpectral, 3, 2, 2000, 6, "", ".124 (1)"}, {bySpectral, 3, 2, 20_000, 6, "", ".044 (1)"},
	{bySpectral, 4, 20, 1000, 8.5, "spherical", "1.7"}, {bySpectral, 4, 20, 10_000, 8.5, "spherical", ".43"},
	{bySpectral, 4, 20, 10_000, 10, "", ".49"}, {bySpectral, 2, 2, 10_000, 6, "pancakes", "9.2 (0)"},
}

// openCells are the problems, each with EM and scikit-learn, and those of the other learners that
// have a line of their own or take no time.
func openCells() []cell {
	const longTable, wideTable = 20_000, 5
	var out []cell
	at := map[string]int{}
	for _, l := range openLines {
		c := l.cell()
		i, known := at[c.name]
		if !known {
			i = len(out)
			at[c.name] = i
			c.learners = nil
			out = append(out, c)
		}
		out[i].learners = append(out[i].learners, l.learner)
	}
	for i, c := range out {
		if c.rows[0] <= longTable && c.spec.Columns <= wideTable {
			out[i].learners = []string{bySpectral, byMoments}
		}
		out[i].learners = append([]string{byEM}, out[i].learners...)
		if engine.HasScikit() {
			out[i].learners = append(out[i].learners, byScikit)
		}
	}
	return out
}

// cell has its number of rows in its name, since what was measured is of one number of rows.
func (l openLine) cell() cell {
	var which []string
	if l.change != "" {
		which = []string{l.change}
	}
	c := must(newCell(l.k, l.d, l.n, l.sep, which...))
	c.goal = alike
	c.name += "/n=" + engine.Rows(l.n)
	return c
}

// stated sets what was measured beside what the restatement did.
func stated(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"problem", "learner", "dist_PARAM: median (part below .3)", "restatement"}}
	for _, want := range openLines {
		l := r.Of(want.cell().name, want.learner)
		if l != nil {
			for _, n := range l.Ran() {
				runs := l.Results[n]
				t.Add(l.Name, l.By, fmt.Sprintf("%s (%.2g)", engine.Number(medianDistance(runs)), float64(engine.Count(runs))/float64(len(runs))), want.stated)
			}
		}
	}
	p.Table(t)
}

// medianDistance counts what failed as infinitely far.
func medianDistance(runs []engine.Result) float64 {
	return engine.Median(orInfinite(runs, parameters))
}
