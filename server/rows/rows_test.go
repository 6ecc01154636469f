package rows

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// A table whose public number of rows has changed is not fitted until it is accepted, with groups
// as without: one behind a connection has no fingerprint that would tell. A private number decides
// nothing.
func TestOtherRows(t *testing.T) {
	folder := t.TempDir()
	text := "x,g\n"
	for i := range 400 {
		text += fmt.Sprintf("%d,%c\n", i%17, "ab"[i%2])
	}
	if err := os.Mkdir(filepath.Join(folder, "kim"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "kim", "t.csv"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	places, err := NewPlaces([]string{folder}, nil, filepath.Join(t.TempDir(), "db"), "")
	if err != nil {
		t.Fatal(err)
	}
	same := func(parts ...string) string { return strings.Join(parts, ",") }
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, by := range [][]string{{source.NoGroups}, {"g"}} {
			schema := source.Named([]string{"x"})
			schema.By = []source.Grouping{{Name: "g", Categories: []string{"a", "b"}}}
			d := store.Dataset{Name: "t", Owner: "kim", Input: "t.csv", Schema: *schema, Relation: relation.String(), Capacity: 1000}
			looked, err := places.Inspect(t.Context(), same, &d, relation)
			if err != nil {
				t.Fatal(err)
			}
			for _, more := range []int{0, 1} {
				d.Fingerprint, d.Rows = looked.Fingerprint, looked.Rows+more
				a := ask.Ask{Dataset: "t", Epsilon: 1, Delta: 1e-6, By: by}
				_, cost, err := a.Plan(&d)
				if err != nil {
					t.Fatal(err)
				}
				kept, err := json.Marshal(ask.Kept{Ask: a, Cost: cost})
				if err != nil {
					t.Fatal(err)
				}
				out := places.Fit(t.Context(), same, d, kept, time.Now())
				if refused := out.State == store.Failed; refused != (more > 0 && relation == privacy.ReplaceOne) {
					t.Errorf("%v by %s, %d rows more: %s %s", relation, by, more, out.State, out.Fault)
				}
			}
		}
	}
}
