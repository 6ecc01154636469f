package gauze

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// From a file to a release, at a budget so large that the noise cannot hide a mean.
func TestFileToRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, path, 4000)
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		result := fitFile(t, path, relation)
		if result.Release == nil {
			t.Fatalf("%v: %+v", relation, result.NoRelease)
		}
		if faults := release.Verify(result.Release); faults != nil {
			t.Errorf("%v: %v", relation, faults)
		}
		// The mean of 4000 rows has an sd of 10/63 = 0.16: 1.5 is beyond nine of them.
		if mean := result.Release.Model.Components[0].Mean[0]; mean < 38.5 || mean > 41.5 {
			t.Errorf("%v: mean age = %v, want 40", relation, mean)
		}
		if spent := result.Spent; spent.Epsilon > 100 || spent.Epsilon < 90 {
			t.Errorf("%v: spent %+v", relation, spent)
		}
	}
}

func writeTable(t *testing.T, path string, rows int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("name,age,bmi\n")
	for i := range rows {
		fmt.Fprintf(&b, "p%d,%g,%g\n", i, 40+10*rng.NormFloat64(), 25+4*rng.NormFloat64())
	}
	b.WriteString("bad,NA,25\n")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fitFile(t *testing.T, path string, relation privacy.Relation) *Result {
	t.Helper()
	in, err := Open(path, nil, &source.Schema{Columns: []source.Column{{Name: "age"}, {Name: "bmi", RoundedTo: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	table, err := in.Load(relation, nil)
	if err != nil {
		t.Fatal(err)
	}
	if report := in.Report(); report.Rows != 4001 || report.BadRows != 1 {
		t.Errorf("%d rows, %d bad", report.Rows, report.BadRows)
	}
	r := in.Request()
	if r.SchemaInferred || r.Columns[1].RoundedTo != 0.5 {
		t.Errorf("request = %+v", r)
	}
	r.Relation, r.Budget, r.Components, r.Force = relation, privacy.Budget{Epsilon: 100, Delta: 1e-6}, 1, true
	var steps int
	last := 0.0
	r.Observe = func(_ string, spent float64) {
		if steps++; spent < last || spent > 1 {
			t.Errorf("the part spent went from %v to %v", last, spent)
		}
		last = spent
	}
	result, err := Fit(t.Context(), table, r)
	if err != nil {
		t.Fatal(err)
	}
	if steps == 0 {
		t.Error("Observe was never called")
	}
	return result
}

func TestInputsPrintNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, path, 3)
	var undeclared *source.Undeclared
	if _, err := Open(path, nil, nil); !errors.As(err, &undeclared) || !slices.Equal(undeclared.Columns, []string{"age", "bmi"}) || !errors.As(err, new(*source.Error)) {
		t.Errorf("nobody declares columns: got %v", err)
	}
	in, err := Open(path, nil, &source.Schema{Infer: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if text := fmt.Sprintf("%v %+v %#v %s", in, in, in, in); text != strings.TrimSpace(strings.Repeat("[protected] ", 4)) {
		t.Errorf("an input prints as %s", text)
	}
	if !in.Request().SchemaInferred {
		t.Error("an inferred schema counts as declared")
	}
}
