// Package estimate says what every estimator is: a plan that is stated before any row is read, and
// a program that follows it.
//
// There is one package per problem below this one, and one file per algorithm. Estimators see data
// through a kernel session only: they can spoil an estimate, never a guarantee.
package estimate

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// An Estimator is one method of `gauze fit`.
type Estimator interface {
	// Name is the method's name on the command line, like "gaussian" or "separated:paper".
	Name() string
	// Summary is one line for lists of methods.
	Summary() string
	// Source names algorithm and source, "KEY Section".
	Source() string
	// Plan states the worst case that Fit may measure. Its error is a *Refusal: the problem is
	// hopeless or ill-posed on public facts alone, and nothing must be spent on it.
	Plan(Problem) (kernel.Plan, error)
	// Fit follows the plan on a session opened with it. An error is a fault of the program, an
	// interruption, or a wrong use of it; an estimate that is not to be trusted is an Outcome with
	// NoRelease set.
	Fit(context.Context, *kernel.Session, Problem) (Outcome, error)
	// Expect says what error to expect, from public facts.
	Expect(Problem) Expectation
}

// Named holds an Estimator's name, source and summary, for most to embed.
type Named struct{ name, source, summary string }

// Describe says what Name, Source and Summary do.
func Describe(name, source, summary string) Named { return Named{name, source, summary} }

// Name returns the estimator's name.
func (n Named) Name() string { return n.name }

// Source returns the estimator's source.
func (n Named) Source() string { return n.source }

// Summary returns the estimator's summary.
func (n Named) Summary() string { return n.summary }

// An Outcome is the end of a fit: a model, or a profile of the columns if one was requested, or the
// reason why there is none. All are functions of released values.
type Outcome struct {
	Model   *model.Mixture
	Profile *Profile
	// Kept are the columns, by number, of the model and of the Diagnostics' statements about
	// columns; nil for all. Aside are flags about columns by their numbers among all.
	Kept  []int
	Aside []Flag
	// Missing is set where rows that lack cells were completed by the model (kernel.Complete): the
	// rows as they are, and the part of the budget for the missing cells of each component.
	Missing     *kernel.SubBudget
	Diagnostics Diagnostics
	NoRelease   *NoRelease
	// Categories are the probabilities of the values of each column of categories in each component
	// of the model: columns, k, values. Nil where there are none.
	Categories [][][]float64
	// Found are the values found of each column of categories, nil for those with declared values.
	// Nil if all are declared.
	Found [][]string
	// CategoryOf is the column of categories that each depends on within a component, -1 for none,
	// and CategoryGiven its probabilities given that one's values: columns, k, values of that one,
	// values. Nil where that was not measured.
	CategoryOf    []int
	CategoryGiven [][][][]float64
}

// NoRelease says why there is no model and what would help. It is a result, not an error: its cost
// is spent.
type NoRelease struct {
	Reason string // what failed, from released values
	// Column is the column that failed, by index from 0, or nil if no single one did. Reason does
	// not name it: see Named.
	Column *int
	// "needs about 4000 rows at this epsilon; or fewer columns, or --covariance diagonal"
	Advice string
}

// Named returns n with the column that failed, if there is one, in its reason; names are those of
// the columns that were fitted.
func (n *NoRelease) Named(names []string) *NoRelease {
	if n == nil || n.Column == nil || *n.Column >= len(names) {
		return n
	}
	return &NoRelease{Reason: fmt.Sprintf("column %s: %s", names[*n.Column], n.Reason), Column: n.Column, Advice: n.Advice}
}

// Diagnostics are released values that explain a model.
type Diagnostics struct {
	Components []ComponentNote
	// Flags say what a reader should know about the whole model.
	Flags []Flag
	// Unresolved directions: combinations of columns whose spread is below what could be seen. A
	// model has none there; without a model they say what the noise hid.
	Unresolved []Direction
	// ConstantColumns are columns (by index) in which too few rows differ from one value to be
	// seen.
	ConstantColumns []int
	// Units that columns look recorded in, though none is declared.
	Units []Unit
	// Undescribed is what the model leaves out; nil if the method has not counted it. By LeavesOut.
	Undescribed *Undescribed
	// Core is what the rows are without those far from all others, where that differs from the
	// model of all rows; else nil. Of one Gaussian alone.
	Core *Core
	// Number says how sure the number of components is; nil if it was given, or the method cannot
	// say.
	Number *Number
}

// A Number of components, not counting background, with the probability that there are as many, and
// what there are most likely otherwise.
type Number struct {
	Found      int
	Confidence float64
	Or         int
}

// A Core is mean and covariance of that share of the rows which lies together.
type Core struct {
	Share    float64
	Gaussian model.Gaussian
}

// A Flag knows columns by their numbers: see [flags.Flag].
type Flag = flags.Flag[int]

// Flag adds to Flags.
func (d *Diagnostics) Flag(more ...Flag) { d.Flags = append(d.Flags, more...) }

// A ComponentNote is about one component of the model, in its order.
type ComponentNote struct {
	EffectiveRows float64 // released (noisy) count behind the component
	// relative spectral noise of its second moments: sigma sqrt(2d) / EffectiveRows in its own
	// frame
	EffectiveNoise float64
	// Misfit is how far what was released of its rows is from the Gaussian beyond what noise
	// explains, on the same scale: a relative difference of second moments, or a distance in total
	// variation of counts. 0 where nothing is known, or nothing beyond the noise.
	Misfit float64
	// CategoryNoise is the noise sd of each probability of categories; 0 without.
	CategoryNoise float64
	// Missing is the part of the rows that lacks the cell of a column, with its noise sd; nil where
	// that was not measured.
	Missing      map[int]float64
	MissingNoise float64
	Background   bool // describes outliers; leave it out of pictures and cluster labels
	Flags        []Flag
}

// A Unit that released counts say a column is recorded in: Offset and multiples of Unit from it.
type Unit struct {
	Column       int
	Unit, Offset float64
}

// A Direction of the column space with a bound on the spread along it.
type Direction struct {
	// unit vector over all columns: the combination Direction.x of a row x in the columns' own
	// units
	Direction []float64
	StdAtMost float64 // the standard deviation of that combination
}

// An Expectation is what `gauze plan` prints about the error, from public facts.
type Expectation struct {
	// About the number of rows that the method needs (see AboutRows); 0 if it cannot say. For one
	// component: for an error within twice the non-private one. For a mixture: for the goal that
	// the method states, such as that all components are found.
	RowsNeeded float64
	// RelativeError is the expected ratio of the private to the non-private error at this n; 0 if
	// it cannot say.
	RelativeError float64
	Notes         []string
}

// AboutRows rounds a number of rows up to two digits, as all messages state it.
func AboutRows(rows float64) float64 {
	if !(rows > 0) {
		return 0
	}
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(rows))-1))
	return math.Ceil(rows/unit*(1-1e-12)) * unit
}

// A Refusal says on public facts alone that a problem should not be tried: nothing is spent.
type Refusal struct{ Reason, Advice string }

// Error makes a Refusal an error.
func (r *Refusal) Error() string { return fmt.Sprintf("%s (%s)", r.Reason, r.Advice) }
