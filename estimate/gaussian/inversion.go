package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/parts/clip"
)

const (
	newtonSteps   = 8
	smallMove     = 1e-7 // a Newton step below this ends the search
	gradientSteps = 30
	gradientLess  = 1e-10 // of the squared residual ends the conjugate gradients
	leastEigen    = .02   // of the inverted covariance, in preconditioned units
)

// A last is the last release: moments of the rows clipped to radius^2 = r2, as means over the rows,
// and the sds of their noise (a coordinate of mean, a diagonal entry of second).
type last struct {
	mean             []float64
	second           *mat.SymDense
	r2               float64
	meanSD, secondSD float64
}

// A change of a Gaussian: of its mean and of its covariance.
type change struct {
	mean []float64
	cov  *mat.Dense
}

func newChange(d int) change { return change{make([]float64, d), mat.NewDense(d, d, nil)} }

// add adds f times b to a.
func (a change) add(f float64, b change) {
	for i, v := range b.mean {
		a.mean[i] += f * v
	}
	x, y := a.cov.RawMatrix().Data, b.cov.RawMatrix().Data
	for i, v := range y {
		x[i] += f * v
	}
}

func (a change) dot(b change) float64 {
	s := 0.0
	for i, v := range a.mean {
		s += v * b.mean[i]
	}
	x, y := a.cov.RawMatrix().Data, b.cov.RawMatrix().Data
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// invert finds the mean and the symmetric root of the covariance of the Gaussian, near N(0, I),
// that the last release and the views are nearest to, each weighted by one over the variance of its
// noise: Newton's steps, each solved by conjugate gradients. Without views it is the Gaussian whose
// clipped moments are exactly those of the release.
//
// The expectation of clipped moments under N(delta, C) is a fixed public Monte-Carlo sum with the
// standard Gaussian as control variate: MC(delta, C) - MC(0, I) + exact(0, I); that of directions
// is [angular.Law]. It sees released values only.
//
// Source: [TYLERPRESS] Sections 4.3 and 4.6.
func invert(l last, views []*view) (delta []float64, root *mat.SymDense) {
	d := len(l.mean)
	law := clip.Gaussian(d, l.r2)
	points := clip.NewPoints(d)
	zeroMean, zeroSecond := points.Moments(make([]float64, d), symmetric.Identity(d), l.r2)
	delta = make([]float64, d)
	cov, root := symmetric.Identity(d), symmetric.Identity(d)
	for range newtonSteps {
		mean, second := points.Moments(delta, root, l.r2)
		off := newChange(d)
		for i := range d {
			off.mean[i] = l.mean[i] - (mean[i] - zeroMean[i])
			for j := range d {
				off.cov.Set(i, j, l.second.At(i, j)-(second.At(i, j)-zeroSecond.At(i, j)))
			}
			off.cov.Set(i, i, off.cov.At(i, i)-law.A)
		}
		gradient := newChange(d)
		l.back(law, off, gradient)
		for _, v := range views {
			v.pull(delta, cov, gradient)
		}
		move := solve(gradient, func(x, out change) {
			l.back(law, l.forward(law, x), out)
			for _, v := range views {
				v.curve(x, out)
			}
		})
		size := mat.Norm(move.cov, 2)
		if limit := math.Sqrt(float64(d)); size > limit {
			move.cov.Scale(limit/size, move.cov)
		}
		for i := range d {
			delta[i] += move.mean[i]
			for j := i; j < d; j++ {
				cov.SetSym(i, j, cov.At(i, j)+(move.cov.At(i, j)+move.cov.At(j, i))/2)
			}
		}
		cov, root = symmetric.FlooredRoot(cov, leastEigen)
		if size < smallMove {
			break
		}
	}
	return delta, root
}

// forward is the derivative of the clipped moments at N(0, I).
func (l last) forward(law clip.Law, x change) change {
	out := newChange(len(x.mean))
	for i, v := range x.mean {
		out.mean[i] = law.A1 * v
	}
	out.cov.Scale(law.B1, x.cov)
	addToDiagonal(out.cov, law.B2*mat.Trace(x.cov))
	return out
}

// back adds the transpose of forward, weighted, at off to out.
func (l last) back(law clip.Law, off, out change) {
	weight := 1 / (l.meanSD * l.meanSD)
	for i, v := range off.mean {
		out.mean[i] += weight * law.A1 * v
	}
	var x mat.Dense
	x.Scale(law.B1, off.cov)
	addToDiagonal(&x, law.B2*mat.Trace(off.cov))
	weight = 1 / (l.secondSD * l.secondSD)
	x.Scale(weight, &x)
	out.cov.Add(out.cov, &x)
}

func addToDiagonal(m *mat.Dense, v float64) {
	d, _ := m.Dims()
	for i := range d {
		m.Set(i, i, m.At(i, i)+v)
	}
}

// solve finds x with curve(x) = b by the method of conjugate gradients; curve adds a positive map
// of its first argument to its second.
func solve(b change, curve func(x, out change)) change {
	d := len(b.mean)
	x, rest, way := newChange(d), newChange(d), newChange(d)
	rest.add(1, b)
	way.add(1, b)
	size := rest.dot(rest)
	enough := gradientLess * size
	for range gradientSteps {
		if !(size > enough) {
			break
		}
		curved := newChange(d)
		curve(way, curved)
		step := size / way.dot(curved)
		x.add(step, way)
		rest.add(-step, curved)
		before := size
		size = rest.dot(rest)
		next := newChange(d)
		next.add(1, rest)
		next.add(size/before, way)
		way = next
	}
	return x
}
