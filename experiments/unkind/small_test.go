package unkind

import (
	"context"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/stattest"
)

// What the small form allows. The whole study says how often they are in truth
// (docs/experiments/unkind).
const (
	eachVariant  = 2
	mostSmall    = 4000 // rows
	silentAtMost = .1
	emptyAtMost  = .06 // where an answer exists
)

// A few tables of each way to ask: not more of the fits are silently wrong, or end in nothing after
// spending, than the limits say. False alarms: 1e-6 each, if the rates are what the limits say.
func TestSmall(t *testing.T) {
	by := map[string][]*line{}
	o := enginetest.Options(t)
	o.Budget.Epsilon = 1
	for _, e := range Study.Experiments {
		lines, _ := e.Lines(o)
		for _, l := range lines {
			by[l.By] = append(by[l.By], l)
		}
	}
	type job struct {
		l    *line
		seed uint64
	}
	var jobs []job
	for i, v := range variants {
		lines := by[v.name]
		for r := range eachVariant { // from the first family to the last
			at := (r*len(lines) + int(stattest.Seed(t)>>8)%len(lines)) / eachVariant % len(lines)
			jobs = append(jobs, job{lines[at], stattest.Seed(t) + uint64(i*eachVariant+r)})
		}
	}
	var runs []engine.Result
	for _, j := range jobs {
		got, err := j.l.Make(context.Background(), mostSmall, j.seed)
		if err != nil || got.Values[faulty] > 0 {
			t.Fatalf("%s by %s: %s, %v", j.l.Name, j.l.By, got.Why, err)
		}
		runs = append(runs, engine.Result{Outcome: got})
		if got.Values[silent]+got.Values[exit3] > 0 {
			t.Logf("%s by %s, seed %d: %s", j.l.Name, j.l.By, j.seed, got.Note)
		}
	}
	answers := len(runs) - engine.Total(runs, hopeless) - engine.Total(runs, refused)
	stattest.GoodAtMost(t, engine.Total(runs, silent), len(runs), silentAtMost, 1e-6)
	stattest.GoodAtMost(t, engine.Total(runs, exit3), answers, emptyAtMost, 1e-6)
	stattest.BadAtMost(t, len(runs)/2, len(runs), silentAtMost, 1e-6)
}

// A part of the study runs from tables to the page, and again from its results.
func TestRunAndResume(t *testing.T) {
	page, results := enginetest.RunAndResume(t, Study, engine.Options{Only: []string{"one/gaussian"}, Methods: []string{"gaussian"}, Rows: []int{3000}}, "dev")
	for _, want := range []string{"## By method", "| gaussian/spherical |", "## By family", "| one/gaussian/"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Count(results, `"fine":1`) != 6 {
		t.Errorf("results\n%s", results)
	}
}
