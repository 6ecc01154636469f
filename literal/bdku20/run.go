package bdku20

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// run is one fit: public facts and released values only.
type run struct {
	program.Run
	schedule
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
}

// missingSDs: where n is public, all rows are good unless the count says otherwise by this many
// noise sds.
const missingSDs = 3.5

// countRows releases the number of good rows.
func (r *run) countRows() error {
	n, public := r.Session().Rows()
	r.rows, r.good = float64(n), float64(n)
	if r.countShare == 0 {
		return nil
	}
	answer, err := r.Sum(stepCount, query.Count{}, math.Sqrt(r.countShare*r.Mu2))
	if err != nil {
		return err
	}
	if !public || math.Abs(answer.Values[0]-r.good) > missingSDs*answer.Sigma {
		r.good = answer.Values[0]
	}
	if !public {
		r.rows = r.good
	} else if r.good < r.rows {
		lost := math.Max(0, 1-r.good/r.rows)
		r.Notes.Flag(flags.New(flags.IncompleteRows, "about %.1f%% of the rows have a missing or unusable value and were not used", 100*lost).Of(lost, 0))
	}
	return nil
}

// known sets the scale that the bounds give.
func (r *run) known() {
	sd := math.Sqrt(r.Problem.Facts.Eigenvalues[1])
	r.w, r.wi = mat.DenseCopyOf(symmetric.Identity(r.d)), mat.DenseCopyOf(symmetric.Identity(r.d))
	r.w.Scale(1/sd, r.w)
	r.wi.Scale(sd, r.wi)
	r.factor = mat.DenseCopyOf(r.wi)
	r.center = make([]float64, r.d)
}

// frame returns the map to the current scale.
func (r *run) frame() query.Affine {
	f := query.Affine{Center: append([]float64(nil), r.center...), W: make([][]float64, r.d)}
	for i := range f.W {
		f.W[i] = append([]float64(nil), r.w.RawRowView(i)...)
	}
	return f
}

// outcome returns the model.
func (r *run) outcome() estimate.Outcome {
	cov, err := r.shaped()
	if err == nil && !(dense.AllFinite(r.center) && dense.Finite(r.noise)) {
		return r.Outsize()
	}
	draft := program.NewDraft(r.d, r.Notes)
	draft.Add(1, r.center, cov, err, estimate.ComponentNote{EffectiveRows: r.good, EffectiveNoise: r.noise})
	return draft.Outcome()
}

// graded is the largest ratio of stated eigenvalues whose covariance is held to them: in the
// columns' units the eigenvalues of a matrix of a larger ratio are lost to rounding, while its
// factor has them.
const graded = 1e10

// shaped returns the covariance, held to the stated eigenvalues, in the shape that was asked for.
//
// Source: [BDKU20] Section 2.2 of the restatement. Differs: the eigenvalues are moved into the
// stated bounds, which noise can leave.
func (r *run) shaped() (model.Covariance, error) {
	s := symmetric.Congruence(r.factor, symmetric.Identity(r.d))
	low, high := r.Problem.Facts.Eigenvalues[0], r.Problem.Facts.Eigenvalues[1]
	if high/low <= graded {
		s = symmetric.Floored(s, low, high)
	}
	if r.Problem.Covariance == estimate.Full && high/low > graded {
		return model.FullFromFactor(r.factor)
	}
	return program.ShapedMatrix(s, r.Problem.Covariance)
}
