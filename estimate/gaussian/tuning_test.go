package gaussian

import (
	"math"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The estimator runs on the usual constants, and on others if it is made with them.
func TestTuning(t *testing.T) {
	p := estimate.Problem{Columns: 3, Rows: 20_000, Relation: privacy.ReplaceOne, Mu: .5, Components: 1}
	usual, err := New().Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	same, err := With(Usual()).Plan(p)
	if err != nil || !reflect.DeepEqual(usual, same) {
		t.Errorf("%v: with the usual constants the plan is\n%v\nwant\n%v", err, same, usual)
	}
	other := Usual()
	other.ShapePart *= 2
	plan, err := With(other).Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range plan.Steps {
		want := usual.Steps[i].Share
		if s.Name == "tail" {
			want += Usual().ShapePart
		}
		if math.Abs(s.Share-want) > 1e-12 {
			t.Errorf("step %s has a share of %g, want %g", s.Name, s.Share, want)
		}
	}
}
