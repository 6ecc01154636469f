// Package sampling asks what it costs that large tables are asked through a secret sample first:
// tables are fitted by `general` as people use it, and by the same method with all rows asked for
// everything.
package sampling

import (
	"context"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A cell is a family of tables, with the number of components left open or given. A run draws the
// rest.
type cell struct {
	madeup.Family
	overlap overlap // in place of a family, of large tables
	given   bool
}

// Names of contenders.
const (
	open  = "number open"
	asked = "number given"
)

// tableRows are so many that a sample of one in four is asked in ten columns.
const tableRows = 1_000_000

// mostComponents are allowed where the number is open; more where rows carry them.
const mostComponents = 10

// heldRows judge the models of a run: rows of the same table that nobody has fitted.
const heldRows = 20_000

// mostNats is what one held row may say for one of the two models.
const mostNats = 20.0

// Study is the study. Its tables have fresh seeds in every run.
var Study = &engine.Study[cell]{
	Name: "sampling", About: "what a secret sample asked first costs large tables: errors and time with it and without, on the same rows",
	PassRate: .5,
	Experiments: []engine.Experiment[cell]{
		{Name: "pairs", Title: "Large tables with a sample asked first, and without", Runs: 1, Lines: lines, Summary: summary, About: about + " The times are on the clock."},
		{Name: "large", Title: "Tables of millions of rows with a sample asked first, and without", Runs: 1, Lines: largeLines, Summary: largeSummary, About: about},
	},
	Lead: func(r *results) string {
		if r.Experiment.Name == "large" {
			return largeLead(r)
		}
		return lead(r)
	},
	Legend: "Gain: nats per held row, with the sample over without; median and first decile.",
	Head: func(r *results) []string {
		if r.Experiment.Name == "large" {
			return largeHead
		}
		return []string{"not worse", "gain", "k with, without", "seconds with, without"}
	},
	Describe: func(r *results, l *line, n int) []any {
		if r.Experiment.Name == "large" {
			return largeRow(l.Results[n])
		}
		return row(l.Results[n])
	},
	Shown: []string{gain, gainNoise, lostWith, lostWithout, lostPlain, ratio, withK, withoutK, withTime, withoutTime, passesWith, passes},
	Worth: func(r engine.Result) bool { return !r.Success || r.Experiment == "large" },
}

const about = "A run is a fresh table that is fitted twice, with noise of its own each: by `general`, which asks a secret sample of the rows first, and by the same method when it asks all rows " +
	"for everything. It succeeds if the mean log-likelihood of held rows is at least as good by the model with the sample. Where the sample costs nothing, that is so in half of the runs."

func lines(o engine.Options) (out []*line, note string) {
	for _, f := range madeup.Families() {
		if f.Use != madeup.UseSeveral || f.Rows[1] > 0 {
			continue
		}
		c := cell{Family: f}
		out = append(out, c.line(o, open))
		if f.Kind {
			c.given = true
			out = append(out, c.line(o, asked))
		}
	}
	return out, ""
}

// params is what a line's names stand for.
type params struct {
	Family   string
	Given    bool
	Relation privacy.Relation
	Budget   privacy.Budget
}

func (c cell) line(o engine.Options, by string) *line {
	return &line{Cell: c, Name: c.Name(), By: by, Rows: []int{tableRows}, Params: params{c.Name(), c.given, o.Relation, o.Budget},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			seed = engine.SeedOf(c.Name(), seed)
			return c.pair(ctx, o, n, seed)
		}}
}

// Names of values: the gain in nats per held row; where the truth is a mixture, the total
// variation from it with the sample over that without.
const (
	gain        = "gain"
	ratio       = "tv_ratio"
	columns     = "columns"
	withK       = "k_with"
	withoutK    = "k_without"
	withTime    = "seconds_with" // of wall time; other runs share the machine
	withoutTime = "seconds_without"
)

// pair draws a table and fits it with and without a sample.
func (c cell) pair(ctx context.Context, o engine.Options, n int, seed uint64) (engine.Outcome, error) {
	drawn := c.Draw(seed, n)
	_, d := drawn.Rows.Dims()
	table, components, truth := protect(drawn.Rows, o.Relation), drawn.Components, drawn.Truth
	drawn = nil
	if !c.given {
		components = 0
	}
	out := engine.Outcome{Values: engine.Values{columns: float64(d)}}
	var models [2]*model.Mixture
	for i, m := range methods() {
		start := time.Now()
		got, err := fit(ctx, m, table, o, n, d, components)
		if err != nil {
			return out, err
		}
		took := engine.Since(start)
		out.Seconds += took
		if models[i] = got.Mixture; models[i] == nil {
			out.Why = "no model"
			continue
		}
		out.Values[[...]string{withTime, withoutTime}[i]] = took
		out.Values[[...]string{withK, withoutK}[i]] = float64(models[i].K())
	}
	if models[0] == nil || models[1] == nil {
		out.Success = models[1] == nil
		return out, nil
	}
	err := judge(out.Values, &out.Success, c.Again(seed, heldRows).Rows, models, truth)
	return out, err
}

// judge compares two models, the first of them with a sample, on held rows.
func judge(v engine.Values, better *bool, held *mat.Dense, models [2]*model.Mixture, truth *model.Mixture) error {
	mean, _, err := nats(held, models[0], models[1])
	if err != nil {
		return err
	}
	v[gain], *better = mean, mean >= 0
	if truth == nil {
		return nil
	}
	var away [2]float64
	for i, m := range models {
		if away[i], err = madeup.TotalVariation(truth, m, heldRows); err != nil {
			return err
		}
	}
	v[ratio] = away[0] / away[1]
	return nil
}
