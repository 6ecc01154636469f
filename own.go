package gauze

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/release"
)

// ownMethod begins the names of estimators that are not part of Gauze.
const ownMethod = "own:"

// isOwn reports whether method is the name of such an estimator.
func isOwn(method string) bool { return strings.HasPrefix(method, ownMethod) }

var ownName = regexp.MustCompile(`^` + ownMethod + `[a-z0-9][a-z0-9:-]{0,39}$`)

// checkOwn adds what is wrong with a request for an estimator of the caller's own.
func (r Request) checkOwn(faults *estimate.Faults) {
	name := r.Estimator.Name()
	faults.If(!ownName.MatchString(name), "estimator", "a Name of "+ownMethod+" and 1 to 40 small letters, digits, colons or hyphens", fmt.Sprintf("%q", name),
		"certificates say by it that the method is not part of Gauze")
	faults.If(r.Method != "", "method", "none beside Estimator", r.Method, "leave Method empty")
	faults.If(r.Printed || r.Tournament || r.Learner != "" || r.Own != nil || r.Trim != 0, "estimator", "no Printed, Learner, Own or Trim beside it", "one of them",
		"an estimator of your own takes its constants, and what it runs, when you make it")
}

// VerifyOwn does what [Verify] does, for readers who have the estimator that made the release and
// that is not part of Gauze: its plan is made again as that of any method.
func VerifyOwn(r *release.Release, e estimate.Estimator) Verdict { return verify(r, e) }
