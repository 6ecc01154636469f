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
