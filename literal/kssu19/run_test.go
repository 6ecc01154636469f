package kssu19

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// delta of every budget in these tests.
const delta = 1e-6

// A trial is one fit: estimatetest's runner has no delta to pay thresholds with.
type trial struct {
	rows       [][]float64
	d, k       int
	eps        float64
	relation   privacy.Relation // replace-one if not set
	covariance estimate.CovarianceType
	noise      kerneltest.Options
}

func (c trial) problem() estimate.Problem {
	p := estimate.Problem{Columns: c.d, Relation: c.related(), Mu: privacy.MuOf(c.eps, .95*delta), Components: c.k, Covariance: c.covariance}
	if p.Relation == privacy.ReplaceOne {
		p.Rows = len(c.rows)
	}
	return p
}

func (c trial) related() privacy.Relation {
	if c.relation == privacy.AddRemoveOne {
		return c.relation
	}
	return privacy.ReplaceOne
}

func (c trial) fit(t *testing.T, e estimate.Estimator) estimatetest.Fit {
	t.Helper()
	p := c.problem()
	plan, err := e.Plan(p)
	var refused *estimate.Refusal
	if errors.As(err, &refused) {
		return estimatetest.Fit{Refused: refused}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.follow(t, e, plan, p)
}

func (c trial) follow(t *testing.T, e estimate.Estimator, plan kernel.Plan, p estimate.Problem) estimatetest.Fit {
	t.Helper()
	s := open(t, c, plan)
	out, err := e.Fit(context.Background(), s, p)
	if err != nil {
		t.Fatalf("fit: %v", err)
	}
	f := estimatetest.Fit{Outcome: out, Session: s}
	estimatetest.Check(t, f)
	return f
}

func open(t *testing.T, c trial, plan kernel.Plan) *kernel.Session {
	t.Helper()
	return kerneltest.Open(t, kerneltest.Table(c.rows, c.d, c.related()), plan,
		kernel.Terms{Relation: c.related(), Budget: privacy.Budget{Epsilon: c.eps, Delta: delta}}, c.noise)
}

// alone is a run of single algorithms, whose steps have the whole budget each.
func (c trial) alone(t *testing.T, constants Constants, steps ...[]kernel.Step) *run {
	t.Helper()
	plan := kernel.Plan{Method: "test"}
	for _, s := range steps {
		plan.Steps = append(plan.Steps, s...)
	}
	s := open(t, c, plan)
	return begin(s.SubBudget(), constants, 1)
}

// table is the root: a part of all rows, of which t are asked for.
func (c trial) table(t float64) part {
	return part{frame: whole(c.d), rows: float64(len(c.rows)), t: t}
}

// blobs are spherical Gaussians around the given centres, row i of centre i mod k, with the sds.
func blobs(seed uint64, n int, centers [][]float64, sds ...float64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := make([][]float64, n)
	for i := range rows {
		c := centers[i%len(centers)]
		rows[i] = make([]float64, len(c))
		for j := range c {
			rows[i][j] = c[j] + sds[i%len(centers)%len(sds)]*rng.NormFloat64()
		}
	}
	return rows
}

// corners are k centres in d columns, k <= d, sep*sqrt2 apart, moved by an offset.
func corners(k, d int, sep, offset float64) [][]float64 {
	out := make([][]float64, k)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range out[i] {
			out[i][j] = offset
		}
		out[i][i] += sep
	}
	return out
}

func distance(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(s)
}

// meets reports whether a row is in a region.
func meets(conditions []query.Condition, x []float64) bool {
	for _, c := range conditions {
		n2 := 0.0
		for _, w := range c.Map.W {
			z := 0.0
			for j, v := range w {
				z += v * (x[j] - c.Map.Center[j])
			}
			n2 += z * z
		}
		if (n2 <= c.Radius*c.Radius) == c.Outside {
			return false
		}
	}
	return true
}
