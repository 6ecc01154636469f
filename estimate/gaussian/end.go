package gaussian

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// An ended fit has its outcome, with a model or without: End makes that of this error.
type ended struct{ estimate.Outcome }

// Error makes it an error.
func (*ended) Error() string { return "the fit has ended" }

func refusal(advice, format string, args ...any) error {
	return refused(&estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: advice})
}

func refused(none *estimate.NoRelease) error { return &ended{estimate.Outcome{NoRelease: none}} }

// TooFew returns the outcome of a fit with this number of rows, public or released, if it is too
// small to try.
func TooFew(p estimate.Problem, rows float64) *estimate.NoRelease {
	if rows >= triedFrom(p) {
		return nil
	}
	return &estimate.NoRelease{Reason: fmt.Sprintf("about %.0f rows are too few", math.Max(0, rows)), Advice: advice(p)}
}

// Refuse returns the error of a fit that more rows would help.
func (f *Fit) Refuse(format string, args ...any) error {
	return &ended{f.Run.Refuse(format, args...)}
}

// RefuseOutliers returns the error of a fit that more rows of the same kind would not help much:
// too many lie far out.
func (f *Fit) RefuseOutliers(reason string) error {
	return refusal("leave out the columns in which most rows share one value or a few are far from all others, or take their logarithms; or allow several "+
		"components, which describe such rows better; or many more rows", "%s", reason)
}

// RefuseColumn returns the error of a single column j that more rows would help.
func (f *Fit) RefuseColumn(j int) error {
	out := f.Run.Refuse("the noise hides the spread")
	out.NoRelease.Column = &j
	return &ended{out}
}

// alone has a fit of a full covariance, whose rows are too few for one, end in a diagonal one, and
// say so.
func (f *Fit) alone() {
	if f.Problem.Covariance != estimate.Full {
		return
	}
	from := fullFrom(f.Problem)
	f.Problem.Covariance = estimate.Diagonal
	f.Notes.Flag(flags.New(flags.FewRows, "%.0f rows are too few to see how columns vary together, which takes about %.0f: the model has their means and standard deviations, and no correlations",
		math.Floor(f.Rows), estimate.AboutRows(from)))
}

// unresolved returns the error of a preconditioner whose budget ended first, in the state st.
func (f *Fit) unresolved(st *tyler.State) error {
	f.note(st.Hidden(f.All))
	return f.Refuse("the noise hides the spread in some directions at about %.0f rows", f.Rows)
}

func (f *Fit) note(unresolved []tyler.Direction) {
	for _, d := range unresolved {
		f.Notes.Unresolved = append(f.Notes.Unresolved, estimate.Direction(d))
	}
}

// End returns what a fit ends in: an error that is a refusal is an outcome.
func (f *Fit) End(out estimate.Outcome, err error) (estimate.Outcome, error) {
	if errors.Is(err, columns.ErrOverflow) {
		err = refusal("record the columns in other units", "the columns' spreads do not fit float64")
	}
	var e *ended
	if !errors.As(err, &e) {
		return out, err
	}
	if e.NoRelease != nil {
		e.Diagnostics = f.notes()
	}
	return e.Outcome, nil
}

// notes returns the diagnostics that every outcome has.
func (f *Fit) notes() estimate.Diagnostics {
	d := f.Notes
	if good, n := f.Good(), f.Tyler.Good.Public; !math.IsNaN(n) && good != n {
		what := "a missing or unusable value"
		if f.cells != nil {
			what = "no value at all"
		}
		share := math.Max(0, 1-good/n)
		d.Flag(flags.New(flags.IncompleteRows, "about %.1f%% of the rows have %s and were not used", 100*share, what).Of(share, 0))
	}
	return d
}

// Release makes the model of a mean and a factor (rows: the columns that vary, raw units), constant
// columns filled in. noise is the spectral noise of the second moment relative to the covariance.
// For special shapes of many columns factor is diagonal.
func (f *Fit) Release(mean []float64, factor *mat.Dense, told []estimate.Flag, noise float64) (estimate.Outcome, error) {
	full, cov, err := f.inTable(mean, factor)
	draft := program.NewDraft(f.All, f.notes())
	draft.Notes.Flag(told...)
	if f.Problem.Covariance == estimate.Spherical && f.Space.Dim() > 0 && f.Space.Dim() < f.All {
		draft.Notes.Flag(flags.New(flags.ConstantColumn, "the common spread is that of the columns that vary; the constant columns have no part in it").In(draft.Notes.ConstantColumns...))
	}
	draft.Add(1, full, cov, err, estimate.ComponentNote{EffectiveRows: f.Good(), EffectiveNoise: noise})
	out := draft.Outcome()
	if out.NoRelease != nil { // nothing that is released here can be too small
		out.NoRelease.Advice = "record the columns in larger units"
	}
	return out, nil
}

// inTable returns a mean and a factor of the columns that vary as those of all columns.
func (f *Fit) inTable(mean []float64, factor *mat.Dense) ([]float64, model.Covariance, error) {
	full := slices.Clone(f.Units.Center)
	_, width := factor.Dims()
	wide := mat.NewDense(f.All, width, nil)
	for i, j := range f.Space.Columns {
		full[j] = mean[i]
		wide.SetRow(j, factor.RawRowView(i))
	}
	cov, err := program.Shaped(wide, f.Problem.Covariance)
	return full, cov, err
}

// core returns the core, with so much of the rows; nil if no model can hold it.
func (f *Fit) core(mean []float64, factor *mat.Dense, share float64) *estimate.Core {
	full, cov, err := f.inTable(mean, factor)
	if g := (model.Gaussian{Mean: full, Cov: cov}); err == nil && dense.AllFinite(full) {
		return &estimate.Core{Share: share, Gaussian: g}
	}
	return nil
}

// Constant returns the model of a table whose columns are all constant.
func (f *Fit) Constant() (estimate.Outcome, error) {
	return f.Release(nil, mat.NewDense(1, 1, nil), nil, 0)
}
