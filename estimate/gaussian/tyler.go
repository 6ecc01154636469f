package gaussian

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/moments"
)

// stepMu is the mu that a step of relative spectral noise level s needs: 2(nu+d) sqrt(D)/(n s),
// over sqrt2 where the sensitivity is 1. nu = 1 gives 2 D^1.5/(n s).
func (r *run) stepMu(d int, nu, s float64) float64 {
	mu := 2 * (nu + float64(d)) * math.Sqrt(float64(d+1)) / (r.rows * s)
	if r.problem.Relation == privacy.AddRemoveOne {
		mu /= math.Sqrt2
	}
	return math.Max(mu, leastMu)
}

// leastMu: no step is cheaper, so that huge tables do not ask for more noise than the sampler
// draws.
const leastMu = 1e-6

// relaxation is the over-relaxed power p that makes a step Newton's at the fixed point; nu = 1
// gives (D+2)/D.
func relaxation(d int, nu float64) float64 { return (nu + float64(d) + 2) / (nu + float64(d)) }

// leastGoodPart of the rows: a smaller released number of good rows is not divided by.
const leastGoodPart = .3

// A look is what a step released of how round the rows are in its frame, target 1.
type look struct {
	least    float64 // the least eigenvalue
	top      float64 // the largest
	noise    float64 // the spectral edge of the noise
	resolved int     // how many of the D eigenvalues can be told from zero
	lost     bool    // the state left float64
}

// step makes one noisy step of Tyler's iteration on (w, 1), a t_nu step for nu > 1, over-relaxed to
// be Newton's at the fixed point.
//
//	S = sum u u^T + GOE,  u = (w, sqrt nu)/|.|,  M = t^1/2 S t^1/2 / rows,  t = (nu+d) diag(1,..,1,1/nu),  target I
//
// What it measured is kept for the last release, which uses it once more.
//
// Source: [TYLERPRESS] Sections 4.1 and 4.5; privacy is that of query.Directions.
func (r *run) step(st *state, nu, mu float64) (look, error) {
	frame, ok := st.frame(1)
	if !ok {
		return look{lost: true}, nil
	}
	q := query.Directions{Frame: frame, Lift: math.Sqrt(nu)}
	answer, err := r.pre.Sum(r.prefix+"directions", q, mu)
	if err != nil {
		return look{}, err
	}
	d := st.rank()
	size := d + 1
	s := moments.Symmetric(answer.Values, size)
	trace := mat.Trace(s)
	r.good.add(trace, answer.Sigma*math.Sqrt(float64(size)))
	rows := math.Max(trace, leastGoodPart*r.rows)
	past := measurement{frame: st.clone(), mean: mat.NewSymDense(size, nil), sigma: answer.Sigma / rows}
	past.mean.ScaleSym(1/rows, s)
	r.history = append(r.history, past)
	noise := answer.Sigma * math.Sqrt(2*float64(size)) * (nu + float64(d)) / rows
	m := target(s, nu, (nu+float64(d))/rows)
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return look{lost: true}, nil
	}
	lambda := eigen.Values(nil)
	var v mat.Dense
	eigen.VectorsTo(&v)
	st.remember(lambda, &v, hiddenPart*noise)
	clean, resolved := cleaned(lambda, noise)
	c := mat.NewDense(size, size, nil)
	for i, l := range clean {
		g := math.Pow(l, -relaxation(d, nu)/2)
		for j := range size {
			c.Set(i, j, g*v.At(j, i))
		}
	}
	return look{least: lambda[0], top: lambda[d], noise: noise, resolved: resolved, lost: !st.project(c)}, nil
}

// hiddenPart of the noise's edge: a spread below it is reported as hidden by the noise.
const hiddenPart = .7

// target moves the lift from the first place of the query's vectors to the last, and scales it.
func target(s *mat.SymDense, nu, scale float64) *mat.SymDense {
	size := s.SymmetricDim()
	m := mat.NewSymDense(size, nil)
	for i := range size {
		for j := i; j < size; j++ {
			v := s.At((i+1)%size, (j+1)%size) * scale
			if j == size-1 {
				v /= math.Sqrt(nu)
			}
			if i == size-1 {
				v /= math.Sqrt(nu)
			}
			m.SetSym(i, j, v)
		}
	}
	return m
}

// remember notes the directions whose spread is below the floor, as they were before the step: for
// an eigenvector (v, .) of eigenvalue l, the projection of y on u = W^T v/|W^T v| has a spread of
// about sqrt(l)/|W^T v|.
func (s *state) remember(lambda []float64, v *mat.Dense, floor float64) {
	s.hidden = nil
	r, d := s.w.Dims()
	for i, l := range lambda {
		if l > floor {
			continue
		}
		u := make([]float64, d)
		norm := 0.0
		for j := range d {
			for k := range r {
				u[j] += s.w.At(k, j) * v.At(k, i)
			}
			norm = math.Hypot(norm, u[j])
		}
		if !(norm > 0) || !dense.Finite(norm) {
			continue
		}
		for j := range u {
			u[j] /= norm
		}
		s.hidden = append(s.hidden, hiddenDirection{u, math.Sqrt(floor) / norm})
	}
}
