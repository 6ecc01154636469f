package bdku20

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// mean runs the multivariate mean iteration in the scale of the estimated covariance. It reports in
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
	radius := r.Problem.Facts.MeanWithin * svd.Values(nil)[0]
	t := r.meanSteps(r.rows)
	for i, share := range r.c.split(t) {
		mu := r.LeftMu()
		if i < t-1 {
			mu = math.Sqrt(share * r.meanShare * r.Mu2)
		}
		ball := meanRadius(r.d, r.c.MeanTail, radius)
		if !dense.Finite(ball) {
			return "the stated bound on the mean is too far for the scale of the rows", nil
		}
		q := query.ClippedMoments{Components: []query.Component{{Map: r.frame(), Radius: ball}}, Form: query.FullForm, Lift: 1}
		answer, err := r.Sum(stepMean, q, mu)
		if err != nil {
			return "", err
		}
		s := component.UnpackSums(q, answer)[0]
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
