package reduction

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// Every line of every experiment has a name of its own, a problem that can be drawn, and a request
// that can be planned or is refused.
func TestCells(t *testing.T) {
	o := enginetest.Options(t)
	planned := map[string]bool{} // a plan takes a while
	enginetest.Lines(t, Study, func(l *line) error {
		c, by := l.Cell, contenderNamed(l.By)
		truth, err := c.spec.Truth(engine.SeedOf(c.name, 1))
		if err != nil {
			return err
		}
		if strings.Contains(c.name, ",") || c.goal == nothing && c.asked() <= truth.K() {
			return fmt.Errorf("%d components are asked for, of %d", c.asked(), truth.K())
		}
		if by.learner == "" { // it runs without privacy
			return nil
		}
		r := c.request(o, by.method, by.learner)
		r.Columns = gauze.Named(model.DefaultColumns(truth.Dim())...)
		if what := fmt.Sprint(r.Method, r.Components, len(r.Columns), r.Budget, r.Relation); planned[what] {
			return nil
		} else {
			planned[what] = true
		}
		var refusal *estimate.Refusal
		if _, err := gauze.Plan(r, c.rows[len(c.rows)-1]); err != nil && !errors.As(err, &refusal) {
			return err
		}
		return nil
	})
	for _, e := range Study.Experiments {
		lines, _ := e.Lines(o)
		for _, l := range lines {
			if e.Search && !slices.Contains(grid, l.Rows[0]) {
				t.Errorf("%s %s: the search starts off its grid", e.Name, l.Name)
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

// The best pairing is found whatever the order, and k must agree.
func TestParameterDistance(t *testing.T) {
	truth, err := madeup.BlackBox{Columns: 3, Components: 4, Separation: 6}.Truth(5)
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
	one, err := madeup.BlackBox{Columns: 3, Components: 1}.Truth(5)
	if err != nil {
		t.Fatal(err)
	}
	if d := parameterDistance(truth, one); !math.IsInf(d, 1) {
		t.Errorf("one for four: %v", d)
	}
}

// The truth loses nothing against itself, and a wider model what their divergence says.
func TestLikelihoodGap(t *testing.T) {
	held, err := madeup.BlackBox{Columns: 1, Components: 1}.Held(1, 40_000)
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
	// the terms have a standard deviation of (1 - 1/4)/sqrt2
	if err != nil || err2 != nil || same != 0 || math.Abs(lost-want) > 5*.75/math.Sqrt2/math.Sqrt(40_000) {
		t.Errorf("%v (%v), %v (%v), want %v", same, err, lost, err2, want)
	}
}

// A part of an experiment from the first row to the page, resumed from its results without a new
// fit. The method is another one, to be fast.
func TestRunAndResume(t *testing.T) {
	o := engine.Options{Methods: []string{"general"}, Rows: []int{2000}, Only: []string{"k=1/d=2", "k=2/d=2/sep=6/+1", "uniform", "k=2/d=2/sep=7/outliers"}}
	page, results := enginetest.RunAndResume(t, Study, o, "named")
	for _, want := range []string{`"reference_tv"`, `"seed":2`, `"method":"general"`, `"law":"uniform"`, `"held_out_gap"`, `"goal":"no release"`, `"outliers":0.01`} {
		if !strings.Contains(results, want) {
			t.Errorf("no %s in\n%s", want, results)
		}
	}
	for _, want := range []string{"k too large, and noise, together", "| released, near EM: 90 %", "likelihood near EM's: 90 %", "near the clean truth: 90 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// run makes experiments, and returns what is printed.
func run(t *testing.T, o engine.Options, names ...string) string {
	t.Helper()
	out := new(bytes.Buffer)
	o.Stdout = out
	if err := Study.Run(context.Background(), o, names); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The black box itself, at a budget and size at which it is quick, in a cell of the command line.
func TestBlackBox(t *testing.T) {
	o := enginetest.Options(t)
	o.Out = ""
	if got := run(t, o, "1,2,4000,0"); !strings.Contains(got, "-runs 2 1,2,4000,0`") || !strings.Contains(got, "| black-box, em | 4k | 2/2 ") {
		t.Errorf("page:\n%s", got)
	}
	if err := Study.Run(context.Background(), o, []string{"2,2"}); err == nil {
		t.Error("2,2 is a cell")
	}
}

// Pages with more than the table of all runs.
func TestSummaries(t *testing.T) {
	o := enginetest.Options(t)
	o.Methods, o.Only, o.Rows = []string{"general"}, []string{"k=1/d=1"}, []int{1000}
	got := run(t, o, "smallest")
	for _, want := range []string{"smallest n", "with the printed constants", "Rows that the printed reduction needs, ε = 5"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	o = enginetest.Options(t)
	o.Only, o.Learners = []string{"k=2/d=2/sep=6/n=1k"}, []string{byMoments, bySpectral, byEM}
	got = run(t, o, "learners")
	if strings.Count(got, "| k=2/d=2/sep=6/n=1k |") < 4 || !strings.Contains(got, "| .16 (.9)") || strings.Contains(got, "total variation distance from") {
		t.Errorf("page:\n%s", got)
	}
}
