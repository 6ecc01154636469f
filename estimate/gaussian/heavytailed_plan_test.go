package gaussian

import (
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
)

// methods are those of this package.
var methods = []estimate.Estimator{NewHeavyTailed()}

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestHeavytailedPlanGolden(t *testing.T) {
	estimatetest.Golden(t, "testdata/heavytailed.txt", estimatetest.PlansOfOne(t, methods...), *update)
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestHeavytailedPlanDoesNotKnowRows(t *testing.T) { estimatetest.PlansDoNotKnowRows(t, methods...) }
