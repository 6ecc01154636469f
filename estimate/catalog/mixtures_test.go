package catalog

import (
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Mixtures are looked up like one distribution, and the rows that are needed are those from which
// on the number of components is right.
func TestMixtures(t *testing.T) {
	var points []ErrorPoint
	for i, n := range []int{1000, 3000, 9000, 27_000} {
		p := ErrorPoint{Kind: Kind{Method: "a", Shape: estimate.Full, Relation: privacy.ReplaceOne, Data: MixtureRows(3, 6)}, Columns: 2, Rows: n, Mu: .2, Runs: 10,
			Released: []int{0, 10, 5, 10}[i]}
		p.Errors = Errors{.3 / float64(i+1), .4 / float64(i+1), .01, .02}
		points = append(points, p)
	}
	other := points[3]
	other.Data = GaussianRows
	far := points[3]
	far.Data = MixtureRows(3, 10)
	table, err := newTable(append(points, other, far))
	if err != nil {
		t.Fatal(err)
	}
	got := table.Mixtures("a", 2, 9000, .2)
	if len(got) != 2 || got[0].Separation != 10 || got[1].Separation != 6 || got[1].Components != 3 {
		t.Fatalf("%+v", got)
	}
	if m := got[1]; !near(m.TotalVariation, .1, 1e-9) || !near(m.High, .4/3, 1e-9) || !near(m.Plain, .01, 1e-9) || !near(m.Right, .5, 1e-9) || m.Note != "" {
		t.Errorf("%+v", m)
	}
	// not the 3000 that were right by luck
	if m := got[1]; !(m.RowsNeeded > 15_000 && m.RowsNeeded <= 27_000) {
		t.Errorf("%v rows are needed", m.RowsNeeded)
	}
	if m := got[0]; m.TotalVariation != 0 || m.Note == "" || m.RowsNeeded < 27_000 || m.RowsNeeded > 30_000 {
		t.Errorf("fewer rows than were measured: %+v", m)
	}
	if got := table.Mixtures("b", 2, 9000, .2); got != nil {
		t.Errorf("another method: %+v", got)
	}
}
