// Package literal lists the methods that run what a paper prints, to compare with and to read
// beside it: one package per source below this one, with files named after its algorithms. What
// people use is in estimate, which knows nothing of this list; the front door joins the two.
//
// It also has the papers' lower bounds, with constants: errors that no private method can beat,
// whatever it is. Plans show them beside what methods reach.
//
// Source: [KMS22]; [CWZ21]; [AMN24].
package literal

import (
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/aal21"
	"github.com/gauze-dp/gauze/literal/amn24"
	"github.com/gauze-dp/gauze/literal/bdku20"
	"github.com/gauze-dp/gauze/literal/km21"
	"github.com/gauze-dp/gauze/literal/kmssu22"
	"github.com/gauze-dp/gauze/literal/kssu19"
	"github.com/gauze-dp/gauze/literal/kv18"
	"github.com/gauze-dp/gauze/literal/ppe"
)

// Learners returns the learners of mixtures that are a paper's, for black boxes to run.
func Learners() []learners.Learner { return ppe.Learners() }

// One returns the methods that fit one component, in the order in which help shows them.
func One() []estimate.Estimator {
	return []estimate.Estimator{
		bdku20.New(bdku20.Practical()),
		kv18.New(kv18.Practical()),
		km21.New(km21.Practical()),
		kmssu22.New(kmssu22.Practical()),
	}
}

// Mixtures returns the methods for more components, in that order.
func Mixtures() []estimate.Estimator {
	return []estimate.Estimator{
		kssu19.NewPaper(kssu19.Practical()),
		kssu19.NewWarmUp(kssu19.Practical()),
		kssu19.NewSampleAggregate(kssu19.Practical()),
		aal21.NewUnivariate(aal21.Practical()),
		aal21.New(aal21.Practical()),
		aal21.NewGeneral(aal21.Practical()),
		amn24.NewUnivariate(amn24.Practical()),
		amn24.NewGeneral(amn24.Practical()),
		ppe.New(ppe.Practical()),
		ppe.NewLine(ppe.Practical()), // of one component, beside the reduction that it shows
	}
}

// fitsPure reports whether a method can do without a delta.
func fitsPure(e estimate.Estimator) bool {
	m, ok := e.(estimate.PureFitter)
	return ok && m.FitsPure()
}

// Pure returns the method that was asked for by name where delta is 0, and why it is that one: one
// of those of papers that have a pure form, and no other has.
//
// Failures: that of asking, err; a *privacy.FieldError for any other method, "auto" among them,
// with the names of those that can.
func Pure(e estimate.Estimator, why string, err error) (estimate.Estimator, string, error) {
	if err != nil || fitsPure(e) {
		return e, why, err
	}
	var names []string
	for _, m := range slices.Concat(One(), Mixtures()) {
		if fitsPure(m) {
			names = append(names, m.Name())
		}
	}
	return nil, "", &privacy.FieldError{Field: "delta", Wanted: "a number above 0, which every method needs but those that are pure: " + strings.Join(names, ", "),
		Got: "0", Fix: "give one far below one over the number of rows, for instance 1e-6, or name such a method"}
}
