// Package sampling asks what it costs that large tables are asked through a secret sample first:
// tables are fitted by `general` as people use it, and by the same method with all rows asked for
// everything.
package sampling

import (
	"context"
	"errors"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/general"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/internal/problems/families"
	"github.com/gauze-dp/gauze/kernel"
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
	families.Family
	given bool
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
	Experiments: []engine.Experiment[cell]{{Name: "pairs", Title: "Large tables with a sample asked first, and without", Runs: 1, Lines: lines, Summary: summary,
		About: "A run is a fresh table that is fitted twice, with noise of its own each: by `general`, which asks a secret sample of the rows first, and by the same method when it asks all rows " +
			"for everything. It succeeds if the mean log-likelihood of held rows is at least as good by the model with the sample. Where the sample costs nothing, that is so in half of the runs."}},
	Lead: lead, Legend: "Gain: nats per held row, with the sample over without; median and first decile. k counts the components of a background too, eight as a rule.",
	Head: func(*results) []string {
		return []string{"not worse", "gain", "k with, without", "seconds with, without"}
	},
	Describe: describe,
	Shown:    []string{gain, ratio, withK, withoutK, withTime, withoutTime},
	Worth:    func(r engine.Result) bool { return !r.Success },
}

func lines(o engine.Options) (out []*line, note string) {
	for _, f := range families.All() {
		if f.Use != families.Several || f.Rows[1] > 0 {
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
	b := kernel.NewBuilder(d)
	for i := range n {
		b.Append(drawn.Rows.RawRowView(i))
	}
	table, components, truth := b.Protect(o.Relation), drawn.Components, drawn.Truth
	drawn = nil
	if !c.given {
		components = 0
	}
	method := general.New(program.OneGaussian{Estimator: gaussian.New(), Steps: gaussian.Steps, FitAllotment: gaussian.FitAllotment})
	all := method
	all.Enough = math.Inf(1)
	out := engine.Outcome{Values: engine.Values{columns: float64(d)}}
	var models [2]*model.Mixture
	for i, m := range []general.Estimator{method, all} {
		start := time.Now()
		got, err := fit(ctx, m, table, o, n, d, components)
		var refusal *estimate.Refusal
		if err != nil && !errors.As(err, &refusal) {
			return out, err
		}
		took := engine.Since(start)
		out.Seconds += took
		if models[i] = got.Model; got.Model == nil {
			out.Why = "no model"
			continue
		}
		out.Values[[...]string{withTime, withoutTime}[i]] = took
		out.Values[[...]string{withK, withoutK}[i]] = float64(got.Model.K())
	}
	if models[0] == nil || models[1] == nil {
		out.Success = models[1] == nil
		return out, nil
	}
	err := judge(out.Values, &out.Success, c.Again(seed, heldRows).Rows, models, truth)
	return out, err
}

// fit fits a table of n rows and d columns.
func fit(ctx context.Context, m general.Estimator, table *kernel.Table, o engine.Options, n, d, components int) (estimate.Outcome, error) {
	total, err := privacy.Calibrate(o.Budget, privacy.Needs{})
	if err != nil {
		return estimate.Outcome{}, err
	}
	p := estimate.Problem{Columns: d, Rows: n, Relation: o.Relation, Mu: total.Mu, Components: components, MaxComponents: mostComponents, MoreComponents: true}
	plan, err := m.Plan(p)
	if err != nil {
		return estimate.Outcome{}, err
	}
	s, err := kernel.Open(ctx, table, plan, kernel.Terms{Relation: o.Relation, Budget: o.Budget})
	if err != nil {
		return estimate.Outcome{}, err
	}
	return m.Fit(ctx, s, p)
}

// judge compares two models, the first of them with a sample, on held rows.
func judge(v engine.Values, better *bool, held *mat.Dense, models [2]*model.Mixture, truth *model.Mixture) error {
	with, err := model.NewScorer(models[0])
	if err != nil {
		return err
	}
	without, err := model.NewScorer(models[1])
	if err != nil {
		return err
	}
	n, _ := held.Dims()
	sum := 0.0
	for i := range n {
		x := held.RawRowView(i)
		if nats := with.LogDensity(x) - without.LogDensity(x); !math.IsNaN(nats) {
			sum += math.Max(-mostNats, math.Min(nats, mostNats))
		}
	}
	v[gain] = sum / float64(n)
	*better = sum >= 0
	if truth == nil {
		return nil
	}
	var away [2]float64
	for i, m := range models {
		if away[i], err = problems.TotalVariation(truth, m, heldRows); err != nil {
			return err
		}
	}
	v[ratio] = away[0] / away[1]
	return nil
}
