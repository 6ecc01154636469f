package own

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/model"
)

// Sphere is a space of one's own for the published black-box reduction: estimates are directions,
// those of their one component's mean, and two are as far apart as their points on the unit sphere,
// rounded to a grid of 1/Grid in every column.
//
// What its author answers for (pure.Metric): both methods are functions of their arguments; the
// distance is that of whole numbers in Euclidean space, so two of at most Friends add to one of at
// most twice that, its Covers; and Mask adds a rounded Gaussian of sd Covers/Mu to each of these
// whole numbers, a function of the Gaussian mechanism of sensitivity Covers, since round(X) + k =
// round(X + k): Mu-GDP, of Rényi divergence at most a Mu^2/2 at every order a.
type Sphere struct {
	Grid   float64
	Covers int64
	Mu     float64
}

// point returns the place of an estimate's direction on the grid, in whole numbers; nil for no
// direction.
func (s Sphere) point(y []blocks.Component) (p []float64) {
	length := 0.0
	for _, v := range y[0].Mean {
		length = math.Hypot(length, v)
	}
	if !(length > 0) || math.IsInf(length, 0) {
		return nil
	}
	for _, v := range y[0].Mean {
		p = append(p, math.Round(s.Grid*(v/length)))
	}
	return p
}

// Distance returns the Euclidean distance on the grid.
func (s Sphere) Distance(a, b []blocks.Component) float64 {
	p, q := s.point(a), s.point(b)
	if p == nil || q == nil {
		return math.NaN()
	}
	sum := 0.0
	for i := range p {
		sum += (p[i] - q[i]) * (p[i] - q[i])
	}
	return math.Sqrt(sum)
}

// Mask adds noise to every whole number.
func (s Sphere) Mask(y []blocks.Component, gaussian func(sigma float64) int64) []blocks.Component {
	out := blocks.Component{Weight: 1, Mean: s.point(y), Root: make([]float64, len(y[0].Root))}
	for i := range out.Mean {
		out.Mean[i] = float64(int64(out.Mean[i]) + gaussian(float64(s.Covers)/s.Mu*(1+1e-12)))
	}
	return []blocks.Component{out}
}

// Directions is an estimator of one's own: the direction of the mean of rows in two columns or
// more, by the reduction of PPE over the space Sphere. Of a release, the mean of the one component
// is the direction, of length 1, and its spread that of the noise.
//
// Privacy: pure.ReleasePopular, on what Sphere's author states.
type Directions struct{ Spread float64 } // of the blocks' directions, in radians: those of most pairs are closer

const (
	popularDirection = "popular direction"
	ofGrid           = 1024
	wantedPairs      = .95 // of all pairs of blocks, close ones
)

// Name begins with "own:".
func (Directions) Name() string { return "own:directions" }

// Summary returns one line for lists.
func (Directions) Summary() string { return "the direction of the mean, popular among blocks of rows" }

// Source names where it comes from.
func (Directions) Source() string { return "PPE Theorem 4.3.1" }

// test returns the pure loss and the delta of the test of agreement, and the number of blocks it
// takes.
func (Directions) test(p estimate.Problem) (epsilon, delta float64, t int) {
	epsilon, delta = p.Budget.Epsilon/2, p.Budget.Delta/2
	for t = 5; t < 1<<14; t++ {
		if threshold, support := pure.PopularThreshold(t, epsilon, delta); float64(threshold+support) <= wantedPairs*float64(t)*float64(t) {
			break
		}
	}
	return epsilon, delta, t
}

// Plan states all that Fit may ask.
func (d Directions) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 2 || p.Components > 1 || !(p.Budget.Epsilon > 0 && p.Budget.Delta > 0) {
		return kernel.Plan{}, &estimate.Refusal{Reason: "own:directions takes two columns or more, and a budget of epsilon and delta", Advice: "name the columns, and set Components to 1"}
	}
	epsilon, delta, _ := d.test(p)
	return kernel.Plan{Method: d.Name(), Steps: []kernel.Step{
		{Name: "rows", Query: query.Count{}.Kind(), Share: .01, Most: 1, Source: "examples/own"},
		{Name: popularDirection, Query: pure.PopularOwnKind, Share: 1, Most: 1, Source: d.Source(), Extra: pure.Closeness{Delta: delta, Pure: epsilon}},
	}}, nil
}

// Fit follows the plan with the whole budget of its session.
func (d Directions) Fit(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	a := s.SubBudget()
	rows, err := a.Sum("rows", query.Count{}, .1*a.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	epsilon, _, t := d.test(p)
	friends := math.Ceil(d.Spread * ofGrid)
	sphere := Sphere{Grid: ofGrid, Covers: 2 * int64(friends), Mu: a.LeftMu()}
	space := pure.OwnSpace{Metric: sphere, Components: 1, Columns: p.Columns, Friends: friends, Covers: sphere.Covers, Mu: sphere.Mu}
	y, ok, err := pure.ReleasePopular(a, popularDirection, blocks.Blocks{Learner: em.Learner{Components: 1}, Count: t, Seed: 1}, space, epsilon)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: "the blocks' directions do not agree", Advice: "needs more rows, or a larger Spread"}}, nil
	}
	length := 0.0
	for _, v := range y[0].Mean {
		length = math.Hypot(length, v)
	}
	mean := make([]float64, p.Columns)
	for i, v := range y[0].Mean {
		mean[i] = v / math.Max(1, length)
	}
	cov, err := model.NewSpherical(p.Columns, math.Pow(float64(sphere.Covers)/sphere.Mu/ofGrid, 2))
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: mean, Cov: cov}})
	if err != nil {
		return estimate.Outcome{}, err
	}
	return estimate.Outcome{Model: m, Diagnostics: estimate.Diagnostics{Components: []estimate.ComponentNote{{EffectiveRows: math.Max(0, rows.Values[0])}}}}, nil
}

// Expect says what error to expect, from public facts.
func (d Directions) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Budget.Epsilon > 0 && p.Budget.Delta > 0) {
		return estimate.Expectation{}
	}
	_, _, t := d.test(p)
	return estimate.Expectation{RowsNeeded: 20 * float64(t)}
}
