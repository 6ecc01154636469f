package estimatetest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// WritePlan writes the named problem and, if e refuses it, why, as golden files of plans have them;
// otherwise it returns the plan, which is valid. Rows is left out of the problem where it is
// private.
func WritePlan(t *testing.T, w io.Writer, name string, e estimate.Estimator, p estimate.Problem) (plan kernel.Plan, ok bool) {
	t.Helper()
	fmt.Fprintf(w, "# %s: d = %d", name, p.Columns)
	if p.Relation == privacy.AddRemoveOne {
		p.Rows = 0
	} else {
		fmt.Fprintf(w, ", n = %d", p.Rows)
	}
	fmt.Fprintln(w)
	plan, err := e.Plan(p)
	var refused *estimate.Refusal
	switch {
	case errors.As(err, &refused):
		fmt.Fprintf(w, "refused: %v\n\n", refused)
		return plan, false
	case err != nil:
		t.Fatal(err)
	}
	if err := plan.Validate(); err != nil {
		t.Error(err)
	}
	return plan, true
}

// Plan prints a plan as a table: name, query, most, share, source.
func Plan(p kernel.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %-20s %5s  %-9s  %s\n", "step", "query", "most", "share", "source")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%-22s %-20s %5d  <= %5.1f%%  %s\n", s.Name, s.Query, s.Most, 100*s.Share, s.Source)
	}
	return b.String()
}
