package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
)

// name is that of the experiment in results files.
const name = "expected"

// Names of values.
const (
	covariance      = "covariance"
	mean            = "mean"
	plainCovariance = "sample_covariance" // without privacy, of the same rows
	plainMean       = "sample_mean"
)

// measure makes all runs of a method and returns its part of the table. A method that the catalog
// does not have has none.
func (e entry) measure(ctx context.Context, o options, progress *harness.Progress) ([]expected.Point, error) {
	settings, err := e.settings(o.columns)
	var unknown *catalog.UnknownError
	if errors.As(err, &unknown) {
		fmt.Fprintln(os.Stderr, e.method+": not in the catalog, not measured")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	store, err := harness.OpenStore(filepath.Join(o.results, strings.ReplaceAll(e.method, ":", "-")+".jsonl"), o.resume)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	runner := harness.NewRunner(o.workers, store)
	runner.Each = progress.Run
	defer progress.End()
	progress.Cells(len(settings))
	var points []expected.Point
	for _, s := range settings {
		runs := runsAt(s.columns)
		if e.mostRuns > 0 {
			runs = min(runs, e.mostRuns)
		}
		if o.runs > 0 {
			runs = o.runs
		}
		var trials []harness.Trial
		for i := range runs {
			trials = append(trials, s.trial(o.seed+uint64(i)))
		}
		results, err := runner.Run(ctx, trials, -1)
		if err != nil {
			return nil, err
		}
		progress.Cell()
		points = append(points, s.point(results))
	}
	return points, store.Close()
}

// params are what a cell's name does not say.
type params struct {
	Population problems.Population `json:"population"`
	Budget     float64             `json:"mu"`
}

// trial is one run: draw, fit, measure.
func (s setting) trial(seed uint64) harness.Trial {
	d := s.draw(seed)
	return harness.Trial{
		Key:    harness.Key{Experiment: name, Cell: s.cell(), Method: s.Method, N: s.rows, Seed: seed},
		Params: params{d.population, s.mu},
		Run: func(ctx context.Context) (harness.Outcome, error) {
			sample, err := d.population.Draw(seed, s.rows)
			if err != nil {
				return harness.Outcome{}, err
			}
			fitted, err := harness.Fit(ctx, sample.Rows, s.request(d.facts), time.Now)
			var fault *gauze.RunError
			if errors.As(err, &fault) && ctx.Err() == nil {
				fitted.Why, err = fault.Error(), nil // a run without a model
			}
			out := harness.Outcome{Seconds: fitted.Seconds, Why: fitted.Why, Values: harness.Values{}}
			if err != nil || fitted.Foreground == nil {
				return out, err
			}
			g := fitted.Foreground.Components[0]
			e := sample.Truth.Errors(g.Mean, g.Cov.Factor())
			out.Success = true
			out.Values = harness.Values{covariance: e.Covariance, mean: e.Mean, plainCovariance: sample.CovarianceError, plainMean: sample.MeanError}
			return out, nil
		},
	}
}

// point is the setting with the medians of its runs.
func (s setting) point(results []harness.Result) expected.Point {
	median := func(name string) float64 { return harness.Median(harness.Pick(results, name)) }
	return expected.Point{
		Kind: s.Kind, Columns: s.columns, Rows: s.rows, Mu: s.mu, Released: harness.Count(results), Runs: len(results),
		Errors: expected.Errors{Covariance: median(covariance), Mean: median(mean), PlainCovariance: median(plainCovariance), PlainMean: median(plainMean)},
	}
}
