package kmssu22

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
)

// delta of every budget in these tests.
const delta = 1e-6

// A trial is one fit.
type trial struct {
	rows     [][]float64
	d        int
	eps      float64
	relation privacy.Relation // replace-one if not set
	shape    estimate.CovarianceType
	noise    kerneltest.Options
}

func (c trial) asked() estimatetest.Case {
	return estimatetest.Case{Rows: c.rows, Columns: c.d, Relation: c.relation, Epsilon: c.eps, Delta: delta, Components: 1, Covariance: c.shape, Noise: c.noise}
}

func (c trial) problem() estimate.Problem { return c.asked().Problem() }

func (c trial) fit(t testing.TB, e estimate.Estimator) estimatetest.Fit {
	t.Helper()
	return estimatetest.RunChecked(t, e, c.asked())
}

func (c trial) follow(t testing.TB, e estimate.Estimator, plan kernel.Plan, p estimate.Problem) estimatetest.Fit {
	t.Helper()
	s := c.open(t, plan)
	out, err := e.Fit(context.Background(), s, p)
	if err != nil {
		t.Fatalf("fit: %v", err)
	}
	f := estimatetest.Fit{Outcome: out, Session: s}
	estimatetest.Check(t, f)
	return f
}

func (c trial) open(t testing.TB, plan kernel.Plan) *kernel.Session {
	t.Helper()
	return c.asked().Open(t, plan)
}

// A truth is a Gaussian with the given standard deviations along random axes, one of which may be
// 0.
type truth struct {
	mean []float64
	axes *mat.Dense // orthonormal columns
	sds  []float64
}

func newTruth(rng *rand.Rand, offset float64, sds ...float64) truth {
	g := truth{axes: paper.Rotation(rng, len(sds)), sds: sds, mean: make([]float64, len(sds))}
	for j := range g.mean {
		g.mean[j] = offset * rng.NormFloat64()
	}
	return g
}

func (g truth) draw(rng *rand.Rand, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = append([]float64(nil), g.mean...)
		for a, sd := range g.sds {
			along := sd * rng.NormFloat64()
			for j := range rows[i] {
				rows[i][j] += along * g.axes.At(j, a)
			}
		}
	}
	return rows
}

// errors are those of the mean and the covariance after whitening by the truth, divided by the
// non-private sqrt(d/n) and sqrt(d(d+1)/n); across is the largest standard deviation along axes on
// which there is none.
func (g truth) errors(f estimatetest.Fit, n int) (mean, cov, across float64) {
	if f.Model == nil {
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	own := f.Model.Components[0]
	rank := 0.0
	d := len(g.sds)
	inner := func(a, b int) float64 {
		s := 0.0
		for i := range d {
			for j := range d {
				s += g.axes.At(i, a) * own.Cov.At(i, j) * g.axes.At(j, b)
			}
		}
		return s
	}
	for a, sd := range g.sds {
		off := 0.0
		for j, m := range g.mean {
			off += g.axes.At(j, a) * (own.Mean[j] - m)
		}
		if sd == 0 {
			across = math.Max(across, math.Max(math.Abs(off), math.Sqrt(math.Max(0, inner(a, a)))))
			continue
		}
		rank++
		mean += off * off / sd / sd
		for b, other := range g.sds {
			if other == 0 {
				continue
			}
			e := inner(a, b) / sd / other
			if a == b {
				e--
			}
			cov += e * e
		}
	}
	return math.Sqrt(mean * float64(n) / rank), math.Sqrt(cov * float64(n) / rank / (rank + 1)), across
}

// alone is a run of single algorithms on a session whose steps are those of a plan.
func (c trial) alone(t testing.TB, constants Constants) *run {
	t.Helper()
	s := c.open(t, kernel.Plan{Method: "test", Steps: constants.steps(c.problem())})
	return &run{means: constants.means(c.problem()), ctx: context.Background(), a: s.SubBudget(), mu2: s.Mu() * s.Mu(), rows: float64(len(c.rows))}
}

// spectrum are the eigenvalues of the truth's covariance in the space, largest first.
func (g truth) spectrum(t testing.TB, s space) []float64 {
	t.Helper()
	var a, root mat.Dense
	root.Mul(g.axes, mat.NewDiagDense(len(g.sds), g.sds))
	a.Mul(s.w, &root)
	var svd mat.SVD
	if !svd.Factorize(&a, mat.SVDNone) {
		t.Fatal("no singular values")
	}
	values := svd.Values(nil)
	for i, v := range values {
		values[i] = v * v
	}
	return values
}

func isBottom(err error) bool {
	var b *bottom
	return errors.As(err, &b)
}
