package estimate

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

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
	// says nothing.
	Moments int
}

// KnowsEigenvalues reports that bounds on the eigenvalues are known.
func (f Facts) KnowsEigenvalues() bool { return f.Eigenvalues != [2]float64{} }

// Validate returns nil or all faults at once, each a *privacy.FieldError, joined.
func (f Facts) Validate() error {
	var faults []error
	fault := func(field, wanted string, got any, mend string) {
		faults = append(faults, &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprint(got), Mend: mend})
	}
	if r := f.MeanWithin; !(r >= 0) || math.IsInf(r, 1) || r != 0 && !f.KnowsMean {
		fault("mean within", "the radius of a ball about the origin, 0 or more", r,
			"0 says that the mean is the origin; leave it out if nothing is known")
	}
	if low, high := f.Eigenvalues[0], f.Eigenvalues[1]; f.KnowsEigenvalues() && !(0 < low && low <= high && high < math.Inf(1)) {
		fault("eigenvalues within", "two positive numbers, the lesser first", fmt.Sprintf("%v,%v", low, high),
			"they bound the covariance's eigenvalues, squares of standard deviations; leave them out if nothing is known")
	}
	if k := f.Moments; k != 0 && (k < 4 || k%2 != 0) {
		fault("moments", "an even order of at least 4", k, "a distribution whose fourth moments are bounded as a Gaussian's are has moments 4")
	}
	return errors.Join(faults...)
}

// Uses says of which facts a method makes use.
type Uses struct{ Mean, Eigenvalues, Moments, Covariance bool }

// A FactUser is an Estimator that makes use of facts. An Estimator that is none fits without any.
type FactUser interface {
	Estimator
	// Uses says which of the facts can change the plan or the fit of the problem.
	Uses(Problem) Uses
}

// Unused lists in words the facts of a problem that a method makes no use of: it is as good, or as
// bad, without them.
func Unused(e Estimator, p Problem) (words []string) {
	var uses Uses
	if user, ok := e.(FactUser); ok {
		uses = user.Uses(p)
	}
	if uses.Mean {
		p.Facts.KnowsMean, p.Facts.MeanWithin = false, 0
	}
	if uses.Eigenvalues {
		p.Facts.Eigenvalues = [2]float64{}
	}
	if uses.Moments {
		p.Facts.Moments = 0
	}
	if uses.Covariance {
		p.KnownCovariance = nil
	}
	return p.Known()
}

// Known says one by one what is publicly known of the distribution: the facts, and the covariance.
func (p Problem) Known() []string {
	words := p.Facts.Words()
	if p.KnownCovariance != nil {
		words = append(words, "covariance of every component")
	}
	return words
}

// Words says the facts one by one.
func (f Facts) Words() (words []string) {
	if f.KnowsMean {
		words = append(words, fmt.Sprintf("mean within %g of the origin", f.MeanWithin))
	}
	if f.KnowsEigenvalues() {
		words = append(words, fmt.Sprintf("eigenvalues of the covariance within %g and %g", f.Eigenvalues[0], f.Eigenvalues[1]))
	}
	if f.Moments != 0 {
		words = append(words, fmt.Sprintf("moments bounded up to order %d", f.Moments))
	}
	return words
}

// String joins Words; it is "nothing" where nothing is known.
func (f Facts) String() string {
	if f == (Facts{}) {
		return "nothing"
	}
	return strings.Join(f.Words(), "; ")
}
