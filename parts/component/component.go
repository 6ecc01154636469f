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
	// Of, if set, makes the working coordinates those of a projection, and not columns: there are
	// no Columns then, and Center and Scale have a number for each of its axes.
	Of *Projection
}

// A Projection is onto a few axes of a space of columns.
type Projection struct {
	Space Space
	Axes  *mat.Dense // orthonormal columns, in the space's coordinates
}

// Flat returns the space of the first d columns as they are.
func Flat(d int) Space {
	return Space{Columns: parts.Upto(d), Center: make([]float64, d), Scale: slices.Repeat([]float64{1}, d)}
}

// Dim returns the number of working coordinates.
func (s Space) Dim() int {
	if s.Of != nil {
		return len(s.Center)
	}
	return len(s.Columns)
}

// Affine turns a map z = w (y - mean) of working coordinates, w of any number of rows, into a map
// of the table's rows.
func (s Space) Affine(mean []float64, w *mat.Dense) query.Affine {
	if s.Of != nil {
		return s.projected(mean, w)
	}
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

// projected returns Affine's map of a projection's coordinates, as one of the columns': the axes
// are orthonormal, so the image of the point that they span is mean.
func (s Space) projected(mean []float64, w *mat.Dense) query.Affine {
	at, per := slices.Clone(s.Center), mat.DenseCopyOf(w)
	for l, scale := range s.Scale {
		at[l] += scale * mean[l]
	}
	per.Apply(func(_, l int, v float64) float64 { return v / s.Scale[l] }, w)
	back := make([]float64, s.Of.Space.Dim())
	symmetric.AddMul(back, s.Of.Axes, at)
	var all mat.Dense
	all.Mul(per, s.Of.Axes.T())
	return s.Of.Space.Affine(back, &all)
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
	MeanSD      float64 // .. of the mean in any direction, in sds of the component's own; 0 if it was not measured
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
// is its current covariance, its radius that of ClippingRadius2 for weight*rows rows, a number that
// the release and what was known before say together. noise is that of NoiseOf, misfit that of
// ClippingRadius2.
func (s Space) Clipped(c Gaussian, weight, rows float64, noise Noise, misfit float64) (query.Component, Clipping) {
	d, n := s.Dim(), math.Max(weight*rows, leastRows)
	q, l := s.Density(c, weight)
	noise.Count = 1 / math.Hypot(1/noise.Count, 1/(n*math.Sqrt(c.Uncertainty.Weight)))
	r2 := ClippingRadius2(d, n, noise, misfit)
	q.Radius = math.Sqrt(r2)
	return q, Clipping{L: l, Law: ClippedGaussian(d, r2)}
}

// Lift is b/r of query.ClippedMoments, what the mean pays for the covariance: a utility constant
// that NoiseOf counts on. Chosen by the formulas of the noise: .25 to .4 are within 2 % of the best
// in 2 to 10 columns.
const Lift = .3

// MeasuredForm returns the form of query that measures components of a form: all second moments
// with vectors completed to one length.
func MeasuredForm(form query.Form) query.Form {
	if form == query.FullForm {
		return query.CompletedForm
	}
	return form
}

// A Noise is the sds of a component's sums: of an entry of that of z z^T per unit of R^2, and of
// the count; and the form of the query: 0 is that of all second moments.
type Noise struct {
	Second, Count float64
	Form          query.Form
}

// shapes returns how many entries of a covariance, besides its trace, the form measures.
func (n Noise) shapes(d float64) float64 {
	switch n.Form {
	case query.DiagonalForm:
		return d - 1
	case query.SphericalForm:
		return 0
	}
	return d*(d+1)/2 - 1
}

// NoiseOf returns the noise of MeasuredForm(form) in d columns at privacy loss mu: the norm bound
// of the form times the relation's factor, sqrt2 under replace-one and 1 under add-or-remove-one
// (see query.ClippedMoments).
func NoiseOf(form query.Form, d int, factor, mu float64) Noise {
	sd := factor / mu
	switch form {
	case query.DiagonalForm:
		return Noise{math.Sqrt(3) * sd, math.Sqrt(3) * sd, form}
	case query.SphericalForm:
		return Noise{1.5 * sd, 3 * sd, form}
	default:
		second := (1 + Lift*Lift) * sd
		return Noise{second, second / math.Hypot(Lift*Lift, 1/math.Sqrt(float64(d+1))), query.CompletedForm}
	}
}

// MeanNoise returns about the noise sd of a coordinate of the mean of n rows.
func (l ClippingLaw) MeanNoise(n float64, noise Noise) float64 {
	direct := l.A1 * Lift / math.Sqrt(l.R2)
	switch noise.Form {
	case query.DiagonalForm, query.SphericalForm:
		return noise.Second * math.Sqrt(l.R2) / n / l.A1
	case query.CompletedForm:
	default:
		return noise.Second * l.R2 / n / (direct * l.R2)
	}
	return noise.Second * l.R2 / n / math.Hypot(direct*l.R2, l.C)
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
