// Package papers asks of every method that runs what a paper prints: does it do what it can do,
// what happens on the constants that the paper prints, and does more budget or do more rows ever
// hurt?
package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

type (
	results = engine.Results[cell]
	line    = engine.Line[cell]
)

// A task is a table that a method can do: k spheres of standard deviation 1 in d columns, each gap
// from the next along a random line, at so many rows and so large an epsilon.
type task struct {
	method  string
	k, d    int
	gap     float64
	rows    int
	epsilon float64
	learner string
	// told: bounds that hold are stated, for methods that ask for them.
	told bool
	// known: the covariance is.
	known bool
	rival string // the method that people use
}

// A cell is a task at an epsilon, on the paper's constants or on practical ones.
type cell struct {
	task
	epsilon float64
	printed bool
}

// Values of a run.
const (
	variation = "tv" // total variation from the truth
	asked     = "k - k asked"
)

// near is the total variation up to which a run is a success: a guess of what "learned" means.
const near = .25

// variationRows are those of a total variation in several columns: a standard error of .01.
const variationRows = 2000

// Study is the study.
var Study = &engine.Study[cell]{
	Name: "papers", About: "methods as papers print them: what runs on which constants, and whether more budget or rows hurt",
	PassRate: .9,
	Experiments: []engine.Experiment[cell]{
		{Name: "printed", Title: "The papers' methods on their constants", Runs: 5, Lines: onConstants, Summary: outcomes,
			About: "Every method that runs what a paper prints, at the ε and n of a table that it can do, on the constants that work and on those that the paper prints; " +
				"and on the latter at ε = 1 and 10⁶ beside."},
		{Name: "budget", Title: "More budget and more rows", Runs: 5, Lines: budgets, Summary: trends,
			About: "The same tables at ε = 10, 10³ and 10⁶ (ε above 20 by `--force`), and at 4 and 16 times the rows: neither may hurt."},
		{Name: "rates", Title: "Rates proved and measured", Runs: 5, Lines: rates, Summary: exponents,
			About: "The same tables at 1, 2, 4 and 8 times the rows, by the paper's method on practical constants and by the one that people use."},
	},
	Lead: func(*results) string {
		return fmt.Sprintf("δ = 1e-6, replace-one. The table of a method: k spheres of standard deviation 1 in d columns, each `gap` from the next along a random line; a success is a total variation of "+
			"at most %g. Bounds that hold are stated where the method asks for some: the mean, the eigenvalues, moments of the fourth order, the least weight.", near)
	},
	Head:     func(*results) []string { return []string{"released", "success", "TV (90 %)", "s per fit"} },
	Describe: describe,
	Shown:    []string{variation, asked},
}

func (c cell) String() string {
	name := fmt.Sprintf("%s/k=%d/d=%d/eps=%g", c.method, c.k, c.d, c.epsilon)
	if c.learner != "" {
		name += "/" + c.learner
	}
	return name
}

// constants name a contender.
func (c cell) constants() string {
	if c.printed {
		return "printed"
	}
	return "practical"
}

// line is all runs of a cell.
func (c cell) line(rows ...int) *line {
	return &line{Cell: c, Name: c.String(), By: c.constants(), Rows: rows, Params: c.task,
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			truth, table, err := c.draw(engine.SeedOf(c.task.method, seed), n)
			if err != nil {
				return engine.Outcome{}, err
			}
			got, err := engine.Fit(ctx, table, c.request())
			if err != nil {
				return engine.Outcome{}, err
			}
			out := engine.Outcome{Why: got.Why, Seconds: got.Seconds}
			if got.Foreground == nil {
				return out, nil
			}
			tv, err := madeup.TotalVariation(truth, got.Foreground, variationRows)
			if err != nil {
				return engine.Outcome{}, err
			}
			out.Values = engine.Values{variation: tv, asked: float64(got.Foreground.K() - c.k)}
			out.Success = tv <= near
			return out, nil
		}}
}

// request is what the method is asked, with bounds that hold where it asks for some.
func (c cell) request() gauze.Request {
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: c.epsilon, Delta: 1e-6}, Method: c.method, Components: c.k,
		Learner: c.learner, Printed: c.printed, Force: true}
	if c.known {
		r.KnownCovariance = [][]float64{{1}}
	}
	if c.told {
		r.Facts = estimate.Facts{KnowsMean: true, MeanWithin: c.reach(), Eigenvalues: [2]float64{.5, 2}}
		if c.k > 1 {
			r.Facts.LeastWeight = .5 / float64(c.k)
		} else {
			r.Facts.Moments = 4
		}
	}
	return r
}

// reach is the radius of a ball that holds every mean.
func (c cell) reach() float64 { return c.gap*float64(c.k) + 1 }

// draw draws a truth and its rows.
func (c cell) draw(seed uint64, n int) (*model.Mixture, *mat.Dense, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	along, length := make([]float64, c.d), 0.
	for length == 0 {
		for j := range along {
			along[j] = rng.NormFloat64()
			length += along[j] * along[j]
		}
	}
	sphere, err := model.NewSpherical(c.d, 1)
	if err != nil {
		return nil, nil, err
	}
	var components []model.Gaussian
	for i := range c.k {
		g := model.Gaussian{Mean: make([]float64, c.d), Cov: sphere}
		for j := range g.Mean {
			g.Mean[j] = c.gap * (float64(i) - float64(c.k-1)/2) * along[j] / math.Sqrt(length)
		}
		components = append(components, g)
	}
	truth, err := model.New(nil, nil, components)
	if err != nil {
		return nil, nil, err
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return nil, nil, err
	}
	table := mat.NewDense(n, c.d, nil)
	for i := range n {
		sampler.Row(table.RawRowView(i), rng)
	}
	return truth, table, nil
}

// title is a task in words.
func (t task) title() string {
	words := []string{t.method}
	if t.learner != "" {
		words = append(words, t.learner)
	}
	return strings.Join(words, ", ")
}
