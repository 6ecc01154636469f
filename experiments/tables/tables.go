// Package tables scores private fits of real tables: of every CSV file named, random splits, a fit
// of the raw training columns with fresh noise, and the mean log-likelihood of the held-out rows in
// nats per row, on columns standardised by the training part.
package tables

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
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
	score = "score"
	plain = "gaussian_without_privacy"
	found = "k"
)

const splits = 4

// Study is the study.
var Study = &engine.Study[table]{
	Name: "tables", About: "real tables, as CSV files in the place of experiments: likelihood of held-out rows",
	Seed: 1, Custom: custom,
	Head: func(*results) []string {
		return []string{"released", "nats per held-out row", "least", "most", "one Gaussian without privacy", "k", "s per fit"}
	},
	Describe: func(_ *results, l *line, n int) []any {
		runs := l.Results[n]
		v := engine.Pick(runs, score)
		return []any{engine.Rate(engine.Count(runs), len(runs)), nats(engine.Mean(v)), nats(engine.Quantile(v, 0)), nats(engine.Quantile(v, 1)),
			nats(engine.Mean(engine.Pick(runs, plain))), engine.Range(engine.Pick(runs, found)), engine.Seconds(runs)}
	},
	Shown: []string{score, plain, found},
}

func nats(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// custom is an experiment on files.
func custom(files []string) (engine.Experiment[table], error) {
	all := make([]table, len(files))
	for i, name := range files {
		var err error
		if all[i], err = read(name); err != nil {
			return engine.Experiment[table]{}, err
		}
	}
	return engine.Experiment[table]{Name: strings.Join(files, " "), Title: "Real tables", Runs: splits,
		About: "Random splits, four fifths of the rows for the fit; the number of components is left to the method.",
		Lines: func(o engine.Options) (out []*line, note string) {
			methods := o.Methods
			if methods == nil {
				methods = []string{"auto"}
			}
			for i, name := range files {
				for _, m := range methods {
					out = append(out, all[i].line(o, filepath.Base(name), m))
				}
			}
			return out, ""
		}}, nil
}

// line is a table by a method.
func (t table) line(o engine.Options, name, method string) *line {
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Force: true, Method: method}
	return &line{Cell: t, Name: name, By: method, Rows: []int{len(t) * 4 / 5}, Params: r.Budget,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			train, test := t.split(n, seed)
			fitted, err := engine.Fit(ctx, train, r)
			out := engine.Outcome{Seconds: fitted.Seconds, Why: fitted.Why, Values: engine.Values{}}
			if err != nil || fitted.Foreground == nil {
				return out, err
			}
			reference, err := gaussian(train)
			if err != nil {
				return out, err
			}
			out.Success, out.Values[found] = true, float64(fitted.Foreground.K())
			if out.Values[plain], err = likelihood(reference, train, test); err != nil {
				return out, err
			}
			out.Values[score], err = likelihood(fitted.Release.Model, train, test)
			return out, err
		}}
}

func (t table) pick(rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), len(t[0]), nil)
	for i, j := range rows {
		out.SetRow(i, t[j])
	}
	return out
}

// likelihood is that of the complete test rows.
func likelihood(m *model.Mixture, train, test *mat.Dense) (float64, error) {
	s, err := model.NewScorer(m)
	if err != nil {
		return 0, err
	}
	n, d := test.Dims()
	logSD := 0.0
	for j := range d {
		numbers := slices.DeleteFunc(mat.Col(nil, j, train), math.IsNaN)
		if v := stat.PopVariance(numbers, nil); v > 0 {
			logSD += math.Log(v) / 2
		}
	}
	total, complete := 0.0, 0.0
	for i := range n {
		if row := test.RawRowView(i); !slices.ContainsFunc(row, math.IsNaN) {
			total += s.LogDensity(row)
			complete++
		}
	}
	return total/complete + logSD, nil
}

// gaussian is the non-private Gaussian of the complete rows.
func gaussian(rows *mat.Dense) (*model.Mixture, error) {
	n, d := rows.Dims()
	complete := table{}
	for i := range n {
		if row := rows.RawRowView(i); !slices.ContainsFunc(row, math.IsNaN) {
			complete = append(complete, row)
		}
	}
	part := mat.NewDense(len(complete), d, slices.Concat(complete...))
	var cov mat.SymDense
	stat.CovarianceMatrix(&cov, part, nil)
	mean := make([]float64, d)
	for j := range mean {
		mean[j] = stat.Mean(mat.Col(nil, j, part), nil)
	}
	full, err := model.NewFull(&cov)
	if err != nil {
		return nil, err
	}
	return model.New(nil, nil, []model.Gaussian{{Mean: mean, Cov: full}})
}

// read keeps the columns that hold numbers, without label and id.
func read(name string) (table, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil {
		return nil, err
	}
	head, lines := lines[0], lines[1:]
	out := make(table, len(lines))
	for j, column := range head {
		values, numbers := make([]float64, len(lines)), 0
		for i, l := range lines {
			if values[i], err = strconv.ParseFloat(l[j], 64); err == nil {
				numbers++
			} else {
				values[i] = math.NaN()
			}
		}
		if column != "label" && column != "id" && numbers*2 > len(lines) {
			for i, v := range values {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}
