package amn24

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

var update = flag.Bool("update", false, "write the golden files")

// delta of every budget in these tests.
const delta = 1e-6

var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

// A trial is one fit.
type trial struct {
	rows       [][]float64
	d, k       int
	eps        float64
	relation   privacy.Relation // replace-one if not set
	covariance estimate.CovarianceType
	facts      estimate.Facts
	noise      kerneltest.Options
}

func (c trial) asked() estimatetest.Case {
	return estimatetest.Case{Rows: c.rows, Columns: c.d, Relation: c.relation, Epsilon: c.eps, Delta: delta, Components: c.k, MaxComponents: 10,
		Covariance: c.covariance, Facts: c.facts, Noise: c.noise}
}

func (c trial) problem() estimate.Problem { return c.asked().Problem() }

// fit plans, fits and checks; the session is nil if the plan was refused.
func (c trial) fit(t *testing.T, e estimate.Estimator) estimatetest.Fit {
	t.Helper()
	return estimatetest.RunChecked(t, e, c.asked())
}

func (c trial) open(t *testing.T, plan kernel.Plan) *kernel.Session {
	t.Helper()
	return c.asked().Open(t, plan)
}

// knowing are facts: means within radius, standard deviations within low and high.
func knowing(radius, low, high float64) estimate.Facts {
	return estimate.Facts{KnowsMean: true, MeanWithin: radius, Eigenvalues: [2]float64{low * low, high * high}}
}

// line is a mixture in one column: weight, mean, sd for each component.
func line(t *testing.T, parts ...[3]float64) *model.Mixture {
	t.Helper()
	var w []float64
	var gs []model.Gaussian
	for _, p := range parts {
		cov, err := model.NewSpherical(1, p[2]*p[2])
		if err != nil {
			t.Fatal(err)
		}
		w, gs = append(w, p[0]), append(gs, model.Gaussian{Mean: []float64{p[1]}, Cov: cov})
	}
	m, err := model.New(nil, w, gs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// distance is the total variation between a fit and the truth.
func distance(t *testing.T, truth *model.Mixture, f estimatetest.Fit) float64 {
	t.Helper()
	if f.Model == nil {
		return 1
	}
	tv, _ := estimatetest.TV(t, truth, f.Model, 20000, rand.New(rand.NewPCG(1, 2)))
	return tv
}

// plane is a mixture in two columns of k rotated Gaussians of standard deviations 1.5 and .7, means
// away from the origin.
func plane(t *testing.T, k int, away float64) *model.Mixture {
	t.Helper()
	var gs []model.Gaussian
	for i := range k {
		sin, cos := math.Sincos(.4 + 2*float64(i))
		cov, err := model.FullFromFactor(mat.NewDense(2, 2, []float64{1.5 * cos, -.7 * sin, 1.5 * sin, .7 * cos}))
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, model.Gaussian{Mean: []float64{away * cos, away * sin}, Cov: cov})
	}
	m, err := model.New(nil, nil, gs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func kernelPlan(x design) kernel.Plan { return kernel.Plan{Method: "test", Steps: x.steps()} }

func diagonal(sd float64) *mat.Dense { return mat.NewDense(1, 1, []float64{sd}) }
