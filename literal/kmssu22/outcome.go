package kmssu22

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
)

// refuse returns the outcome of a fit that ended in bottom.
func (r *run) refuse(b *bottom) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: b.reason, Advice: advice(b.need)}, Diagnostics: estimate.Diagnostics{Flags: r.flags}}
}

// release takes what the last NaiveEstimator found to the columns, or is bottom where noise hides a
// direction. last is the least standard deviation in the space, by the estimates, which
// preconditioning leaves as it is: it says how many rows would be enough.
func (r *run) release(z naive, last float64) (estimate.Outcome, error) {
	values, vectors := z.eigen()
	least := values[len(values)-1]
	if !(least > z.noise/noiseLimit) {
		// Noise lowers the least eigenvalue by up to z.noise, and is to be below noiseLimit of
		// that.
		need := r.rows * z.noise * (1 + 1/noiseLimit) / (last * last)
		return estimate.Outcome{}, &bottom{"the noise of the last covariance is as large as what it measures", math.Max(need, 2*r.rows)}
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
	draft := program.NewDraft(r.d, estimate.Diagnostics{Flags: r.flags})
	cov, err := program.Shaped(&factor, r.shape)
	draft.Add(1, at.center, cov, err, estimate.ComponentNote{EffectiveRows: z.rows, EffectiveNoise: z.noise / least})
	return draft.Outcome(), nil
}
