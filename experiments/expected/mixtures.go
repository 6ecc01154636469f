package expected

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The grid of mixtures. Numbers of rows are multiples of those with an n mu of answerRows for every
// column of every component.
var (
	mixtureColumns   = []int{1, 2, 4, 8, 20}
	mixtureNumbers   = []int{2, 5, 10}
	mixtureGaps      = []float64{10, 4}
	mixtureEpsilons  = []float64{.9, 4}
	mixtureMultiples = []float64{.5, 1, 2.5, 8}
)

const (
	answerRows   = 60
	mixtureCells = 2.5e6
	mixtureRuns  = 5
	fewRuns      = 3 // from manyColumns on
	manyColumns  = 4
	oracleSteps  = 3
	tvRows       = 4000
)

// Names of values of mixtures.
const (
	variation = "tv"
	oracle    = "tv_without_privacy"
	found     = "k"
)

// mixtureSettings returns the settings of a method.
func (e entry) mixtureSettings() (out []setting) {
	for _, k := range mixtureNumbers {
		for _, gap := range e.gaps {
			for _, d := range mixtureColumns {
				for _, epsilon := range mixtureEpsilons {
					s := setting{Kind: catalog.Kind{Method: e.method, Relation: privacy.ReplaceOne, Data: catalog.MixtureRows(k, gap)}, columns: d, epsilon: epsilon,
						mu: privacy.MuOf(epsilon, delta), components: k, gap: gap}
					for _, m := range mixtureMultiples {
						if n := math.Ceil(m * answerRows * float64(d*k) / s.mu); n*float64(d) <= mixtureCells {
							s.rows = append(s.rows, int(n))
						}
					}
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// mixtureLine returns the line of a setting: draw, fit, measure.
func (s setting) mixtureLine() *line {
	runs := mixtureRuns
	if s.columns >= manyColumns {
		runs = fewRuns
	}
	p := madeup.Plain{Components: s.components, Columns: s.columns, Placement: madeup.Simplex, Distance: s.gap, Ellipsoids: true}
	if s.columns == 1 {
		p.Placement = madeup.Along
	}
	return &line{Cell: s, Name: s.cell(), By: s.Method, Rows: s.rows, Runs: runs, Params: params{s.mu},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			in, err := p.Draw(engine.SeedOf(s.cell(), seed), n)
			if err != nil {
				return engine.Outcome{}, err
			}
			fitted, err := engine.Fit(ctx, in.Rows, gauze.Request{Relation: s.Relation, Budget: privacy.Budget{Epsilon: s.epsilon, Delta: delta}, Method: s.Method})
			out := engine.Outcome{Seconds: fitted.Seconds, Why: fitted.Why, Values: engine.Values{}}
			if err != nil || fitted.Foreground == nil {
				return out, err
			}
			best, err := in.Reference(oracleSteps)
			if err != nil {
				return out, err
			}
			out.Success = fitted.Foreground.K() == s.components
			out.Values[found] = float64(fitted.Foreground.K())
			if out.Values[variation], err = madeup.TotalVariation(in.Truth, fitted.Release.Model, tvRows); err != nil {
				return out, err
			}
			out.Values[oracle], err = madeup.TotalVariation(in.Truth, best, tvRows)
			return out, err
		}}
}

// mixturePoint returns a number of rows of a line, with medians and ninth deciles.
func mixturePoint(l *line, n int) catalog.ErrorPoint {
	s, runs := l.Cell, l.Results[n]
	private, plain := engine.Pick(runs, variation), engine.Pick(runs, oracle)
	const high = .9
	return catalog.ErrorPoint{
		Kind: s.Kind, Columns: s.columns, Rows: n, Mu: s.mu, Released: engine.Count(runs), Runs: len(runs),
		Errors: catalog.Errors{Covariance: engine.Median(private), Mean: engine.Quantile(private, high), PlainCovariance: engine.Median(plain),
			PlainMean: engine.Quantile(plain, high)},
	}
}
