package reduction

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/learner/pearson"
	"github.com/gauze-dp/gauze/learner/spectral"
	"github.com/gauze-dp/gauze/model"
)

// Names of learners, as --learner has them.
const (
	byEM       = "em"
	bySpectral = "spectral"
	byMoments  = "pearson-lines"
	byScikit   = "scikit-learn" // not one of ours
)

var learners = map[string]learner.Mixture{byEM: em.Learner{}, bySpectral: spectral.Mixture{}, byMoments: pearson.Learner{}}

// learn runs the contender's learner on all rows, without privacy.
func (by contender) learn(ctx context.Context, c cell, in *madeup.Instance, seed uint64) (engine.Outcome, error) {
	m, seconds, err := by.open(ctx, c, in, seed)
	out := engine.Outcome{Seconds: math.Round(1e4*seconds) / 1e4, Values: engine.Values{}}
	if err != nil {
		out.Why = err.Error()
		return out, ctx.Err()
	}
	out.Values[parameters] = parameterDistance(in.Truth, m)
	out.Success = out.Values[parameters] < alikeParameters
	out.Values[totalVariation], err = madeup.TotalVariation(in.Truth, m, tvRows)
	return out, err
}

// open is what the learner finds, and how long it took.
func (by contender) open(ctx context.Context, c cell, in *madeup.Instance, seed uint64) (*model.Mixture, float64, error) {
	if by.learner == byScikit {
		return scikit(ctx, in.Rows, c.asked(), seed)
	}
	n, _ := in.Rows.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Clone(in.Rows.RawRowView(i))
	}
	start := time.Now()
	found, err := learners[by.learner].LearnMixture(rows, c.asked(), seed)
	seconds := time.Since(start).Seconds()
	if err != nil {
		return nil, seconds, err
	}
	m, err := mixture(found)
	return m, seconds, err
}

// scikit runs scikit-learn on rows in their columns' standard deviations, as its regularisation
// wants them.
func scikit(ctx context.Context, rows *mat.Dense, k int, seed uint64) (*model.Mixture, float64, error) {
	own, scale, shift := engine.Standardised(rows)
	got, err := engine.Scikit(ctx, own, k, "kmeans", seed%(1<<31))
	if err != nil {
		return nil, 0, err
	}
	m, err := madeup.Affine(got.Foreground, scale, shift)
	return m, got.Seconds, err
}

// mixture is what a learner found as a model.
func mixture(found []learner.Component) (*model.Mixture, error) {
	var w []float64
	var gs []model.Gaussian
	for _, c := range found {
		root := mat.NewDense(len(c.Root), len(c.Root), nil)
		for i, row := range c.Root {
			root.SetRow(i, row)
		}
		cov, err := model.FullFromFactor(root)
		if err != nil {
			return nil, err
		}
		w, gs = append(w, c.Weight), append(gs, model.Gaussian{Mean: c.Mean, Cov: cov})
	}
	return model.New(nil, w, gs)
}

// parameterDistance is dist_PARAM: the best over all ways to pair the components of the worst
// component's distance; +Inf of mixtures of different numbers of components.
func parameterDistance(a, b *model.Mixture) float64 {
	if a.K() != b.K() {
		return math.Inf(1)
	}
	best := math.Inf(1)
	free := make([]int, b.K())
	for j := range free {
		free[j] = j
	}
	var pair func(i int, worst float64)
	pair = func(i int, worst float64) { // k is small
		if worst >= best {
			return
		}
		if i == a.K() {
			best = worst
			return
		}
		for at := i; at < len(free); at++ {
			free[i], free[at] = free[at], free[i]
			d := model.ComponentDistance(a.Weights[i], a.Components[i], b.Weights[free[i]], b.Components[free[i]])
			pair(i+1, max(worst, d))
			free[i], free[at] = free[at], free[i]
		}
	}
	pair(0, 0)
	return best
}

// likelihoodGap is how much less likely rows are under b than under a, in nats per row.
func likelihoodGap(held *madeup.Instance, a, b *model.Mixture) (float64, error) {
	first, err := model.NewScorer(a)
	if err != nil {
		return 0, err
	}
	second, err := model.NewScorer(b)
	if err != nil {
		return 0, err
	}
	n, _ := held.Rows.Dims()
	sum := 0.0
	for i := range n {
		row := held.Rows.RawRowView(i)
		sum += first.LogDensity(row) - second.LogDensity(row)
	}
	return sum / float64(n), nil
}
