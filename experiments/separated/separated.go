// Package separated measures how methods of gauze fit learn mixtures of separated Gaussians: how
// many rows they need, how far from the truth they end, and what scales, outliers, tails and
// unequal weights do to them. The experiments follow Sections D and F of the restatement of
// [KSSU19], on random mixtures that internal/madeup draws.
package separated

import (
	"context"
	"fmt"
	"regexp"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// practical is the method that the experiments are about, and usual what they run.
const practical = "separated"

var usual = []string{practical}

// meanBar is the largest Mahalanobis error of a mean that counts as learned.
//
// Source: [KSSU19] Section D.1 of the restatement.
const meanBar = .5

const (
	// mostComponents bounds their number where it is not given.
	mostComponents = 12
	// tvRows are those of the Monte-Carlo estimate of a component's total variation.
	tvRows = 1000
	// referenceSteps of EM from the truth: for separated components it stands still after the
	// first.
	referenceSteps = 5
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	spec madeup.Spec
	auto bool // the number of components is not given
	// epsilon, if not 0, takes the place of the one asked for.
	epsilon float64
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// line is the name of the cell's line in a picture, and x its place on the axis, unless the
	// axis is that of n.
	line string
	x    float64
}

// params is what a cell's name stands for, as the results keep it.
type params struct {
	madeup.Spec
	Given    int     `json:"given,omitempty"`   // number of components, where it is given
	Most     int     `json:"at_most,omitempty"` // the largest one allowed, where it is not
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

// An experiment is a grid of cells, each run several times with every method.
type experiment struct {
	name, title, about string
	cells              func() []cell
	search             bool
	runs               int
	reference          bool // measures the non-private reference too
	// contenders, if set, are others than usual, with what the page says of them.
	contenders func() ([]string, string)
	success    func(madeup.Score, cell) bool
	summary    func(*engine.Page, *results)
}

// Study is the study.
var Study = &engine.Study[cell]{
	Name: practical, About: "mixtures of separated Gaussians: rows needed, errors, outliers, tails, weights, scales",
	Seed: 1, PassRate: .9, Grid: engine.Grid, Experiments: experiments(),
	Lead: func(r *results) string {
		return fmt.Sprintf("ε = %g, δ = %g, %s, no bounds given; one standard deviation is 37 units, the origin 300 of them away in every column. Means are Gaussian, scaled so "+
			"that the closest pair lies exactly at the separation.", r.Options.Budget.Epsilon, r.Options.Budget.Delta, r.Options.Relation)
	},
	Legend: "Rates with Wilson's 95 % intervals; medians over the runs that released a model, and in brackets the ninth decile; an error is the largest of " +
		"all components. A search stops a number of rows as soon as too many runs have failed.",
	Head: func(r *results) []string {
		head := []string{"success", "worst mean", "TV bound", "TV", "weight error", "k exact", "k", "surplus weight", "s per fit"}
		if hasReference(r) {
			head = append(head, "worst mean without privacy", "ratio")
		}
		return head
	},
	Describe: describe,
	Noisy:    regexp.MustCompile(`about \d+`),
	Shown:    []string{found, worstMean, tvBound, tvMonteCarlo, worstWeight, surplus, referenceMean},
}

func hasReference(r *results) bool {
	for _, l := range r.Lines {
		for _, runs := range l.Results {
			if len(engine.Pick(runs, referenceMean)) > 0 {
				return true
			}
		}
	}
	return false
}

// experiments are all of them, in the order in which help shows them.
func experiments() (out []engine.Experiment[cell]) {
	for _, e := range []experiment{
		d1, d2, auto, scales, outliers, kappa, tails, weights, separation, epsilon, curves, ratio, besidePeers, literal,
	} {
		out = append(out, engine.Experiment[cell]{Name: e.name, Title: e.title, About: e.about, Lines: e.lines, Runs: e.runs, Search: e.search, Summary: e.summary})
	}
	return out
}

func (e experiment) lines(o engine.Options) (out []*line, note string) {
	by := usual
	if e.contenders != nil {
		by, note = e.contenders()
	}
	if o.Methods != nil {
		by = o.Methods
	}
	for _, c := range e.cells() {
		for _, method := range by {
			out = append(out, e.line(o, c, method))
		}
	}
	return out, note
}

// line is a cell by a method: draw, fit, compare.
func (e experiment) line(o engine.Options, c cell, method string) *line {
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Force: true, Method: method, MaxComponents: mostComponents}
	if !c.auto {
		r.Components = c.spec.Components
	}
	if c.epsilon != 0 {
		r.Budget.Epsilon = c.epsilon
	}
	asked := params{Spec: c.spec, Given: r.Components, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Relation: r.Relation.String()}
	if c.auto {
		asked.Most = r.MaxComponents
	}
	return &line{Cell: c, Name: c.name, By: method, Rows: c.rows, Params: asked, Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
		in, err := c.spec.Draw(seed, n)
		if err != nil {
			return engine.Outcome{}, err
		}
		fitted, err := learn(ctx, in, r, seed)
		if err != nil {
			return engine.Outcome{}, err
		}
		out, err := e.outcome(c, in.Truth, fitted)
		if err == nil && e.reference {
			err = addReference(out.Values, in)
		}
		return out, err
	}}
}

// learn fits by a method of gauze fit, or by a peer.
func learn(ctx context.Context, in *madeup.Instance, r gauze.Request, seed uint64) (engine.Fitted, error) {
	if fit, ok := peers[r.Method]; ok {
		return fit(ctx, in, seed)
	}
	return engine.Fit(ctx, in.Rows, r)
}

// Names of values.
const (
	worstMean     = "worst_mean"
	tvBound       = "tv_bound"
	tvMonteCarlo  = "tv"
	worstWeight   = "worst_weight"
	found         = "k"
	surplus       = "surplus_weight"
	background    = "background"
	referenceMean = "reference_mean"
)

// outcome measures a fitted model.
func (e experiment) outcome(c cell, truth *model.Mixture, f engine.Fitted) (engine.Outcome, error) {
	out := engine.Outcome{Seconds: f.Seconds, Why: f.Why, Values: engine.Values{found: 0}}
	if f.Foreground == nil {
		return out, nil
	}
	s, err := madeup.Compare(truth, f.Foreground, tvRows)
	if err != nil {
		return out, err
	}
	out.Values = engine.Values{
		worstMean: s.WorstMean, tvBound: s.MedianBound, worstWeight: s.WorstWeight, found: float64(s.Found),
		surplus: s.SurplusWeight, background: f.Background, tvMonteCarlo: s.MedianTV,
	}
	out.Success = e.success(s, c)
	return out, nil
}

// addReference adds the error that could be had without privacy.
func addReference(v engine.Values, in *madeup.Instance) error {
	m, err := in.Reference(referenceSteps)
	if err != nil {
		return err
	}
	s, err := madeup.Compare(in.Truth, m, 0)
	v[referenceMean] = s.WorstMean
	return err
}

// means is the criterion of most experiments: every mean is learned.
func means(s madeup.Score, _ cell) bool { return s.WorstMean < meanBar }

// meansAndNumber wants the number of components right as well.
func meansAndNumber(s madeup.Score, c cell) bool {
	return means(s, c) && s.Found == c.spec.Components
}

// describe sums up the runs of a line at a number of rows.
func describe(r *results, l *line, n int) []any {
	runs := l.Results[n]
	ks := engine.Pick(runs, found)
	exact := 0
	for _, k := range ks {
		if int(k) == l.Cell.spec.Components {
			exact++
		}
	}
	out := []any{
		engine.Rate(engine.Count(runs), len(runs)), engine.Spread(engine.Pick(runs, worstMean)), engine.Med(runs, tvBound), engine.Med(runs, tvMonteCarlo),
		engine.Med(runs, worstWeight), fmt.Sprintf("%d/%d", exact, len(ks)), engine.Range(ks), engine.Number(engine.Mean(engine.Pick(runs, surplus))), engine.Seconds(runs),
	}
	if hasReference(r) {
		out = append(out, engine.Med(runs, referenceMean), engine.Spread(engine.Ratios(runs, worstMean, referenceMean)))
	}
	return out
}
