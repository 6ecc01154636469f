package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

const (
	// lift is b/R of the augmented moments: the mean is measured with the covariance for lift^2
	// more noise. A utility constant.
	lift = .3
	// seen: a released count of fewer noise sds than this is taken for nothing. A utility constant.
	seen = 4.0
	// noiseLimit is the largest part of an eigenvalue that the spectral noise may be.
	noiseLimit = .5
	// misjudged: an eigenvalue this many times above its bound says that the bound, and so the
	// clipping, is wrong.
	misjudged = 1.5
)

// A naive is what NaiveEstimator finds.
type naive struct {
	space           // centred at the location
	mean  []float64 // in the space
	cov   *mat.SymDense
	rows  float64
	noise float64 // spectral, of cov
}

// naiveEstimator runs NaiveEstimator: mean and covariance of the rows in the space, where no
// eigenvalue is above bound, clipped at g sqrt(bound) with g^2 = d + 2 sqrt(d ln(2n/b)) + 2
// ln(2n/b), with symmetric Gaussian noise. It spends all that the sub-budgets locate and spend
// have, on the location that rows are clipped around and on the moments. It is bottom if the answer
// shows that bound is wrong.
//
// Source: [KMSSU22] NaiveEstimator.
// Differs: clipped around the fullest cell of a stability histogram of each coordinate, and not
// around zero, at a radius that is larger by how far that may be off; the noise has the covariance
// that a Frobenius sensitivity asks for; the mean is released with it.
func (r *run) naiveEstimator(prefix string, s space, bound float64, locate, spend *kernel.SubBudget) (naive, error) {
	if err := r.ctx.Err(); err != nil {
		return naive{}, err
	}
	unit := math.Sqrt(bound)
	if !usable(s) || !dense.Finite(bound) || !(unit > 0) {
		return naive{}, fail("the spread of the rows has no variance in float64")
	}
	s, err := locatedAt(prefix, s, repeat(r.c.LocationSide*unit, s.dim()), locate)
	if err != nil {
		return naive{}, err
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: lift,
		Components: []query.Component{{Map: s.frame(), Radius: unit * r.c.radius(s.dim(), r.rows)}}}
	sums, err := measure(spend, prefix+stepMoments, q, spend.LeftMu())
	if err != nil {
		return naive{}, err
	}
	if !(sums.Count > seen*sums.CountSD) {
		return naive{}, fail("noise hides the number of rows")
	}
	z := naive{space: s, mean: sums.Sum, cov: sums.Second, rows: sums.Count, noise: sums.SecondSD * math.Sqrt(2*float64(s.dim())) / sums.Count}
	for i := range z.mean {
		z.mean[i] /= z.rows
	}
	z.cov.ScaleSym(1/z.rows, z.cov)
	z.cov.SymRankOne(z.cov, -1, mat.NewVecDense(len(z.mean), z.mean))
	values, ok := symmetric.Eigenvalues(z.cov)
	if !ok {
		return naive{}, fail("the released moments are outside of float64")
	}
	if top := values[s.dim()-1]; top > misjudged*bound+2*z.noise {
		return naive{}, fail("the rows are wider than their eigenvalues say, by a factor of %.2g: they are not close to one Gaussian, "+
			"or a subspace was missed", top/bound)
	}
	return z, nil
}

// locatedAt centres the space at the fullest cell, of the given side, of each of its coordinates,
// with all that the sub-budget has.
//
// Source: [KMSSU22] Corrections (the mean).
func locatedAt(prefix string, s space, sides []float64, a *kernel.SubBudget) (space, error) {
	if !usable(s) {
		return space{}, fail("the location of the rows is outside of float64")
	}
	q := query.BoxKeys{Grids: []query.Grid{{Map: s.frame(), Side: sides, Offset: make([]float64, s.dim())}}}
	cells, _, err := kernel.StabilityHistogram(a, prefix+stepLocation, q, a.LeftMu())
	if err != nil {
		return space{}, err
	}
	z := make([]float64, s.dim())
	for i := range z {
		key, ok := fullest(cells, i)
		if !ok {
			return space{}, fail("no place holds enough rows to be seen")
		}
		z[i] = (key + .5) * sides[i]
	}
	if s = s.at(z); !usable(s) {
		return space{}, fail("the location of the rows is outside of float64")
	}
	return s, nil
}

// measure asks for the moments of one component.
func measure(a *kernel.SubBudget, step string, q query.ClippedMoments, mu float64) (component.Sums, error) {
	answer, err := a.Sum(step, q, mu)
	if err != nil {
		return component.Sums{}, err
	}
	return component.UnpackSums(q, answer)[0], nil
}

// usable reports a space that a query takes.
func usable(s space) bool {
	return dense.AllFinite(s.center) && dense.AllFinite(s.w.RawMatrix().Data) && dense.AllFinite(s.wi.RawMatrix().Data)
}
