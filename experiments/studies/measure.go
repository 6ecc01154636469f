package studies

import (
	"fmt"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
)

// Names of values.
const (
	released  = "released" // 1 if there is a model
	variation = "tv"       // total variation of the whole model from the truth
	reference = "reference_tv"
	worstMean = "worst_mean" // largest Mahalanobis distance of a true mean from its partner's
	found     = "k"

	covError   = "covariance"
	meanError  = "mean"
	covTimes   = "covariance_x" // times the non-private rate
	meanTimes  = "mean_x"
	sampleCov  = "sample_covariance" // errors without privacy, on the same rows
	sampleMean = "sample_mean"
)

const (
	// variationRows are those of a Monte-Carlo total variation, in several columns.
	variationRows = 20_000
	// referenceSteps bounds EM from the truth; it ends when a step changes nothing any more.
	referenceSteps = 200
)

// A bar says whether a run is a success by its values.
type bar func(v engine.Values, c cell) bool

// distribution measures a model of one distribution.
func distribution(success bar) measure {
	return func(c cell, t table, f engine.Fitted) (engine.Outcome, error) {
		s := t.one
		out := engine.Outcome{Seconds: f.Seconds, Why: f.Why, Values: engine.Values{sampleCov: s.CovarianceError, sampleMean: s.MeanError}}
		if f.Foreground == nil {
			return out, nil
		}
		g := f.Foreground.Components[0]
		errs, n, pop := s.Truth.Errors(g.Mean, g.Cov.Factor()), t.rows.RawMatrix().Rows, c.law.(madeup.Population)
		v := out.Values
		v[released], v[covError], v[meanError] = 1, errs.Covariance, errs.Mean
		v[covTimes], v[meanTimes] = errs.Covariance/pop.CovarianceRate(n), errs.Mean/pop.MeanRate(n)
		out.Success = success(v, c)
		return out, nil
	}
}

// mixture measures a model with all of its components, background among them: what its user gets;
// beside, if asked, what EM that is started at the truth gets of the same rows.
func mixture(beside bool, success bar) measure {
	return func(c cell, t table, f engine.Fitted) (out engine.Outcome, err error) {
		out = engine.Outcome{Seconds: f.Seconds, Why: f.Why, Values: engine.Values{}}
		truth := t.mixture.Truth
		if beside {
			plain, err := t.mixture.Reference(referenceSteps)
			if err != nil {
				return out, err
			}
			if out.Values[reference], err = madeup.TotalVariation(truth, plain, variationRows); err != nil {
				return out, err
			}
		}
		if f.Foreground == nil {
			return out, nil
		}
		if out.Values[variation], err = madeup.TotalVariation(truth, f.Release.Model, variationRows); err != nil {
			return out, err
		}
		out.Values[released], out.Values[worstMean], out.Values[found] = 1, madeup.WorstMean(truth, f.Foreground), float64(len(f.Foreground.Components))
		out.Success = success(out.Values, c)
		return out, nil
	}
}

// within returns the bar of a total variation.
func within(most float64) bar {
	return func(v engine.Values, _ cell) bool { return v[variation] <= most }
}

// Columns of pages.
var (
	succeeded = engine.Column{Head: "success", Show: func(runs []engine.Result) any { return engine.Rate(engine.Count(runs), len(runs)) }}
	models    = engine.Column{Head: "released", Show: func(runs []engine.Result) any { return fmt.Sprintf("%d/%d", engine.Total(runs, released), len(runs)) }}
	seconds   = engine.Column{Head: "s per fit", Show: func(runs []engine.Result) any { return engine.Seconds(runs) }}
)

func median(head, value string) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any { return engine.Med(runs, value) }}
}

func spread(head, value string) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any { return engine.Spread(engine.Pick(runs, value)) }}
}

func ranged(head, value string) engine.Column {
	return engine.Column{Head: head, Show: func(runs []engine.Result) any { return engine.Range(engine.Pick(runs, value)) }}
}
