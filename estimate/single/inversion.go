package single

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/clip"
	"github.com/gauze-dp/gauze/blocks/linalg"
)

const (
	newtonSteps  = 8
	publicPoints = 20000 // antithetic: half as many independent ones
	leastEigen   = .02   // of the inverted covariance, in preconditioned units
)

// invert finds the mean and the symmetric root of the covariance of the Gaussian whose moments, clipped to radius^2 = r2, are mean
// and second, in coordinates where it is near N(0, I).
//
// The expectation under N(delta, C) is a fixed public Monte-Carlo sum with the standard Gaussian as control variate:
// MC(delta, C) - MC(0, I) + exact(0, I). It sees released values only.
//
// Source: [TYLERPRESS] Section 4.3.
func invert(mean []float64, second *mat.SymDense, r2 float64) (delta []float64, root *mat.SymDense) {
	d := len(mean)
	c := clip.Gaussian(d, r2)
	points := newPoints(d)
	zeroMean, zeroSecond := points.moments(make([]float64, d), linalg.Identity(d), r2)
	delta = make([]float64, d)
	cov := linalg.Identity(d)
	root = linalg.Identity(d)
	for range newtonSteps {
		m, s := points.moments(delta, root, r2)
		residual := mat.NewSymDense(d, nil)
		trace := 0.0
		for i := range d {
			for j := i; j < d; j++ {
				exact := 0.0
				if i == j {
					exact = c.A
				}
				residual.SetSym(i, j, second.At(i, j)-(s.At(i, j)-zeroSecond.At(i, j)+exact))
			}
			trace += residual.At(i, i)
		}
		trace /= c.B1 + float64(d)*c.B2
		for i := range d {
			delta[i] += (mean[i] - (m[i] - zeroMean[i])) / c.A1
			residual.SetSym(i, i, residual.At(i, i)-c.B2*trace)
		}
		residual.ScaleSym(1/c.B1, residual)
		if size, limit := mat.Norm(residual, 2), math.Sqrt(float64(d)); size > limit {
			residual.ScaleSym(limit/size, residual)
		}
		cov.AddSym(cov, residual)
		cov, root = flooredRoot(cov)
	}
	return delta, root
}

// flooredRoot raises the eigenvalues to leastEigen at least and returns the matrix and its symmetric root.
func flooredRoot(a *mat.SymDense) (floored, root *mat.SymDense) {
	d := a.SymmetricDim()
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return linalg.Identity(d), linalg.Identity(d)
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	floored, root = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for k, l := range eigen.Values(nil) {
		l = math.Max(l, leastEigen)
		column := v.ColView(k)
		floored.SymRankOne(floored, l, column)
		root.SymRankOne(root, math.Sqrt(l), column)
	}
	return floored, root
}

// points are fixed, public, independent standard Gaussian vectors; each stands for itself and its negative.
type points struct {
	d int
	z []float64
}

func newPoints(d int) points {
	p := points{d: d, z: make([]float64, (publicPoints/2)*d+1)}
	state := uint64(0x9e3779b97f4a7c15)
	uniform := func() float64 { // splitmix64, in (0, 1)
		state += 0x9e3779b97f4a7c15
		x := state
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		return (float64(x>>11) + .5) / (1 << 53)
	}
	for i := 0; i+1 < len(p.z); i += 2 {
		r, angle := math.Sqrt(-2*math.Log(uniform())), 2*math.Pi*uniform()
		p.z[i], p.z[i+1] = r*math.Cos(angle), r*math.Sin(angle)
	}
	p.z = p.z[:(publicPoints/2)*d]
	return p
}

// moments are the mean and second moment of delta + root z, clipped, over the points.
func (p points) moments(delta []float64, root *mat.SymDense, r2 float64) ([]float64, *mat.SymDense) {
	d := p.d
	mean := make([]float64, d)
	upper := make([]float64, d*d)
	dense := mat.DenseCopyOf(root).RawMatrix().Data
	step, x := make([]float64, d), make([]float64, d)
	for at := 0; at < len(p.z); at += d {
		z := p.z[at : at+d]
		for i := range step {
			row := dense[i*d : i*d+d]
			s := 0.0
			for j, v := range row {
				s += v * z[j]
			}
			step[i] = s
		}
		for _, sign := range [2]float64{1, -1} {
			q := 0.0
			for i, v := range step {
				x[i] = delta[i] + sign*v
				q += x[i] * x[i]
			}
			g := math.Min(1, r2/q)
			rootG := math.Sqrt(g)
			for i, v := range x {
				mean[i] += rootG * v
				gv := g * v
				row := upper[i*d : i*d+d]
				for j := i; j < d; j++ {
					row[j] += gv * x[j]
				}
			}
		}
	}
	n := float64(2 * len(p.z) / d)
	second := mat.NewSymDense(d, upper)
	second.ScaleSym(1/n, second)
	for i := range mean {
		mean[i] /= n
	}
	return mean, second
}
