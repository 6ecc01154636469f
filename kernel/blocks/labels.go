package blocks

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// How components are told apart: by how much scales may differ, and by what share of the least
// separation means, levels and shapes may differ. Share (2 + 2 e^(SameScale/2)) < .99 and 4 Inner <
// .97, see rules_proof.md, step 5.
const (
	SameScale = 1.1
	Share     = .181
	Inner     = .24
	// levelUnit weighs levels against means and shapes. A larger value distinguishes components of
	// the same mean by their sizes from smaller blocks, but needs larger blocks where components
	// overlap.
	levelUnit = 1.5
)

// A scale is S = sum of w_a Sigma_a / sum of w_a, the unit in which the components of an estimate
// are measured: S = R R', R the root.
type scale struct{ triangle }

// newScale returns the scale of an estimate's components, and false if it is too near to singular.
// R comes from the roots side by side, not from the sum of products, which would square the
// condition.
func newScale(parts []Factor, d int) (s scale, ok bool) {
	total, width := 0.0, d*len(parts)
	for _, f := range parts {
		total += f.weight
	}
	beside := make([]float64, d*width)
	for a, f := range parts {
		w := math.Sqrt(f.weight / total)
		for i := range d {
			for j := range i + 1 {
				beside[i*width+a*d+j] = w * f.root[i*d+j]
			}
		}
	}
	s.triangle, ok = newTriangle(beside, d, width)
	return s, ok
}

// length returns |R^-1 (y - x)|.
func (s *scale) length(x, y []float64) float64 {
	d, total := len(x), 0.0
	for i := range x {
		z := 0.0
		for k, v := range s.inverse[i*d : i*d+i+1] {
			z += v * (y[k] - x[k])
		}
		total += z * z
	}
	return math.Sqrt(total)
}

// level returns levelUnit ln|A|/sqrt(d), whose sampling error is alike in all dimensions.
func (f *Factor) level(d int) (log float64) {
	for i := range d {
		log += levelUnit * math.Log(f.root[i*d+i]) / math.Sqrt(float64(d))
	}
	return log
}

// shape returns how far two components differ in shape, whatever their sizes: half the logarithm of
// the ratio of the largest eigenvalue of S_x^-1 S_y to the least. Where that is at most enough, the
// result may be larger, but at most enough; NaN if one is 1e70 times as wide as the other.
func (p *pair) shape(x, y *triangle, enough float64) float64 {
	if bound := p.stretch(x, y, false) + p.stretch(y, x, false); bound <= enough {
		return bound
	}
	return p.stretch(x, y, true) + p.stretch(y, x, true)
}

// alike reports whether the logarithms of all eigenvalues of S_x^-1 S_y are within most of 0.
func (p *pair) alike(x, y *triangle, most float64) bool {
	return 2*max(p.stretch(x, y, false), p.stretch(y, x, false)) <= most || 2*max(p.stretch(x, y, true), p.stretch(y, x, true)) <= most
}

// stretch returns the logarithm of the largest singular value of R_x^-1 R_y, exactly or as a bound;
// NaN where that is far from 1.
func (p *pair) stretch(x, y *triangle, exactly bool) float64 {
	d := p.d
	m, total := p.work[:d*d], 0.0
	clear(m)
	for i := range d {
		for j := range i + 1 {
			for k := j; k <= i; k++ {
				m[i*d+j] += x.inverse[i*d+k] * y.root[k*d+j]
			}
		}
		for j := range i + 1 { // the squared norm of m m' bounds the fourth power
			s := dense.Dot(m[i*d:i*d+j+1], m[j*d:])
			if total += 2 * s * s; i == j {
				total -= s * s
			}
		}
	}
	if !(total > 1e-280 && total < 1e280) {
		return math.NaN()
	}
	if !exactly {
		return math.Log(total) / 4
	}
	dense.Orthogonalize(m, d, p.singles[:d])
	return math.Log(slices.Max(p.singles[:d]))
}

// separation returns how far two components of an estimate are from one another.
func (e *estimate) separation(a, b int, p *pair) float64 {
	x, y := &e.parts[a], &e.parts[b]
	return max(e.scale.length(x.mean, y.mean), math.Abs(e.levels[a]-e.levels[b]), p.shape(&x.triangle, &y.triangle, -1))
}

// near reports whether component a of x and b of y are so near to one another, by the scale of
// either, that they may be friends.
func (l *limits) near(x, y *estimate, a, b int, p *pair) bool {
	if len(x.parts) == 1 {
		return true
	}
	f, g := &x.parts[a], &y.parts[b]
	least := min(x.apart, y.apart)
	most, inner := l.share*least, l.inner*least
	return math.Abs(x.levels[a]-y.levels[b]) <= inner && x.scale.length(f.mean, g.mean) <= most && y.scale.length(f.mean, g.mean) <= most &&
		p.shape(&f.triangle, &g.triangle, inner) <= inner
}
