package reduction

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/ppe"
	"github.com/gauze-dp/gauze/model"
)

// all are the learners, the default one first.
var allLearners = []string{byEM, bySpectral, byMoments}

// start is a number of rows of the grid from which a search begins, near what the restatement
// found.
type start struct {
	k, d, n int
	sep     float64
}

func (s start) cell(which ...string) cell { return must(newCell(s.k, s.d, s.n, s.sep, which...)) }

// smallest searches for the numbers of rows.
var smallest = experiment{
	name: "smallest", title: "The smallest sufficient n",
	about: "The smallest n of a grid with steps of 2^(1/2) at which at least nine of ten runs are successes, 18 of 20 unless the command says otherwise, with each " +
		"learner. A search leaves a number of rows as soon as too many runs have failed, and goes at most a factor of 4 from where it began.",
	cells: func() []cell {
		var out []cell
		for _, s := range []start{{1, 5, 11_300, 0}, {2, 5, 90_500, 6}, {3, 2, 45_300, 6}, {3, 5, 181_000, 6}, {5, 2, 128_000, 6}, {2, 2, 90_500, 4}} {
			out = append(out, s.cell())
		}
		for _, s := range []start{{1, 1, 4000, 0}, {1, 2, 5660, 0}, {2, 1, 22_600, 6}, {2, 2, 32_000, 6}, {2, 2, 32_000, 8}} {
			c := s.cell()
			c.learners = allLearners
			if s.k == 1 { // all of them are the sample's moments
				c.learners = allLearners[:1]
			}
			out = append(out, c)
		}
		return out
	},
	search: true, runs: usualRuns,
	summary: func(p *engine.Page, r *results) {
		leasts(p, r)
		constants(p, r.Options.Budget, r)
	},
}

// overlapping asks for components that overlap, which takes many rows; a few runs.
var overlapping = experiment{
	name: "overlapping", title: "Components that overlap",
	about: "Two components at a Mahalanobis distance of 3.",
	cells: func() []cell {
		c, d := must(newCell(2, 1, 256_000, 3)), must(newCell(2, 2, 256_000, 3))
		d.rows = append(d.rows, 512_000)
		return []cell{c, d}
	},
	runs: 6,
}

// printed runs the thesis' reduction where it succeeds.
var printed = experiment{
	name: "printed", title: "The reduction as printed",
	about: "The smallest n, as on the page of smallest ones, for the thesis' reduction with its errata mended and its masks calibrated numerically, at values of ε that are " +
		"large enough. It releases one block's estimate, masked. Spectral blocks are much cheaper than EM's at these numbers of rows.",
	cells: func() []cell {
		var cells []cell
		for _, l := range []struct {
			start
			epsilon float64
			learner string
		}{
			{start{1, 1, 128_000, 0}, 20, byEM}, {start{1, 2, 362_000, 0}, 20, byEM}, {start{2, 1, 1_020_000, 6}, 20, bySpectral}, {start{1, 1, 4_100_000, 0}, 5, byEM},
		} {
			c := l.cell()
			c.name = fmt.Sprintf("%s/eps=%g", c.name, l.epsilon)
			c.epsilon, c.goal, c.methods, c.learners = l.epsilon, out, []string{literal}, []string{l.learner}
			cells = append(cells, c)
		}
		return cells
	},
	search: true, runs: 10,
	summary: func(p *engine.Page, r *results) {
		leasts(p, r)
		for _, epsilon := range []float64{5, 20} {
			constants(p, privacy.Budget{Epsilon: epsilon, Delta: r.Options.Budget.Delta}, nil)
		}
	},
}

// leasts is the table of a search.
func leasts(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"problem", "method", "smallest n", "`gauze plan` says"}}
	for _, l := range r.Lines {
		t.Add(l.Name, l.By, l.LeastText(), planned(r.Options, l))
	}
	p.Table(t)
}

// planned is the number of rows that the method says it needs.
func planned(o engine.Options, l *line) string {
	by, c := contenderNamed(l.By), l.Cell
	request := c.request(o, by.method, by.learner)
	request.Columns = gauze.Named(model.DefaultColumns(c.spec.Columns)...)
	stated, err := gauze.Plan(request, slices.Max(l.Ran()))
	if err != nil || stated.Expect.RowsNeeded == 0 {
		return "-"
	}
	return "about " + power(stated.Expect.RowsNeeded)
}

// constants sets the rows that the reduction needs by its own constants beside those of tight ones,
// and beside what the practical one needed.
func constants(p *engine.Page, b privacy.Budget, r *results) {
	t := engine.Table{Head: []string{"k", "d", "with the printed constants", "with tight masks", "practical, measured at separation 6"}}
	for _, at := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {1, 5}, {2, 5}, {3, 5}, {5, 2}, {5, 10}} {
		k, d := at[0], at[1]
		measured := "-"
		if r != nil {
			measured = leastOf(r, k, d)
		}
		printed, tight := ppe.RowsNeeded(k, d, b.Epsilon, b.Delta)
		t.Add(k, d, power(printed), power(tight), measured)
	}
	p.Heading(fmt.Sprintf("Rows that the printed reduction needs, ε = %g, δ = %g", b.Epsilon, b.Delta))
	p.Text("Computed, not measured: the rows at which estimates of its blocks would agree to within the radius that its mask hides. Tight masks are those of the " +
		"restatement, calibrated numerically.")
	p.Table(t)
}

// leastOf is what EM needed for k components of d columns.
func leastOf(r *results, k, d int) string {
	for _, l := range r.Lines {
		c := l.Cell
		if c.spec.Components == k && c.spec.Columns == d && (c.spec.Separation == 6 || k == 1) && l.By == (contender{blackBox, byEM}).name() && c.epsilon == 0 {
			return l.LeastText()
		}
	}
	return "-"
}

// power writes a number of rows to two digits.
func power(rows float64) string {
	if rows < 1e7 {
		unit := math.Pow(10, math.Floor(math.Log10(rows))-1)
		return engine.Rows(int(math.Round(rows/unit) * unit))
	}
	return fmt.Sprintf("%.1e", rows)
}
