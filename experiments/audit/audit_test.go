package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

// Every method of the catalogue is attacked, or the page says why not.
func TestMethods(t *testing.T) {
	for _, m := range gauze.Methods().All() {
		tried := slices.ContainsFunc(subjects, func(s subject) bool { return s.method == m.Name() })
		if tried == (untried[m.Name()] != "") {
			t.Errorf("%s: tried %v, and there is a reason not to %q", m.Name(), tried, untried[m.Name()])
		}
	}
}

// A page has a row of each audit, what was not attacked, and nothing that a resumed study did
// again.
func TestRun(t *testing.T) {
	o := enginetest.Options(t)
	o.Budget.Epsilon, o.Methods = 1, []string{"univariate:kv18"}
	for range 2 {
		if err := Study.Run(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(o.Out, "methods.md"))
		kept, _, _ := bytes.Cut(page, []byte("*Left out"))
		if err != nil || !strings.Contains(o.Stdout.(*bytes.Buffer).String(), string(kept)) {
			t.Fatalf("%v\n%s", err, page)
		}
		for _, want := range []string{"- Commit: abcdef0\n", "| univariate:kv18, ε = 1, δ = 0 ", "| add-remove-one | 2k ", "`univariate:aal21`: lists", "no bound is above", "audit -runs 2 -methods univariate:kv18 methods`\n- Runs per cell: 1\n- Seed: none"} {
			if !strings.Contains(string(page), want) {
				t.Errorf("no %q in\n%s", want, page)
			}
		}
		o.Resume = true
	}
	o.Resume = false
	if err := Study.Run(t.Context(), o, nil); err == nil {
		t.Error("results were mixed without -resume")
	}
	if err := Study.Run(t.Context(), o, []string{"no"}); err == nil {
		t.Error("a wrong name was accepted")
	}
}
