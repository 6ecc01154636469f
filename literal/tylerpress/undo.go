package tylerpress

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/clip"
	"github.com/gauze-dp/gauze/parts/radial"
)

// undo finds mean and covariance of the elliptical law whose clipped moments these are: the
// shape by inversion for the radial law l, the size as the trace of the clipped moments with what
// clipping took from it. No eigenvalue of the shape, of trace about D, is below least. The error is
// ctx's.
//
// Source: [TYLERPRESS] Section 3, elliptical mode.
// Differs: one clipped release with a radius about that of the rows gives shape and mean, and the
// histogram of the radii the size. The source measures directions (the same at radius 0, with more
// noise), mean and size by a release each.
func undo(ctx context.Context, l radial.Law, mean []float64, second *mat.SymDense, r2, least float64) ([]float64, *mat.SymDense, error) {
	delta, cov, err := invert(ctx, l, mean, second, r2, least)
	size := mat.Trace(second) + l.Clip(r2).Excess - math.Pow(floats.Norm(delta, 2), 2)
	cov.ScaleSym(math.Max(size, 0)/mat.Trace(cov), cov)
	return delta, cov, err
}

// newtonSteps are enough: the first-order effect of clipping stands for the derivative.
const newtonSteps = 8

// scramble deals the strata of the radii to the directions in an order of their own: a prime,
// larger than the number of points.
const scramble = 618041

// sample are public points of the law: the directions of the Gaussian points, stratified radii.
func sample(l radial.Law) clip.Points {
	p := clip.NewPoints(l.D)
	n := len(p.Z) / l.D
	radii := make([]float64, n)
	at, sum := 0, l.Points[0].Share
	for i := range radii {
		for u := (float64(i) + .5) / float64(n); u > sum && at < len(l.Points)-1; sum += l.Points[at].Share {
			at++
		}
		radii[i] = math.Sqrt(l.Points[at].Q)
	}
	for i := range n {
		z := p.Z[i*l.D : (i+1)*l.D]
		norm := 0.0
		for _, v := range z {
			norm = math.Hypot(norm, v)
		}
		for j := range z {
			z[j] *= radii[i*scramble%n] / norm
		}
	}
	return p
}

// invert finds delta and C such that delta + C^(1/2) z, z of the law in a uniform direction, has
// this mean and second moment after clipping to radius^2 = r2: Newton's method over public points,
// with what is known exactly at (0, I) as control variate. No eigenvalue of C is below least.
//
// Source: [TYLERPRESS] Section 4.3. Differs: for the released radial law in place of the
// Gaussian's.
func invert(ctx context.Context, l radial.Law, mean []float64, second *mat.SymDense, r2, least float64) (delta []float64, cov *mat.SymDense, err error) {
	d, c, points := l.D, l.Clip(r2), sample(l)
	zeroMean, zeroSecond := points.Moments(make([]float64, d), symmetric.Identity(d), r2)
	delta, cov = make([]float64, d), symmetric.Identity(d)
	root := symmetric.Identity(d)
	for range newtonSteps {
		m, s := points.Moments(delta, root, r2)
		residual := mat.NewSymDense(d, nil)
		residual.AddSym(second, zeroSecond)
		s.ScaleSym(-1, s)
		residual.AddSym(residual, s)
		for i := range d {
			residual.SetSym(i, i, residual.At(i, i)-c.A)
			delta[i] += (mean[i] - (m[i] - zeroMean[i])) / c.A1
		}
		trace := mat.Trace(residual) / float64(d)
		for i := range d {
			residual.SetSym(i, i, residual.At(i, i)-trace)
		}
		residual.ScaleSym(1/c.B1, residual)
		for i := range d {
			residual.SetSym(i, i, residual.At(i, i)+trace/c.Gain)
		}
		if size, limit := mat.Norm(residual, 2), math.Sqrt(float64(d)); size > limit {
			residual.ScaleSym(limit/size, residual)
		}
		cov.AddSym(cov, residual)
		cov, root = symmetric.FlooredRoot(cov, least)
		if err := ctx.Err(); err != nil {
			return delta, cov, err
		}
	}
	return delta, cov, nil
}
