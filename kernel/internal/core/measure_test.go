package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestPanicsAreConstant: what code that has seen rows says when it gives up reaches nobody; what
// was charged stays spent.
func TestPanicsAreConstant(t *testing.T) {
	h := NewTestHook()
	h.Record = func(_ string, _ any, _ float64, _ []float64, exact []int64) { panic(fmt.Sprint("a row: ", exact)) }
	b := NewBuilder(1)
	b.Append([]float64{1})
	s, err := Open(context.Background(), Hooked(b.Protect(privacy.ReplaceOne), h), Plan{Method: "m", Steps: []Step{{Name: "count", Query: "count", Share: 1, Most: 9}}},
		Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.SubBudget().Sum("count", query.Count{}, .1); !errors.Is(err, errInternal) || strings.Contains(err.Error(), "row:") {
			t.Errorf("got %v", err)
		}
	}
	if s.Loss().Mu < .14 {
		t.Errorf("%v was spent", s.Loss().Mu)
	}
}
