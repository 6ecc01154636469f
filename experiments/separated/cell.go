package main

import (
	"context"
	"path"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/model"
)

// practical is the method that the experiments are about.
const practical = "separated"

// meanBar is the largest Mahalanobis error of a mean that counts as learned.
//
// Source: [KSSU19] Section D.1 of the restatement.
const meanBar = .5

// A cell is a point of an experiment's grid.
type cell struct {
	name string
	spec problems.Spec
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
	problems.Spec
	Given    int     `json:"given,omitempty"`   // number of components, where it is given
	Most     int     `json:"at_most,omitempty"` // the largest one allowed, where it is not
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Relation string  `json:"relation"`
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
func (c cell) request(o options, method string) gauze.Request {
	r := gauze.Request{Relation: o.relation, Budget: o.budget, Method: method, MaxComponents: o.most}
	if !c.auto {
		r.Components = c.spec.Components
	}
	if c.epsilon != 0 {
		r.Budget.Epsilon = c.epsilon
	}
	return r
}

// trial is one run of a cell: draw, fit, compare.
func (e experiment) trial(o options, c cell, method string, n int, seed uint64) harness.Trial {
	r := c.request(o, method)
	asked := params{Spec: c.spec, Given: r.Components, Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Relation: r.Relation.String()}
	if c.auto {
		asked.Most = r.MaxComponents
	}
	return harness.Trial{
		Key:    harness.Key{Experiment: e.name, Cell: c.name, Method: method, N: n, Seed: seed},
		Params: asked,
		Run: func(ctx context.Context) (harness.Outcome, error) {
			in, err := c.spec.Draw(seed, n)
			if err != nil {
				return harness.Outcome{}, err
			}
			fitted, err := learn(ctx, in, r, seed)
			if err != nil {
				return harness.Outcome{}, err
			}
			out, err := e.outcome(o, c, in.Truth, fitted)
			if err == nil && (e.reference || o.nonPrivate) {
				err = addReference(out.Values, in)
			}
			return out, err
		},
	}
}

// learn fits by a method of gauze fit, or by a peer.
func learn(ctx context.Context, in *problems.Instance, r gauze.Request, seed uint64) (harness.Fitted, error) {
	if p, ok := peerNamed(r.Method); ok {
		return p.fit(ctx, in, seed)
	}
	return harness.Fit(ctx, in.Rows, r, time.Now)
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
func (e experiment) outcome(o options, c cell, truth *model.Mixture, f harness.Fitted) (harness.Outcome, error) {
	out := harness.Outcome{Seconds: f.Seconds, Why: f.Why, Values: harness.Values{found: 0}}
	if f.Foreground == nil {
		return out, nil
	}
	s, err := problems.Compare(truth, f.Foreground, o.tvRows)
	if err != nil {
		return out, err
	}
	out.Values = harness.Values{
		worstMean: s.WorstMean, tvBound: s.MedianBound, worstWeight: s.WorstWeight, found: float64(s.Found),
		surplus: s.SurplusWeight, background: f.Background,
	}
	if o.tvRows > 0 {
		out.Values[tvMonteCarlo] = s.MedianTV
	}
	out.Success = e.success(s, c)
	return out, nil
}

// referenceSteps of EM from the truth: for separated components it stands still after the first.
const referenceSteps = 5

// addReference adds the error that could be had without privacy.
func addReference(v harness.Values, in *problems.Instance) error {
	m, err := in.Reference(referenceSteps)
	if err != nil {
		return err
	}
	s, err := problems.Compare(in.Truth, m, 0)
	v[referenceMean] = s.WorstMean
	return err
}

// means is the criterion of most experiments: every mean is learned.
func means(s problems.Score, _ cell) bool { return s.WorstMean < meanBar }

// meansAndNumber wants the number of components right as well.
func meansAndNumber(s problems.Score, c cell) bool {
	return means(s, c) && s.Found == c.spec.Components
}
