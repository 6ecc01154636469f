package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// everyKind is a program that asks for everything, in both tables, with sound and unsound
// arguments, and notes what it is told but the answers: errors, what was spent, the certificate,
// the shapes of tables.
func everyKind(t *testing.T, r privacy.Relation, rows [][]float64) (texts []string) {
	frame := query.Affine{Center: []float64{0, 0, 0}, W: [][]float64{{1, 0, 0}, {0, 1, 1}}}
	ball := func(radius float64, outside bool) query.Region {
		return query.Region{Conditions: []query.Condition{{Map: frame, Radius: radius, Outside: outside}}}
	}
	cut := query.Partition{Regions: []query.Region{ball(1, false), ball(1, true)}}
	parts := query.Parts{Partition: cut, Queries: []query.Sum{query.Count{}, query.Count{}}}
	radii := []float64{0, 1, 1e150}
	selection := func(keep float64, radii ...float64) papers.Selection {
		s := papers.TerrificRadius{Map: frame, Radii: radii, C: 3, T: 2}
		return papers.Selection{Partition: cut, Scores: []papers.Score{s, s}, Keep: keep}
	}
	grid := query.Grid{Map: frame, Side: []float64{1, 1e-300}, Offset: []float64{0, 1e308}}
	boxes := query.BoxKeys{Partition: cut, Grids: []query.Grid{grid, grid}, Joint: true}
	spread := papers.PairSpread{Map: frame, Bound: 1}
	paired := query.Pairs{Partition: cut, Queries: []query.PairSum{spread, spread}, Buckets: []int{2, 3}}
	plan := kernel.Plan{Method: "everything"}
	for _, kind := range []string{"count", parts.Kind(), selection(1, radii...).Kind(), boxes.Kind(), paired.Kind()} {
		for _, name := range []string{kind, kernel.OfBlocks(kind)} {
			plan.Steps = append(plan.Steps, kernel.Step{Name: name, Query: name, Share: .1, Most: 20, Slack: .1})
		}
	}
	s := kerneltest.Open(t, kerneltest.Table(rows, 3, r), plan, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, kerneltest.Options{})
	note := func(what ...any) { texts = append(texts, fmt.Sprint(what...)) }
	ask := func(a *kernel.SubBudget, step func(string) string) {
		for _, epsilon := range []float64{.01, 0, -1, math.NaN(), 1e-300, 1e300, 3} {
			_, err := pure.Laplace(a, step("count"), query.Count{}, epsilon)
			note(err)
			_, err = pure.Laplace(a, step(parts.Kind()), parts, epsilon)
			note(err)
			for _, q := range []papers.Selection{selection(0, radii...), selection(.5, radii...), selection(1, 1), selection(2, 1), selection(1)} {
				_, err = pure.Select(a, step(q.Kind()), q, epsilon)
				note(err)
				_, err = pure.AboveThreshold(a, step(q.Kind()), q, []int64{1, -1 << 60}, epsilon)
				note(err)
			}
			_, _, err = kernel.StabilityHistogram(a, step(boxes.Kind()), boxes, epsilon)
			note(err)
			_, err = kernel.SumPairs(a, step(paired.Kind()), paired, epsilon)
			note(err)
			_, err = a.Sum(step(parts.Kind()), parts, epsilon)
			note(err)
		}
		note(s.Loss(), s.Measurements())
	}
	a := s.SubBudget()
	ask(a.Take(a.Left()/2), func(kind string) string { return kind })
	for _, m := range []int{0, 7, 1 << 40} {
		// an estimate has three coordinates, as rows have
		first := query.Affine{Columns: []int{0}, Center: []float64{0}, W: [][]float64{{1}}}
		derived, err := blocks.Pool(a, blocks.Blocks{Learner: spectral.Spheres{Components: 2}, Count: m, Map: first, Radius: 1e300})
		note(err)
		if err != nil {
			continue
		}
		n, public := derived.Session().Rows()
		note(n, public, derived.Session().Columns(), derived.Left())
		ask(derived, kernel.OfBlocks)
		a.Return(derived)
		note(a.Left())
	}
	return texts
}

// TestToldTheSame: what a program is told, but for noisy answers, is the same for tables as
// different as can be.
func TestToldTheSame(t *testing.T) {
	tables := [][][]float64{nil, {{secret, -secret, 0}}, {{math.NaN(), math.Inf(1), 0}, {1e308, -1e308, 1e308}, {5e-324, 0, 0}, {-1e308, 1e308, 0}},
		{{1, math.NaN(), 1}, {1, 2, 3}}, someRows(300, 3)}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		want := everyKind(t, r, tables[0])
		for i, rows := range tables[1:] {
			got := everyKind(t, r, rows)
			if len(got) != len(want) {
				t.Fatalf("%v, table %d: a program is told %d things, with none %d", r, i+1, len(got), len(want))
			}
			for j := range want {
				if got[j] != want[j] {
					t.Fatalf("%v, table %d: what a program is told depends on the rows: %q, with none %q", r, i+1, got[j], want[j])
				}
			}
		}
		free := 0
		for _, text := range want {
			if text == "<nil>" {
				free++
			}
		}
		if free < 20 {
			t.Errorf("%v: only %d calls of %d succeed: the test says little", r, free, len(want))
		}
	}
}
