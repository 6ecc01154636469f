package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// usual are options of a small run.
func usual(t *testing.T) (options, *bytes.Buffer) {
	var out bytes.Buffer
	return options{budget: privacy.Budget{Epsilon: 2, Delta: 1e-6}, relation: privacy.ReplaceOne, seed: 1, runs: 2, workers: 2, trim: -1, tvRows: 2000, out: t.TempDir(),
		stdout: &out}, &out
}

func quiet() *harness.Progress { return &harness.Progress{Out: io.Discard, Now: time.Now} }

// Every line of every experiment has a name of its own, a problem that can be drawn, and a request
// that can be planned or is refused.
func TestCells(t *testing.T) {
	o, _ := usual(t)
	planned := map[string]bool{} // a plan takes a while
	for _, e := range experiments {
		seen := map[string]bool{}
		for _, c := range e.cells() {
			if seen[c.name] || strings.Contains(c.name, ",") {
				t.Errorf("%s: the name %s", e.name, c.name)
			}
			seen[c.name] = true
			if len(c.rows) == 0 || c.rows[0] < 1 || !slices.IsSorted(c.rows) {
				t.Errorf("%s %s: rows %v", e.name, c.name, c.rows)
			}
			truth, err := c.spec.Truth(c.seed(1))
			if err != nil {
				t.Errorf("%s %s: %v", e.name, c.name, err)
				continue
			}
			if c.goal == nothing && c.asked() <= truth.K() {
				t.Errorf("%s %s: %d components are asked for, of %d", e.name, c.name, c.asked(), truth.K())
			}
			lines := e.linesOf(o, c)
			if len(lines) == 0 {
				t.Errorf("%s %s is not run", e.name, c.name)
			}
			for _, l := range lines {
				if e.open || !slices.Contains(gauze.Methods().Names(), l.method) {
					continue
				}
				r := c.request(o, l.method, l.learner)
				r.Columns = model.DefaultColumns(truth.Dim())
				what := fmt.Sprint(r.Method, r.Components, len(r.Columns), r.Budget, r.Relation)
				if planned[what] {
					continue
				}
				planned[what] = true
				var refusal *estimate.Refusal
				if _, err := gauze.Plan(r, c.rows[len(c.rows)-1]); err != nil && !errors.As(err, &refusal) {
					t.Errorf("%s %s %s: %v", e.name, c.name, l.label(), err)
				}
			}
			if e.search && !slices.Contains(grid, c.rows[0]) {
				t.Errorf("%s %s: the search starts off its grid", e.name, c.name)
			}
		}
	}
}

// All families can be had of two components in two columns, and change something.
func TestFamilies(t *testing.T) {
	plain, err := parseCell("2,2,1000,6")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range familyNames() {
		text := "2,2,1000,6," + name
		if name == "untrimmed" {
			text = "2,2,1000,6,outliers," + name
		}
		c, err := parseCell(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := c.spec.Draw(1, 10); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.name, c.rows = "", plain.rows; sameCell(c, plain) {
			t.Errorf("%s changes nothing", name)
		}
	}
	for _, text := range []string{"2,2,1000", "x,2,1000,6", "2,2,1000,6,no", "2,2,1000,0", "1,1,1000,0,crossing"} {
		if _, err := parseCell(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func sameCell(a, b cell) bool {
	return a.spec == b.spec && a.goal == b.goal && a.given == b.given && a.trim == b.trim
}

// The mixtures of two cells at one seed differ, those of one cell at two numbers of rows do not.
func TestSeeds(t *testing.T) {
	cells := named.cells()
	if a, b := cells[0].seed(1), cells[1].seed(1); a == b || a != cells[0].seed(1) || a == cells[0].seed(2) {
		t.Errorf("seeds %v, %v", a, b)
	}
}

// The best pairing is found whatever the order, and k must agree.
func TestParameterDistance(t *testing.T) {
	truth, err := problems.BlackBox{Columns: 3, Components: 4, Separation: 6}.Truth(5)
	if err != nil {
		t.Fatal(err)
	}
	turned := *truth
	turned.Weights, turned.Components = slices.Clone(truth.Weights), slices.Clone(truth.Components)
	slices.Reverse(turned.Weights)
	slices.Reverse(turned.Components)
	if d := parameterDistance(truth, &turned); !(d < 1e-6) {
		t.Errorf("the same in another order: %v", d)
	}
	turned.Weights[0], turned.Weights[1] = turned.Weights[0]+.05, turned.Weights[1]-.05
	if d := parameterDistance(truth, &turned); math.Abs(d-.05) > 1e-6 {
		t.Errorf("weights moved by .05: %v", d)
	}
	one, err := problems.BlackBox{Columns: 3, Components: 1}.Truth(5)
	if err != nil {
		t.Fatal(err)
	}
	if d := parameterDistance(truth, one); !math.IsInf(d, 1) {
		t.Errorf("one for four: %v", d)
	}
}

// The truth loses nothing against itself, and a wider model what their divergence says.
func TestLikelihoodGap(t *testing.T) {
	held, err := problems.BlackBox{Columns: 1, Components: 1}.Held(1, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	g := held.Truth.Components[0]
	wide, err := model.NewDiagonal([]float64{4 * g.Cov.At(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: g.Mean, Cov: wide}})
	if err != nil {
		t.Fatal(err)
	}
	same, err := likelihoodGap(held, held.Truth, held.Truth)
	lost, err2 := likelihoodGap(held, held.Truth, m)
	// KL of N(0, 1) from N(0, 4)
	want := math.Log(2) - .5*(1-.25)
	// the terms have a standard deviation of (1 - 1/4)/√2
	if err != nil || err2 != nil || same != 0 || math.Abs(lost-want) > 5*.75/math.Sqrt2/math.Sqrt(40_000) {
		t.Errorf("%v (%v), %v (%v), want %v", same, err, lost, err2, want)
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit. The method is another one, to be fast.
func TestRunAndResume(t *testing.T) {
	o, out := usual(t)
	o.methods, o.rows, o.cells = []string{"general"}, []int{2000}, []string{"k=1/d=2", "k=2/d=2/sep=6/+1", "uniform", "k=2/d=2/sep=7/outliers"}
	if err := named.run(context.Background(), o, quiet()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.out, "results", "named.jsonl")
	before, err := os.ReadFile(name)
	if err != nil || bytes.Count(before, []byte("\n")) != o.runs*len(o.cells) {
		t.Fatalf("results: %v\n%s", err, before)
	}
	for _, want := range []string{`"reference_tv"`, `"seed":2`, `"method":"general"`, `"law":"uniform"`, `"held_out_gap"`, `"goal":"no release"`, `"outliers":0.01`} {
		if !strings.Contains(string(before), want) {
			t.Errorf("no %s in\n%s", want, before)
		}
	}
	page, err := os.ReadFile(filepath.Join(o.out, "named.md"))
	if err != nil || !strings.Contains(string(page), "-seed 1 -runs 2 -method general -n 2000 -cells 'k=1/d=2,") || !bytes.Equal(page, out.Bytes()) {
		t.Errorf("page: %v\n%s", err, page)
	}
	for _, want := range []string{"k too large, and noise, together", "| released, near EM: 90 %", "likelihood near EM's: 90 %", "near the clean truth: 90 %"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	o.resume = true
	if err := named.run(context.Background(), o, quiet()); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a resumed run that was complete changed the results: %v", err)
	}
}

// The black box itself, at a budget and size at which it is quick.
func TestBlackBox(t *testing.T) {
	o, out := usual(t)
	o.budget.Epsilon = 4
	c, err := parseCell("1,2,4000,0")
	if err != nil {
		t.Fatal(err)
	}
	o.custom, o.wanted = []cell{c}, "1,2,4000,0"
	if err := custom.run(context.Background(), o, quiet()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "-cells '1,2,4000,0'`") || !strings.Contains(out.String(), "| black-box, em | 4k | 2/2 ") {
		t.Errorf("page:\n%s", out)
	}
}

// Pages with more than the table of all runs.
func TestSummaries(t *testing.T) {
	o, out := usual(t)
	o.methods, o.cells, o.rows = []string{"general"}, []string{"k=1/d=1"}, []int{1000}
	if err := smallest.run(context.Background(), o, quiet()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"smallest n", "with the printed constants", "Rows that the printed reduction needs, ε = 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	o, out = usual(t)
	o.cells, o.learners = []string{"k=2/d=2/sep=6/n=1k"}, []string{byMoments, bySpectral, byEM}
	if err := open.run(context.Background(), o, quiet()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "| k=2/d=2/sep=6/n=1k |") < 4 || !strings.Contains(got, "| .16 (.9)") || strings.Contains(got, "total variation distance from") {
		t.Errorf("page:\n%s", got)
	}
}

func TestParse(t *testing.T) {
	o, chosen, err := parse([]string{"-method", "general", "-cells", "k=3,k=5", "-n", "2000,1000", "-relation", "add-remove-one", "wide"})
	if err != nil || len(chosen) != 1 || chosen[0].name != "wide" || o.rows[0] != 1000 || o.seed == 0 || o.relation != privacy.AddRemoveOne || len(o.cells) != 2 || o.trim >= 0 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, chosen, err = parse(nil); err != nil || chosen[0].name != "named" {
		t.Errorf("the default: %v, %v", chosen, err)
	}
	o, chosen, err = parse([]string{"-cells", "2,2,1000,6 3,2,1000,6,wide", "-learner", "em,spectral", "-trim", "0"})
	if err != nil || len(chosen) != 1 || chosen[0].name != "cells" || len(o.custom) != 2 || !o.custom[1].spec.Wide || o.trim != 0 {
		t.Errorf("%+v, %v, %v", o, chosen, err)
	}
	for _, args := range [][]string{{"-method", "no"}, {"-n", "x"}, {"no"}, {"-relation", "no"}, {"-learner", "no"}, {"-cells", "2,2"}, {"-cells", "2,2,1000,6", "wide"}} {
		if _, _, err := parse(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
