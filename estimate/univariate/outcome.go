package univariate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/linefit"
)

// Utility constants of what is told, guesses.
const (
	// part of the rows in no component that is worth telling, if it is more than noise
	toldOutside = .03
	mostLost    = .5 // part of the rows in no component with which there is no release
	allRows     = .9 // part of the rows in one value that make a column constant
	leastSD     = 0x1p-500
	// varianceNoise is the noise sd of a Gaussian's variance, relative, for noise of one row per
	// bin and one row, with about ten bins.
	varianceNoise = 6.0
)

// outcome is the model, heaviest component first.
func (f *fit) outcome() estimate.Outcome {
	out := program.NewDraft(1, f.Notes)
	slices.SortStableFunc(f.found, func(a, b linefit.Component) int {
		if a.Rows > b.Rows {
			return -1
		}
		return 1
	})
	total := 0.0
	for _, c := range f.found {
		total += c.Rows
	}
	sigma := f.all[len(f.all)-1].Sigma
	if k := f.Problem.Components; k > len(f.found) {
		out.Flag("%d of %d components hold too few rows to be seen, or none that the others do not explain, and were left out", k-len(f.found), k)
	}
	switch lost := f.Rows - total; {
	case lost > mostLost*f.Rows:
		return f.refuse("about %.0f%% of the rows lie where no component was found", 100*lost/f.Rows)
	case lost > toldOutside*f.Rows && lost > 2*holeSDs*sigma:
		out.Flag("about %.0f%% of the rows are in no component: they have no value, or lie where the noise hides them", 100*lost/f.Rows)
	}
	if f.inferred {
		out.Flag("values look like multiples of %g and were taken as recorded in that unit: declare it as a schema's rounded_to", f.unit)
	}
	d := f.data()
	for _, c := range f.found {
		cov, err := f.covariance(math.Max(c.SD, leastSD))
		note := program.Note(c.Rows, varianceNoise*sigma/math.Max(c.Rows, 1), "")
		if !d.Resolved(c) {
			note.Flags = []string{"it is narrower than could be seen: perhaps rows of one value; a schema's rounded_to says that values are rounded"}
		}
		out.Add(c.Rows/total, []float64{c.Mean()}, cov, err, note)
	}
	return out.Outcome()
}

// covariance is that of a component, in the shape that was asked for: in one column they differ in
// name.
func (f *fit) covariance(sd float64) (model.Covariance, error) {
	v := sd * sd
	if f.Problem.KnownCovariance != nil {
		v = f.Problem.KnownCovariance[0][0]
	}
	return program.ShapedMatrix(mat.NewSymDense(1, []float64{v}), f.Problem.Covariance)
}

// constant reports whether nearly all rows have one value.
func (f *fit) constant() (value float64, is bool) {
	if len(f.found) == 0 {
		return 0, false
	}
	d := f.data()
	for _, c := range f.found {
		if d.Atom(c) && c.Rows > allRows*f.Rows && f.known.SD == 0 && f.known.Least == 0 {
			low, _ := d.Bin(c)
			return low, true
		}
	}
	return 0, false
}

// point is the outcome of a column in which nearly all rows have one value.
func (f *fit) point(value float64) estimate.Outcome {
	cov, err := model.NewDiagonal([]float64{0})
	rows := 0.0
	for _, c := range f.found {
		rows = math.Max(rows, c.Rows)
	}
	out := program.NewDraft(1, f.Notes)
	out.Notes.ConstantColumns = []int{0}
	out.Flag("the column is constant but for at most about %.0f rows", (1-allRows)*f.Rows)
	out.Add(1, []float64{value}, cov, err, estimate.ComponentNote{EffectiveRows: rows})
	return out.Outcome()
}

func (f *fit) refuse(format string, args ...any) estimate.Outcome {
	if f.Rows > rowsFor(f.Problem) {
		f.Advice = "the rows are enough for a mixture of Gaussians: look for values that are missing, far too large, or repeated in great " +
			"numbers; or use --method general"
	}
	return f.Refuse(format, args...)
}
