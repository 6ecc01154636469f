package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the lift.
const (
	quadraturePoints = 400 // per component, within quadratureReach of its standard deviations
	quadratureReach  = 8.
	leastEigenvalue  = 1e-3 // of a component's covariance in the frame
)

// lift returns the mixture in all columns whose projection on u is line: every component's mean and
// covariance are linear in moments of the rows with weights that depend on y = <u, x> only. Given
// component a, x has mean mu_a + c_a (y - m_a)/v_a, c_a = Sigma_a u. With r the posterior weights
// on the line, the test functions r_b and r_b (y - m_b)/sqrt v_b of y give 2k equations
//
//	sum_a w_a (mu_a E_a[f] + c_a E_a[f (y - m_a)]/v_a) = mean of f(y) x
//
// for the mu_a and c_a, and then k more for the covariances:
//
//	sum_a w_a E_a[r_b] (Sigma_a - c_a c_a^T/v_a)
//	  = mean of r_b x x^T - sum_a w_a E_a[r_b (mu_a + c_a (y-m_a)/v_a) (same)^T].
//
// Source: [PPE] Section C3 of the restatement.
// Differs: a rule of equal steps in place of Gauss and Hermite's; the part of x along u is that of
// the line.
func lift(t table, u []float64, line []gauss) ([]gauss, bool) {
	d, k := t.d, len(line)
	if d == 1 {
		out := make([]gauss, k)
		for a, g := range line {
			out[a] = gauss{g.weight, []float64{u[0] * g.mean[0]}, g.root}
		}
		return out, true
	}
	system, tests := expectations(line)
	first, second := conditional(t, u, line)
	inverse, ok := dense.Invert(system, 2*k)
	if !ok {
		return nil, false
	}
	solved := dense.Mul(inverse, first, 2*k, 2*k, d) // means mu_a, then slopes c_a/v_a
	for a, g := range line {
		straighten(solved[a*d:(a+1)*d], u, g.mean[0])
		straighten(solved[(k+a)*d:(k+a+1)*d], u, 1)
	}
	return covariances(line, tests, solved, second, d)
}

// straighten sets the part of v along u.
func straighten(v, u []float64, along float64) {
	s := along - dense.Dot(u, v)
	for i := range v {
		v[i] += s * u[i]
	}
}

// A window is E_a[r_b (y-m_a)^p] for all a, b and p to 2.
type window [][][3]float64

// expectations returns the matrix of the linear system for means and slopes, 2k x 2k, and E_a[r_b
// (y-m_a)^p].
func expectations(line []gauss) ([]float64, window) {
	k := len(line)
	system, tests := make([]float64, 4*k*k), make(window, k)
	v := view(line, 1)
	for a, g := range line {
		tests[a] = make([][3]float64, k)
		m, sd := g.mean[0], g.root[0]
		h := 2 * quadratureReach / quadraturePoints
		for i := range quadraturePoints + 1 {
			z := -quadratureReach + h*float64(i)
			y, mass := m+sd*z, h*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
			v.at([]float64{y})
			for b, r := range v.share {
				e := mass * r
				tests[a][b][0] += e
				tests[a][b][1] += e * sd * z
				tests[a][b][2] += e * sd * z * sd * z
				lin := (y - line[b].mean[0]) / line[b].root[0]
				system[b*2*k+a] += g.weight * e
				system[b*2*k+k+a] += g.weight * e * sd * z
				system[(k+b)*2*k+a] += g.weight * e * lin
				system[(k+b)*2*k+k+a] += g.weight * e * lin * sd * z
			}
		}
	}
	return system, tests
}

// conditional returns the rows' means of f(y) x for the 2k test functions, and of r_b(y) x x^T.
func conditional(t table, u []float64, line []gauss) (first, second []float64) {
	d, k := t.d, len(line)
	first, second = make([]float64, 2*k*d), make([]float64, k*d*d)
	v := view(line, 1)
	for i := range t.n {
		x := t.row(i)
		y := dense.Dot(u, x)
		v.at([]float64{y})
		for b, r := range v.share {
			lin := r * (y - line[b].mean[0]) / line[b].root[0]
			for c, xc := range x {
				first[b*d+c] += r * xc
				first[(k+b)*d+c] += lin * xc
				for e, xe := range x[:c+1] {
					second[b*d*d+c*d+e] += r * xc * xe
				}
			}
		}
	}
	for i := range first {
		first[i] /= float64(t.n)
	}
	for b := range k {
		for c := range d {
			for e := range c + 1 {
				v := second[b*d*d+c*d+e] / float64(t.n)
				second[b*d*d+c*d+e], second[b*d*d+e*d+c] = v, v
			}
		}
	}
	return first, second
}

// covariances solves the k equations for the components' covariances.
func covariances(line []gauss, tests window, solved, second []float64, d int) ([]gauss, bool) {
	k := len(line)
	system := make([]float64, k*k)
	for a, g := range line {
		mean, slope := solved[a*d:(a+1)*d], solved[(k+a)*d:(k+a+1)*d]
		for b, e := range tests[a] {
			system[b*k+a] = g.weight * e[0]
			for i := range d {
				for j := range d {
					second[b*d*d+i*d+j] -= g.weight * (e[0]*mean[i]*mean[j] + e[1]*(mean[i]*slope[j]+slope[i]*mean[j]) + e[2]*slope[i]*slope[j])
				}
			}
		}
	}
	inverse, ok := dense.Invert(system, k)
	if !ok {
		return nil, false
	}
	rest := dense.Mul(inverse, second, k, k, d*d)
	out := make([]gauss, k)
	for a, g := range line {
		s, slope, v := rest[a*d*d:(a+1)*d*d], solved[(k+a)*d:(k+a+1)*d], g.root[0]*g.root[0]
		for i := range d {
			for j := range d {
				s[i*d+j] += slope[i] * slope[j] * v
			}
		}
		root, ok := positive(s, d)
		if !ok {
			return nil, false
		}
		out[a] = gauss{g.weight, append([]float64(nil), solved[a*d:(a+1)*d]...), root}
	}
	return out, true
}

// positive returns the Cholesky factor of a symmetric matrix with eigenvalues below leastEigenvalue
// raised to it.
func positive(s []float64, d int) ([]float64, bool) {
	for i := range d {
		for j := range i {
			v := (s[i*d+j] + s[j*d+i]) / 2
			s[i*d+j], s[j*d+i] = v, v
		}
	}
	if !dense.AllFinite(s) {
		return nil, false
	}
	values, vectors := dense.Eigen(s, d)
	raised := make([]float64, d*d)
	for c, v := range values {
		v = math.Max(v, leastEigenvalue)
		for i := range d {
			for j := range d {
				raised[i*d+j] += v * vectors[i*d+c] * vectors[j*d+c]
			}
		}
	}
	return raised, dense.Cholesky(raised, d)
}
