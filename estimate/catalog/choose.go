package catalog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The methods that auto chooses from.
const (
	forOne   = "gaussian"
	forMany  = "general"
	forTails = "heavy-tailed" // where it is named
	// .. in one column. Methods made for other cases, as for diagonal covariances, take a place
	// here when measured runs say so.
	inOneColumn = "univariate"
	// forLearners is taken where a learner is named, and never otherwise.
	forLearners = "black-box"
)

// The differences that are clear enough for auto to act on: guesses.
const (
	// clearly is the part of the error of forOne that another method's must be below.
	clearly = .9
	// hopeless is the share of runs with a release below which no method is tried, and likely the
	// one below which auto tries none, and from which on one is offered.
	hopeless, likely = .05, .5
	// sure is the share from which on a joint model is tried beside categories, where each column
	// by itself would always be had. Of .5 and .9, by the columns of two public tables of 800 and
	// 1,000 rows, 2026-11-30.
	sure = .9
)

// Choose returns the method of that name and, for "auto" (or an empty name), why it was chosen. It
// looks at public facts only.
//
// Where a learner is named it is forLearners. For one component it is forOne, which needs no fact
// and makes its own choices from released values; or, where p has facts that another method makes
// use of and its expected error is smaller by more than 10 %, that one. For more components it is
// forMixture's choice. A known covariance decides before the number of components: there is one
// method that makes use of it, for any number of components.
//
// Failures: an *[UnknownError]; for one component, a *estimate.Refusal where n is public and hardly
// any run with so few rows ends in a release, or for auto fewer than half.
func (l List) Choose(name string, p estimate.Problem) (e estimate.Estimator, why string, err error) {
	if e, why, err = l.Requested(name, p); e != nil || err != nil {
		if err == nil && !p.Printed && !p.Tournament {
			err = tooFew(e.Name(), e, p, hopeless)
		}
		return e, why, err
	}
	if e := told(l.Mixtures, p); e != nil {
		return e, "auto: the covariance is known, and " + e.Name() + " makes use of it", nil
	}
	if !one(p) {
		name, why = forMixture(p), "more than one component is allowed"
		if e, err = l.byName(name); err != nil {
			return nil, "", err
		}
		if lone, ok := e.(interface{ One(estimate.Problem) bool }); ok && lone.One(p) {
			err = tooFew(forOne, e, p, likely)
		}
		return e, "auto: " + why, err
	}
	best, others := pick(l.Candidates(p, p.Rows))
	if e, err = l.byName(best.Method); err != nil {
		return nil, "", err
	}
	why = "auto: one component"
	if best.CovarianceError > 0 && others != "" {
		why += fmt.Sprintf("; expected error %.2g against %s", best.CovarianceError, others)
	}
	if best.Method == forOne {
		err = tooFew(forOne, e, p, likely)
	}
	return e, why, err
}

// Unsure reports whether public facts say that a tenth or more of the fits of the problem by a
// method of one Gaussian, or of what becomes one, end without a release.
func Unsure(e estimate.Estimator, p estimate.Problem) bool {
	lone, ok := e.(interface{ One(estimate.Problem) bool })
	if (e.Name() == forOne || ok && lone.One(p)) && tooFew(forOne, e, p, sure) != nil {
		return true
	}
	var refusal *estimate.Refusal
	_, err := e.Plan(p)
	return errors.As(err, &refusal)
}

// Requested returns the method that its name or that of a learner asks for; nil where the choice is
// left to [List.Choose].
//
// Failures: an *[UnknownError]; a *privacy.FieldError where the constants of a source are asked of
// a method that has none.
func (l List) Requested(name string, p estimate.Problem) (e estimate.Estimator, why string, err error) {
	if e, why, err = l.named(name, p); err != nil || !p.Printed && !p.Tournament {
		return e, why, err
	}
	if p.Tournament {
		if contesting, ok := e.(estimate.Contesting); ok {
			return contesting.Tournament(), why + ", with a choice by a tournament", nil
		}
		return nil, "", &privacy.FieldError{Field: "constants", Wanted: "tournament for a method that chooses among listed mixtures", Got: "another method",
			Fix: "name univariate:aal21, axis-aligned:aal21 or general:aal21, or leave it out"}
	}
	if published, ok := e.(estimate.Published); ok {
		return published.Printed(), why + ", with the constants that its source prints", nil
	}
	return nil, "", &privacy.FieldError{Field: "constants", Wanted: "practical, for a method that is no paper's", Got: "printed",
		Fix: "name a method that runs what a paper prints: gauze papers lists them"}
}

// named returns Requested where the constants are those that work.
func (l List) named(name string, p estimate.Problem) (e estimate.Estimator, why string, err error) {
	switch {
	case name != Auto && name != "":
		e, err = l.byName(name)
		return e, "as asked", err
	case p.Learner != "" || p.Own != "":
		e, err = l.byName(forLearners)
		return e, "auto: a learner is named, and " + forLearners + " runs it", err
	}
	return nil, "", nil
}

// one reports a problem in which a model of more than one component is not allowed.
func one(p estimate.Problem) bool {
	return p.Components == 1 || p.Components == 0 && p.MaxComponents == 1
}

// told returns the first of the methods that uses a known covariance, if there is one and a delta
// to pay for its thresholds; else nil.
func told(methods []estimate.Estimator, p estimate.Problem) estimate.Estimator {
	for _, e := range methods {
		if user, ok := e.(estimate.FactUser); ok && p.KnownCovariance != nil && !p.NoDelta && user.Uses(p).Covariance {
			return e
		}
	}
	return nil
}

// forMixture names the method for more than one component: by a rule of public facts alone, the
// number of columns.
func forMixture(p estimate.Problem) string {
	if p.Columns == 1 {
		return inOneColumn
	}
	return forMany
}

// pick chooses among candidates and returns the expected errors of the others that it compared.
// Only a method that uses stated facts, and needs none that is not stated, competes with forOne:
// the others would assume a fact that was not stated.
func pick(candidates []Candidate) (best Candidate, others string) {
	standard := Candidate{Method: forOne}
	var rivals []Candidate
	for _, c := range candidates {
		switch {
		case c.Method == forOne:
			standard = c
		case c.Refused == "" && len(c.Uses) > 0 && c.CovarianceError > 0:
			rivals = append(rivals, c)
		}
	}
	best = standard
	for _, c := range rivals {
		if c.CovarianceError < clearly*standard.CovarianceError && c.CovarianceError < best.CovarianceError && c.Released >= standard.Released {
			best = c
		}
	}
	for _, c := range append([]Candidate{standard}, rivals...) {
		if c.Method != best.Method && c.CovarianceError > 0 {
			others += fmt.Sprintf(", %.2g of %s", c.CovarianceError, c.Method)
		}
	}
	return best, strings.TrimPrefix(others, ", ")
}

// tooFew refuses for e a public number of rows with which less than that share of the runs of a
// method ends in a release, and offers what fewer rows pay for. The shares were measured by way of
// a full covariance: where columns are fitted by themselves, they say nothing.
func tooFew(method string, e estimate.Estimator, p estimate.Problem, least float64) error {
	if share, known := released(method, p, p.Covariance, float64(p.Rows)); !known || share >= least || p.Components > 1 || alone(method, p) {
		return nil
	}
	var or []string
	needs := e.Expect(p).RowsNeeded
	if p.Columns > 1 { // one spread for all columns is no offer: it is wrong where their units differ
		if from := likelyFrom(method, e, p, needs); p.Covariance == estimate.Full && from <= float64(p.Rows) {
			or = append(or, "--covariance diagonal, which gives mean and standard deviation of each column")
		} else if p.Covariance == estimate.Full && from < muchLess*needs {
			or = append(or, fmt.Sprintf("--covariance diagonal, which gives mean and standard deviation of each column from about %.0f rows on", estimate.AboutRows(from)))
		}
		if or == nil && profile.New().Expect(p).RowsNeeded <= float64(p.Rows) {
			or = append(or, "gauze describe, which gives mean and standard deviation of each column by itself")
		}
	}
	return program.Refusal(program.Needs(p, needs, "", or...),
		"%d rows are too few: most fits of one distribution in %d columns would end without a release", p.Rows, p.Columns)
}

// alone reports that a method fits the columns by themselves, for want of rows, and has enough for
// that.
func alone(method string, p estimate.Problem) bool {
	return (method == forOne || method == forTails) && gaussian.ByColumns(p)
}

// released returns the share of the runs of a method that ended in a release, as far as it is
// known.
func released(method string, p estimate.Problem, shape estimate.CovarianceType, rows float64) (share float64, known bool) {
	kind := Kind{Method: method, Shape: shape, Relation: p.Relation, Data: GaussianRows}
	got, err := MeasuredErrors().At(kind, p.Columns, rows, p.Mu)
	var missing *Missing
	return got.Released, err == nil || errors.As(err, &missing) && missing.TooFew
}

// A number of rows below muchLess of another is worth naming, and numbers are tried in steps of
// aStep. Guesses.
const muchLess, aStep = .8, 1.05

// likelyFrom returns the least number of rows, from those of the problem up to most, with which e
// fits means and standard deviations alone and is likely to end in a release.
func likelyFrom(method string, e estimate.Estimator, p estimate.Problem, most float64) float64 {
	p.Covariance = estimate.Diagonal
	rows := float64(p.Rows)
	for ; rows < most; rows *= aStep {
		p.Rows = int(estimate.AboutRows(rows))
		if share, _ := released(method, p, p.Covariance, rows); share < likely && !alone(method, p) {
			continue
		}
		if _, err := e.Plan(p); err == nil {
			break
		}
	}
	return rows
}
