package gaussian

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestNeeds(t *testing.T) {
	for _, n := range needs {
		e := Expect(estimate.Problem{Columns: int(n.d), Rows: int(2 * n.n), Relation: privacy.ReplaceOne, Mu: neededMu})
		if math.Abs(e.RowsNeeded/(planFactor*n.n)-1) > 1e-9 {
			t.Errorf("d=%v: %+v", n.d, e)
		}
	}
	for d, want := range map[int]string{
		1:  "needs about 880 rows at this epsilon",
		5:  "needs about 1400 rows at this epsilon; or fewer columns",
		10: "needs about 2600 rows at this epsilon; or fewer columns, or --covariance diagonal",
		50: "needs about 34000 rows at this epsilon; or fewer columns, or --covariance diagonal",
	} {
		if got := advice(estimate.Problem{Columns: d, Relation: privacy.ReplaceOne, Mu: neededMu}); got != want {
			t.Errorf("advice for %d columns: %q, want %q", d, got, want)
		}
	}
}
