// Package component holds one Gaussian component in working coordinates, how far it may be from the
// truth, and how a release of clipped moments moves it: one step of private EM is Space.Clipped for
// every component, one measurement, Update.Apply for each. It unpacks the moments (UnpackSums) and
// knows what clipping does to those of a Gaussian (ClippingLaw), so that estimators can undo it: to
// first order in closed form, and farther off by sums over public points (InvertClipping).
// Everything here is post-processing of released values.
package component

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// A Space is an affine change of columns: working coordinate l is (x[Columns[l]] - Center[l]) /
// Scale[l].
type Space struct {
	Columns       []int
	Center, Scale []float64
}

// Flat returns the space of the first d columns as they are.
func Flat(d int) Space {
	return Space{Columns: parts.Upto(d), Center: make([]float64, d), Scale: slices.Repeat([]float64{1}, d)}
}

// Dim returns the number of working coordinates.
func (s Space) Dim() int { return len(s.Columns) }

// Affine turns a map z = w (y - mean) of working coordinates, w of any number of rows, into a map
// of the table's rows.
func (s Space) Affine(mean []float64, w *mat.Dense) query.Affine {
	r, d := w.Dims()
	a := query.Affine{Columns: s.Columns, Center: make([]float64, d), W: make([][]float64, r)}
	for l := range d {
		a.Center[l] = s.Center[l] + s.Scale[l]*mean[l]
	}
	for i := range r {
		a.W[i] = make([]float64, d)
		for l := range d {
			a.W[i][l] = w.At(i, l) / s.Scale[l]
		}
	}
	return a
}

// A Gaussian is one component in working coordinates.
type Gaussian struct {
	Weight float64 // share of the rows
	Mean   []float64
	Cov    *mat.SymDense
	// Rows is the released count behind it; Sigma the noise sd of an entry of its second moment
	// divided by Rows.
	Rows, Sigma float64
	CountSD     float64 // noise sd of Rows
	Misfit      float64 // see em.Rounds.GoodnessOfFit
	Uncertainty Uncertainty
}

// leastWeight is the weight that a component has in a partition at least: its logarithm stays a
// number.
const leastWeight = 1e-12

// Density returns c with the given weight as a component of a query's partition or density, without
// a radius, and the factor l of its frame: c.Cov = l l^T (see symmetric.Factor).
func (s Space) Density(c Gaussian, weight float64) (q query.Component, l *mat.Dense) {
	l, inv, logDet := symmetric.Factor(c.Cov)
	return query.Component{Map: s.Affine(c.Mean, inv), LogWeight: math.Log(math.Max(weight, leastWeight)) - logDet/2}, l
}

// A Clipping is how one release saw a component: in the frame z = L^-1 (y - mean), clipped to a
// ball with this law.
type Clipping struct {
	L   *mat.Dense
	Law ClippingLaw
}

// Clipped returns c with the given weight as a component of a query of clipped moments: its frame
// is its current covariance, its radius that of ClippingRadius2 for weight*rows rows. noise is that
// of Noise, misfit that of ClippingRadius2.
func (s Space) Clipped(c Gaussian, weight, rows, noise, misfit float64) (query.Component, Clipping) {
	d := s.Dim()
	q, l := s.Density(c, weight)
	r2 := ClippingRadius2(d, math.Max(weight*rows, leastRows), noise, misfit)
	q.Radius = math.Sqrt(r2)
	return q, Clipping{L: l, Law: ClippedGaussian(d, r2)}
}

// Lift is b/r of query.ClippedMoments, what the mean pays for the covariance: a utility constant
// that Noise counts on. A guess.
const Lift = .45

// Noise returns the sd of an entry of a sum of z z^T per unit of R^2 at privacy loss mu: the norm
// bound of the form times the relation's factor, sqrt2 under replace-one and 1 under
// add-or-remove-one (see query.ClippedMoments).
func Noise(form query.Form, factor, mu float64) float64 {
	switch form {
	case query.DiagonalForm:
		return math.Sqrt(3) * factor / mu
	case query.SphericalForm:
		return 1.5 * factor / mu
	default:
		return (1 + Lift*Lift) * factor / mu
	}
}

// Join puts what components i and j of cs are together, i > j, in the place of j.
func Join(cs []Gaussian, i, j int) []Gaussian {
	cs[j] = Joined(cs[i], cs[j])
	return append(cs[:i], cs[i+1:]...)
}

// Joined returns the Gaussian with the weight, mean and covariance of all together; its doubts are
// their means by weight.
func Joined(all Gaussian, others ...Gaussian) Gaussian {
	for _, g := range others {
		all = joined(all, g)
	}
	return all
}

func joined(a, b Gaussian) Gaussian {
	w := a.Weight + b.Weight
	pa, pb := a.Weight/w, b.Weight/w
	d := len(a.Mean)
	m := Gaussian{Weight: w, Mean: make([]float64, d), Rows: a.Rows + b.Rows,
		Sigma: math.Max(a.Sigma*pa, b.Sigma*pb), CountSD: math.Hypot(a.CountSD, b.CountSD)}
	for i := range d {
		m.Mean[i] = pa*a.Mean[i] + pb*b.Mean[i]
	}
	m.Cov = symmetric.Of(d, func(i, j int) float64 {
		return pa*(a.Cov.At(i, j)+(a.Mean[i]-m.Mean[i])*(a.Mean[j]-m.Mean[j])) +
			pb*(b.Cov.At(i, j)+(b.Mean[i]-m.Mean[i])*(b.Mean[j]-m.Mean[j]))
	})
	m.Uncertainty = Uncertainty{
		Shape: pa*a.Uncertainty.Shape + pb*b.Uncertainty.Shape, Scale: pa*a.Uncertainty.Scale + pb*b.Uncertainty.Scale,
		Mean: pa*a.Uncertainty.Mean + pb*b.Uncertainty.Mean, Weight: pa*a.Uncertainty.Weight + pb*b.Uncertainty.Weight,
	}
	return m
}
