package univariate

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants of what is told, guesses.
const (
	mostLost = .5 // part of the rows in no component with which there is no release
	clearSDs = 4.0
	// thresholds for reports: the part of the rows in other bins than the model says, and tails
	reportedMisfit   = .05
	reportedKurtosis = 6.0
	leastSD          = 0x1p-500
	// varianceNoise is the noise sd of a Gaussian's variance, relative, for noise of one row per
	// bin and one row, with about ten bins.
	varianceNoise = 6.0
)

// outcome returns the model, heaviest component first.
func (f *fit) outcome() estimate.Outcome {
	out := program.NewDraft(1, f.Notes)
	total := fit1d.RowsOf(f.found)
	sigma := f.all[len(f.all)-1].Sigma
	if k := f.Problem.Components; k > f.people {
		out.Notes.Flag(flags.New(flags.FewerComponents, "%d of %d components were left out: they hold too few rows to be seen, or the others explain their rows", k-f.people, k))
	}
	d := f.data()
	lost, noise := d.Outside(f.found, f.Rows)
	if lost-noise > mostLost*f.Rows {
		return f.refuse("about %.0f%% of the rows lie where no component was found", 100*lost/f.Rows)
	}
	if f.Problem.Relation == privacy.AddRemoveOne {
		noise = math.Hypot(noise, f.sigma(countShare))
	}
	out.LeavesOut(estimate.Undescribed{Share: lost / f.Rows, Noise: noise / f.Rows, Where: "they have no value, or lie where the noise hides them"})
	value, constant := f.constant(d)
	if constant {
		out.Notes.ConstantColumns = []int{0}
		out.Notes.Flag(flags.New(flags.ConstantColumn, "the column is constant but for at most about %.0f rows", math.Max(0, lost)+clearSDs*noise).In(0))
	}
	misfits, chance := d.Misfit(f.found)
	f.tell(out, total, misfits, chance)
	order := parts.Upto(len(f.found))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(f.found[j].Rows, f.found[i].Rows) })
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(i/f.people, j/f.people) }) // background last
	for _, i := range order {
		c := f.found[i]
		cov, err := f.covariance(math.Max(c.SD, leastSD))
		note := program.Note(c.Rows, varianceNoise*sigma/math.Max(c.Rows, 1))
		note.Background, note.Misfit = i >= f.people, misfits[i]
		mean := c.Mean()
		if constant {
			mean = value
			cov, err = model.NewDiagonal([]float64{0})
		} else if !d.Resolved(c) {
			note.Flags = []estimate.Flag{flags.New(flags.Narrow, "it is narrower than the noise can resolve: its rows may share one value; if values are rounded, state rounded_to in the schema").In(0)}
		}
		out.Add(c.Rows/total, []float64{mean}, cov, err, note)
	}
	return out.Outcome()
}

// tell flags what the components that were asked for do not describe, and what the moments rest on.
func (f *fit) tell(out *program.Draft, total float64, misfits []float64, chance float64) {
	carried, misfit := 0.0, 0.0
	for i, c := range f.found {
		misfit += misfits[i] * c.Rows / total
		if i >= f.people {
			carried += c.Rows
		}
	}
	if carried > 0 {
		out.Notes.Flag(flags.New(flags.Background, "about %.2g%% of the rows are not described by the %d components; %d more, marked as background, describe them",
			100*carried/total, f.people, len(f.found)-f.people).Of(carried/total, 0))
	}
	if misfit > reportedMisfit && misfit > clearSDs*chance {
		out.Notes.Flag(flags.New(flags.NotGaussian, "about %.2g%% of the rows lie where the components do not expect them: the rows are not a mixture of so many Gaussians", 100*misfit).In(0).Of(misfit, chance))
	}
	if k := fit1d.Kurtosis(f.found); k > reportedKurtosis {
		out.Notes.Flag(flags.New(flags.HeavyTail, "the tails are heavy (kurtosis about %.2g): the overall variance depends on few rows, and the noise may hide others farther out", k).In(0))
	}
}

// covariance returns the covariance of a component, in the requested shape: in one column they
// differ in name.
func (f *fit) covariance(sd float64) (model.Covariance, error) {
	v := sd * sd
	if f.Problem.KnownCovariance != nil {
		v = f.Problem.KnownCovariance[0][0]
	}
	return program.ShapedMatrix(mat.NewSymDense(1, []float64{v}), f.Problem.Covariance)
}

// constant reports whether no rows were seen but those of one value.
func (f *fit) constant(d *fit1d.Data) (value float64, is bool) {
	if len(f.found) != 1 || f.known != (fit1d.Known{}) || !d.Atom(f.found[0]) {
		return 0, false
	}
	value, _ = d.Bin(f.found[0])
	return value, true
}

func (f *fit) refuse(format string, args ...any) estimate.Outcome {
	if f.Rows > rowsFor(f.Problem) {
		f.Advice = "the rows would be enough for a mixture of Gaussians: check the column for missing values, values far too large, and values that many " +
			"rows share; or use --method general"
	}
	return f.Refuse(format, args...)
}
