// Package tableone measures the errors of `gauze describe` on columns as people bring them: of
// missing shares, quantiles, means and standard deviations, by how many cells there are for the
// budget.
package tableone

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

type (
	results = engine.Results[float64] // of an epsilon
	line    = engine.Line[float64]
)

// perTable columns are drawn for each table; runs are those of each line, and fileRuns of a file's.
const perTable, runs, fileRuns = 8, 80, 6

var epsilons = []float64{.5, 1, 3}

// custom returns an experiment on the files of folders, or on the files named: random rows of each,
// as often as there are rows.
func custom(names []string) (e engine.Experiment[float64], err error) {
	all, err := engine.ListCSV(names)
	if err != nil {
		return e, err
	}
	var lines []func(o engine.Options) *line
	for _, name := range all {
		rows, err := engine.ReadCSV(name)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		sizes := []int{500, 2000, 6000, 20_000, 50_000}
		sizes = append(slices.DeleteFunc(sizes, func(n int) bool { return n >= len(rows) }), len(rows))
		for _, epsilon := range epsilons {
			lines = append(lines, func(o engine.Options) *line {
				return lineOf(o, fmt.Sprintf("%s/epsilon=%g", engine.Base(name), epsilon), epsilon, sizes, func(r *rand.Rand, n int) [][]float64 {
					out := make([][]float64, n)
					for i, from := range r.Perm(len(rows))[:n] {
						out[i] = rows[from]
					}
					return out
				})
			})
		}
	}
	return engine.Experiment[float64]{Name: filepath.Base(names[0]), Title: "Table one of files", Runs: fileRuns, Summary: summary,
		About: "The columns of numbers of CSV files, gaps and all: random rows of each, from 500 to all.",
		Lines: func(o engine.Options) (out []*line, note string) {
			for _, l := range lines {
				out = append(out, l(o))
			}
			return out, ""
		}}, nil
}

// Study is the study. Its tables have fresh seeds in every run.
var Study = &engine.Study[float64]{
	Name: "describe", About: "table one of made-up columns: errors by the cells that there are for the budget",
	Experiments: []engine.Experiment[float64]{{
		Name: "columns", Title: "Table one of made-up columns", Runs: runs, Summary: summary,
		About: fmt.Sprintf("Every table has %d columns of families drawn at random (experiments/tableone/families.go), half of them whole and the others with 5 to 98 %% of the cells missing.", perTable),
		Lines: func(o engine.Options) (out []*line, note string) {
			for _, epsilon := range epsilons {
				out = append(out, lineOf(o, fmt.Sprintf("epsilon=%g", epsilon), epsilon, []int{500, 2000, 6000, 20_000, 50_000}, draw))
			}
			return out, ""
		}}},
	Custom: custom,
	Lead: func(r *results) string {
		return fmt.Sprintf("δ = %g, replace-one. x is the number of cells of a column times μ/√(2d). *Missing*: error of the missing share; *rank*: by how much the share below a told quantile differs from what it says; *mean off* in "+
			"standard deviations, of the values within what was seen or of all, whichever is nearer; *sds*: told ones within a factor of 1.3; *covered*: means within twice their noise. *Absurd*: a mean off by 3 sd or an sd off by a factor "+
			"of 3, and by more than twice its own noise. *Invented constants*: more rows differ than is said to be possible.", r.Options.Budget.Delta)
	},
	Columns: append([]engine.Column{{Head: "looks", Show: func(runs []engine.Result) any { return len(all(runs, missing)) }}}, errorColumns(func(of engine.Result, j int) bool { return true })...),
}

// Names of values, each followed by the number of a column.
const (
	strength = "x"
	held     = "held out"
	missing  = "missing"
	rank     = "rank"
	mean     = "mean"
	ratio    = "ratio"
	covered  = "covered"
	absurd   = "absurd"
	invented = "invented"
)

func of(name string, j int) string { return fmt.Sprintf("%s %d", name, j) }

// all returns the values of a name in all columns that have it.
func all(runs []engine.Result, name string) []float64 {
	return chosen(runs, name, func(engine.Result, int) bool { return true })
}

// chosen returns the values of a name in some columns of some runs.
func chosen(runs []engine.Result, name string, which func(engine.Result, int) bool) (out []float64) {
	for _, r := range runs {
		for j := 0; hasColumn(r, j); j++ {
			if v, ok := r.Values[of(name, j)]; ok && which(r, j) {
				out = append(out, v)
			}
		}
	}
	return out
}

func hasColumn(r engine.Result, j int) bool {
	_, ok := r.Values[of(strength, j)]
	return ok
}

// errorColumns returns the errors of some columns.
func errorColumns(which func(engine.Result, int) bool) []engine.Column {
	quantile := func(head, name string, q float64) engine.Column {
		return engine.Column{Head: head, Show: func(runs []engine.Result) any { return digits(engine.Quantile(chosen(runs, name, which), q)) }}
	}
	part := func(head, name string, good func(float64) bool) engine.Column {
		return engine.Column{Head: head, Show: func(runs []engine.Result) any {
			v := chosen(runs, name, which)
			n := 0
			for _, x := range v {
				if good(x) {
					n++
				}
			}
			if len(v) == 0 {
				return "-"
			}
			return digits(float64(n) / float64(len(v)))
		}}
	}
	count := func(head, name string) engine.Column {
		return engine.Column{Head: head, Show: func(runs []engine.Result) any {
			n := 0.0
			for _, x := range chosen(runs, name, which) {
				n += x
			}
			return n
		}}
	}
	is := func(x float64) bool { return x == 1 }
	return []engine.Column{part("held out", held, is), quantile("missing, 95 %", missing, .95), quantile("rank, 95 %", rank, .95), quantile("mean off, 90 %", mean, .9),
		part("sds", ratio, func(x float64) bool { return x < 1.3 && x > 1/1.3 }), part("covered", covered, is), count("absurd", absurd), count("invented constants", invented)}
}

func digits(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

// summary writes the results by x.
func summary(p *engine.Page, r *results) {
	p.Heading("By x")
	ends := []float64{0, 40, 90, 180, 400, math.Inf(1)}
	t := engine.Table{Head: []string{"x", "looks"}}
	for _, c := range errorColumns(nil) {
		t.Head = append(t.Head, c.Head)
	}
	var runs []engine.Result
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			runs = append(runs, l.Results[n]...)
		}
	}
	for i, low := range ends[:len(ends)-1] {
		which := func(r engine.Result, j int) bool { x := r.Values[of(strength, j)]; return x >= low && x < ends[i+1] }
		name := fmt.Sprintf("%g to %g", low, ends[i+1])
		if math.IsInf(ends[i+1], 1) {
			name = fmt.Sprintf("from %g", low)
		}
		row := []any{name, len(chosen(runs, missing, which))}
		for _, c := range errorColumns(which) {
			row = append(row, c.Show(runs))
		}
		t.Add(row...)
	}
	p.Table(t)
}

// lineOf returns a line of tables of several lengths at an epsilon.
func lineOf(o engine.Options, name string, epsilon float64, sizes []int, draw func(r *rand.Rand, n int) [][]float64) *line {
	budget := privacy.Budget{Epsilon: epsilon, Delta: o.Budget.Delta}
	return &line{Cell: epsilon, Name: name, By: "describe", Rows: sizes, Params: budget,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			rows := draw(rng, n)
			d := len(rows[0])
			in, err := gauze.FromRows(rows, gauze.Named(model.DefaultColumns(d)...)...)
			if err != nil {
				return engine.Outcome{}, err
			}
			table, err := in.Load(privacy.ReplaceOne, nil)
			if err != nil {
				return engine.Outcome{}, err
			}
			r := in.Request()
			r.Relation, r.Budget, r.Force = privacy.ReplaceOne, budget, true
			start := time.Now()
			result, err := gauze.Describe(ctx, table, r)
			out := engine.Outcome{Values: engine.Values{}, Seconds: engine.Since(start)}
			var refusal *estimate.Refusal
			if errors.As(err, &refusal) { // for free, where every column would be held out
				out.Why = "refused: " + refusal.Reason
				return out, nil
			}
			if err != nil || result.Release == nil {
				return out, err
			}
			out.Success = true
			for j := range result.Release.Profile {
				x := float64(len(cells(rows, j))) * privacy.MuOf(epsilon, o.Budget.Delta) / math.Sqrt(2*float64(d))
				judge(out.Values, j, x, &result.Release.Profile[j], rows)
			}
			return out, nil
		}}
}

// cells returns the cells of a column, sorted.
func cells(rows [][]float64, j int) (out []float64) {
	for _, row := range rows {
		if row[j] == row[j] {
			out = append(out, row[j])
		}
	}
	slices.Sort(out)
	return out
}

// moments returns mean and sd of the values within two limits.
func moments(x []float64, low, high float64) (mean, sd float64) {
	n := 0.0
	for _, v := range x {
		if v >= low && v <= high {
			n++
			mean += (v - mean) / n
		}
	}
	for _, v := range x {
		if v >= low && v <= high {
			sd += (v - mean) * (v - mean) / n
		}
	}
	return mean, math.Sqrt(sd)
}

// judge fills in the errors of one column.
func judge(out engine.Values, j int, x float64, c *release.ColumnProfile, rows [][]float64) {
	set := func(name string, v float64) { out[of(name, j)] = v }
	one := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	own := cells(rows, j)
	set(strength, x)
	set(held, one(c.HeldOut != ""))
	set(missing, math.Abs(c.Cells-float64(len(own))/float64(len(rows))))
	if c.HeldOut != "" || len(own) == 0 {
		return
	}
	worst, total := 0.0, float64(len(own))
	for _, p := range c.Probabilities() {
		low, _ := slices.BinarySearch(own, c.Quantile(p))
		high, _ := slices.BinarySearch(own, math.Nextafter(c.Quantile(p), math.Inf(1)))
		worst = math.Max(worst, math.Max(float64(low)/total-p, p-float64(high)/total))
	}
	set(rank, worst)
	m, sd := moments(own, math.Inf(-1), math.Inf(1))
	seen, seenSD := moments(own, c.Within[0], c.Within[1])
	if c.SD != nil && c.SD.Value == 0 {
		differ := 0.0
		for _, v := range own {
			differ += one(v != c.Mean.Value)
		}
		set(invented, one(differ/total > c.Beyond+.01))
		return
	}
	wrong := false
	if c.Mean != nil {
		nearest := m
		if math.Abs(c.Mean.Value-seen) < math.Abs(c.Mean.Value-m) {
			nearest = seen
		}
		off, within := math.Abs(c.Mean.Value-nearest)/math.Max(seenSD, 1e-300), math.Abs(c.Mean.Value-nearest) <= 2*c.Mean.Noise
		wrong = off > 3 && !within
		set(mean, off)
		set(covered, one(within))
	}
	if c.SD != nil {
		by, nearest := c.SD.Value/seenSD, seenSD
		if whole := c.SD.Value / sd; math.Abs(math.Log(whole)) < math.Abs(math.Log(by)) {
			by, nearest = whole, sd
		}
		wrong = wrong || (by > 3 || by < 1./3) && math.Abs(c.SD.Value-nearest) > 2*c.SD.Noise
		set(ratio, by)
	}
	set(absurd, one(wrong))
}
