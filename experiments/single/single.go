// Package single measures how methods of gauze fit learn one distribution: how far from the truth
// they end beside what the rows allow without privacy, how many rows they need, and what condition
// numbers, tails, exact rank, atoms and stray rows do to them. The experiments follow the
// restatement [TYLERPRESS], on random distributions that internal/madeup draws.
package single

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	pop  madeup.Population
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// runs, if not 0, takes the place of the experiment's.
	runs int
	// budget and relation, if set, take the place of those asked for.
	budget   privacy.Budget
	relation *privacy.Relation
	// bounds are what is publicly known, for those contenders that are told.
	bounds estimate.Facts
	// lost says which cells are missing, for contenders that keep something of such rows.
	lost loss
	// only, if not nil, are the names of the contenders that are run.
	only []string
	// group, row and column say where the cell stands in a table or a picture of the experiment, x
	// where on its axis.
	group, row, column string
	x                  float64
}

// A contender is a method and how it is asked.
type contender struct {
	name       string // in tables
	method     string // of gauze fit; the estimator's, where that is given
	covariance estimate.CovarianceType
	// estimator, if set, is used instead of the catalog's: a method with other constants.
	estimator estimate.Estimator
	// told: it is given the bounds of the cell.
	told bool
	// keep, if set, is what it gets of rows that have lost cells.
	keep string
	// free is a part of mu^2 that it is given once more, for nothing; the budget is then a rho.
	free float64
}

// practical is the method that the experiments are about.
var practical = contender{name: "gaussian", method: "gaussian"}

// params is what a cell's and a contender's name stand for, as the results keep it.
type params struct {
	madeup.Population
	Method     string         `json:"method"`
	Covariance string         `json:"covariance"`
	Facts      estimate.Facts `json:"facts"`
	Epsilon    float64        `json:"epsilon,omitempty"`
	Delta      float64        `json:"delta,omitempty"`
	Rho        float64        `json:"rho,omitempty"`
	Relation   string         `json:"relation"`
}

// An experiment is a grid of cells, each run several times by every contender.
type experiment struct {
	name, title, about string
	cells              func() []cell
	runs               int
	contenders         []contender // if not nil, in the place of practical
	success            func(engine.Values, cell) bool
	search             bool
	summary            func(*engine.Page, *results)
}

// grid is where the smallest sufficient number of rows is looked for: steps of 2^(1/4), finer than
// the runs can tell.
var grid = engine.GeometricGrid(50, 2e6, 1.189207115002721, func(n float64) float64 {
	if n >= 2000 {
		return 100
	}
	return 10
})

// Study is the study.
var Study = &engine.Study[cell]{
	Name: "single", About: "one distribution: rows needed, errors, condition numbers, heavy tails, exact rank, atoms",
	Seed: 1, PassRate: .85, Grid: grid, Experiments: experiments(),
	Lead: func(r *results) string {
		return fmt.Sprintf("Where nothing else is said: ε = %g, δ = %g, %s, no bounds given, axes random, the mean unknown. The error of a covariance is "+
			"|A⁻¹ Σ̂ A⁻ᵀ - I| in the Frobenius norm for the truth AAᵀ, that of a mean its Mahalanobis distance; × is an error over the non-private rate, "+
			"√(d(d+1)/n) and √(d/n); \"without privacy\" is the sample's own error on the same rows. A false ok is a model with a covariance error above %d×. "+
			"Every run has a distribution, rows and noise of its own.", r.Options.Budget.Epsilon, r.Options.Budget.Delta, r.Options.Relation, falseBar)
	},
	Legend: "Rates with Wilson's 95 % intervals; medians over the runs that released a model, and in brackets the ninth decile.",
	Head: func(*results) []string {
		return []string{"released", "success", "false ok", "covariance", "×", "without privacy", "mean", "×", "without privacy", "s per fit"}
	},
	Describe: func(_ *results, l *line, n int) []any {
		runs := l.Results[n]
		return []any{
			fmt.Sprintf("%d/%d", engine.Total(runs, released), len(runs)), engine.Rate(engine.Count(runs), len(runs)), engine.Total(runs, falsely),
			engine.Spread(engine.Pick(runs, covError)), engine.Med(runs, covTimes), engine.Med(runs, sampleCov),
			engine.Spread(engine.Pick(runs, meanError)), engine.Med(runs, meanTimes), engine.Med(runs, sampleMean), engine.Seconds(runs),
		}
	},
	Noisy: regexp.MustCompile(`\d[\d.e+-]*`),
	Shown: []string{covError, covTimes, sampleCov, meanError, meanTimes, sampleMean, rankFound, nullSpread},
}

// experiments are all of them, in the order in which help shows them.
func experiments() (out []engine.Experiment[cell]) {
	for _, e := range []experiment{
		kappa, ample, smallest, privacyLevels, coinpressMean, coinpressCovariance, heavy, curves, rank, falseOK, atoms, missing, literal, talk, shared,
	} {
		out = append(out, engine.Experiment[cell]{Name: e.name, Title: e.title, About: e.about, Lines: e.lines, Runs: e.runs, Search: e.search, Summary: e.summary})
	}
	return out
}

func (e experiment) lines(o engine.Options) (out []*line, note string) {
	all := e.contenders
	if all == nil {
		all = []contender{practical}
	}
	if o.Methods != nil {
		all = nil
		for _, m := range o.Methods {
			all = append(all, contender{name: m, method: m, told: true})
		}
	}
	for _, c := range e.cells() {
		for _, by := range all {
			if c.only == nil || o.Methods != nil || slices.Contains(c.only, by.name) {
				out = append(out, e.line(o, c, by))
			}
		}
	}
	return out, ""
}

// line is a cell by a contender: draw, fit, measure.
func (e experiment) line(o engine.Options, c cell, by contender) *line {
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Force: true, Method: by.method, Components: 1, Covariance: by.covariance}
	if c.budget != (privacy.Budget{}) {
		r.Budget = c.budget
	}
	r.Budget.Rho /= 1 - by.free
	if c.relation != nil {
		r.Relation = *c.relation
	}
	if by.told {
		r.Facts = c.bounds
	}
	return &line{Cell: c, Name: c.name, By: by.name, Rows: c.rows, Runs: c.runs,
		Params: params{Population: c.pop, Method: r.Method, Covariance: r.Covariance.String(), Facts: r.Facts,
			Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Rho: r.Budget.Rho, Relation: r.Relation.String()},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			sample, err := c.pop.Draw(seed, n)
			if err != nil {
				return engine.Outcome{}, err
			}
			rows := sample.Rows
			if by.keep != "" {
				rows = c.lost.lose(rows, seed, by.keep)
			}
			fitted, err := by.fit(ctx, rows, r)
			if err != nil {
				return engine.Outcome{}, err
			}
			return e.outcome(c, sample, fitted, n), nil
		}}
}

// fit is by the front door, where that has the method.
func (by contender) fit(ctx context.Context, rows *mat.Dense, r gauze.Request) (engine.Fitted, error) {
	if by.estimator != nil {
		return inSession(ctx, rows, r, by.estimator)
	}
	return engine.Fit(ctx, rows, r)
}

// Names of values.
const (
	released   = "released" // 1 if there is a model
	covError   = "covariance"
	meanError  = "mean"
	covTimes   = "covariance_x" // times the non-private rate
	meanTimes  = "mean_x"
	covAdded   = "added_covariance" // distance from the sample's
	meanAdded  = "added_mean"
	sampleCov  = "sample_covariance" // errors without privacy, on the same rows
	sampleMean = "sample_mean"
	rankFound  = "rank"
	nullSpread = "null_sd"
	nullOffset = "null_mean"
	// 1 if a model is released whose error is above falseBar times the rate
	falsely     = "false_ok"
	constantsOK = "constant_columns" // 1 if as many are told as there are
)

const (
	// goodBar is the error that counts as learned, in non-private rates.
	goodBar = 2
	// falseBar is the error of a model that should not have been released.
	falseBar = 4
)

// outcome measures a fitted model.
func (e experiment) outcome(c cell, s *madeup.Sample, f engine.Fitted, n int) engine.Outcome {
	out := engine.Outcome{Seconds: f.Seconds, Why: f.Why, Values: engine.Values{
		released: 0, falsely: 0, sampleCov: s.CovarianceError, sampleMean: s.MeanError,
	}}
	if f.Foreground == nil {
		return out
	}
	g := f.Foreground.Components[0]
	factor := g.Cov.Factor()
	errs := s.Truth.Errors(g.Mean, factor)
	v := out.Values
	v[released], v[covError], v[meanError] = 1, errs.Covariance, errs.Mean
	v[covTimes], v[meanTimes] = errs.Covariance/c.pop.CovarianceRate(n), errs.Mean/c.pop.MeanRate(n)
	v[meanAdded], v[covAdded] = s.Added(g.Mean, factor)
	if v[covTimes] > falseBar {
		v[falsely] = 1
	}
	if c.pop.RankOf() < c.pop.Columns {
		v[rankFound], v[nullSpread], v[nullOffset] = float64(errs.Rank), errs.Null, errs.NullMean
		if f.Release != nil && len(f.Release.Diagnostics.ConstantColumns) == c.pop.Constant {
			v[constantsOK] = 1
		}
	}
	out.Success = e.success(v, c)
	return out
}

// covarianceLearned is the criterion of most experiments.
func covarianceLearned(v engine.Values, _ cell) bool { return v[covTimes] <= goodBar }

// meanLearned asks for the mean alone.
func meanLearned(v engine.Values, _ cell) bool { return v[meanTimes] <= goodBar }
