package tylerpress

import (
	"flag"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// methods are those of this package.
var methods = []estimate.Estimator{NewElliptical()}

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestPlanGolden(t *testing.T) {
	estimatetest.Golden(t, "testdata/plans.txt", estimatetest.PlansOfOne(t, methods...), *update)
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) { estimatetest.PlansDoNotKnowRows(t, methods...) }
