// Package unbounded measures how methods of gauze fit learn mixtures of unbounded Gaussians, of one
// column, of axis-aligned components and of general ones: how many rows they need, how far from the
// truth they end, and what scales, overlap, nesting, weights and the number of components do to
// them. The experiments follow Sections 7 and 7.2 of the restatement of [AAL21] and [AMN24], on
// random mixtures that internal/madeup draws; a run has a mixture of its own.
package unbounded

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	papers "github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/model"
)

// Names of methods.
const (
	univariate  = "univariate"
	axisAligned = "axis-aligned"
	general     = "general"
)

// learned is the total variation distance below which a mixture counts as learned.
//
// Source: [AMN24] Section 7 of the restatement.
const learned = papers.Learned

const (
	// mostFree bounds the number of components where it is free.
	mostFree = 10
	// tvRows are those of the Monte-Carlo total variation, in several columns.
	tvRows = 20_000
	// referenceSteps bounds EM from the truth; it ends when a step changes nothing any more.
	referenceSteps = 200
	// passRate is the part of the runs that must succeed at a sufficient number of rows.
	passRate = .9
	// farthest is how far a search goes from its start, in steps of the grid: a factor of 16.
	farthest = 16
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	spec madeup.Unbounded
	// given is the number of components that is asked for, where it is not the true one; free asks
	// for none, up to mostFree.
	given int
	free  bool
	// epsilon, if not 0, takes the place of the one asked for.
	epsilon float64
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// others are methods to run beside the practical one.
	others []string
	facts  estimate.Facts // that are stated
	// panel and line are the names of the picture that the cell is in and of its line there; x is
	// its place on the axis, unless the axis is that of n.
	panel, line string
	x           float64
}

// params is what a cell's name stands for, as the results keep it.
type params struct {
	madeup.Unbounded
	Given    int     `json:"given,omitempty"`
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

// An experiment is a grid of cells, each run several times, by the practical method for it or by
// others.
type experiment struct {
	name, title, about string
	cells              func() []cell
	search             bool
	beside             bool // measures the distance from the fit without privacy too
	runs               int
	summary            func(*engine.Page, *results)
}

// Study is the study.
var Study = &engine.Study[cell]{
	Name: "unbounded", About: "mixtures of any places and scales: rows needed, errors, slopes, overlap, nesting",
	PassRate: passRate, Grid: fineGrid, Farthest: farthest, Experiments: experiments(),
	Lead: func(r *results) string {
		return fmt.Sprintf("ε = %g, δ = %g, %s, no bounds given. A run is a success if it releases a model whose total variation distance from the truth is "+
			"below %g, all of its components counted. Without privacy: EM started at the truth, on the same rows. Least possible: below what mean total "+
			"variation no method can stay on the worst mixture of so many components (`gauze plan`).", r.Options.Budget.Epsilon, r.Options.Budget.Delta, r.Options.Relation, learned)
	},
	Head: func(*results) []string {
		return []string{"released", "success", "TV (90 %)", "without privacy", "ratio", "least possible", "k", "s per fit"}
	},
	Describe: describe,
	Noisy:    regexp.MustCompile(`about [0-9.]+(e[+-]?\d+)?`),
	Shown:    []string{found, totalVariation, reference},
}

// experiments are all of them, in the order in which help shows them.
func experiments() (out []engine.Experiment[cell]) {
	for _, e := range []experiment{named, asPrinted, wide, smallest, components, slope, against, literal} {
		out = append(out, engine.Experiment[cell]{Name: e.name, Title: e.title, About: e.about, Lines: e.lines, Runs: e.runs, Search: e.search, Summary: e.summary})
	}
	return out
}

func (e experiment) lines(o engine.Options) (out []*line, note string) {
	for _, c := range e.cells() {
		for _, m := range c.methods(o.Methods) {
			out = append(out, e.line(o, c, m))
		}
	}
	return out, ""
}

// aligned says that the components of the cell's mixtures are aligned to the axes.
func (c cell) aligned() bool {
	truth, err := c.spec.Truth(1)
	if err != nil {
		return false
	}
	_, ok := truth.Components[0].Cov.(model.Diagonal)
	return ok
}

// practical is the method for the cell's kind of mixture.
func (c cell) practical() string {
	switch {
	case c.columns() == 1:
		return univariate
	case c.aligned():
		return axisAligned
	}
	return general
}

func (c cell) columns() int {
	if truth, err := c.spec.Truth(1); err == nil && c.spec.Printed != "" {
		return truth.Dim()
	}
	return c.spec.Columns
}

// trueK is the number of components of the cell's mixtures.
func (c cell) trueK() int {
	if truth, err := c.spec.Truth(1); err == nil {
		return truth.K()
	}
	return c.spec.Components
}

// methods are those to run the cell with: the ones asked for that fit its kind of mixture, or its
// own.
func (c cell) methods(asked []string) []string {
	if asked == nil {
		asked = append([]string{c.practical()}, c.others...)
	}
	return slices.DeleteFunc(slices.Clone(asked), func(m string) bool {
		kind, _, _ := strings.Cut(m, ":")
		return kind == univariate && c.columns() > 1 || kind == axisAligned && !c.aligned()
	})
}

// request is what a fit of the cell is asked.
func (c cell) request(o engine.Options, method string, k int) gauze.Request {
	r := gauze.Request{Relation: o.Relation, Budget: o.Budget, Force: true, Method: method, Components: k, MaxComponents: mostFree, Facts: c.facts}
	switch {
	case c.free:
		r.Components = 0
	case c.given > 0:
		r.Components = c.given
	}
	if c.aligned() && method != general+":aal21" { // which lists nothing else
		r.Covariance = estimate.Diagonal
	}
	if c.epsilon != 0 {
		r.Budget.Epsilon = c.epsilon
	}
	return r
}

// Names of values.
const (
	totalVariation = "tv"
	reference      = "reference_tv"
	fromReference  = "tv_from_reference"
	found          = "k"
)

// line is a cell by a method: draw, fit, compare.
func (e experiment) line(o engine.Options, c cell, method string) *line {
	r := c.request(o, method, c.trueK())
	return &line{Cell: c, Name: c.name, By: method, Rows: c.rows,
		Params: params{Unbounded: c.spec, Given: c.given, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Relation: r.Relation.String()},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			in, err := c.spec.Draw(engine.SeedOf(c.name, seed), n)
			if err != nil {
				return engine.Outcome{}, err
			}
			got, err := engine.Fit(ctx, in.Rows, r)
			if err != nil {
				return engine.Outcome{}, err
			}
			return e.outcome(in, got)
		}}
}

// outcome measures a release with all of its components, background among them: what its user gets.
func (e experiment) outcome(in *madeup.Instance, got engine.Fitted) (engine.Outcome, error) {
	plain, err := in.Reference(referenceSteps)
	if err != nil {
		return engine.Outcome{}, err
	}
	out := engine.Outcome{Seconds: got.Seconds, Why: got.Why, Values: engine.Values{}}
	if out.Values[reference], err = madeup.TotalVariation(in.Truth, plain, tvRows); err != nil {
		return out, err
	}
	if got.Release == nil {
		return out, nil
	}
	tv, err := madeup.TotalVariation(in.Truth, got.Release.Model, tvRows)
	out.Values[totalVariation], out.Values[found], out.Success = tv, float64(got.Release.Model.K()), tv < learned
	if err == nil && e.beside {
		out.Values[fromReference], err = madeup.TotalVariation(plain, got.Release.Model, tvRows)
	}
	return out, err
}

// describe sums up runs: medians, and the ninth decile of the total variation, over the runs that
// released a model; the ratio over all, +Inf where nothing was released.
func describe(r *results, l *line, n int) []any {
	runs := l.Results[n]
	tv := engine.Pick(runs, totalVariation)
	var ratios []float64
	for _, run := range runs {
		v, ok := run.Values[totalVariation]
		if !ok {
			v = math.Inf(1)
		}
		ratios = append(ratios, v/run.Values[reference])
	}
	least := "-"
	if v := bound(r, l, n).TotalVariation; v != 0 {
		least = engine.Number(v)
	}
	return []any{
		fmt.Sprintf("%d/%d", len(tv), len(runs)), fmt.Sprintf("%d/%d", engine.Count(runs), len(runs)), engine.Spread(tv),
		engine.Med(runs, reference), engine.Number(engine.Median(ratios)), least, engine.Range(engine.Pick(runs, found)), engine.Seconds(runs),
	}
}

// fineGrid are the numbers of rows of searches: steps of 2^(1/4), rounded to three digits.
var fineGrid = []int{
	100, 119, 141, 168, 200, 238, 283, 336, 400, 476, 566, 673, 800, 951, 1130, 1350, 1600, 1900, 2260, 2690, 3200, 3810, 4530, 5380, 6400, 7610,
	9050, 10_800, 12_800, 15_200, 18_100, 21_500, 25_600, 30_400, 36_200, 43_100, 51_200, 60_900, 72_400, 86_100, 102_000,
}
