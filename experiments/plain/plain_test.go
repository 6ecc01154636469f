package plain

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Every cell has a name of its own and instances that can be drawn, under both relations.
func TestCells(t *testing.T) {
	relations := map[privacy.Relation]int{}
	enginetest.Lines(t, Study, func(l *line) error {
		p, relation := l.Cell.instance(rand.New(rand.NewPCG(engine.SeedOf(l.Name, 1), 1)), privacy.ReplaceOne)
		relations[relation]++
		if b := madeup.Limit(p.Components, p.Columns, l.Rows[0]); !(b >= leastBar && b <= mostBar+1e-9) {
			t.Errorf("%s: a limit of %g", l.Name, b)
		}
		_, err := p.Truth(1)
		return err
	})
	if len(relations) != 2 {
		t.Errorf("relations %v", relations)
	}
}

// A part of the study runs from instances to the page, and again from its results.
func TestRunAndResume(t *testing.T) {
	page, results := enginetest.RunAndResume(t, Study, engine.Options{Only: []string{"d=1/axis/gap=30"}, Methods: []string{"auto"}, Rows: []int{4000}}, "clusters")
	for _, want := range []string{"## By placement and gap", "| axis, 30 ", "| d=1/axis/gap=300 "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if strings.Count(results, `"limit":`) != 4 {
		t.Errorf("results\n%s", results)
	}
}
