package pearson

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the matching of scores.
const (
	halvings       = 6
	informationPer = 40 // rows per parameter that estimate how the scores' means move
	// largest move of a mean, in standard deviations of its component, in one step
	farMean   = 1.5
	farRoot   = .6   // largest relative change of a covariance
	farWeight = 1.   // largest change of a weight's logarithm
	enough    = 1e-7 // gain of the likelihood, per row, below which the moments are matched
)

// match moves a mixture until the rows' mean of its scores is 0, which is what it is in the rows'
// law if the mixture is that law: the generalised method of moments, with test functions that leave
// no accuracy behind. The scores, with z = root^-1 (x - mean) and r the posterior weight, are r -
// w, r z and r (z z^T - I)/2; a step is Newton's, with the scores' second moments for their slope,
// halved until the likelihood, with the prior, grows. One step is enough for a start with an error
// of order 1/sqrt(n); steps is the largest number of them.
//
// Source: [PPE] Section C3 of the restatement.
// Differs: not in the source, which stops at moments of fixed test functions.
func match(t table, mixture []gauss, steps int) ([]gauss, float64) {
	if steps == 0 {
		return mixture, likelihood(t, mixture)
	}
	return climb(t, mixture, steps, prejudge(mixture, t))
}

// climb returns match with a prior, whose logarithm is part of what it returns.
func climb(t table, mixture []gauss, steps int, beliefs prior) ([]gauss, float64) {
	value := likelihood(t, mixture) + beliefs.value(mixture)
	for range steps {
		delta, ok := newton(t, mixture, beliefs)
		if !ok {
			break
		}
		before := value
		for h := range halvings {
			moved, ok := move(mixture, delta, t, math.Ldexp(1, -h))
			if !ok {
				continue
			}
			if v := likelihood(t, moved) + beliefs.value(moved); v > value {
				mixture, value = moved, v
				break
			}
		}
		if !(value > before+enough) {
			break
		}
	}
	return mixture, value
}

// parameters of one component: weight, mean, lower triangle of the change of the root.
func parameters(d int) int { return 1 + d + d*(d+1)/2 }

// score writes the scores at a row that the viewer has seen; the last weight's, minus the sum of
// the others', is left out.
func (v *viewer) score(s []float64) {
	d, per := v.d, parameters(v.d)
	for a, g := range v.mixture {
		z, r, out := v.z[a*d:(a+1)*d], v.share[a], s[a*per:(a+1)*per]
		for i, zi := range z {
			out[i] = r * zi
		}
		at := d
		for i, zi := range z {
			for _, zj := range z[:i] {
				out[at] = r * zi * zj
				at++
			}
			out[at] = r * (zi*zi - 1) / 2
			at++
		}
		out[at] = r - g.weight // the last of all is cut off by the caller's length
	}
}

// newton solves (mean of s s^T) delta = mean of s, s the scores.
func newton(t table, mixture []gauss, beliefs prior) ([]float64, bool) {
	p := len(mixture)*parameters(t.d) - 1
	v := view(mixture, t.d)
	s, mean, square := make([]float64, p+1), make([]float64, p), make([]float64, p*p)
	stride, used := max(1, t.n/(informationPer*p)), 0
	for i := range t.n {
		v.at(t.row(i))
		v.score(s)
		for a, x := range s[:p] {
			mean[a] += x
		}
		if i%stride > 0 {
			continue
		}
		used++
		for a, x := range s[:p] {
			if x == 0 {
				continue
			}
			row := square[a*p : a*p+a+1]
			for b, y := range s[:a+1] {
				row[b] += x * y
			}
		}
	}
	for a := range p {
		mean[a] /= float64(t.n)
		for b := range a + 1 {
			square[a*p+b] /= float64(used)
			square[b*p+a] = square[a*p+b]
		}
		square[a*p+a] += 1e-9
	}
	beliefs.add(mixture, mean, square)
	if !dense.Cholesky(square, p) {
		return nil, false
	}
	dense.Forward(square, mean, p)
	dense.Backward(square, mean, p)
	return append(mean, 0), true
}

// move takes a mixture along delta, shortened until no component moves far, times step. False if a
// component would hold too few of the rows, or be singular.
func move(mixture []gauss, delta []float64, t table, step float64) ([]gauss, bool) {
	d, per := t.d, parameters(t.d)
	far := 1.0
	for a := range mixture {
		c := delta[a*per : (a+1)*per]
		far = max(far, dense.Norm(c[:d])/farMean, dense.Norm(c[d:per-1])/farRoot, math.Abs(c[per-1])/farWeight)
	}
	step /= far
	out, total := make([]gauss, len(mixture)), 0.0
	for a, g := range mixture {
		c := delta[a*per : (a+1)*per]
		shift, half := make([]float64, d), make([]float64, d*d)
		at := d
		for i := range d {
			shift[i] = step * c[i]
			for j := range i {
				half[i*d+j] = step * c[at] / 2
				half[j*d+i] = half[i*d+j]
				at++
			}
			half[i*d+i] = 1 + step*c[at]/2
			at++
		}
		square := dense.Mul(half, half, d, d, d)
		if !dense.Cholesky(square, d) {
			return nil, false
		}
		out[a] = gauss{g.weight * math.Exp(step*c[per-1]), dense.Mul(g.root, shift, d, d, 1), dense.Mul(g.root, square, d, d, d)}
		for i, m := range g.mean {
			out[a].mean[i] += m
		}
		total += out[a].weight
	}
	for a := range out {
		out[a].weight /= total
	}
	return out, sound(out, t)
}

// leastWeight of a component: some rows for every number that is estimated of it.
func leastWeight(n, d, k int) float64 {
	return math.Max(.1/float64(k), 1.5*float64(d+1)/float64(n))
}

// leastRoot is the smallest standard deviation of a component along its thin axes, in the frame's
// units: a utility constant.
const leastRoot = 1e-5

// sound says whether every component has weight and no root is singular.
func sound(mixture []gauss, t table) bool {
	for _, g := range mixture {
		if !(g.weight >= leastWeight(t.n, t.d, len(mixture))) {
			return false
		}
		for i := range t.d {
			if v := g.root[i*t.d+i]; !(v > leastRoot) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
