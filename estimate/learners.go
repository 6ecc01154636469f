package estimate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/learner"
)

// OwnLearner is what LearnerOf says of a learner that is somebody's own.
const OwnLearner = "own"

// OwnType is what Problem.Own says of a learner; "" for none.
func OwnType(own learner.Mixture) string {
	if own == nil {
		return ""
	}
	return fmt.Sprintf("%T", own)
}

// MostTrim bounds Problem.Trim: a learner that leaves out more of a block learns something else
// than what the block holds.
const MostTrim = .2

// A LearnerUser is an Estimator that runs a learner of the asker's choice on blocks of rows. An
// Estimator that is none takes no learner.
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

// ValidateLearner returns nil or all that is wrong with what a problem says of a learner, for the
// method e, each a *privacy.FieldError, joined.
func ValidateLearner(e Estimator, p Problem) error {
	var faults []error
	fault := func(field, wanted string, got any, mend string) {
		faults = append(faults, &privacy.FieldError{Field: field, Wanted: wanted, Got: fmt.Sprint(got), Mend: mend})
	}
	user, runs := e.(LearnerUser)
	const none = "nothing: the method %s runs no learner"
	switch {
	case !runs && p.Own != "":
		fault("own learner", fmt.Sprintf(none, e.Name()), "a "+p.Own, "leave it out, or use the method black-box")
	case !runs && p.Learner != "":
		fault("learner", fmt.Sprintf(none, e.Name()), fmt.Sprintf("%q", p.Learner), "leave it out, or use the method black-box")
	case runs && p.Own != "" && p.Learner != "":
		fault("learner", "a name or a learner of one's own", fmt.Sprintf("both %q and a %s", p.Learner, p.Own), "leave one of the two out")
	case runs && p.Own == "" && p.Learner != "" && !slices.Contains(user.Learners(), p.Learner):
		fault("learner", strings.Join(user.Learners(), ", "), fmt.Sprintf("%q", p.Learner), user.Learners()[0]+" is the default")
	}
	switch name := LearnerOf(e, p); {
	case !(p.Trim >= 0 && p.Trim < MostTrim):
		fault("trim", fmt.Sprintf("a part of the rows of a block, 0 or more and below %g", MostTrim), p.Trim,
			"0.02 leaves out the least likely two of a hundred")
	case p.Trim > 0 && !runs:
		fault("trim", fmt.Sprintf(none, e.Name()), p.Trim, "leave it out, or name a learner")
	case p.Trim > 0 && name == OwnLearner:
		fault("trim", "0 with a learner of one's own", p.Trim, "let that learner leave out what it likes")
	case p.Trim > 0 && faults == nil && !user.Trims(name):
		fault("trim", fmt.Sprintf("0 with the learner %s, which leaves nothing out", name), p.Trim, "leave it out, or use another learner")
	}
	return errors.Join(faults...)
}
