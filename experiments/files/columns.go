package files

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// A figure is a part of the looks at columns, or of the components that claim rows: names are those
// of values, which count them in a run. An error of a mean has the number of its look behind it.
type figure struct{ head, name, of string }

var figures = []figure{
	{"sd within 1.3", "within", looks}, {"below half", "half", looks}, {"unsaid", "half_unsaid", looks}, {"above twice", "twice", looks}, {"unsaid", "twice_unsaid", looks},
	{"drawn", "drawn_twice", looks}, {"mean held", "mean_held", looks}, {"sd held", "sd_held", looks}, {"ghosts", "ghosts", claims}, {"unsaid", "ghosts_unsaid", claims},
}

const (
	looks, claims, meanOf = "looks", "claims", "mean"
	withinRule, meanRule  = 1.3, .15
	statedSDs             = 2
	leastClaim, leastHeld = 10, 1. / 3
)

// Columns is the study of what a release says of every column of a table.
var Columns = &engine.Study[table]{
	Name: "columns", About: "what a release says of each column: made-up tables, or the CSV files of a folder",
	Custom: columnsOf,
	Experiments: []engine.Experiment[table]{{Name: "madeup", Title: "What releases say of columns", Runs: 60, Summary: byEpsilon,
		About: "*unkind*: a family of experiments/families, drawn for every table. *generated*: rows of one to five clusters in up to ten columns: plain, money, rounded, codes of 9999 for .5 to 3 % of the rows, zeros, Student's t, " +
			"ages and counts (experiments/files/generated.go).",
		Lines: func(o engine.Options) (out []*line, note string) {
			for _, epsilon := range []float64{.5, 1, 3} {
				for _, n := range []int{3000, 12_000} {
					out = append(out, columnLines(o, fmt.Sprintf("generated/epsilon=%g", epsilon), epsilon, n, generated)...)
				}
				out = append(out, columnLines(o, fmt.Sprintf("unkind/epsilon=%g", epsilon), epsilon, 8000, unkind)...)
			}
			return out, ""
		}}},
	Lead: func(r *results) string {
		return fmt.Sprintf("δ = %g. *Looks* are at columns of releases, where the truth is the mean and sd of all cells of the table; a column whose sd falls by a fifth without the %d/μ rows farthest out, which nothing can see, is none. "+
			"*Mean off* in true sds, the 90 %% quantile. *Unsaid*: no flag names the column, and none says that rows are left out. *Drawn*: with backgrounds of less than %g, which rows drawn from the model have and the report leaves out. "+
			"*Held*: within %d stated noise sds. *Ghosts*: components and backgrounds that claim %d rows or more and hold less than a third of them, by posterior mass; unsaid without a flag of their own.",
			r.Options.Budget.Delta, unseenRows, overall.LeastBackground, statedSDs, leastClaim)
	},
	Columns: columnColumns(),
}

func columnColumns() []engine.Column {
	out := []engine.Column{{Head: "released", Show: func(runs []engine.Result) any { return fmt.Sprintf("%d/%d", engine.Count(runs), len(runs)) }},
		{Head: looks, Show: func(runs []engine.Result) any { return engine.Total(runs, looks) }},
		{Head: "mean off", Show: func(runs []engine.Result) any {
			var all []float64
			for _, r := range runs {
				for i := range int(r.Values[looks]) {
					all = append(all, r.Values[fmt.Sprint(meanOf, i)])
				}
			}
			return fmt.Sprintf("%.3f", engine.Quantile(all, .9))
		}}}
	for _, f := range figures {
		out = append(out, engine.Column{Head: f.head, Show: func(runs []engine.Result) any { return share(engine.Total(runs, f.name), engine.Total(runs, f.of)) }})
	}
	return out
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(of))
}

// columnsOf returns an experiment on files.
func columnsOf(names []string) (e engine.Experiment[table], err error) {
	all, tables, err := read(names)
	return engine.Experiment[table]{Name: filepath.Base(names[0]), Title: "What releases say of the columns of files", Runs: fileRuns, Summary: byEpsilon,
		About: "Four fifths of the rows, drawn at random.",
		Lines: func(o engine.Options) (out []*line, note string) {
			for i, name := range all {
				for _, epsilon := range []float64{.5, 1, 3} {
					out = append(out, columnLines(o, fmt.Sprintf("%s/epsilon=%g", engine.Base(name), epsilon), epsilon, min(mostTraining, len(tables[i])*4/5), func(seed uint64, n int) table {
						train, _ := tables[i].split(n, seed)
						return rowsOf(train)
					})...)
				}
			}
			return out, ""
		}}, err
}

func rowsOf(m *mat.Dense) (out table) {
	n, _ := m.Dims()
	for i := range n {
		out = append(out, m.RawRowView(i))
	}
	return out
}

// columnLines returns the lines of tables by the default, by one Gaussian, and by table one.
func columnLines(o engine.Options, name string, epsilon float64, n int, draw func(seed uint64, n int) table) (out []*line) {
	r := gauze.Request{Relation: o.Relation, Budget: privacy.Budget{Epsilon: epsilon, Delta: o.Budget.Delta}}
	one, profile := r, r
	one.Components, profile.Method = 1, gauze.MethodProfile
	for i, r := range []gauze.Request{r, one, profile} {
		out = append(out, &line{Name: fmt.Sprintf("%s/n=%d", name, n), By: contenders[i], Rows: []int{n}, Params: r.Budget,
			Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
				rows := draw(seed, n)
				m := mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
				fitted, err := engine.Fit(ctx, m, r)
				out := engine.Outcome{Values: engine.Values{}, Seconds: fitted.Seconds, Note: fitted.Why}
				if err != nil || fitted.Release == nil {
					return out, err
				}
				out.Success = true
				out.Note = judgeColumns(out.Values, fitted.Release, m, int(unseenRows/privacy.MuOf(epsilon, r.Budget.Delta)))
				return out, nil
			}})
	}
	return out
}

var contenders = []string{"default", "one Gaussian", "describe"}

// byEpsilon writes the results of all lines together.
func byEpsilon(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"method", "ε"}}
	for _, c := range columnColumns() {
		t.Head = append(t.Head, c.Head)
	}
	for _, by := range contenders {
		for _, epsilon := range []float64{.5, 1, 3, 0} {
			var runs []engine.Result
			for _, l := range r.By(by) {
				if q := l.Params.(privacy.Budget).Epsilon; epsilon == 0 || q == epsilon {
					for _, n := range l.Ran() {
						runs = append(runs, l.Results[n]...)
					}
				}
			}
			row := []any{by, fmt.Sprint(epsilon)}
			if epsilon == 0 {
				row[1] = "all"
			}
			for _, c := range columnColumns() {
				row = append(row, c.Show(runs))
			}
			t.Add(row...)
		}
	}
	p.Heading("All tables")
	p.Table(t)
}

// Moments are what is said of a column: mean and sd, with their noise.
type moments struct{ mean, sd release.Noisy }

// saidOf returns what a release says of columns by name, and the sds of what is drawn from it.
func saidOf(r *release.Release) (said map[string]moments, sd map[string]float64) {
	said, sd = map[string]moments{}, map[string]float64{}
	for _, c := range r.Profile {
		if c.Mean != nil && c.SD != nil {
			said[c.Name], sd[c.Name] = moments{*c.Mean, *c.SD}, c.SD.Value
		}
	}
	if r.Model == nil {
		return said, sd
	}
	_, drawn, _ := engine.Overall(r.Model)
	for j, c := range overall.Of(r).Columns {
		name := r.Model.Columns[j]
		said[name], sd[name] = moments{release.Noisy{Value: c.Mean.Value, Noise: c.Mean.Noise}, release.Noisy{Value: c.SD.Value, Noise: c.SD.Noise}}, drawn[j]
	}
	return said, sd
}

// warned reports that something is said of a column by name, or of rows that are left out; units
// and missing cells are none.
func warned(r *release.Release, name string) bool {
	if r.Model == nil {
		i := slices.IndexFunc(r.Profile, func(c release.ColumnProfile) bool { return c.Name == name })
		return len(r.Profile[i].Notes) > 0 || r.Profile[i].Beyond > 0
	}
	routine := []flags.Code{flags.RecordedUnit, flags.MissingCells, flags.IncompleteRows, flags.Narrow}
	return slices.ContainsFunc(r.Diagnostics.Flags, func(f release.Flag) bool {
		return slices.Contains(f.Columns, name) && !slices.Contains(routine, f.Code) || f.Code == flags.LeftOut && f.Columns == nil
	})
}

// judgeColumns fills in what a release says of a table's columns, and its ghosts; it returns what
// is wrong.
func judgeColumns(out engine.Values, r *release.Release, rows *mat.Dense, unseen int) (wrong string) {
	count := func(name string, is bool) {
		if is {
			out[name]++
		}
	}
	said, sdDrawn := saidOf(r)
	whole := slices.ContainsFunc(r.Diagnostics.Flags, func(f release.Flag) bool { return f.Code == flags.IncompleteRows })
	of := complete(rows)
	for j, name := range model.DefaultColumns(len(of)) {
		cells := of[j]
		if !whole {
			cells = slices.DeleteFunc(mat.Col(nil, j, rows), math.IsNaN)
		}
		says, ok := said[name]
		if count("held_out", !ok); !ok || len(cells) == 0 {
			continue
		}
		s := engine.MomentsOf([][]float64{cells})
		mean, sd := s.Mean[0], s.SD[0]
		if sd == 0 || engine.Without(slices.Sorted(slices.Values(cells)), unseen).SD[0] < (1-fewRule)*sd {
			continue
		}
		quiet, off, ratio := !warned(r, name), math.Abs(says.mean.Value-mean)/sd, says.sd.Value/sd
		out[fmt.Sprint(meanOf, out[looks])] = off
		if ratio > withinRule || ratio < 1/withinRule || off > meanRule {
			wrong += fmt.Sprintf("%s sd x%.3g, mean off %.2g, unsaid %v; ", name, ratio, off, quiet)
		}
		count(looks, true)
		count("within", ratio < withinRule && ratio > 1/withinRule)
		count("half", ratio < .5)
		count("half_unsaid", ratio < .5 && quiet)
		count("twice", !(ratio <= 2))
		count("twice_unsaid", !(ratio <= 2) && quiet)
		count("drawn_twice", !(sdDrawn[name] <= 2*sd))
		count("mean_held", off*sd <= statedSDs*says.mean.Noise)
		count("sd_held", math.Abs(says.sd.Value-sd) <= statedSDs*says.sd.Noise)
	}
	if r.Model != nil && len(r.Model.Columns) == len(of) && len(of[0]) > unseenRows {
		ghostsOf(count, r, rows)
	}
	return wrong
}

// ghostsOf counts components, and those that hold few of the rows that they claim.
func ghostsOf(count func(name string, is bool), r *release.Release, train *mat.Dense) {
	s := scaleOf(train)
	rows := s.rows(train)
	var gs []model.Gaussian
	var base []float64
	for i, g := range r.Model.Components {
		in, err := s.judged(g)
		if err != nil {
			return
		}
		gs, base = append(gs, in), append(base, math.Log(r.Model.Weights[i]))
	}
	held, log := make([]float64, len(gs)), make([]float64, len(gs))
	one := make([]*model.Scorer, len(gs))
	for i, g := range gs {
		m, err := model.New(nil, nil, []model.Gaussian{g})
		if err != nil {
			return
		}
		if one[i], err = model.NewScorer(m); err != nil {
			return
		}
	}
	for _, row := range rows {
		for i := range gs {
			log[i] = base[i] + one[i].LogDensity(row)
		}
		if all := floats.LogSumExp(log); !math.IsInf(all, -1) {
			for i := range gs {
				held[i] += math.Exp(log[i] - all)
			}
		}
	}
	for i, w := range r.Model.Weights {
		if claimed := w * float64(len(rows)); claimed >= leastClaim {
			ghost := held[i] < leastHeld*claimed
			count(claims, true)
			count("ghosts", ghost)
			count("ghosts_unsaid", ghost && (i >= len(r.Diagnostics.Components) || r.Diagnostics.Components[i].Flags == nil))
		}
	}
}
