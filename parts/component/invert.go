package component

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
)

const (
	newtonSteps = 8
	// hardlySeen is the error that the search leaves, in sds of the noise of the answer's noisiest
	// direction.
	hardlySeen    = .01
	gradientSteps = 30
	gradientLess  = 1e-6 // of the squared residual ends the conjugate gradients
)

// LeastEigen is the least eigenvalue of an inverted covariance, in coordinates in which it is near
// the identity. A guess.
const LeastEigen = .02

// A ClippedRelease is moments of the rows clipped to radius^2 = R2, as means over the rows, and the
// sds of their noise (a coordinate of Mean, a diagonal entry of Second).
type ClippedRelease struct {
	Mean             []float64
	Second           *mat.SymDense
	R2               float64
	MeanSD, SecondSD float64
}

// A View is another measurement that a Gaussian near N(0, I) should agree with.
type View interface {
	// Pull adds to gradient what the difference between the measurement and its expectation under
	// N(delta, cov) asks for.
	Pull(delta []float64, cov *mat.SymDense, gradient Change)
	// Curve adds the second derivative, at the last Pull's Gaussian, times x to out.
	Curve(x, out Change)
}

// A Change of a Gaussian: of its mean and of its covariance.
type Change struct {
	Mean []float64
	Cov  *mat.Dense
	all  []float64 // both of them
}

// NewChange returns no change, in d columns.
func NewChange(d int) Change {
	all := make([]float64, d+d*d)
	return Change{all[:d], mat.NewDense(d, d, all[d:]), all}
}

// Add adds f times b to a.
func (a Change) Add(f float64, b Change) { floats.AddScaled(a.all, f, b.all) }

func (a Change) dot(b Change) float64 { return dense.Dot(a.all, b.all) }

// InvertClipping finds the mean and the symmetric root of the covariance of the Gaussian, near N(0,
// I), that the release and the views are nearest to, each weighted by one over the variance of its
// noise: Newton's steps, each solved by conjugate gradients. Without views it is the Gaussian whose
// clipped moments are exactly those of the release. The covariance has no eigenvalue below
// LeastEigen.
//
// The expectation of clipped moments under N(delta, C) is a fixed public Monte-Carlo sum with the
// standard Gaussian as control variate: MC(delta, C) - MC(0, I) + exact(0, I). It sees released
// values only. The error is ctx's.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.6.
func InvertClipping(ctx context.Context, r ClippedRelease, views []View) (delta []float64, root *mat.SymDense, err error) {
	d := len(r.Mean)
	law := ClippedGaussian(d, r.R2)
	points := NewPoints(d)
	zeroMean, zeroSecond := points.Moments(make([]float64, d), symmetric.Identity(d), r.R2)
	delta = make([]float64, d)
	cov, root := symmetric.Identity(d), symmetric.Identity(d)
	// the least square root of the second derivative's eigenvalues is one over the noise's greatest
	// sd
	enough := math.Pow(hardlySeen*math.Min(law.A1/r.MeanSD, math.Min(law.B1, law.TraceGain())/r.SecondSD), 2)
	for step := 0; step < newtonSteps && ctx.Err() == nil; step++ {
		mean, second := points.Moments(delta, root, r.R2)
		off, gradient := NewChange(d), NewChange(d)
		for i := range d {
			off.Mean[i] = r.Mean[i] - (mean[i] - zeroMean[i])
			for j := range d {
				off.Cov.Set(i, j, r.Second.At(i, j)-(second.At(i, j)-zeroSecond.At(i, j)))
			}
		}
		addToDiagonal(off.Cov, -law.A)
		r.back(law, off, gradient)
		for _, v := range views {
			v.Pull(delta, cov, gradient)
		}
		if gradient.dot(gradient) < enough {
			break
		}
		move := solve(ctx, gradient, enough, func(x, out Change) {
			r.back(law, law.effect(law.A1, x), out)
			for _, v := range views {
				v.Curve(x, out)
			}
		})
		size := mat.Norm(move.Cov, 2)
		if limit := math.Sqrt(float64(d)); size > limit {
			move.Cov.Scale(limit/size, move.Cov)
		}
		floats.Add(delta, move.Mean)
		moved := symmetric.Of(d, func(i, j int) float64 { return cov.At(i, j) + (move.Cov.At(i, j)+move.Cov.At(j, i))/2 })
		cov, root = symmetric.FlooredRoot(moved, LeastEigen)
	}
	return delta, root, ctx.Err()
}

// LeastVariance returns the least variance of an inverted Gaussian, from the root of its
// covariance; NaN if it has none. collapsed: it is no more than what Invert holds it to.
func LeastVariance(root *mat.SymDense) (variance float64, collapsed bool) {
	values, ok := symmetric.Eigenvalues(root)
	if !ok {
		return math.NaN(), true
	}
	least := values[0]
	return least * least, !(least*least > LeastEigen*1.01)
}

// effect returns what a small change of N(0, I) does to the clipped second moments, and to the mean
// if that is a1 times its change.
func (l ClippingLaw) effect(a1 float64, x Change) Change {
	out := NewChange(len(x.Mean))
	floats.AddScaled(out.Mean, a1, x.Mean)
	out.Cov.Scale(l.B1, x.Cov)
	addToDiagonal(out.Cov, l.B2*mat.Trace(x.Cov))
	return out
}

// back adds the transpose of the law's effect, weighted, at off to out.
func (r ClippedRelease) back(law ClippingLaw, off, out Change) {
	x := law.effect(1/(r.MeanSD*r.MeanSD)*law.A1, off)
	x.Cov.Scale(1/(r.SecondSD*r.SecondSD), x.Cov)
	out.Add(1, x)
}

func addToDiagonal(m *mat.Dense, v float64) {
	d, _ := m.Dims()
	for i := range d {
		m.Set(i, i, m.At(i, i)+v)
	}
}

// solve finds x with curve(x) = b by the method of conjugate gradients; curve adds a positive map
// of its first argument to its second. It stops with ctx, and where the squared residual is enough.
func solve(ctx context.Context, b Change, enough float64, curve func(x, out Change)) Change {
	d := len(b.Mean)
	x, rest, way := NewChange(d), NewChange(d), NewChange(d)
	rest.Add(1, b)
	way.Add(1, b)
	size := rest.dot(rest)
	enough = math.Max(enough/2, gradientLess*size)
	for range gradientSteps {
		if !(size > enough) || ctx.Err() != nil {
			break
		}
		curved, next := NewChange(d), NewChange(d)
		curve(way, curved)
		step, before := size/way.dot(curved), size
		x.Add(step, way)
		rest.Add(-step, curved)
		size = rest.dot(rest)
		next.Add(1, rest)
		next.Add(size/before, way)
		way = next
	}
	return x
}
