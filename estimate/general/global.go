package general

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// fitGlobal finds one robust Gaussian, a few rounds of the same release with one component, and
// standardises the space by it.
//
// Source: [KSSU19] Section E of the restatement, stages M0 and M1.
// Differs: three rounds, whose budget follows from n.
func (f *fit) fitGlobal(near []float64) error {
	d := f.space.Dim()
	start := component.Gaussian{Weight: 1, Mean: make([]float64, d), Cov: symmetric.Scaled(startVariance, symmetric.Identity(d)), Uncertainty: globalDoubt}
	r := &privateem.Rounds{Space: f.space, Form: query.FullForm, Components: []component.Gaussian{start}, Rows: f.Rows, Factor: f.Factor, Floor: floorStandard, Misfit: misfit}
	for _, share := range globalShares {
		if err := r.Round(f.SubBudget, stepGlobal.Name, f.Mu(share*f.schedule.global), false); err != nil {
			return err
		}
		if f.missing.early {
			if err := f.complete(f.space, r.Components); err != nil {
				return err
			}
			f.asks(false)
		}
	}
	g, s := r.Components[0], f.space
	f.space = component.Space{Columns: s.Columns, Center: make([]float64, d), Scale: make([]float64, d), Of: s.Of}
	for i := range d {
		f.space.Center[i] = s.Center[i] + s.Scale[i]*g.Mean[i]
		if f.space.Scale[i] = s.Scale[i] * math.Sqrt(g.Cov.At(i, i)); f.Problem.Covariance != estimate.Spherical {
			f.space.Scale[i] = between(f.space.Scale[i]/mostStretched, near[i], f.space.Scale[i]*mostStretched)
		}
	}
	if f.Problem.Covariance == estimate.Spherical { // what is in one unit is so in the table
		f.space.Scale = slices.Repeat([]float64{slices.Max(f.space.Scale)}, d)
	}
	corr := symmetric.Of(d, func(i, j int) float64 {
		return g.Cov.At(i, j) * (s.Scale[i] / f.space.Scale[i]) * (s.Scale[j] / f.space.Scale[j])
	})
	f.global = component.Gaussian{Weight: 1, Mean: make([]float64, d), Cov: corr, Rows: g.Rows, Sigma: g.Sigma}
	return nil
}

// startVariance, in squared units, is that of the first frame. Rather too narrow than too wide:
// unclipping to first order overshoots when the truth is much narrower than the frame. Chosen on
// the public tables, by experiments/files.
const startVariance = 1.5

// globalDoubt is that of the first frame: its weight is known, the rest is the columns' units. A
// utility constant.
var globalDoubt = component.Uncertainty{Shape: 4, Scale: 4, Mean: 4, Weight: 1e-9}

// mostStretched bounds by how much a column's unit differs from its spread. A guess.
const mostStretched = 4.0

// The tree of counts. Chosen on the public tables, by experiments/files.
const (
	// boxSDs is the half-width of the tree's box, in sds of each direction.
	boxSDs = 4.0
	// mostCells bounds the coreset: a cell with less than this part of the rows is not split.
	mostCells = 1000
)

// tree measures the coreset in the leading directions of the global covariance, or in those in
// which the rows are least like one Gaussian.
func (f *fit) tree() (*coreset.Coreset, *axes, error) {
	d := f.space.Dim()
	a, err := f.directed(f.global)
	if err != nil {
		return nil, nil, err
	}
	q := min(f.schedule.q, d)
	first, last := f.schedule.first, f.schedule.last
	// columns turned out constant: fewer directions, no more levels than planned
	if q < f.schedule.q {
		first, last = coreset.Levels(q, false)
	}
	w := mat.DenseCopyOf(a.to.Slice(0, q, 0, d))
	half := parts.Map(a.lambda[:q], func(v float64) float64 { return boxSDs * math.Sqrt(v) })
	c, err := coreset.Build(f.SubBudget, stepTree.Name, f.space.Affine(f.global.Mean, w), half, first, last, f.Rows/mostCells, f.Mu(f.schedule.tree))
	return c, a, err
}

// lift turns a mixture of the coreset's coordinates into components in all working coordinates:
// covariance V blockdiag(S_j, lambda_rest) V^T.
func (a *axes) lift(m *coreset.Mixture) (out []component.Gaussian) {
	for j, w := range m.Weights {
		mean, cov := m.Lift(j, a.vec, a.lambda)
		out = append(out, component.Gaussian{Weight: w, Mean: mean, Cov: cov})
	}
	return out
}
