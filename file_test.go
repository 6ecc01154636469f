package gauze_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/source"
)

// written is a file of people.
func written(t *testing.T, rows int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("age,bmi,sex\n")
	for range rows {
		fmt.Fprintf(&b, "%.0f,%.1f,%s\n", 50+12*rand.NormFloat64(), 26+4*rand.NormFloat64(), []string{"f", "m"}[rand.IntN(2)])
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file is fitted by one call, and whatever ends it without a release is an error.
func TestFitFile(t *testing.T) {
	r := gauze.Request{Budget: gauze.Budget{Epsilon: 2, Delta: 1e-6}, Components: 1}
	path := written(t, 4000)
	fitted, err := gauze.FitFile(context.Background(), path, "age,bmi", r)
	if err != nil || len(fitted.Model.Components) != 1 || fitted.Certificate.Relation != gauze.ReplaceOne.String() || *fitted.Certificate.Rows != 4000 {
		t.Errorf("got %+v, %v", fitted, err)
	}
	var refusal *estimate.Refusal
	if _, err := gauze.FitFile(context.Background(), written(t, 50), "age,bmi", r); !errors.As(err, &refusal) {
		t.Errorf("50 rows: got %v", err)
	}
	var mistake *source.Error
	if _, err := gauze.FitFile(context.Background(), path, "height", r); !errors.As(err, &mistake) {
		t.Errorf("a column that is not there: got %v", err)
	}
	if _, err := gauze.FitFile(context.Background(), filepath.Join(t.TempDir(), "none.csv"), "age", r); err == nil {
		t.Error("a file that is not there is fitted")
	}
}

// No release is an error that says what it cost.
func TestReleased(t *testing.T) {
	none := &gauze.Result{NoRelease: &estimate.NoRelease{Reason: "too noisy", Advice: "needs more rows"}}
	none.Spent.Epsilon = 1
	var missing *gauze.NoReleaseError
	if got, err := none.Released(); got != nil || !errors.As(err, &missing) || missing.Spent.Epsilon != 1 || err.Error() != "gauze: no release: too noisy; needs more rows" {
		t.Errorf("got %v, %v", got, err)
	}
}
