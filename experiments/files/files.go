// Package files fits real tables, the CSV files of a folder, and compares the default with one
// private Gaussian with the same budget.
package files

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

type (
	results = engine.Results[table]
	line    = engine.Line[table]
)

// A table is the rows of a file; NaN is what is no number.
type table [][]float64

// Names of values.
const (
	score      = "nats"           // per held-out row of the default
	gauss      = "one_gaussian"   // of `--components 1`
	under      = "below_one"      // by how much the default's are less
	underMost  = "below_one_most" // the same without the least likely rows of either
	nobodys    = "nobody"         // components that no row is near
	background = "background"     // weight of what is no component
	found      = "k"
	meanOff    = "mean_off"     // the largest error of a mean, in standard deviations of the column
	ratioOff   = "sd_ratio_off" // the largest |ratio - 1| of standard deviations
)

const (
	fileRuns = 6
	// mostTraining rows are fitted: with more, a study of all files would take an hour.
	mostTraining = 30_000
	// A row is near a component within nearSDs of its standard deviations.
	nearSDs = 3.0
	// leastLikely is the part of the held-out rows left out of underMost: one row far out can rule
	// a mean of logarithms.
	leastLikely = .001
	// unseenRows/mu rows are too few to be seen, and a column whose standard deviation falls by a
	// part of fewRule without those farthest out is theirs: it is left out of errors.
	unseenRows, fewRule = 10, .2
)

// Study is the study of the default on tables as they are.
var Study = &engine.Study[table]{
	Name: "files", About: "all CSV files of a folder, in the place of experiments: the default beside one private Gaussian",
	Seed: 1, Custom: custom,
	Lead: func(r *results) string {
		return fmt.Sprintf("Delta = %g; nothing else is said, and at most %s rows are fitted. Nats are those per held-out row, in columns that vary, standardised; every "+
			"component is widened by what rounding would give (a twelfth of the squared least difference of values). *Below one*: by how much they are less than those "+
			"of `--components 1` with the same budget on the same rows; the largest of the runs, and the largest without the least likely thousandth of the rows of each. *Nobody*: components, "+
			"background apart, with no row within %g of their standard deviations, of all.", r.Options.Budget.Delta, engine.Rows(mostTraining), nearSDs)
	},
	Columns: []engine.Column{
		{Head: "released", Show: func(runs []engine.Result) any { return engine.Rate(engine.Count(runs), len(runs)) }},
		quantile("nats", score, .5), quantile("least", score, 0), quantile("one private Gaussian", gauss, .5), quantile("least", gauss, 0),
		quantile("below one, most", under, 1), quantile("most rows", underMost, 1),
		{Head: "nobody", Show: func(runs []engine.Result) any {
			return engine.Rate(engine.Total(runs, nobodys), engine.Total(runs, found))
		}},
		{Head: "k", Show: func(runs []engine.Result) any { return engine.Range(engine.Pick(runs, found)) }},
		quantile("background", background, .5), quantile("mean off", meanOff, .5), quantile("sd off", ratioOff, .5),
		{Head: "s per fit", Show: func(runs []engine.Result) any { return engine.Seconds(runs) }},
	},
	Printed: []string{score, gauss, under, underMost, nobodys, found, background, meanOff, ratioOff},
}

// quantile returns a column of a value, with two digits.
func quantile(head, value string, q float64) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any {
		if v := engine.Quantile(engine.Pick(runs, value), q); !math.IsNaN(v) {
			return fmt.Sprintf("%.2f", v)
		}
		return "-"
	}}
}

// read returns the files of folders, or the files named, with their tables.
func read(names []string) (all []string, tables []table, err error) {
	if all, err = engine.ListCSV(names); err != nil {
		return nil, nil, err
	}
	tables = make([]table, len(all))
	for i, name := range all {
		if tables[i], err = engine.ReadCSV(name); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, tables, nil
}

// custom returns an experiment on the files of folders, or on the files named.
func custom(names []string) (e engine.Experiment[table], err error) {
	all, tables, err := read(names)
	return engine.Experiment[table]{Name: filepath.Base(names[0]), Title: "The default on tables as they are", Runs: fileRuns,
		About: "Random splits, four fifths of the rows for the fit.",
		Lines: func(o engine.Options) (out []*line, note string) {
			for i, name := range all {
				for _, epsilon := range []float64{.5, 1, 3, 10} {
					out = append(out, tables[i].line(o, engine.Base(name), epsilon))
				}
			}
			return out, ""
		}}, err
}

// split returns a random sample of n rows for a fit, and a quarter as many to judge it by.
func (t table) split(n int, seed uint64) (train, test *mat.Dense) {
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(t))
	n = min(n, len(t)*4/5)
	return t.pick(order[:n]), t.pick(order[n:min(len(t), n+(n+3)/4)])
}

func (t table) pick(rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), len(t[0]), nil)
	for i, j := range rows {
		out.SetRow(i, t[j])
	}
	return out
}

// line returns a table's line by the default and by one Gaussian.
func (t table) line(o engine.Options, name string, epsilon float64) *line {
	r := gauze.Request{Relation: o.Relation, Budget: privacy.Budget{Epsilon: epsilon, Delta: o.Budget.Delta}}
	return &line{Cell: t, Name: fmt.Sprintf("%s/epsilon=%g", name, epsilon), By: "default", Rows: []int{min(len(t)*4/5, mostTraining)}, Params: r.Budget,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			train, test := t.split(n, seed)
			out := engine.Outcome{Values: engine.Values{}}
			one := r
			one.Components = 1
			plain, err := engine.Fit(ctx, train, one)
			if err != nil {
				return out, err
			}
			fitted, err := engine.Fit(ctx, train, r)
			if out.Seconds = fitted.Seconds; err != nil || fitted.Foreground == nil {
				out.Note = fitted.Why
				return out, err
			}
			warnings, _, _ := engine.Warnings(fitted.Release)
			out.Note, out.Success = strings.Join(warnings, " | "), true
			return out, judge(out.Values, fitted, plain, train, test, int(unseenRows/privacy.MuOf(epsilon, r.Budget.Delta)))
		}}
}

// judge fills in the values of a fit, compared with those of one Gaussian.
func judge(out engine.Values, fitted, plain engine.Fitted, train, test *mat.Dense, unseen int) error {
	s := scaleOf(train)
	out[found], out[background], out[nobodys] = float64(fitted.Foreground.K()), fitted.Background, s.nobody(fitted.Release, train)
	ours, err := s.densities(fitted.Release.Model, test)
	if err != nil {
		return err
	}
	out[score] = stat.Mean(ours, nil)
	if plain.Release != nil {
		theirs, err := s.densities(plain.Release.Model, test)
		if err != nil {
			return err
		}
		out[gauss] = stat.Mean(theirs, nil)
		out[under], out[underMost] = out[gauss]-out[score], likely(theirs)-likely(ours)
	}
	compare(out, fitted.Release.Model, train, unseen)
	return nil
}

// likely returns the mean without the least values.
func likely(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return stat.Mean(v[int(math.Ceil(leastLikely*float64(len(v)))):], nil)
}

// complete returns the complete rows, by column.
func complete(rows *mat.Dense) [][]float64 {
	n, d := rows.Dims()
	cols := make([][]float64, d)
	for i := range n {
		row := rows.RawRowView(i)
		if slices.ContainsFunc(row, math.IsNaN) {
			continue
		}
		for j, x := range row {
			cols[j] = append(cols[j], x)
		}
	}
	return cols
}

// compare fills in how far the model's moments are from those of the rows that it was fitted to.
func compare(out engine.Values, m *model.Mixture, train *mat.Dense, unseen int) {
	cols := complete(train)
	s := engine.MomentsOf(cols)
	mean, sd, _ := engine.Overall(m)
	out[meanOff], out[ratioOff] = 0, 0
	for a, col := range cols {
		if s.SD[a] > 0 && engine.Without(slices.Sorted(slices.Values(col)), unseen).SD[0] >= (1-fewRule)*s.SD[a] {
			out[meanOff] = math.Max(out[meanOff], math.Abs(mean[a]-s.Mean[a])/s.SD[a])
			out[ratioOff] = math.Max(out[ratioOff], math.Abs(sd[a]/s.SD[a]-1))
		}
	}
}
