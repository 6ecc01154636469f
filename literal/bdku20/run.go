package bdku20

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/moments"
)

// run is one fit: public facts and released values only.
type run struct {
	schedule
	a       *kernel.Allotment
	problem estimate.Problem
	total   float64 // mu^2
	// n, or the released number of rows where n is private: what the schedule goes by
	rows float64
	good float64 // rows that are not null, as far as is known
	// The scale z = w (x - center) in which the covariance is at most the identity, as far as is
	// known; wi is the inverse of w.
	w, wi  *mat.Dense
	center []float64
	// The estimate: a factor of the covariance, and its relative spectral noise.
	factor *mat.Dense
	noise  float64
	flags  []string
}

// missingSDs: where n is public, all rows are good unless the count says otherwise by this many
// noise sds.
const missingSDs = 3.5

// countRows releases the number of good rows.
func (r *run) countRows() error {
	n, public := r.a.Session().Rows()
	r.rows, r.good = float64(n), float64(n)
	if r.countShare == 0 {
		return nil
	}
	answer, err := r.a.Sum(stepCount, query.Count{}, math.Sqrt(r.countShare*r.total))
	if err != nil {
		return err
	}
	if !public || math.Abs(answer.Values[0]-r.good) > missingSDs*answer.Sigma {
		r.good = answer.Values[0]
	}
	if !public {
		r.rows = r.good
	} else if r.good < r.rows {
		r.flags = append(r.flags, fmt.Sprintf("about %.1f%% of the rows have a missing or unusable value and count for nothing",
			100*math.Max(0, 1-r.good/r.rows)))
	}
	return nil
}

// known sets the scale that the bounds give.
func (r *run) known() {
	sd := math.Sqrt(r.problem.Facts.Eigenvalues[1])
	r.w, r.wi = mat.DenseCopyOf(symmetric.Identity(r.d)), mat.DenseCopyOf(symmetric.Identity(r.d))
	r.w.Scale(1/sd, r.w)
	r.wi.Scale(sd, r.wi)
	r.factor = mat.DenseCopyOf(r.wi)
	r.center = make([]float64, r.d)
}

// frame is the map to the current scale.
func (r *run) frame() query.Affine {
	f := query.Affine{Center: append([]float64(nil), r.center...), W: make([][]float64, r.d)}
	for i := range f.W {
		f.W[i] = append([]float64(nil), r.w.RawRowView(i)...)
	}
	return f
}

// covariance is the multivariate covariance iteration. It reports in words why the estimate would
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
	part := r.a.Take(r.covarianceShare * r.total)
	defer r.a.Return(part)
	split := r.o.split(r.covarianceSteps(r.rows))
	for i, share := range split {
		last := i == len(split)-1
		var m second
		if last {
			m, err = r.lastSecond(part)
		} else {
			m, err = r.second(part, math.Sqrt(share*r.covarianceShare*r.total))
		}
		if err != nil {
			return "", err
		}
		var e mat.EigenSym
		switch {
		case m.sum == nil:
			return "the noise hides whether there are pairs of rows", nil
		case !e.Factorize(m.sum, true):
			return "a released second moment has no eigenvalues", nil
		case i == 0 && r.contradicts(e.Values(nil), m):
			return "the rows are spread wider than the stated eigenvalues allow", nil
		}
		if last {
			if doubt := r.estimate(&e, m.noise); doubt != "" {
				return doubt, nil
			}
		}
		r.rescale(&e, r.slack(m.vectors, m.noise))
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

// lastSecond is the mean of as many second moments as there are pairings, for all that a has left.
func (r *run) lastSecond(a *kernel.Allotment) (second, error) {
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
func (r *run) second(a *kernel.Allotment, mu float64) (second, error) {
	radius := math.Sqrt(bound2(r.d, r.o.CovarianceTail))
	if !r.unknown.mean {
		q := query.ClippedMoments{Components: []query.Component{{Frame: r.frame(), Radius: radius}}, Form: query.FullForm, Lift: pureLift}
		answer, err := a.Sum(stepCovariance, q, mu)
		if err != nil {
			return second{}, err
		}
		s := moments.Unpack(q, answer)[0]
		s.Second.ScaleSym(1/r.good, s.Second)
		return second{s.Second, r.good, s.SecondSD / r.good}, nil
	}
	q := query.PairMoments{Frame: r.frame(), Radius: radius}
	buckets := int(math.Max(1, math.Min(1<<26, r.rows/2)))
	answer, err := a.Pairs(stepCovariance, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, mu)
	if err != nil {
		return second{}, err
	}
	pairs, values := q.Read(answer.Values)
	if !(pairs > countedSDs*answer.Sigma/(radius*radius)) || pairs < 1 {
		return second{}, nil
	}
	m := moments.Symmetric(values, r.d)
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
func (r *run) rescale(e *mat.EigenSym, slack float64) {
	var v mat.Dense
	e.VectorsTo(&v)
	half := func(power float64) *mat.SymDense {
		diagonal := mat.NewSymDense(r.d, nil)
		for i, x := range e.Values(nil) {
			diagonal.SetSym(i, i, math.Pow(math.Max(x, 0)+slack, power))
		}
		return symmetric.Congruence(&v, diagonal)
	}
	var w, wi mat.Dense
	w.Mul(half(-.5), r.w)
	wi.Mul(r.wi, half(.5))
	r.w, r.wi = &w, &wi
}

// estimate takes the last second moment to raw units, unless the noise hides some direction.
func (r *run) estimate(e *mat.EigenSym, noise float64) (doubt string) {
	var v mat.Dense
	e.VectorsTo(&v)
	values := e.Values(nil)
	r.noise = noise * r.spectral() / math.Max(values[0], noise)
	if !(noise*r.norm() <= r.o.MostNoise*values[0]) && !math.IsInf(r.o.MostNoise, 1) {
		return "the noise hides the spread in some directions"
	}
	for i, x := range values {
		root := math.Sqrt(math.Max(x, 0))
		for j := range r.d {
			v.Set(j, i, v.At(j, i)*root)
		}
	}
	r.factor.Mul(r.wi, &v)
	return ""
}

// mean is the multivariate mean iteration in the scale of the estimated covariance. It reports in
// words why the estimate would be nonsense.
//
// Source: [BDKU20] Section 2.1 of the restatement (MVMRec).
// Differs: one release of the augmented moments, with the noise of the source under replace-one and
// sqrt2 times the least under add-or-remove-one; the ball about the origin becomes an ellipsoid in
// the scale of the covariance, and the smallest ball about it is used.
func (r *run) mean() (doubt string, err error) {
	if !r.unknown.mean {
		return "", nil
	}
	var svd mat.SVD
	if !svd.Factorize(r.w, mat.SVDNone) {
		return "the estimated covariance has no inverse", nil
	}
	radius := r.problem.Facts.MeanWithin * svd.Values(nil)[0]
	t := r.meanSteps(r.rows)
	for i, share := range r.o.split(t) {
		mu := r.a.LeftMu()
		if i < t-1 {
			mu = math.Sqrt(share * r.meanShare * r.total)
		}
		ball := meanRadius(r.d, r.o.MeanTail, radius)
		if !dense.Finite(ball) {
			return "the stated bound on the mean is too far for the scale of the rows", nil
		}
		q := query.ClippedMoments{Components: []query.Component{{Frame: r.frame(), Radius: ball}}, Form: query.FullForm, Lift: 1}
		answer, err := r.a.Sum(stepMean, q, mu)
		if err != nil {
			return "", err
		}
		s := moments.Unpack(q, answer)[0]
		step := mat.NewVecDense(r.d, s.Sum)
		step.ScaleVec(1/r.good, step)
		next := r.nextRadius(r.good, s.SumSD/r.good)
		if i == 0 && mat.Norm(step, 2) > radius+next {
			return "the mean of the rows lies farther out than the stated bound", nil
		}
		var raw mat.VecDense
		raw.MulVec(r.wi, step)
		for j := range r.center {
			r.center[j] += raw.AtVec(j)
		}
		radius = next
	}
	return "", nil
}

// none is the outcome without a model.
func (r *run) none(advice, format string, args ...any) (estimate.Outcome, error) {
	return estimate.Outcome{Diagnostics: estimate.Diagnostics{Flags: r.flags},
		NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: advice}}, nil
}

// outcome is the model.
func (r *run) outcome(advice string) (estimate.Outcome, error) {
	cov, err := r.shaped()
	if err == nil && dense.AllFinite(r.center) && dense.Finite(r.noise) {
		mixture, err := model.New(nil, nil, []model.Gaussian{{Mean: r.center, Cov: cov}})
		if err == nil {
			return estimate.Outcome{Model: mixture, Diagnostics: estimate.Diagnostics{Flags: r.flags,
				Components: []estimate.ComponentNote{{EffectiveRows: r.good, EffectiveNoise: r.noise}}}}, nil
		}
	}
	return r.none(advice, "a released mean or variance is outside the numbers that a model can hold")
}

// graded is the largest ratio of stated eigenvalues whose covariance is held to them: in the
// columns' units the eigenvalues of a matrix of a larger ratio are lost to rounding, while its
// factor has them.
const graded = 1e10

// shaped is the covariance, held to the stated eigenvalues, in the shape that was asked for.
//
// Source: [BDKU20] Section 2.2 of the restatement. Differs: the eigenvalues are moved into the
// stated bounds, which noise can leave.
func (r *run) shaped() (model.Covariance, error) {
	s := symmetric.Congruence(r.factor, symmetric.Identity(r.d))
	low, high := r.problem.Facts.Eigenvalues[0], r.problem.Facts.Eigenvalues[1]
	if high/low <= graded {
		s = symmetric.Floored(s, low, high)
	}
	switch r.problem.Covariance {
	case estimate.Spherical:
		return model.NewSpherical(r.d, s.Trace()/float64(r.d))
	case estimate.Diagonal:
		variances := make([]float64, r.d)
		for i := range variances {
			variances[i] = s.At(i, i)
		}
		return model.NewDiagonal(variances)
	}
	if high/low <= graded {
		return model.NewFull(s)
	}
	return model.FullFromFactor(r.factor)
}
