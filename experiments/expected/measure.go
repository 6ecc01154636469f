// Package expected measures the errors that `gauze plan` expects of the methods for one
// distribution and of mixtures, and writes them into the table that is embedded in
// estimate/catalog: some 45 minutes of CPU time. An experiment is a method, whose lines in the
// table are replaced, the others stay. A part of a method is printed and not written.
package expected

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/experiments/engine"
)

type (
	results = engine.Results[setting]
	line    = engine.Line[setting]
)

// Names of values.
const (
	covariance      = "covariance"
	mean            = "mean"
	plainCovariance = "sample_covariance" // without privacy, of the same rows
	plainMean       = "sample_mean"
)

// Study is the study.
var Study = &engine.Study[setting]{
	Name: "expected", About: "no page: the table of expected errors that `gauze plan` prints from",
	Seed: 1, Experiments: experiments(), Keep: keep,
}

func experiments() (out []engine.Experiment[setting]) {
	for _, e := range entries {
		out = append(out, engine.Experiment[setting]{Name: e.method, Title: e.method, About: "the lines of the table", Lines: e.lines, Runs: 1})
	}
	return out
}

func (e entry) lines(engine.Options) (out []*line, note string) {
	for _, s := range e.mixtureSettings() {
		out = append(out, s.mixtureLine())
	}
	if out != nil {
		return out, ""
	}
	settings, err := e.settings()
	if err != nil {
		panic(err) // the list of methods is fixed
	}
	for _, s := range settings {
		runs := runsAt(s.columns)
		if e.mostRuns > 0 {
			runs = min(runs, e.mostRuns)
		}
		out = append(out, s.line(runs))
	}
	return out, ""
}

// params are what a line's names do not say.
type params struct {
	Budget float64 `json:"mu"`
}

// line returns the line of a setting: draw, fit, measure.
func (s setting) line(runs int) *line {
	return &line{Cell: s, Name: s.cell(), By: s.Method, Rows: s.rows, Runs: runs, Params: params{s.mu},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			d := s.draw(seed)
			sample, err := d.population.Draw(seed, n)
			if err != nil {
				return engine.Outcome{}, err
			}
			fitted, err := engine.Fit(ctx, sample.Rows, s.request(d.facts))
			out := engine.Outcome{Seconds: fitted.Seconds, Why: fitted.Why, Values: engine.Values{}}
			if err != nil || fitted.Foreground == nil {
				return out, err
			}
			g := fitted.Foreground.Components[0]
			e := sample.Truth.Errors(g.Mean, g.Cov.Factor())
			out.Success = true
			out.Values = engine.Values{covariance: e.Covariance, mean: e.Mean, plainCovariance: sample.CovarianceError, plainMean: sample.MeanError}
			return out, nil
		}}
}

// point returns a number of rows of a line, with the medians of its runs.
func point(l *line, n int) catalog.ErrorPoint {
	if l.Cell.components > 0 {
		return mixturePoint(l, n)
	}
	s, runs := l.Cell, l.Results[n]
	median := func(name string) float64 { return engine.Median(engine.Pick(runs, name)) }
	return catalog.ErrorPoint{
		Kind: s.Kind, Columns: s.columns, Rows: n, Mu: s.mu, Released: engine.Count(runs), Runs: len(runs),
		Errors: catalog.Errors{Covariance: median(covariance), Mean: median(mean), PlainCovariance: median(plainCovariance), PlainMean: median(plainMean)},
	}
}

// points returns all points of an experiment.
func points(r *results) (out []catalog.ErrorPoint) {
	for _, l := range r.Lines {
		for _, n := range l.Ran() {
			out = append(out, point(l, n))
		}
	}
	return out
}

// table is what the measurements are for.
var table = filepath.Join("estimate", "catalog", "measured.csv")

// keep writes the points of a whole method into the table, and prints those of a part of it.
func keep(r *results) error {
	if !r.Options.Whole() {
		_, err := fmt.Fprint(r.Options.Stdout, format(points(r)))
		return err
	}
	return replace(table, r.Experiment.Name, points(r))
}

// replace writes a table in which the lines of a method are replaced. The methods are in the order
// of entries.
func replace(name, method string, points []catalog.ErrorPoint) error {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(text) > 0 {
		old, err := catalog.ParseErrorTable(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		points = append(slices.DeleteFunc(old.Points(), func(p catalog.ErrorPoint) bool { return p.Method == method }), points...)
	}
	place := func(p catalog.ErrorPoint) int {
		return slices.IndexFunc(entries, func(e entry) bool { return e.method == p.Method })
	}
	slices.SortStableFunc(points, func(a, b catalog.ErrorPoint) int { return place(a) - place(b) })
	return os.WriteFile(name, []byte(format(points)), 0o666)
}
