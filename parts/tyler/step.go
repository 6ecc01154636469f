package tyler

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
)

// stepMu returns the mu that a step of relative spectral noise level s needs: 2(nu+d) sqrt(D)/(n
// s), over sqrt2 where the sensitivity is 1. nu = 1 gives 2 D^1.5/(n s).
func (r *Rounder) stepMu(d int, nu, s float64) float64 {
	mu := 2 * (nu + float64(d)) * math.Sqrt(float64(d+1)) / (r.Rows * s)
	if r.SubBudget.Session().Relation() == privacy.AddRemoveOne {
		mu /= math.Sqrt2
	}
	return math.Max(mu, leastMu)
}

// Limits of a step: guesses.
const (
	// leastMu: no step is cheaper, so that huge tables do not ask for more noise than the sampler
	// draws.
	leastMu = 1e-6
	// leastGoodPart of the rows: a smaller released number of good rows is not divided by.
	leastGoodPart = .3
	// hiddenPart of the noise's edge: a spread below it is reported as hidden by the noise.
	hiddenPart = .7
)

// A look is what a step released of how round the rows are in its frame, target 1.
type look struct {
	least    float64 // the least eigenvalue
	top      float64 // the largest
	noise    float64 // the spectral edge of the noise
	resolved int     // number of the D eigenvalues that are distinguished from zero
	lost     bool    // the state left float64
}

// step makes one noisy step of Tyler's iteration on (w, 1), a t_nu step for nu > 1, over-relaxed by
// the power (nu+d+2)/(nu+d) to be Newton's at the fixed point.
//
//	S = sum u u^T + GOE,  u = (w, sqrt nu)/|.|,
//	M = t^1/2 S t^1/2 / rows,  t = (nu+d) diag(1,..,1,1/nu),  target I
//
// What it measured is kept for the last release, which uses it once more.
//
// Source: [TYLERPRESS] Sections 4.1 and 4.5; privacy is that of query.Directions.
func (r *Rounder) step(st *State, mu float64) (look, error) {
	frame, ok := st.Affine(1)
	if !ok {
		return look{lost: true}, nil
	}
	nu, d := st.Nu, st.Rank()
	answer, err := r.pre.Sum(Step.Of(r.Prefix), query.Directions{Map: frame, Lift: math.Sqrt(nu)}, mu)
	if err != nil {
		return look{}, err
	}
	size := d + 1
	s := component.Symmetric(answer.Values, size)
	trace := mat.Trace(s)
	r.Good.Add(trace, answer.Sigma*math.Sqrt(float64(size)))
	rows := math.Max(trace, leastGoodPart*r.Rows)
	r.history = append(r.history, measurement{frame: st.clone(), mean: symmetric.Scaled(1/rows, s), sigma: answer.Sigma / rows})
	noise := answer.Sigma * math.Sqrt(2*float64(size)) * (nu + float64(d)) / rows
	lambda, v, ok := symmetric.Eigen(target(s, nu, (nu+float64(d))/rows))
	if !ok {
		return look{lost: true}, nil
	}
	st.remember(lambda, v, hiddenPart*noise)
	clean, resolved := cleaned(lambda, noise)
	relaxation := (nu + float64(d) + 2) / (nu + float64(d))
	c := mat.NewDense(size, size, nil)
	for i, l := range clean {
		g := math.Pow(l, -relaxation/2)
		for j := range size {
			c.Set(i, j, g*v.At(j, i))
		}
	}
	return look{least: lambda[0], top: lambda[d], noise: noise, resolved: resolved, lost: !st.project(c)}, nil
}

// target moves the lift from the first place of the query's vectors to the last, and scales it.
func target(s *mat.SymDense, nu, scale float64) *mat.SymDense {
	size := s.SymmetricDim()
	m := mat.NewSymDense(size, nil)
	for i := range size {
		for j := i; j < size; j++ {
			m.SetSym(i, j, s.At((i+1)%size, (j+1)%size)*scale)
		}
		m.SetSym(i, size-1, m.At(i, size-1)/math.Sqrt(nu))
	}
	m.SetSym(size-1, size-1, m.At(size-1, size-1)/math.Sqrt(nu))
	return m
}

// remember notes the directions whose spread is below the floor, as they were before the step: for
// an eigenvector (v, .) of eigenvalue l, the projection of y on u = W^T v/|W^T v| has a spread of
// about sqrt(l)/|W^T v|.
func (s *State) remember(lambda []float64, v *mat.Dense, floor float64) {
	s.hidden = nil
	for i, l := range lambda {
		if l > floor {
			continue
		}
		u := make([]float64, len(s.M))
		symmetric.AddMulT(u, s.W, mat.Col(nil, i, v)[:s.Rank()])
		if norm, ok := normed(u); ok {
			s.hidden = append(s.hidden, direction{u, math.Sqrt(floor) / norm})
		}
	}
}

// consistency returns c with E[(nu+d) q/(nu c + q)] = d for q ~ chi-square with d degrees: at the
// fixed point of the steps the covariance of a Gaussian is I/c in the working coordinates.
func consistency(d int, nu float64) float64 {
	k := float64(d)
	// Simpson's rule over x = sqrt q, whose density is proportional to x^(d-1) exp(-x^2/2).
	const intervals = 2000
	low, high := math.Max(0, math.Sqrt(k)-12), math.Sqrt(k)+12
	h := (high - low) / intervals
	mode := math.Sqrt(math.Max(k-1, 0))
	logPeak := -mode * mode / 2
	if k > 1 {
		logPeak += (k - 1) * math.Log(mode)
	}
	var q, weight [intervals + 1]float64
	total := 0.0
	for i := range q {
		x := low + float64(i)*h
		q[i] = x * x
		l := -q[i]/2 - logPeak
		if k > 1 {
			l += (k - 1) * math.Log(x)
		}
		weight[i] = math.Exp(l) * float64(2+2*(i%2))
		if i == 0 || i == intervals {
			weight[i] = math.Exp(l)
		}
		total += weight[i]
	}
	// at c = 1 the expectation is below d
	lo, hi := parts.Bisect(1e-9, 1, 60, func(c float64) bool {
		sum := 0.0
		for i, w := range weight {
			if q[i] > 0 {
				sum += w * (nu + k) * q[i] / (nu*c + q[i])
			}
		}
		return sum/total > k
	})
	return (lo + hi) / 2
}
