package gaussian

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/stagezero"
)

// run is one fit: public facts and released values only.
type run struct {
	a       *kernel.Allotment
	pre     *kernel.Allotment // the preconditioner's part
	problem estimate.Problem
	prefix  string
	mu2     float64 // the whole of the fit
	rows    float64 // good rows: n or a noisy count
	public  float64 // n where it is public
	good    tally   // released numbers of good rows
	units   stagezero.Units
	staged  bool  // units are stage 0's, not the raw ones
	kept    []int // columns with spread
	last    *state
	history []measurement // of the last preconditioner
}

// ready counts the rows and finds the units of the columns; done says that out is the outcome:
// there is no point in going on.
func (r *run) ready() (out estimate.Outcome, done bool, err error) {
	if err := r.countRows(); err != nil {
		return out, true, err
	}
	if p := r.problem; r.rows < rowsNeeded(p)/tooFew(p) || r.rows < leastRows(p) {
		out, err = r.refuse(fmt.Sprintf("about %.0f rows are too few", math.Max(0, r.rows)))
		return out, true, err
	}
	if err := r.findUnits(); err != nil {
		return out, true, err
	}
	if j := r.badScale(); j >= 0 {
		return estimate.Outcome{NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the released scale of column %d, %.3g, has no variance in float64", j+1, r.units.Scale[j]),
			Advice: "check the column's values and record it in another unit",
		}, Diagnostics: r.notes()}, true, nil
	}
	if len(r.kept) < r.problem.Columns && r.units.Unseen > r.rows/2 {
		out, err = r.refuse("the noise hides whether a column is constant")
		return out, true, err
	}
	return out, false, nil
}

// tally is an inverse-variance mean.
type tally struct{ sum, weight float64 }

func (t *tally) add(value, sd float64) {
	t.sum += value / (sd * sd)
	t.weight += 1 / (sd * sd)
}

// countPart of mu^2 buys the noisy count where n is private.
const countPart = .01

// countRows releases the number of good rows. Where n is public, rows becomes n unless the count
// says that many rows are null; where it is private, rows becomes the count, and nothing else ever
// reads n.
func (r *run) countRows() error {
	answer, err := r.a.Sum(r.prefix+"count", query.Count{}, math.Sqrt(countPart*r.mu2))
	if err != nil {
		return err
	}
	r.good.add(answer.Values[0], answer.Sigma)
	r.rows = answer.Values[0]
	if n, public := r.a.Session().Rows(); public {
		r.public = float64(n)
		r.rows = float64(n)
		r.rows = r.goodRows()
	}
	return nil
}

// missingSDs: under replace-one the number of good rows is n unless the released counts say
// otherwise by this many noise sds.
const missingSDs = 3.5

// goodRows is the number of rows that are not null, from everything released so far: their combined
// counts, or the public n if these agree with it.
func (r *run) goodRows() float64 {
	count, sd := r.good.sum/r.good.weight, 1/math.Sqrt(r.good.weight)
	if r.problem.Relation == privacy.ReplaceOne && math.Abs(count-r.public) < missingSDs*sd {
		return r.public
	}
	return math.Max(count, 1)
}

// widest is the largest scale whose variance leaves room in float64.
const widest = 0x1p500

// findUnits looks for the spread of every column, and lists those that have any: by the octaves of
// pairs under replace-one, if these can be clear, and then for the centres, unless a full
// covariance is fitted, whose preconditioner finds them by itself. Else it is stage 0, wherever
// that can be sharp enough; and raw units where neither can. Nothing is spent where public bounds
// on the eigenvalues stand for the spread; a bound that is far off costs steps of the
// preconditioner, and no more.
func (r *run) findUnits() error {
	d := r.problem.Columns
	share, sharp := stagezero.CenterShare(r.problem.Relation, d, r.rows, r.mu2)
	byPairs, clear := stagezero.SpreadShare(d, r.rows, r.mu2)
	cfg := stagezero.Config{Prefix: r.prefix, CenterMu2: share * r.mu2, ScaleMu2: scaleShare(r.problem) * r.mu2}
	full := byFull(r.problem)
	var err error
	r.staged = true
	switch {
	case knowsUnits(r.problem):
		r.units = knownUnits(d, r.problem.Facts.Eigenvalues[1])
	case usesPairs(r.problem) && (clear || !sharp):
		r.units, err = stagezero.SpreadByPairs(r.a, cfg, r.rows, byPairs*r.mu2)
		if err == nil && !full {
			err = r.units.FindCenters(r.a, r.prefix, r.rows, cfg.CenterMu2)
		}
	case sharp || !full:
		r.units, err = stagezero.Run(r.a, cfg)
	default:
		r.staged = false
		r.units = knownUnits(d, 1)
	}
	if err != nil {
		return err
	}
	for j := range d {
		if !r.units.Constant[j] {
			r.kept = append(r.kept, j)
		}
	}
	return nil
}

// knowsUnits reports that public facts give the columns' spread, and say that none is constant.
func knowsUnits(p estimate.Problem) bool { return byFull(p) && p.Facts.KnowsEigenvalues() }

// knownUnits are centres 0 and the scale of one variance.
func knownUnits(d int, variance float64) stagezero.Units {
	return stagezero.Units{Center: make([]float64, d), Scale: slices.Repeat([]float64{math.Sqrt(variance)}, d), Constant: make([]bool, d)}
}

// usesPairs reports that units may come from pairs of rows; under add-or-remove-one fewer rows find
// a partner and stage 0 is cheaper.
func usesPairs(p estimate.Problem) bool { return p.Relation == privacy.ReplaceOne }

// scaleShare is the part of mu^2 for stage 0's scales: where nothing corrects them but a rough
// release, twice as much.
func scaleShare(p estimate.Problem) float64 {
	if byFull(p) {
		return stagezero.ScalePart
	}
	return 2 * stagezero.ScalePart
}

// floorUnit is the scale that relativeFloor refers to: 1 in stage 0's units, 0 (unknown) in raw
// ones.
func (r *run) floorUnit() float64 {
	if r.staged {
		return 1
	}
	return 0
}

// badScale is a kept column whose scale has no variance in float64, or -1.
func (r *run) badScale() int {
	for _, j := range r.kept {
		if s := r.units.Scale[j]; s > widest || s < stagezero.Narrowest {
			return j
		}
	}
	return -1
}

// refuse is the outcome without a model.
func (r *run) refuse(reason string) (estimate.Outcome, error) {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: reason, Advice: advice(r.problem)}, Diagnostics: r.notes()}, nil
}

// refuseFar is the outcome without a model where more rows of the same kind would not help much:
// too many lie far out.
func (r *run) refuseFar(reason string) (estimate.Outcome, error) {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{
		Reason: reason,
		Advice: "leave out the columns in which most rows share one value or a few are far from all others, or take their logarithms; or allow several " +
			"components, which describe such rows better; or many more rows",
	}, Diagnostics: r.notes()}, nil
}

// notes are the diagnostics that every outcome has.
func (r *run) notes() estimate.Diagnostics {
	var d estimate.Diagnostics
	for j, c := range r.units.Constant {
		if c {
			d.ConstantColumns = append(d.ConstantColumns, j)
		}
	}
	if len(d.ConstantColumns) > 0 {
		d.Flags = append(d.Flags, fmt.Sprintf("constant columns: up to about %.0f rows may differ from the released value unseen", r.units.Unseen))
	}
	good := r.goodRows()
	if r.problem.Relation == privacy.ReplaceOne && good != r.public {
		d.Flags = append(d.Flags, fmt.Sprintf("about %.1f%% of the rows have a missing or unusable value and count for nothing", 100*math.Max(0, 1-good/r.public)))
	}
	return d
}

// constant is the outcome for a table whose columns are all constant.
func (r *run) constant() (estimate.Outcome, error) {
	return r.release(nil, nil, nil, 0)
}

// release makes the model of a mean and a factor (rows: the kept columns, raw units), constant
// columns filled in. relativeNoise is the spectral noise of the second moment relative to the
// covariance.
func (r *run) release(mean []float64, factor *mat.Dense, flags []string, relativeNoise float64) (estimate.Outcome, error) {
	d := r.problem.Columns
	full := append([]float64(nil), r.units.Center...)
	width := 1
	if factor != nil {
		_, width = factor.Dims()
	}
	wide := mat.NewDense(d, width, nil)
	for i, j := range r.kept {
		full[j] = mean[i]
		wide.SetRow(j, factor.RawRowView(i))
	}
	cov, err := r.covariance(wide)
	if err != nil || !dense.AllFinite(full) {
		return r.outsize()
	}
	mixture, err := model.New(nil, nil, []model.Gaussian{{Mean: full, Cov: cov}})
	if err != nil {
		return r.outsize()
	}
	out := estimate.Outcome{Model: mixture, Diagnostics: r.notes()}
	out.Diagnostics.Flags = append(out.Diagnostics.Flags, flags...)
	out.Diagnostics.Components = []estimate.ComponentNote{{EffectiveRows: r.goodRows(), EffectiveNoise: relativeNoise}}
	return out, nil
}

// outsize is the outcome for an estimate that a model cannot hold.
func (r *run) outsize() (estimate.Outcome, error) {
	return estimate.Outcome{Diagnostics: r.notes(), NoRelease: &estimate.NoRelease{
		Reason: "a released mean or variance is outside the numbers that a model can hold", Advice: "record the columns in larger units"}}, nil
}

// covariance is factor factor^T in the shape that was asked for; for the special shapes factor is
// diagonal.
func (r *run) covariance(factor *mat.Dense) (model.Covariance, error) {
	d, width := factor.Dims()
	if r.problem.Covariance == estimate.Full {
		return model.FullFromFactor(factor)
	}
	variances := make([]float64, d)
	for j := range d {
		for i := range width {
			variances[j] += factor.At(j, i) * factor.At(j, i)
		}
	}
	if r.problem.Covariance == estimate.Diagonal {
		return model.NewDiagonal(variances)
	}
	mean := 0.0
	for _, v := range variances {
		mean += v / float64(d)
	}
	return model.NewSpherical(d, mean)
}
