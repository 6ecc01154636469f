package aal21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

var (
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

// delta of every budget in these tests.
const delta = 1e-6

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// A trial is one fit: estimatetest's runner has no delta to pay thresholds with.
type trial struct {
	rows     [][]float64
	d, k     int
	eps      float64
	relation privacy.Relation
	shape    estimate.CovarianceType
	known    [][]float64
	noise    kerneltest.Options
}

func (c trial) problem() estimate.Problem {
	p := estimate.Problem{Columns: c.d, Relation: c.relation, Mu: privacy.MuOf(c.eps, .95*delta), Components: c.k, Covariance: c.shape,
		KnownCovariance: c.known}
	if p.Relation == privacy.ReplaceOne {
		p.Rows = len(c.rows)
	}
	return p
}

func (c trial) open(t testing.TB, plan kernel.Plan) *kernel.Session {
	return kerneltest.Open(t, kerneltest.Table(c.rows, c.d, c.relation), plan, kernel.Terms{Relation: c.relation,
		Budget: privacy.Budget{Epsilon: c.eps, Delta: delta}, Engine: kernel.LocalEngine{Workers: 1}}, c.noise)
}

func (c trial) fit(t testing.TB, e Estimator) estimatetest.Fit {
	t.Helper()
	plan, err := e.Plan(c.problem())
	var refused *estimate.Refusal
	if errors.As(err, &refused) {
		return estimatetest.Fit{Refused: refused}
	}
	if err != nil {
		t.Fatal(err)
	}
	s := c.open(t, plan)
	out, err := e.Fit(context.Background(), s, c.problem())
	if err != nil {
		t.Fatal(err)
	}
	f := estimatetest.Fit{Outcome: out, Session: s}
	estimatetest.Check(t, f)
	return f
}

// alone is a run of single algorithms, with the whole budget of the session.
func (c trial) alone(t testing.TB, constants Constants) (r *run, mu2 float64) {
	s := c.open(t, kernel.Plan{Method: "test", Steps: append(scaleSteps(1), meanSteps(1)...)})
	r = begin(s.SubBudget(), constants, c.k)
	r.rows = float64(len(c.rows))
	return r, s.SubBudget().Left()
}

// sample is what a list decoder is given of a run.
func (c trial) sample(r *run, mu2 float64) Sample {
	return Sample{SubBudget: r.a, Mu2: mu2, Rows: r.rows, Problem: c.problem(), LeastWeight: r.least}
}

// lineOf is a mixture in one column: weight, mean and sd of every component.
func lineOf(t testing.TB, parts ...[3]float64) *model.Mixture {
	m := &model.Mixture{Columns: model.DefaultColumns(1)}
	for _, p := range parts {
		cov, err := model.NewDiagonal([]float64{p[2] * p[2]})
		if err != nil {
			t.Fatal(err)
		}
		m.Weights = append(m.Weights, p[0])
		m.Components = append(m.Components, model.Gaussian{Mean: []float64{p[1]}, Cov: cov})
	}
	return m
}

func sample(t testing.TB, rng *rand.Rand, m *model.Mixture, n int) [][]float64 {
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, m.Dim())
		s.Row(rows[i], rng)
	}
	return rows
}

// variation is the total variation of two mixtures, to .004.
func variation(t testing.TB, a, b *model.Mixture) float64 {
	c, err := model.Compare(t.Context(), a, b, 20000, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return float64(c.TV)
}

// randomMixture has k components with the given weights in d columns, whose sds differ by factors
// up to 10 and whose means are far sds of the widest apart in every column.
func randomMixture(t testing.TB, rng *rand.Rand, weights []float64, d int, far float64) *model.Mixture {
	m := &model.Mixture{Columns: model.DefaultColumns(d), Weights: weights}
	units, order := make([]float64, d), rng.Perm(len(weights))
	for j := range units {
		units[j] = math.Exp(10 * rng.NormFloat64())
	}
	for i := range weights {
		mean, variances := make([]float64, d), make([]float64, d)
		for j, u := range units {
			sd := u * math.Pow(10, -rng.Float64())
			mean[j], variances[j] = u*(100+far*float64(order[i])+rng.Float64()), sd*sd
		}
		cov, err := model.NewDiagonal(variances)
		if err != nil {
			t.Fatal(err)
		}
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: cov})
	}
	return m
}
