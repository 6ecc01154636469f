package stable

import (
	"math"

	"github.com/gauze-dp/gauze/dense"
)

// How components are told apart. Share (2 + 2 e^(Alike/2)) < .99, see rules_proof.md, step 5.
const (
	Alike = 1.1
	Share = .181
)

// A scale is S = sum of w_a Sigma_a / sum of w_a, what the components of an estimate are measured
// by: S = R R', R the root.
type scale struct{ triangle }

// newScale is the scale of an estimate's components, or false if it is too near to singular. R
// comes from the roots side by side, not from the sum of products, which would square the
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

// length is |R^-1 (y - x)|.
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

// level is ln|A|/sqrt(d), which sampling blurs alike in all dimensions.
func (f *Factor) level(d int) (log float64) {
	for i := range d {
		log += math.Log(f.root[i*d+i]) / math.Sqrt(float64(d))
	}
	return log
}

// separation is how far two components of an estimate are from one another.
func (e *estimate) separation(a, b int) float64 {
	return max(e.scale.length(e.parts[a].mean, e.parts[b].mean), math.Abs(e.levels[a]-e.levels[b]))
}

// near says that component a of x and b of y are so near to one another, by the scale of either,
// that they may be friends.
func (l *limits) near(x, y *estimate, a, b int) bool {
	if len(x.parts) == 1 {
		return true
	}
	most := l.share * min(x.apart, y.apart)
	from, to := x.parts[a].mean, y.parts[b].mean
	return math.Abs(x.levels[a]-y.levels[b]) <= most && x.scale.length(from, to) <= most && y.scale.length(from, to) <= most
}

// alike says that the logarithms of all eigenvalues of S_x^-1 S_y, the squares of the singular
// values of R_x^-1 R_y, are within most of 0.
func (p *pair) alike(x, y *scale, most float64) bool {
	d := p.d
	m := p.work[:d*d]
	clear(m)
	for i := 0; i < d; i++ {
		for j := 0; j <= i; j++ {
			s := 0.0
			for k := j; k <= i; k++ {
				s += x.inverse[i*d+k] * y.root[k*d+j]
			}
			m[i*d+j] = s
		}
		// the diagonal, m's eigenvalues, lies between its singular values
		if !(2*math.Abs(math.Log(m[i*d+i])) <= most) {
			return false
		}
	}
	dense.Orthogonalize(m, d, p.singles[:d])
	for _, v := range p.singles[:d] {
		if !(2*math.Abs(math.Log(v)) <= most) {
			return false
		}
	}
	return true
}
