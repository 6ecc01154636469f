package single

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/linalg"
)

// A radius2 is a point of a law of q = |z|^2, and its share.
type radius2 struct{ q, share float64 }

// A law is a law of q in d dimensions by points of increasing q; the shares sum to 1.
type law struct {
	d      int
	points []radius2
}

// mix is the mixture of l, with weight w, and other.
func (l law) mix(w float64, other law) law {
	m := law{d: l.d}
	for _, part := range []struct {
		law
		w float64
	}{{l, w}, {other, 1 - w}} {
		for _, p := range part.points {
			m.points = append(m.points, radius2{p.q, part.w * p.share})
		}
	}
	sort.Slice(m.points, func(i, j int) bool { return m.points[i].q < m.points[j].q })
	return m
}

// mean is E q.
func (l law) mean() float64 {
	sum := 0.0
	for _, p := range l.points {
		sum += p.share * p.q
	}
	return sum
}

// lawClip is the first-order effect of clipping z = delta + (I+E/2) rho u to |z|^2 <= r2, rho^2 of the law, u uniform on the sphere and
// E without trace: with g = min(1, r2/|z|^2),
//
//	E[sqrt(g) z] = A1 delta,  E[g z z^T] = A I + B1 E;
//
// Gain is the derivative of A with the scale of the law, V and VM are the variances of an off-diagonal entry of g z z^T and of its trace
// divided by d, as in clip.Law, which is the Gaussian's. Excess is E (q-r2)_+, what clipping takes from the trace.
type lawClip struct{ A, A1, B1, Gain, V, VM, Excess float64 }

// clip sums over the points.
func (l law) clip(r2 float64) lawClip {
	var c lawClip
	k := float64(l.d)
	first, second := 0.0, 0.0
	for _, p := range l.points {
		in := math.Min(p.q, r2)
		first += p.share * in
		second += p.share * in * in
		if p.q <= r2 {
			c.B1 += p.share * p.q / k
			c.Gain += p.share * p.q / k
			c.A1 += p.share
		} else {
			c.B1 += p.share * r2 / (k + 2)
			c.A1 += p.share * (1 - 1/k) * math.Sqrt(r2/p.q)
			c.Excess += p.share * (p.q - r2)
		}
	}
	c.A, c.V = first/k, second/(k*(k+2))
	c.VM = math.Max(0, second-first*first) / k
	return c
}

// scramble is prime to half of publicPoints: it deals the strata of the radii to the directions in an order of their own.
const scramble = 618033

// sample are public points of the law: the directions of the Gaussian points, stratified radii.
func (l law) sample() points {
	p := newPoints(l.d)
	n := len(p.z) / l.d
	radii := make([]float64, n)
	at, sum := 0, l.points[0].share
	for i := range radii {
		for u := (float64(i) + .5) / float64(n); u > sum && at < len(l.points)-1; sum += l.points[at].share {
			at++
		}
		radii[i] = math.Sqrt(l.points[at].q)
	}
	for i := range n {
		z := p.z[i*l.d : (i+1)*l.d]
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

// invert finds delta and C such that delta + C^(1/2) z, z of the law in a uniform direction, has this mean and second moment after
// clipping to radius^2 = r2: Newton's method over public points, with what is known exactly at (0, I) as control variate.
//
// Source: [TYLERPRESS] Section 4.3. Differs: for the released radial law in place of the Gaussian's.
func (l law) invert(mean []float64, second *mat.SymDense, r2 float64) (delta []float64, cov *mat.SymDense) {
	d, c, sample := l.d, l.clip(r2), l.sample()
	zeroMean, zeroSecond := sample.moments(make([]float64, d), linalg.Identity(d), r2)
	delta, cov = make([]float64, d), linalg.Identity(d)
	root := linalg.Identity(d)
	for range newtonSteps {
		m, s := sample.moments(delta, root, r2)
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
		cov, root = flooredRoot(cov)
	}
	return delta, cov
}
