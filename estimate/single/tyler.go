package single

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/blocks/linalg"
	"github.com/gauze-dp/gauze/blocks/moments"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// stepMu is the mu that a step of relative spectral noise level s needs: 2(nu+d) sqrt(D)/(n s), over sqrt2 where the
// sensitivity is 1. nu = 1 gives 2 D^1.5/(n s).
func (r *run) stepMu(d int, nu, s float64) float64 {
	mu := 2 * (nu + float64(d)) * math.Sqrt(float64(d+1)) / (r.rows * s)
	if r.problem.Relation == privacy.AddRemoveOne {
		mu /= math.Sqrt2
	}
	return mu
}

// relaxation is the over-relaxed power p that makes a step Newton's at the fixed point; nu = 1 gives (D+2)/D.
func relaxation(d int, nu float64) float64 { return (nu + float64(d) + 2) / (nu + float64(d)) }

const (
	// floorPart of the noise level is the least eigenvalue a step believes: below it one cannot tell spread from noise.
	floorPart = .7
	// leastGoodPart of the rows: a smaller released number of good rows is not divided by.
	leastGoodPart = .3
)

// step makes one noisy step of Tyler's iteration on (w, 1), a t_nu step for nu > 1, and returns the least eigenvalue of the
// step's matrix, whose target is the identity.
//
//	S = sum u u^T + GOE,  u = (w, sqrt nu)/|.|,  M = t^1/2 S t^1/2 / rows,  t = (nu+d) diag(1,..,1,1/nu)
//
// lost is true if the state left float64.
//
// Source: [TYLERPRESS] Sections 4.1 and 4.5; privacy is that of query.Directions.
func (r *run) step(st *state, nu, p, mu float64) (least float64, lost bool, err error) {
	frame, ok := st.frame(1)
	if !ok {
		return 0, true, nil
	}
	q := query.Directions{Frame: frame, Lift: math.Sqrt(nu)}
	answer, err := r.pre.Sum(r.prefix+"directions", q, mu)
	if err != nil {
		return 0, false, err
	}
	d := st.rank()
	size := d + 1
	s := moments.Symmetric(answer.Values, size)
	trace := mat.Trace(s)
	r.good.add(trace, answer.Sigma*math.Sqrt(float64(size)))
	rows := math.Max(trace, leastGoodPart*r.rows)
	noise := answer.Sigma * math.Sqrt(2*float64(size)) * (nu + float64(d)) / rows
	m := target(s, nu, (nu+float64(d))/rows)
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return 0, true, nil
	}
	lambda := eigen.Values(nil)
	var v mat.Dense
	eigen.VectorsTo(&v)
	floor := floorPart * noise
	st.remember(lambda, &v, floor)
	c := mat.NewDense(size, size, nil)
	for i, l := range lambda {
		g := math.Pow(math.Max(l, floor), -p/2)
		for j := range size {
			c.Set(i, j, g*v.At(j, i))
		}
	}
	return lambda[0], !st.project(c), nil
}

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

// remember notes the directions whose spread is below the floor, as they were before the step: for an eigenvector (v, .) of
// eigenvalue l, the projection of y on u = W^T v/|W^T v| has a spread of about sqrt(l)/|W^T v|.
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
		if !(norm > 0) || !linalg.Finite(norm) {
			continue
		}
		for j := range u {
			u[j] /= norm
		}
		s.hidden = append(s.hidden, hiddenDirection{u, math.Sqrt(floor) / norm})
	}
}
