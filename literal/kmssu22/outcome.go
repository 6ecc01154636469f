package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
)

// refuse is the outcome of a fit that ended in bottom.
func (r *run) refuse(b *bottom) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: b.reason, Advice: advice(b.need)}, Diagnostics: estimate.Diagnostics{Flags: r.flags}}
}

// release takes what the last NaiveEstimator found to the columns, or is bottom where noise hides a
// direction.
func (r *run) release(z naive) (estimate.Outcome, error) {
	values, vectors := z.eigen()
	least := values[len(values)-1]
	if !(least > z.noise/noiseLimit) {
		return estimate.Outcome{}, fail("the noise of the last covariance is as large as what it measures")
	}
	at := z.at(z.mean)
	var factor mat.Dense
	factor.Mul(at.wi, vectors)
	for j := range r.d {
		row := factor.RawRowView(j)
		for i := range row {
			row[i] *= math.Sqrt(values[i])
		}
	}
	cov, err := shaped(&factor, r.shape)
	if err != nil || !dense.AllFinite(at.center) {
		return r.outsize(), nil
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: at.center, Cov: cov}})
	if err != nil {
		return r.outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: estimate.Diagnostics{Flags: r.flags,
		Components: []estimate.ComponentNote{{EffectiveRows: z.rows, EffectiveNoise: z.noise / least}}}}, nil
}

// outsize is the outcome for an estimate that a model cannot hold.
func (r *run) outsize() estimate.Outcome {
	return estimate.Outcome{Diagnostics: estimate.Diagnostics{Flags: r.flags}, NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the columns in other units"}}
}

// shaped is the covariance factor factorᵀ as a model's type.
func shaped(factor *mat.Dense, shape estimate.CovarianceType) (model.Covariance, error) {
	if shape == estimate.Full {
		return model.FullFromFactor(factor)
	}
	d, _ := factor.Dims()
	variances, mean := make([]float64, d), 0.0
	for j := range d {
		variances[j] = dense.Norm2(factor.RawRowView(j))
		mean += variances[j] / float64(d)
	}
	if shape == estimate.Spherical {
		return model.NewSpherical(d, mean)
	}
	return model.NewDiagonal(variances)
}
