package main

import (
	"context"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
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
const learned = expected.Learned

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	spec problems.Unbounded
	// given is the number of components that is asked for, where it is not the true one; free asks
	// for none, up to mostFree.
	given int
	free  bool
	// epsilon, if not 0, takes the place of the one asked for.
	epsilon float64
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	// others are methods to run beside the practical one; those that are not in the catalog are
	// left out.
	others []string
	facts  estimate.Facts // that are stated
	// panel and line are the names of the picture that the cell is in and of its line there; x is
	// its place on the axis, unless the axis is that of n.
	panel, line string
	x           float64
}

// mostFree bounds the number of components where it is free.
const mostFree = 10

// params is what a cell's name stands for, as the results keep it.
type params struct {
	problems.Unbounded
	Given    int     `json:"given,omitempty"`
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
}

// matches says whether a cell is one of those asked for.
func (c cell) matches(parts []string) bool {
	return parts == nil || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(c.name, p) })
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
	want := general
	switch {
	case c.columns() == 1:
		want = univariate
	case c.aligned():
		want = axisAligned
	}
	if !slices.Contains(gauze.Methods().Names(), want) {
		return general
	}
	return want
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
	known := gauze.Methods().Names()
	if asked == nil {
		asked = append([]string{c.practical()}, c.others...)
	}
	return slices.DeleteFunc(slices.Clone(asked), func(m string) bool {
		kind, _, _ := strings.Cut(m, ":")
		return !slices.Contains(known, m) || kind == univariate && c.columns() > 1 || kind == axisAligned && !c.aligned()
	})
}

// request is what a fit of the cell is asked.
func (c cell) request(o options, method string, k int) gauze.Request {
	r := gauze.Request{Relation: o.relation, Budget: o.budget, Method: method, Components: k, MaxComponents: mostFree, Facts: c.facts}
	switch {
	case c.free:
		r.Components = 0
	case c.given > 0:
		r.Components = c.given
	}
	if c.aligned() {
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
	beside         = "tv_from_reference"
	found          = "k"
)

// fault begins the reason of a run that ended in an error.
const fault = "fault: "

// referenceSteps bounds EM from the truth; it ends when a step changes nothing any more.
const referenceSteps = 200

// trial is one run of a cell: draw, fit, compare.
func (e experiment) trial(o options, c cell, method string, n int, seed uint64) harness.Trial {
	r := c.request(o, method, c.spec.Components)
	return harness.Trial{
		Key:    harness.Key{Experiment: e.name, Cell: c.name, Method: method, N: n, Seed: seed},
		Params: params{Unbounded: c.spec, Given: c.given, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Relation: r.Relation.String()},
		Run: func(ctx context.Context) (harness.Outcome, error) {
			in, err := c.spec.Draw(c.seed(seed), n)
			if err != nil {
				return harness.Outcome{}, err
			}
			got, err := harness.Fit(ctx, in.Rows, c.request(o, method, in.Truth.K()), time.Now)
			if err != nil {
				if ctx.Err() != nil {
					return harness.Outcome{}, err
				}
				got.Why = fault + err.Error() // a long experiment goes on
			}
			return e.outcome(o, in, got)
		},
	}
}

// seed is a run's: cells with the same one would have mixtures that are much alike.
func (c cell) seed(run uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.name)) // a hash takes everything
	return h.Sum64() ^ run
}

// outcome measures a release with all of its components, background among them: what its user gets.
func (e experiment) outcome(o options, in *problems.Instance, got harness.Fitted) (harness.Outcome, error) {
	plain, err := in.Reference(referenceSteps)
	if err != nil {
		return harness.Outcome{}, err
	}
	out := harness.Outcome{Seconds: got.Seconds, Why: got.Why, Values: harness.Values{}}
	if out.Values[reference], err = problems.TotalVariation(in.Truth, plain, o.tvRows); err != nil {
		return out, err
	}
	if got.Release == nil {
		return out, nil
	}
	tv, err := problems.TotalVariation(in.Truth, got.Release.Model, o.tvRows)
	out.Values[totalVariation], out.Values[found], out.Success = tv, float64(got.Release.Model.K()), tv < learned
	if err == nil && e.beside {
		out.Values[beside], err = problems.TotalVariation(plain, got.Release.Model, o.tvRows)
	}
	return out, err
}

// ratios are the total variations over those without privacy, run by run; +Inf where nothing was
// released.
func ratios(runs []harness.Result) []float64 {
	var out []float64
	for _, r := range runs {
		v, ok := r.Values[totalVariation]
		if !ok {
			v = math.Inf(1)
		}
		out = append(out, v/r.Values[reference])
	}
	return out
}
