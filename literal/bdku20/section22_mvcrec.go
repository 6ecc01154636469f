package bdku20

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/parts/component"
)

// covariance runs the multivariate covariance iteration. It reports in words why the estimate would
// be nonsense, if it is.
//
// Source: [BDKU20] Section 2.2 of the restatement (MVCRec).
// Differs: the noise has variance sigma^2/2 off the diagonal, which is enough for a Frobenius
// sensitivity (the published code has sigma^2); eigenvalues below zero are raised to zero (it
// leaves them as they are) before the slack is added, which includes the noise's norm; whiteners
// are composed from the left; the last second moment is the mean of several over pairs.
func (r *run) covariance() (doubt string, err error) {
	if !r.unknown.covariance {
		return "", nil
	}
	part := r.Take(r.covarianceShare * r.Mu2)
	defer r.Return(part)
	split := r.c.split(r.covarianceSteps(r.rows))
	for i, share := range split {
		last := i == len(split)-1
		var m second
		if last {
			m, err = r.lastSecond(part)
		} else {
			m, err = r.second(part, math.Sqrt(share*r.covarianceShare*r.Mu2))
		}
		if err != nil {
			return "", err
		}
		if m.sum == nil {
			return "the noise hides whether there are pairs of rows", nil
		}
		values, vectors, ok := symmetric.Eigen(m.sum)
		switch {
		case !ok:
			return "a released second moment has no eigenvalues", nil
		case i == 0 && r.contradicts(values, m):
			return "the rows are spread wider than the stated eigenvalues allow", nil
		}
		if last {
			if doubt := r.estimate(values, vectors, m.noise); doubt != "" {
				return doubt, nil
			}
		}
		r.rescale(values, vectors, r.slack(m.vectors, m.noise))
		if !dense.AllFinite(r.w.RawMatrix().Data) || !dense.AllFinite(r.wi.RawMatrix().Data) {
			return "the scale of the rows left the numbers that can be calculated with", nil
		}
	}
	return "", nil
}

// A second is a released mean of z z^T over some vectors z; sum is nil if their number is lost in
// the noise.
type second struct {
	sum     *mat.SymDense
	vectors float64 // their number
	noise   float64 // sd of a diagonal entry
}

// lastSecond returns the mean of as many second moments as there are pairings, for all that a has
// left.
func (r *run) lastSecond(a *kernel.SubBudget) (second, error) {
	k := r.pairings()
	mean := second{sum: mat.NewSymDense(r.d, nil)}
	mu := a.LeftMu()
	if k > 1 {
		// costs are rounded up: the last must not be short of them
		mu *= (1 - 1e-12) / math.Sqrt(float64(k))
	}
	for range k {
		m, err := r.second(a, mu)
		if err != nil || m.sum == nil {
			return second{}, err
		}
		m.sum.ScaleSym(1/float64(k), m.sum)
		mean.sum.AddSym(mean.sum, m.sum)
		mean.vectors += m.vectors / float64(k)
		mean.noise = math.Hypot(mean.noise, m.noise/float64(k))
	}
	return mean, nil
}

// pureLift makes a moment release nothing but a second moment, up to a part of 1e-6.
const pureLift = 1e-3

// countedSDs: a number of pairs is seen if it is so many noise sds above nothing.
const countedSDs = 4

// second releases the mean of z z^T over the rows or, where the mean is unknown, over pairs of them
// with z = w(x-x')/sqrt2.
func (r *run) second(a *kernel.SubBudget, mu float64) (second, error) {
	radius := math.Sqrt(bound2(r.d, r.c.CovarianceTail))
	if !r.unknown.mean {
		q := query.ClippedMoments{Components: []query.Component{{Map: r.frame(), Radius: radius}}, Form: query.FullForm, Lift: pureLift}
		answer, err := a.Sum(stepCovariance, q, mu)
		if err != nil {
			return second{}, err
		}
		s := component.UnpackSums(q, answer)[0]
		s.Second.ScaleSym(1/r.good, s.Second)
		return second{s.Second, r.good, s.SecondSD / r.good}, nil
	}
	q := papers.PairMoments{Map: r.frame(), Radius: radius}
	buckets := int(math.Max(1, math.Min(1<<26, r.rows/2)))
	answer, err := kernel.SumPairs(a, stepCovariance, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, mu)
	if err != nil {
		return second{}, err
	}
	pairs, values := q.Read(answer.Values)
	if !(pairs > countedSDs*answer.Sigma/(radius*radius)) || pairs < 1 {
		return second{}, nil
	}
	m := component.Symmetric(values, r.d)
	m.ScaleSym(1/pairs, m)
	return second{m, pairs, answer.Sigma / pairs}, nil
}

// contradicts reports a first second moment that a covariance of at most the identity does not
// have.
func (r *run) contradicts(values []float64, m second) bool {
	edge := 1 + (math.Sqrt(float64(r.d))+surely)/math.Sqrt(m.vectors)
	return values[len(values)-1] > edge*edge+m.noise*r.norm()
}

// rescale multiplies the scale by (M + slack I)^(-1/2), M's negative eigenvalues raised to 0.
func (r *run) rescale(values []float64, v *mat.Dense, slack float64) {
	half := func(power float64) *mat.SymDense {
		diagonal := mat.NewSymDense(r.d, nil)
		for i, x := range values {
			diagonal.SetSym(i, i, math.Pow(math.Max(x, 0)+slack, power))
		}
		return symmetric.Congruence(v, diagonal)
	}
	var w, wi mat.Dense
	w.Mul(half(-.5), r.w)
	wi.Mul(r.wi, half(.5))
	r.w, r.wi = &w, &wi
}

// estimate takes the last second moment to raw units, unless the noise hides some direction.
func (r *run) estimate(values []float64, vectors *mat.Dense, noise float64) (doubt string) {
	r.noise = noise * r.spectral() / math.Max(values[0], noise)
	if !(noise*r.norm() <= r.c.MostNoise*values[0]) && !math.IsInf(r.c.MostNoise, 1) {
		return "the noise hides the spread in some directions"
	}
	v := mat.DenseCopyOf(vectors)
	for i, x := range values {
		root := math.Sqrt(math.Max(x, 0))
		for j := range r.d {
			v.Set(j, i, v.At(j, i)*root)
		}
	}
	r.factor.Mul(r.wi, v)
	return ""
}
