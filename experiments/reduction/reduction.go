package reduction

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// An experiment is a grid of cells, each run several times.
type experiment struct {
	name, title, about string
	cells              func() []cell
	search             bool
	open               bool // runs the learners alone on all rows, without privacy
	runs               int
	summary            func(*engine.Page, *results)
}

// passRate is the part of the runs that must succeed at a sufficient number of rows.
const passRate = .9

// grid are the numbers of rows of searches: steps of 2^(1/2), rounded to three digits.
var grid = []int{500, 707, 1000, 1410, 2000, 2830, 4000, 5660, 8000, 11_300, 16_000, 22_600, 32_000, 45_300, 64_000, 90_500, 128_000, 181_000, 256_000, 362_000,
	512_000, 724_000, 1_020_000, 1_450_000, 2_050_000, 2_900_000, 4_100_000, 5_800_000, 8_200_000}

// farthest is how far a search goes from its start, in steps of the grid: a factor of 4.
const farthest = 4

// Study is the study.
var Study = &engine.Study[cell]{
	Name: "reduction", About: "the black-box reduction: rows needed, kinds of mixtures, learners alone and as printed",
	PassRate: passRate, Grid: grid, Farthest: farthest, Experiments: experiments(), Custom: custom,
	Lead: func(r *results) string {
		if opened(r) {
			return ""
		}
		return fmt.Sprintf("ε = %g, δ = %g, %s, unless a cell says otherwise; no bounds are given. Without privacy: EM started at the truth, on the same rows; excess: the total "+
			"variation distance from the truth, less %g times that of EM. %s", r.Options.Budget.Epsilon, r.Options.Budget.Delta, r.Options.Relation, nearRatio, successes(r))
	},
	Head: func(r *results) []string {
		if opened(r) {
			return []string{"found", "success", "dist_PARAM", "worst", "TV", "s"}
		}
		return []string{"released", "success", "TV", "worst", "without privacy", "worst excess", "dist_PARAM", "nats lost (worst)", "s per fit"}
	},
	Describe: describe,
	Noisy:    regexp.MustCompile(`about [0-9.]+(e[+-]?\d+)?`),
	Shown:    []string{totalVariation, reference, parameters, gap},
}

// experiments are all of them, in the order in which help shows them.
func experiments() (out []engine.Experiment[cell]) {
	for _, e := range []experiment{named, wide, relations, smallest, overlapping, printed, open} {
		out = append(out, e.build())
	}
	return out
}

func (e experiment) build() engine.Experiment[cell] {
	return engine.Experiment[cell]{Name: e.name, Title: e.title, About: e.about, Lines: e.lines, Runs: e.runs, Search: e.search, Summary: e.summary}
}

// custom is the experiment of cells from the command line.
func custom(args []string) (engine.Experiment[cell], error) {
	var cells []cell
	for _, text := range args {
		c, err := parseCell(text)
		if err != nil {
			return engine.Experiment[cell]{}, err
		}
		cells = append(cells, c)
	}
	return experiment{name: strings.Join(args, " "), title: "Cells of the command line", cells: func() []cell { return cells }, runs: usualRuns}.build(), nil
}

// opened says that an experiment runs learners without privacy.
func opened(r *results) bool { return r.Experiment.Name == open.name }

// A contender is a method with a learner; without a method, the learner alone.
type contender struct{ method, learner string }

// name is what tables call it.
func (by contender) name() string {
	switch {
	case by.learner == "":
		return by.method
	case by.method == "":
		return by.learner
	}
	return by.method + ", " + by.learner
}

// contenderNamed takes a name of a method with its learner apart.
func contenderNamed(name string) contender {
	method, learner, _ := strings.Cut(name, ", ")
	return contender{method, learner}
}

func (e experiment) lines(o engine.Options) (out []*line, note string) {
	for _, c := range e.cells() {
		for _, by := range e.contenders(o, c) {
			out = append(out, e.line(o, c, by))
		}
	}
	return out, ""
}

// contenders are those of a cell.
func (e experiment) contenders(o engine.Options, c cell) (out []contender) {
	methods := first(o.Methods, c.methods, []string{blackBox})
	if e.open {
		methods = []string{""}
	}
	for _, method := range methods {
		if !e.open && !runsLearner(method) {
			out = append(out, contender{method, ""})
			continue
		}
		for _, name := range first(o.Learners, c.learners, []string{byEM}) {
			if c.trim == 0 || name == byEM { // the others leave nothing out
				out = append(out, contender{method, name})
			}
		}
	}
	return out
}

// first is the first list that is set.
func first(lists ...[]string) []string {
	for _, l := range lists {
		if l != nil {
			return l
		}
	}
	return nil
}

// line is a cell by a contender: draw, fit, compare.
func (e experiment) line(o engine.Options, c cell, by contender) *line {
	r := c.request(o, by.method, by.learner)
	return &line{Cell: c, Name: c.name, By: by.name(), Rows: c.rows, Runs: c.runs,
		Params: params{BlackBox: c.spec, Given: c.given, Trim: r.Trim, Goal: c.goal, Learner: by.learner, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta,
			Relation: r.Relation.String()},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			own := engine.SeedOf(c.name, seed)
			in, err := c.spec.Draw(own, n)
			if err != nil {
				return engine.Outcome{}, err
			}
			if e.open {
				return by.learn(ctx, c, in, seed)
			}
			got, err := engine.Fit(ctx, in.Rows, r)
			if err != nil {
				return engine.Outcome{}, err
			}
			return c.outcome(in, got, own)
		}}
}

// successes says what the goals of the experiment's cells are.
func successes(r *results) string {
	var parts []string
	for _, g := range []struct {
		goal goal
		text string
	}{
		{near, fmt.Sprintf("a model is released whose total variation distance from the truth is at most %g times that of EM, and %g more", nearRatio, nearMore)},
		{likely, fmt.Sprintf("where components are not Gaussian, a model is released under which %s fresh rows are at most %g nats less likely on average than under EM's model",
			engine.Rows(heldRows), likelyGap)},
		{clean, fmt.Sprintf("where there are outliers, a model is released within a total variation distance of %g of the mixture without them", cleanDistance)},
		{out, "a model is released"},
		{nothing, "where nothing is to be found, nothing is released, after having looked"},
	} {
		if slices.ContainsFunc(r.Lines, func(l *line) bool { return l.Cell.goal == g.goal }) {
			parts = append(parts, g.text)
		}
	}
	return "A run is a success if " + strings.Join(parts, "; or, ") + "."
}
