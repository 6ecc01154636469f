package estimate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
)

// CovarianceType chooses the shape of the covariances that are fitted.
type CovarianceType int

// The shapes. The zero value is Full, the default of the command line.
const (
	Full CovarianceType = iota
	Diagonal
	Spherical
)

// String returns the shape's name on the command line and in releases.
func (c CovarianceType) String() string { return [...]string{"full", "diagonal", "spherical"}[c] }

// ShapeOf returns the shape of that name, if there is one.
func ShapeOf(name string) (shape CovarianceType, known bool) {
	for _, c := range []CovarianceType{Full, Diagonal, Spherical} {
		if c.String() == name {
			return c, true
		}
	}
	return Full, false
}

// A Problem is what an estimator is asked: public facts, and what a fit has released before.
type Problem struct {
	Columns  int // d
	Rows     int // n under replace-one; 0 where n is private
	Relation privacy.Relation
	// Mu is the total mu that the budget buys for a plan without thresholds; 0 if it is pure.
	Mu float64
	// NoDelta: the budget has no delta to pay for thresholds with, being zCDP or pure.
	NoDelta bool
	// Components is the number of components; 0 lets the estimator choose, up to MaxComponents, or
	// beyond where many rows would carry more and MoreComponents lets it.
	Components, MaxComponents int
	MoreComponents            bool
	Covariance                CovarianceType
	// Categories is the number of values of each column of categories, which come in addition to
	// the d columns of numbers; missing counts as a value, and 0 says that values are to be found.
	// Nil if there are none. Methods need not know of them: see package categories.
	Categories []int
	// RoundedTo is the public unit each column is recorded in; 0 where none is declared. Nil means
	// none anywhere.
	RoundedTo []float64
	// Limits are the least and the largest value that each column is declared to have; infinite, or
	// the largest finite numbers, where none is. Nil means none anywhere.
	Limits [][2]float64
	Facts  Facts
	// Printed asks a [Published] method for the constants that its source prints, and Tournament a
	// [Contesting] one to choose by contests. At most one of them.
	Printed, Tournament bool
	// KnownCovariance is the covariance that all components are publicly known to have, in the
	// columns' own units, d x d; nil where none is.
	KnownCovariance [][]float64
	// Budget is the whole, for plans with a loss that mu cannot count.
	Budget privacy.Budget
	// Learner names what a black box runs on blocks of rows; "" is its default. Own, in its place,
	// says that the session's terms hold the custodian's own learner: its Go type, "" for none.
	Learner string
	Own     string
	// Trim is the part of a block's rows, the least likely, that learners who can leave out.
	// Default 0.
	Trim float64
	// Profiled: public facts say that a profile of all columns is measured before the fit, so that
	// its plan has no other search for units.
	Profiled bool
	// Profile is what was released of all columns before the fit; nil for nothing.
	Profile *Profile
	// HeldOut is the number of columns that this profile holds out of the fit, beside Columns.
	HeldOut int
}

// Planned returns the problem of which the plan was made: what decides which steps a plan has must
// not change with the columns that a profile holds out.
func (p Problem) Planned() Problem {
	p.Columns, p.HeldOut = p.Columns+p.HeldOut, 0
	return p
}

// Facts are what is publicly known of the distribution, in the columns' own units, because somebody
// said so without looking at a row. The zero value is nothing. A wrong fact spoils the estimate and
// never the guarantee.
type Facts struct {
	// KnowsMean: the mean lies in the ball of radius MeanWithin about the origin; radius 0 says
	// that it is the origin.
	KnowsMean  bool
	MeanWithin float64
	// Eigenvalues of the covariance lie in [low, high], 0 < low <= high; {0, 0} says nothing.
	Eigenvalues [2]float64
	// Moments is the even order, at least 4, of the moments that are bounded as a Gaussian's are; 0
	// says nothing. MomentBound, 1 or more, bounds each of that order: E <x - mean, u>^Moments over
	// (E <x - mean, u>^2)^(Moments/2), in every direction u; 0: that of a Gaussian.
	Moments     int
	MomentBound float64
	// LeastWeight bounds the components' weights from below; 0 says nothing.
	LeastWeight float64
}

// KnowsEigenvalues reports that bounds on the eigenvalues are known.
func (f Facts) KnowsEigenvalues() bool { return f.Eigenvalues != [2]float64{} }

// Validate returns nil or all faults at once, each a *privacy.FieldError, joined.
func (f Facts) Validate() error {
	var faults Faults
	r, low, high, k, c, w := f.MeanWithin, f.Eigenvalues[0], f.Eigenvalues[1], f.Moments, f.MomentBound, f.LeastWeight
	faults.If(!(r >= 0) || math.IsInf(r, 1) || r != 0 && !f.KnowsMean, "mean_within", "the radius of a ball about the origin, 0 or more", r,
		"0 says that the mean is the origin; leave it out if nothing is known")
	faults.If(f.KnowsEigenvalues() && !(0 < low && low <= high && high < math.Inf(1)), "eigenvalues_within", "two positive numbers, the lesser first",
		fmt.Sprintf("%v,%v", low, high), "they bound the covariance's eigenvalues, squares of standard deviations; leave them out if nothing is known")
	faults.If(k != 0 && (k < 4 || k%2 != 0), "moments", "an even order of at least 4", k,
		"a distribution whose fourth moments are bounded as a Gaussian's are has moments 4")
	faults.If(c != 0 && (f.Moments == 0 || !(c >= 1 && c < math.Inf(1))), "moment_bound", "a number of at least 1, beside an order of moments", c,
		"a Gaussian's fourth moments are 3 times the squared variance")
	faults.If(!(w >= 0 && w <= 1), "least_weight", "a part of the rows, above 0 and at most 1", w, "leave it out if nothing is known")
	return errors.Join(faults...)
}

// Faults are what is wrong with a request, in the order in which it was seen.
type Faults []error

// If adds a fault of a field where it is bad.
func (f *Faults) If(bad bool, field, wanted string, got any, fix string) {
	if bad {
		*f = append(*f, &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprint(got), Fix: fix})
	}
}

// Uses says which facts a method uses.
type Uses struct{ Mean, Eigenvalues, Moments, Covariance, LeastWeight bool }

// A FactUser is an Estimator that uses facts. Any other Estimator fits without facts.
type FactUser interface {
	Estimator
	// Uses says which of the facts can change the plan or the fit of the problem.
	Uses(Problem) Uses
}

// Unused lists in words the facts of a problem that a method makes no use of: it is as good, or as
// bad, without them.
func Unused(e Estimator, p Problem) []string {
	if user, ok := e.(FactUser); ok {
		return p.knownBut(user.Uses(p))
	}
	return p.Known()
}

// Known says one by one what is publicly known of the distribution: the facts, and the covariance.
func (p Problem) Known() []string { return p.knownBut(Uses{}) }

// Words says the facts one by one.
func (f Facts) Words() []string { return Problem{Facts: f}.Known() }

// knownBut returns Known without what is used.
func (p Problem) knownBut(used Uses) (words []string) {
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	f, bound := p.Facts, ""
	if f.MomentBound != 0 {
		bound = fmt.Sprintf(", there by %g", f.MomentBound)
	}
	say(f.KnowsMean && !used.Mean, "mean within %g of the origin", f.MeanWithin)
	say(f.KnowsEigenvalues() && !used.Eigenvalues, "eigenvalues of the covariance within %g and %g", f.Eigenvalues[0], f.Eigenvalues[1])
	say(f.Moments != 0 && !used.Moments, "moments bounded up to order %d%s", f.Moments, bound)
	say(f.LeastWeight != 0 && !used.LeastWeight, "every component with at least %g of the rows", f.LeastWeight)
	say(p.KnownCovariance != nil && !used.Covariance, "covariance of every component")
	return words
}

// String joins Words; it is "nothing" where nothing is known.
func (f Facts) String() string {
	if f == (Facts{}) {
		return "nothing"
	}
	return strings.Join(f.Words(), "; ")
}

// OwnLearner is LearnerOf's name of a user's own learner.
const OwnLearner = "own"

// OwnType returns the value of Problem.Own for a learner; "" for none.
func OwnType(own learner.Mixture) string {
	if own == nil {
		return ""
	}
	return fmt.Sprintf("%T", own)
}

// MostTrim bounds Problem.Trim: a learner that leaves out more of a block learns something else
// than what the block holds.
const MostTrim = .2

// A PureFitter is an Estimator that can do with steps whose losses are pure alone, and so with a
// delta of 0. All others need more.
type PureFitter interface{ FitsPure() bool }

// A Capped is an Estimator that has no use for a larger epsilon than that at a delta: it is run
// with that one then.
type Capped interface{ MostEpsilon(delta float64) float64 }

// A Published method runs what a source prints, on constants that work at sizes that there are.
type Published interface {
	Estimator
	// Printed is the same method on the constants that the source prints.
	Printed() Estimator
}

// A Contesting method chooses among listed mixtures, and can do so by a tournament of all pairs.
type Contesting interface {
	Estimator
	// Tournament is the same method with that choice.
	Tournament() Estimator
}

// A LearnerUser is an Estimator that runs a learner of the user's choice on blocks of rows. Any
// other Estimator takes no learner.
type LearnerUser interface {
	Estimator
	// Learners are the names that Problem.Learner may have, the default first.
	Learners() []string
	// Trims reports that the learner of that name makes use of Problem.Trim.
	Trims(learner string) bool
}

// LearnerOf names the learner that a method runs on a problem, OwnLearner for somebody's own; "" if
// it runs none.
func LearnerOf(e Estimator, p Problem) string {
	user, ok := e.(LearnerUser)
	switch {
	case !ok:
		return ""
	case p.Own != "":
		return OwnLearner
	case p.Learner == "":
		return user.Learners()[0]
	}
	return p.Learner
}

// ValidateLearner returns nil or all that is wrong with a problem's learner, for the method e, each
// a *privacy.FieldError, joined. A nil e means that the method is yet to be chosen, because no
// learner is named.
func ValidateLearner(e Estimator, p Problem) error {
	var faults Faults
	user, runs := e.(LearnerUser)
	none := "nothing: no learner is named"
	if e != nil {
		none = fmt.Sprintf("nothing: the method %s runs no learner", e.Name())
	}
	switch {
	case !runs && p.Own != "":
		faults.If(true, "own learner", none, "a "+p.Own, "leave it out, or use the method black-box")
	case !runs && p.Learner != "":
		faults.If(true, "learner", none, fmt.Sprintf("%q", p.Learner), "leave it out, or use the method black-box")
	case runs && p.Own != "" && p.Learner != "":
		faults.If(true, "learner", "a name or a learner of one's own", fmt.Sprintf("both %q and a %s", p.Learner, p.Own), "leave one of the two out")
	case runs && p.Own == "" && p.Learner != "" && !slices.Contains(user.Learners(), p.Learner):
		faults.If(true, "learner", strings.Join(user.Learners(), ", "), fmt.Sprintf("%q", p.Learner), user.Learners()[0]+" is the default")
	}
	switch name := LearnerOf(e, p); {
	case !(p.Trim >= 0 && p.Trim < MostTrim):
		faults.If(true, "trim", fmt.Sprintf("a part of the rows of a block, 0 or more and below %g", MostTrim), p.Trim,
			"0.02 leaves out the least likely two of a hundred")
	case p.Trim > 0 && !runs:
		faults.If(true, "trim", none, p.Trim, "leave it out, or name a learner")
	case p.Trim > 0 && name == OwnLearner:
		faults.If(true, "trim", "0 with a learner of one's own", p.Trim, "let that learner leave out what it likes")
	case p.Trim > 0 && faults == nil && !user.Trims(name):
		faults.If(true, "trim", fmt.Sprintf("0 with the learner %s, which leaves nothing out", name), p.Trim, "leave it out, or use another learner")
	}
	return errors.Join(faults...)
}

// Limits of a known covariance.
const (
	// leastEigenvalue of its correlation matrix: below it the whitened rows of float64 are noise.
	leastEigenvalue = 1e-12
	// asymmetry that the rounding of a file may leave, relative to the standard deviations.
	asymmetry = 1e-9
)

// ValidateCovariance returns nil if known is nil or the covariance matrix of d columns in the given
// shape: d x d, finite, symmetric, positive definite. Otherwise all faults at once, each a
// *privacy.FieldError, joined.
func ValidateCovariance(known [][]float64, d int, shape CovarianceType) error {
	if known == nil {
		return nil
	}
	fault := func(wanted, got, fix string) error {
		return &privacy.FieldError{Field: "known_covariance", Wanted: wanted, Got: got, Fix: fix}
	}
	const rowPerColumn = "give one row and one number in it for each column that is fitted, in their order"
	if len(known) != d {
		return fault(fmt.Sprintf("%d x %d numbers", d, d), fmt.Sprintf("%d rows", len(known)), rowPerColumn)
	}
	for i, row := range known {
		if len(row) != d {
			return fault(fmt.Sprintf("%d x %d numbers", d, d), fmt.Sprintf("%d in row %d", len(row), i+1), rowPerColumn)
		}
	}
	var faults []error
	for i, row := range known {
		if v := row[i]; !(v > 0 && v <= math.MaxFloat64) {
			faults = append(faults, fault("positive variances on the diagonal", fmt.Sprintf("%v for column %d", v, i+1),
				"a column that does not vary within a component cannot be fitted: leave it out"))
		}
	}
	if faults == nil {
		faults = pairFaults(known, shape, fault)
	}
	if faults == nil {
		if least := leastCorrelation(known); !(least > leastEigenvalue) {
			faults = append(faults, fault("a positive definite matrix", fmt.Sprintf("a correlation matrix with the eigenvalue %.3g", least),
				"a combination of the columns that does not vary cannot be fitted: leave a column out, or fix the matrix"))
		}
	}
	return errors.Join(faults...)
}

// pairFaults returns the faults off the diagonal of a matrix whose diagonal is valid: one of each
// kind.
func pairFaults(known [][]float64, shape CovarianceType, fault func(wanted, got, fix string) error) (faults []error) {
	found := map[string]bool{}
	add := func(wanted, got, fix string) {
		if !found[wanted] {
			found[wanted] = true
			faults = append(faults, fault(wanted, got, fix))
		}
	}
	for i := range known {
		for j := range i {
			a, b := known[i][j], known[j][i]
			scale := math.Sqrt(known[i][i]) * math.Sqrt(known[j][j])
			switch {
			case math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0):
				add("finite numbers", fmt.Sprintf("%v and %v for columns %d and %d", a, b, i+1, j+1), "0 says that two columns are not correlated")
			case math.Abs(a-b) > asymmetry*scale:
				add("a symmetric matrix", fmt.Sprintf("%v and %v for columns %d and %d", a, b, i+1, j+1), "write all digits of both")
			case shape != Full && (a != 0 || b != 0):
				add("a diagonal matrix, as --covariance "+shape.String()+" says", fmt.Sprintf("%v for columns %d and %d", a, i+1, j+1),
					"leave --covariance out")
			}
		}
		if shape == Spherical && math.Abs(known[i][i]-known[0][0]) > asymmetry*known[0][0] {
			add("equal variances, as --covariance spherical says", fmt.Sprintf("%v and %v", known[0][0], known[i][i]), "leave --covariance out")
		}
	}
	return faults
}

// leastCorrelation returns the smallest eigenvalue of the correlation matrix.
func leastCorrelation(known [][]float64) float64 {
	values, ok := symmetric.Eigenvalues(symmetric.Of(len(known), func(i, j int) float64 {
		return known[i][j] / math.Sqrt(known[i][i]) / math.Sqrt(known[j][j])
	}))
	if !ok {
		return math.NaN()
	}
	return values[0]
}
