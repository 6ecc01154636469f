package main

import (
	"context"
	"errors"
	"path"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	pop  problems.Population
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// repeats, if not 0, takes the place of the experiment's.
	repeats int
	// budget and relation, if set, take the place of those asked for.
	budget   privacy.Budget
	relation *privacy.Relation
	// bounds are what is publicly known, for those contenders that are told.
	bounds estimate.Facts
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
}

// params is what a cell's and a contender's name stand for, as the results keep it.
type params struct {
	problems.Population
	Method     string         `json:"method"`
	Covariance string         `json:"covariance"`
	Facts      estimate.Facts `json:"facts"`
	Epsilon    float64        `json:"epsilon,omitempty"`
	Delta      float64        `json:"delta,omitempty"`
	Rho        float64        `json:"rho,omitempty"`
	Relation   string         `json:"relation"`
}

// matches says whether a cell is one of those asked for.
func (c cell) matches(patterns []string) bool {
	if patterns == nil {
		return true
	}
	for _, p := range patterns {
		if ok, err := path.Match(p, c.name); ok && err == nil || p == c.name {
			return true
		}
	}
	return false
}

// request is what a fit of the cell is asked.
func (c cell) request(o options, by contender) gauze.Request {
	r := gauze.Request{Relation: o.relation, Budget: o.budget, Method: by.method, Components: 1, Covariance: by.covariance}
	if c.budget != (privacy.Budget{}) {
		r.Budget = c.budget
	}
	if c.relation != nil {
		r.Relation = *c.relation
	}
	if by.told {
		r.Facts = c.bounds
	}
	return r
}

// trial is one run of a cell: draw, fit, measure.
func (e experiment) trial(o options, c cell, by contender, n int, seed uint64) harness.Trial {
	r := c.request(o, by)
	return harness.Trial{
		Key: harness.Key{Experiment: e.name, Cell: c.name, Method: by.name, N: n, Seed: seed},
		Params: params{Population: c.pop, Method: r.Method, Covariance: r.Covariance.String(), Facts: r.Facts,
			Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Rho: r.Budget.Rho, Relation: r.Relation.String()},
		Run: func(ctx context.Context) (harness.Outcome, error) {
			sample, err := c.pop.Draw(seed, n)
			if err != nil {
				return harness.Outcome{}, err
			}
			fitted, err := by.fit(ctx, sample.Rows, r)
			// A fault of a method is a run without a model, and its reason is in the table: one
			// method must not end the others' runs.
			var fault *gauze.RunError
			if errors.As(err, &fault) && ctx.Err() == nil {
				fitted.Why, err = fault.Error(), nil
			}
			if err != nil {
				return harness.Outcome{}, err
			}
			return e.outcome(c, sample, fitted, n), nil
		},
	}
}

// fit is by the front door, where that has the method.
func (by contender) fit(ctx context.Context, rows *mat.Dense, r gauze.Request) (harness.Fitted, error) {
	if by.estimator != nil {
		return inSession(ctx, rows, r, by.estimator)
	}
	return harness.Fit(ctx, rows, r, time.Now)
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
func (e experiment) outcome(c cell, s *problems.Sample, f harness.Fitted, n int) harness.Outcome {
	out := harness.Outcome{Seconds: f.Seconds, Why: f.Why, Values: harness.Values{
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
func covarianceLearned(v harness.Values, _ cell) bool { return v[covTimes] <= goodBar }

// meanLearned asks for the mean alone.
func meanLearned(v harness.Values, _ cell) bool { return v[meanTimes] <= goodBar }
