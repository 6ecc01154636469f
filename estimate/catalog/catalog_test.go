package catalog

import (
	"errors"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/literal"
)

// everything is what the front door chooses from.
var everything = Methods(literal.Learners()...).With(literal.One(), literal.Mixtures())

func TestNamesAreDistinctAndFound(t *testing.T) {
	seen := map[string]bool{Auto: true}
	for _, m := range everything.All() {
		name := m.Name()
		if name == "" || seen[name] {
			t.Errorf("the name %q is empty or used twice", name)
		}
		seen[name] = true
		if m.Summary() == "" || m.Source() == "" {
			t.Errorf("%s: a method needs a summary and a source", name)
		}
		found, why, err := everything.Choose(name, estimate.Problem{})
		if err != nil || found.Name() != name || why != "as asked" {
			t.Errorf("Choose(%q) = %v, %q, %v", name, found, why, err)
		}
	}
}

func TestAuto(t *testing.T) {
	for _, c := range []struct {
		components, most int
		want             string
	}{
		{1, 10, forOne}, {0, 1, forOne}, {1, 1, forOne},
		{0, 10, forMany}, {2, 10, forMany}, {2, 1, forMany},
	} {
		for _, name := range []string{Auto, ""} {
			m, why, err := everything.Choose(name, estimate.Problem{Components: c.components, MaxComponents: c.most})
			if err != nil {
				t.Fatal(err)
			}
			if m.Name() != c.want || why == "" {
				t.Errorf("auto for %d components, at most %d: got %s (%q), want %s", c.components, c.most, m.Name(), why, c.want)
			}
		}
	}
}

func TestUnknownMethod(t *testing.T) {
	_, _, err := everything.Choose("gausian", estimate.Problem{})
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.Name != "gausian" {
		t.Errorf("got %v, want an UnknownError", err)
	}
}
