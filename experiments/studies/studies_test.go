package studies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/model"
)

// Every cell of every experiment has a name of its own, a table that can be drawn, and a request
// that can be planned or is refused.
func TestCells(t *testing.T) {
	o := enginetest.Options(t)
	planned := map[string]bool{} // what many cells ask alike is planned once
	for _, s := range All {
		enginetest.Lines(t, s, func(l *line) error {
			drawn, err := l.Cell.draw(1, 12)
			if err != nil {
				return err
			}
			if _, d := drawn.rows.Dims(); d != l.Cell.d {
				return fmt.Errorf("%d columns, want %d", d, l.Cell.d)
			}
			if drawn.mixture != nil && l.Cell.k > 0 && len(drawn.mixture.Truth.Components) != l.Cell.k {
				return fmt.Errorf("%d components, want %d", len(drawn.mixture.Truth.Components), l.Cell.k)
			}
			for _, by := range l.Cell.by {
				r := l.Cell.request(o, by)
				r.Columns = gauze.Named(model.DefaultColumns(l.Cell.d)...)
				asked := fmt.Sprintf("%+v of %d", r, l.Rows[len(l.Rows)-1])
				if planned[asked] {
					continue
				}
				planned[asked] = true
				var refusal *estimate.Refusal
				if _, err := gauze.Plan(r, l.Rows[len(l.Rows)-1]); err != nil && !errors.As(err, &refusal) {
					return err
				}
			}
			return nil
		})
	}
}

// A part of an experiment of each measure from the first row to the page, resumed from its results
// without a new fit.
func TestRunAndResume(t *testing.T) {
	for _, c := range []struct {
		study      *study
		experiment string
		o          engine.Options
		page       string
		results    []string
	}{
		{single, "smallest", engine.Options{Only: []string{"2/1e+04"}, Rows: []int{1200}}, "| gaussian | 1.2k | 2/2", []string{`"covariance_x"`, `"sample_mean"`, `"seed":2`, `"released":1`}},
		{unbounded, "smallest", engine.Options{Methods: []string{"general"}, Only: []string{"uni/overlapping/d=1/k=2"}, Rows: []int{1500}}, "| general | 1.5k | 2/2", []string{`"reference_tv"`, `"k":2`}},
		{clusters, "clusters", engine.Options{Methods: []string{"auto"}, Only: []string{"d=1/axis/gap=30"}, Rows: []int{4000}}, "| axis, 30 ", []string{`"limit"`, `"true_k"`}},
	} {
		page, kept := enginetest.RunAndResume(t, c.study, c.o, c.experiment)
		if !strings.Contains(page, c.page) {
			t.Errorf("no %q in\n%s", c.page, page)
		}
		for _, want := range c.results {
			if !strings.Contains(kept, want) {
				t.Errorf("no %s in\n%s", want, kept)
			}
		}
	}
}

// The summaries write what they promise from results made up for the purpose.
func TestSummaries(t *testing.T) {
	for _, s := range All {
		for _, e := range s.Experiments {
			r := &results{Study: s, Experiment: e}
			r.Lines, _ = e.Lines(engine.Options{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: privacy.ReplaceOne})
			for _, l := range r.Lines {
				l.Results, l.Least = map[int][]engine.Result{}, l.Cell.rows[0]
				for _, n := range l.Cell.rows {
					v := engine.Values{released: 1, variation: 30 / float64(n), covTimes: 1.5, exact: 1, found: 2, trueK: 2}
					l.Results[n] = []engine.Result{{Outcome: engine.Outcome{Success: true, Values: v}}, {Outcome: engine.Outcome{Why: "made up"}}}
				}
			}
			if e.Summary == nil {
				continue
			}
			p := &engine.Page{}
			e.Summary(p, r)
			if want := map[string]string{"talk": "| 1.00 ± 0.00 |", "rates": "| -1.00 ", "printed": "runs: 1/2, TV 0.006", "systems": "| black-box --learner moitra-valiant ", "clusters": "| replace one ", "weights": "| 42   | 21 "}[e.Name]; !strings.Contains(string(p.Bytes()), want) {
				t.Errorf("%s: no %q in\n%s", e.Name, want, p.Bytes())
			}
		}
	}
}

// TestEnds: wrong models are told from right ones, and those that say so from those that do not.
func TestEnds(t *testing.T) {
	for want, run := range map[int]engine.Outcome{
		1: {Success: true, Values: engine.Values{released: 1}}, 2: {Success: true, Values: engine.Values{released: 1, flagged: 1}},
		3: {Values: engine.Values{released: 1, flagged: 1}}, 4: {Values: engine.Values{released: 1, flagged: 0}},
		5: {Why: "no release: noise"}, 6: {Why: "refused: rows"},
	} {
		if got := ends(engine.Result{Outcome: run}); got != want {
			t.Errorf("%+v: got %d, want %d", run, got, want)
		}
	}
}

// Every method that runs what a paper prints is asked, and what is proved of it stands on the page
// of its source beside the method's name, word for word.
func TestPapers(t *testing.T) {
	list, err := os.ReadFile("../../papers/statements.csv")
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, x := range tasks {
		asked[x.method] = true
		s, ok := statements[x.method]
		if !ok {
			t.Errorf("no statement of %s", x.method)
			continue
		}
		page, err := os.ReadFile("../../papers/" + s.key + ".md")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("- %s, `%s`: %s\n", s.part, x.method, s.rate); !strings.Contains(string(page), want) {
			t.Errorf("papers/%s.md has no line %q", s.key, want)
		}
		if strings.HasPrefix(s.part, "Theorem") {
			if !strings.Contains(string(list), "\n"+s.key+","+s.part+",") {
				t.Errorf("%s: not in the list of statements", s)
			}
		} else if !regexp.MustCompile(`(?m)^##+ ` + regexp.QuoteMeta(s.part) + `\b`).Match(page) {
			t.Errorf("%s: the page has no such section", s)
		}
	}
	if len(statements) != len(tasks) {
		t.Errorf("%d statements of %d methods", len(statements), len(tasks))
	}
	for _, m := range append(literal.One(), literal.Mixtures()...) {
		if !asked[m.Name()] {
			t.Errorf("no task for %s", m.Name())
		}
	}
}

// The page of systems has every method and every learner, each with a table of its own name.
func TestSystems(t *testing.T) {
	has, names := map[string]bool{}, map[string]bool{}
	for _, x := range systems() {
		has[x.method], has[x.learner] = true, true
		if name := x.cell(x.epsilon, contender{}).name; names[name] {
			t.Errorf("%s stands twice", name)
		} else {
			names[name] = true
		}
	}
	for _, m := range gauze.Methods().All() {
		if !has[m.Name()] {
			t.Errorf("no run of %s", m.Name())
		}
		user, ok := m.(estimate.LearnerUser)
		if !ok {
			continue
		}
		for _, l := range user.Learners() {
			if !has[l] && l != "spectral-spheres" { // which sample-aggregate runs without a word
				t.Errorf("no run of the learner %s", l)
			}
		}
	}
}

// A refusal in a few words keeps the number of rows that it names.
func TestRefused(t *testing.T) {
	for why, want := range map[string]string{
		"noise would hide every ball (about 1.7e+11 rows, or a larger epsilon)":      "refused, 1.7e+11",
		"noise would hide every ball (about 41,000 rows, or a larger epsilon)":       "refused, 41,000",
		"method univariate:aal21 enumerates mixtures (columns: 1): use a larger one": "refused: univariate:aal21 enumerates mixtures",
	} {
		if got := refused(why); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A page of a paper's method, from fits.
func TestPapersPage(t *testing.T) {
	var out bytes.Buffer
	o := enginetest.Options(t)
	o.Stdout, o.Out, o.Methods, o.Runs = &out, "", []string{"univariate:kv18"}, 1
	if err := papers.Run(context.Background(), o, []string{"printed"}); err != nil || !strings.Contains(out.String(), "runs: 1/1") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// No method is better on average than none can be on the worst mixture of a kind. These are not the
// worst, but what they are spared is less than what the bound gives away.
func TestBoundHolds(t *testing.T) {
	o := enginetest.Options(t)
	o.Budget.Epsilon = 1
	for _, c := range named() {
		if !strings.Contains(c.name, "apart/d=1/k=3") && !strings.Contains(c.name, "overlapping/d=1/k=2") && !strings.Contains(c.name, "crossing") {
			continue
		}
		for _, n := range []int{600, 4000} {
			total, runs := 0., 4
			for seed := range runs {
				out, err := c.run(context.Background(), c.request(o, c.by[0]), c.by[0], n, uint64(seed+5), mixture(false, within(learned)))
				if err != nil {
					t.Fatal(err)
				}
				tv, ok := out.Values[variation]
				if !ok {
					tv = 1
				}
				total += tv / float64(runs)
			}
			least := literal.MixtureBoundOf(estimate.Problem{Columns: c.d, Relation: o.Relation, Covariance: c.ask.Covariance}, o.Budget, c.k, float64(n)).TotalVariation
			if !(total >= least) {
				t.Errorf("%s at %d rows: mean total variation %.3g, and none can be below %.3g", c.name, n, total, least)
			}
		}
	}
}

// What the small form of the clusters allows, of the easier cells. The whole study says how often
// fits are wrong in truth (docs/experiments/plain).
const (
	smallInstances = 12
	smallGap       = 300
	wrongAtMost    = .3
)

// Fresh instances of clusters far apart, under both relations: not more of the fits are wrong than
// the limit says. False alarms: 1e-6, if the rate is what the limit says.
func TestSmallClusters(t *testing.T) {
	o := enginetest.Options(t)
	o.Budget.Epsilon = 1
	var easy []cell
	for _, c := range plainCells() {
		if c.d <= 8 && c.plain.gap == smallGap {
			easy = append(easy, c)
		}
	}
	wrong := 0
	relations := map[float64]int{}
	for i := range smallInstances {
		c := easy[i%len(easy)]
		got, err := c.run(context.Background(), c.request(o, c.by[0]), c.by[0], c.rows[0], stattest.Seed(t)+uint64(i), rightClusters)
		if err != nil {
			t.Fatal(err)
		}
		relations[got.Values[addRemove]]++
		if !got.Success {
			wrong++
			t.Logf("%s: total variation %.2g, %v components in place of %v: %s", c.name, got.Values[variation], got.Values[found], got.Values[trueK], got.Why)
		}
	}
	if len(relations) != 2 {
		t.Errorf("relations %v", relations)
	}
	stattest.GoodAtMost(t, wrong, smallInstances, wrongAtMost, 1e-6)
	stattest.BadAtMost(t, smallInstances, smallInstances, wrongAtMost, 1e-6)
}

// Limits of clusters stay within what the study allows.
func TestLimits(t *testing.T) {
	for _, c := range plainCells() {
		for seed := range uint64(5) {
			p, _ := c.plain.instance(rand.New(rand.NewPCG(engine.SeedOf(c.name, seed), 1)))
			if b := madeup.Limit(p.Components, p.Columns, c.rows[0]); !(b >= leastBar && b <= mostBar+1e-9) {
				t.Errorf("%s: a limit of %g", c.name, b)
			}
		}
	}
}
