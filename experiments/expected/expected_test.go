package main

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Every method of the catalog for one component is measured, and the grid of each is one that
// lookups can use.
func TestGrid(t *testing.T) {
	listed := map[string]bool{}
	for _, e := range entries {
		listed[e.method] = true
		if _, _, err := gauze.Methods().Choose(e.method, estimate.Problem{}); err != nil {
			t.Logf("%s is not in the catalog yet", e.method)
			continue
		}
		settings, err := e.settings(0)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[expected.Point]bool{}
		for _, s := range settings {
			at := expected.Point{Kind: s.Kind, Columns: s.columns, Rows: s.rows, Mu: s.mu}
			if seen[at] || s.rows < 1 || float64(s.rows*s.columns) > mostCells {
				t.Errorf("%s: %+v twice, without rows, or too large", e.method, at)
			}
			seen[at] = true
		}
	}
	p := estimate.Problem{Columns: 2, Rows: 20000, Mu: .2, Components: 1}
	for _, c := range gauze.Methods().Candidates(p, p.Rows) {
		if !listed[c.Method] {
			t.Errorf("%s is a candidate for one component, and nothing measures it: add it to entries", c.Method)
		}
	}
}

// Facts that a method is told are true, and as loose as the table says.
func TestFactsAreTrue(t *testing.T) {
	for _, loose := range []float64{10, 1e4} {
		for _, d := range []int{1, 5} {
			s := setting{Kind: expected.Kind{Relation: privacy.ReplaceOne, Data: expected.GaussianRows, Loose: loose}, columns: d}
			for seed := range uint64(50) {
				drawn := s.draw(seed)
				if err := drawn.facts.Validate(); err != nil {
					t.Fatal(err)
				}
				if got := expected.Looseness(drawn.facts, d); math.Abs(got/loose-1) > 1e-9 {
					t.Errorf("looseness %v, want %v", got, loose)
				}
				low, high := drawn.facts.Eigenvalues[0], drawn.facts.Eigenvalues[1]
				top, bottom := 1., 1/drawn.population.Kappa
				if d == 1 {
					top = bottom
				}
				if top > high*(1+1e-9) || bottom < low*(1-1e-9) || drawn.population.Offset > drawn.facts.MeanWithin {
					t.Errorf("seed %d: eigenvalues %v to %v, mean at %v: %+v", seed, bottom, top, drawn.population.Offset, drawn.facts)
				}
			}
		}
	}
}

// A few runs from end to end; going on with their results makes none anew, and another method's
// lines stay.
func TestMeasure(t *testing.T) {
	folder := t.TempDir()
	o := options{runs: 2, seed: 1, workers: 2, results: filepath.Join(folder, "results"), out: filepath.Join(folder, "out.csv"), resume: true}
	e := entry{"gaussian", shapes[:1], []int{1, 2}, onGaussian, noFacts, []float64{.2, 4}, 0}
	progress := &harness.Progress{Out: io.Discard, Now: time.Now}
	points, err := e.measure(context.Background(), o, progress)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * len(epsilons) * len(relations); len(points) != want {
		t.Fatalf("%d points, want %d", len(points), want)
	}
	for i, p := range points {
		// At four times what is needed, fewer than one run in 10⁴ is lost, and a setting only if
		// both of its runs are.
		if p.Runs != 2 || i%2 == 1 && (p.Released == 0 || !(p.Covariance < 1) || !(p.PlainCovariance > 0)) {
			t.Errorf("%+v", p)
		}
	}
	again, err := e.measure(context.Background(), o, progress)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		// Results in the file have five digits; a run that was made anew would have other noise.
		if a := again[i]; a.Released != p.Released || p.Released > 0 && !(math.Abs(a.Covariance/p.Covariance-1) < 1e-4) {
			t.Errorf("the second time: %+v, want %+v", a, p)
		}
	}
	other := points[1]
	other.Method = "univariate:kv18"
	for range 2 {
		if err := replace(o.out, "univariate:kv18", []expected.Point{other}); err != nil {
			t.Fatal(err)
		}
		if err := replace(o.out, "gaussian", points); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	if want := expected.Format(append(points, other)); string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestUnknownMethod(t *testing.T) {
	if _, err := parse([]string{"-methods", "gausian"}); err == nil {
		t.Error("wanted an error, got none")
	}
	e := entry{method: "not-there"}
	points, err := e.measure(context.Background(), options{results: t.TempDir()}, &harness.Progress{Out: io.Discard, Now: time.Now})
	if err != nil || points != nil {
		t.Errorf("a method that is not in the catalog: %v, %v", points, err)
	}
}
