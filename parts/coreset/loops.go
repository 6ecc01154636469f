package coreset

import (
	"fmt"
	"math"
)

// mostCoordinates is what a coreset's points have at most, as those of all trees do: they are
// filled up with zeros and go through loops of fixed length.
const mostCoordinates = 4

type vector = [mostCoordinates]float64

// A point is a leaf: where it is, and its variance.
type point struct{ at, cell vector }

// filled are the leaves, filled up with zeros. It panics if there are too many coordinates.
func (c *Coreset) filled() []point {
	if c.Dim > mostCoordinates {
		panic(fmt.Sprintf("coreset: want points of at most %d coordinates, got %d", mostCoordinates, c.Dim))
	}
	out := make([]point, len(c.Points))
	for i, x := range c.Points {
		copy(out[i].at[:], x)
		copy(out[i].cell[:], c.Cells[i])
	}
	return out
}

// A part is a component's part of the density: e^log times e^(-|inverse (x - mean)|^2/2), inverse
// being a lower triangle.
type part struct {
	mean    vector
	inverse [mostCoordinates]vector
	log     float64
}

func (p *part) at(x *vector, q int) float64 {
	m, w := &p.mean, &p.inverse
	d0, d1 := x[0]-m[0], x[1]-m[1]
	z0, z1 := w[0][0]*d0, w[1][0]*d0+w[1][1]*d1
	square := z0*z0 + z1*z1
	if q > 2 {
		d2, d3 := x[2]-m[2], x[3]-m[3]
		z2 := w[2][0]*d0 + w[2][1]*d1 + w[2][2]*d2
		z3 := w[3][0]*d0 + w[3][1]*d1 + w[3][2]*d2 + w[3][3]*d3
		square += z2*z2 + z3*z3
	}
	return p.log - square/2
}

// negligible is the logarithm of a share that is none.
const negligible = -30

// expect adds up the points by their shares and, if asked, the log-likelihood of the coreset; a
// leaf counts as its centre.
func (e *em) expect(score bool) {
	e.prepare()
	clear(e.sums)
	loglik := 0.0
	q, logs := e.p.q, make([]float64, e.k)
	for i := range e.p.at {
		x, w := &e.p.at[i], e.p.weight[i]
		best, total := math.Inf(-1), 0.0
		for j := range logs {
			v := e.parts[j].at(&x.at, q)
			logs[j], best = v, max(best, v)
		}
		for j, v := range logs {
			if logs[j] = 0; v-best > negligible {
				logs[j] = e.exp.Exp(v - best)
				total += logs[j]
			}
		}
		if score {
			loglik += w * (best + math.Log(total))
		}
		for j, share := range logs {
			if share > 0 {
				e.sums[j].add(x, &e.parts[j].mean, w*share/total)
			}
		}
	}
	if score {
		e.loglik = loglik
	}
}

// sums are those of the mass of points, of that times x - from, its outer product and the variances
// of leaves.
type sums struct {
	mass                                             float64
	at, cell                                         vector
	o00, o01, o11, o02, o12, o22, o03, o13, o23, o33 float64
}

func (s *sums) add(x *point, from *vector, g float64) {
	d0, d1, d2, d3 := x.at[0]-from[0], x.at[1]-from[1], x.at[2]-from[2], x.at[3]-from[3]
	s.mass += g
	s.cell[0] += g * x.cell[0]
	s.cell[1] += g * x.cell[1]
	s.cell[2] += g * x.cell[2]
	s.cell[3] += g * x.cell[3]
	v := g * d0
	s.at[0] += v
	s.o00 += v * d0
	s.o01 += v * d1
	s.o02 += v * d2
	s.o03 += v * d3
	v = g * d1
	s.at[1] += v
	s.o11 += v * d1
	s.o12 += v * d2
	s.o13 += v * d3
	v = g * d2
	s.at[2] += v
	s.o22 += v * d2
	s.o23 += v * d3
	v = g * d3
	s.at[3] += v
	s.o33 += v * d3
}

// moments writes the mean of the points, and the upper triangle of the sum of g (x - mean)(x -
// mean)^T, and returns their mass. from is that of add, near the mean: then little cancels.
func (s *sums) moments(from *vector, mean, scatter []float64) (mass float64) {
	outer, q := [mostCoordinates]vector{{s.o00, s.o01, s.o02, s.o03}, {0, s.o11, s.o12, s.o13}, {0, 0, s.o22, s.o23}, {0, 0, 0, s.o33}}, len(mean)
	for a := range mean {
		off := s.at[a] / (s.mass + massFloor)
		mean[a] = from[a] + off
		for b := range q {
			scatter[a*q+b] = outer[a][b]
			if b >= a {
				scatter[a*q+b] -= off * s.at[b]
			}
		}
		scatter[a*q+a] = math.Max(0, scatter[a*q+a])
	}
	return s.mass
}
