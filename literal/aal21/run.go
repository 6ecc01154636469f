package aal21

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"

	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
)

// A run is what the algorithms share: whom they ask and what they assume; public facts and released
// values only. An algorithm is a method of it that works on all columns at once and is given the
// mu^2 that it may cost.
type run struct {
	a        *kernel.SubBudget
	relation privacy.Relation
	c        Constants
	d, k     int
	rows     float64 // n, public or released
	least    float64 // 1-gamma
	p        estimate.Problem
	advice   string
	seen     []bins // released by meanDecoder
}

// begin returns a run on the session of a sub-budget, with n if it is public.
func begin(a *kernel.SubBudget, c Constants, k int) *run {
	s := a.Session()
	r := &run{a: a, relation: s.Relation(), c: c, d: s.Columns(), k: k, least: c.leastWeight(k)}
	if n, public := s.Rows(); public {
		r.rows = float64(n)
	}
	return r
}

// sampled returns a run of a list decoder's algorithms.
func sampled(s Sample, c Constants) *run {
	r := begin(s.SubBudget, c, program.MostComponents(s.Problem))
	r.rows, r.least, r.p = s.Rows, s.LeastWeight, s.Problem
	return r
}

// count buys n where it is private, for a part of mu^2 or, where delta is 0, of epsilon.
func (r *run) count(cost float64) error {
	if r.relation == privacy.ReplaceOne {
		return nil
	}
	ask := func() (kernel.Answer, error) { return r.a.Sum(stepCount, query.Count{}, parts.Mu(cost)) }
	if r.p.Budget.Pure() {
		ask = func() (kernel.Answer, error) { return pure.Laplace(r.a, stepCount, query.Count{}, cost*(1-1e-12)) }
	}
	answer, err := ask()
	if err != nil {
		return err
	}
	r.rows = math.Max(0, answer.Values[0])
	return nil
}

// histogram returns a stability histogram that costs mu2, with the sd of its noise or, where that
// is truncated, the most that it can be.
//
// Source: [AAL21] Lemma 4.1. Differs: Gaussian noise, unless TruncatedLaplace.
func (r *run) histogram(step string, q query.BoxKeys, mu2 float64) (found []kernel.HistogramCell, noise float64, err error) {
	if r.c.TruncatedLaplace {
		return pure.TruncatedHistogram(r.a, step, q, paper.PureEpsilon(mu2))
	}
	return kernel.StabilityHistogram(r.a, step, q, parts.Mu(mu2))
}

// outcome returns the model that was chosen from a list.
func (r *run) outcome(m *model.Mixture, l List, c cover, step float64) estimate.Outcome {
	draft := program.NewDraft(r.d, estimate.Diagnostics{})
	draft.Notes.Flag(misfit(l, m, r.rows))
	draft.Notes.Flag(flags.New(flags.Method, "chosen among %.0f mixtures, whose net has a step of %.3g standard deviations; the one that is released, of a net with a step of %.3g",
		paper.CountMixtures(int(c.size), r.k, c.grains), c.step, step))
	for i, g := range m.Components {
		cov, err := r.shaped(g.Cov)
		draft.Add(m.Weights[i], g.Mean, cov, err, estimate.ComponentNote{EffectiveRows: m.Weights[i] * r.rows})
	}
	return draft.Outcome()
}

// shaped returns the covariance as the type of model that was asked for, or Diagonal where the list
// holds no others.
func (r *run) shaped(cov model.Covariance) (model.Covariance, error) {
	if r.d > 1 && (r.p.Covariance == estimate.Full && r.p.KnownCovariance != nil || !diagonal(cov)) {
		return model.NewFull(cov.Dense())
	}
	if r.d == 1 {
		switch r.p.Covariance {
		case estimate.Full:
			return model.NewFull(cov.Dense())
		case estimate.Spherical:
			return model.NewSpherical(1, cov.At(0, 0))
		}
	}
	variances := make([]float64, r.d)
	for i := range variances {
		variances[i] = cov.At(i, i)
	}
	return model.NewDiagonal(variances)
}

func diagonal(cov model.Covariance) bool {
	for i := range cov.Dim() {
		for j := range i {
			if cov.At(i, j) != 0 {
				return false
			}
		}
	}
	return true
}

// noRelease returns FAIL.
func (r *run) noRelease(reason string) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: reason, Advice: r.advice}}
}
