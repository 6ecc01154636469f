package blackbox

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// other is a neighbour of rows: one row in the place of the first, or one more.
func other(rel privacy.Relation, rows [][]float64, row []float64) [][]float64 {
	if rel == privacy.AddRemoveOne {
		return append(slices.Clone(rows), row)
	}
	return append([][]float64{row}, rows[1:]...)
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2, the
// agreement of the blocks included; some paths lose a good part of it.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	settings := []struct {
		k, d, n int
		eps     float64
		learner string
	}{{1, 1, 2000, 4, ""}, {1, 3, 3000, 8, ""}, {2, 1, 4000, 8, ""}, {2, 2, 3000, 10, "spectral"}, {3, 2, 4000, 20, ""}, {2, 2, 3000, 4, ""}, {1, 2, 1000, 4, ""}}
	released, not := 0, 0
	for _, rel := range relations {
		most := 0.0
		for i, s := range settings {
			truth := apartTruth(t, rng, s.k, s.d, 6)
			rows := estimatetest.Draw(t, truth, s.n, rng)
			for j, row := range strays(truth) {
				if (i+j)%5 != 0 && !estimatetest.Long() {
					continue
				}
				c := estimatetest.Case{Rows: rows, Columns: s.d, Relation: rel, Epsilon: s.eps, Delta: delta, Components: s.k, Learner: s.learner,
					Noise: kerneltest.Options{Seed: rng.Uint64()}}
				f, loss := estimatetest.Neighbours(t, everyLearner, c, other(rel, rows, row))
				if f.Session == nil {
					continue
				}
				limit := math.Pow(f.Session.Mu(), 2)
				if most = max(most, loss.Path/limit); loss.Path > limit*(1+1e-9) {
					t.Errorf("%v %+v: a path loses mu^2 = %v of %v: %v", rel, s, loss.Path, limit, loss.ByStep)
				}
				if h := loss.ByStep[stepBlocks]; h > math.Pow(Usual().testMu(s.k, limit), 2)*(1+1e-9) {
					t.Errorf("%v %+v: another row moves the agreement by more than 1: %v", rel, s, h)
				}
				if f.Model != nil {
					released++
				} else {
					not++
				}
				if t.Failed() {
					t.Fatalf("%v %+v, another row %v", rel, s, row)
				}
			}
		}
		if t.Logf("%v: a path loses up to %.3f of mu^2", rel, most); most < .1 {
			t.Errorf("%v: no path loses more than %.3f of mu^2: the test sees too little of the fit", rel, most)
		}
	}
	if released < 6 || not < 2 {
		t.Errorf("%d fits are released and %d are not: too few of one kind", released, not)
	}
}

// strays are rows that a neighbour may have: a huge one, a null one, the origin, one in the middle
// of a component and one in its tail.
func strays(m *model.Mixture) [][]float64 {
	d := m.Dim()
	g := m.Components[0]
	tail := slices.Clone(g.Mean)
	for j := range tail {
		tail[j] += 4 * math.Sqrt(g.Cov.At(j, j))
	}
	return [][]float64{slices.Repeat([]float64{1e308}, d), slices.Repeat([]float64{math.NaN()}, d), make([]float64, d), g.Mean, tail}
}

// TestReplayElsewhere: a fit sees nothing but answers: replayed on a table of quite other rows they
// lead to the same questions, the same model and the same words.
func TestReplayElsewhere(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		for _, n := range []int{4000, 2600} {
			rows := twoGroups(rng, n, 2)
			var own, again kerneltest.Transcript
			c := estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Epsilon: 8, Delta: delta, Components: 2,
				Noise: kerneltest.Options{Seed: rng.Uint64(), Record: &own}}
			f := estimatetest.RunChecked(t, New(), c)
			if f.Session == nil || len(own.Steps) < 3 {
				t.Fatalf("%v, %d rows: %+v %d", rel, n, f.Refused, len(own.Steps))
			}
			c.Rows = make([][]float64, n)
			for i := range c.Rows {
				c.Rows[i] = []float64{1e9 * float64(i%3), -1}
			}
			c.Noise = kerneltest.Options{Replay: &own, Record: &again}
			g := estimatetest.RunChecked(t, New(), c)
			if !estimatetest.SameQuestions(own, again) || !sameOutcome(f.Outcome, g.Outcome) {
				t.Errorf("%v, %d rows: the same answers led elsewhere: %+v and %+v", rel, n, f.Outcome, g.Outcome)
			}
		}
	}
}

// TestReplayOfHardTables: the same for neighbours of tables that no mixture explains. A random part
// of them is run, another one for another GAUZE_TEST_SEED.
func TestReplayOfHardTables(t *testing.T) {
	rng := newRand(t)
	for i, table := range append(estimatetest.Hard(), tables...) {
		for j, rel := range relations {
			if rng.IntN(4) > 0 && !estimatetest.Long() {
				continue
			}
			d := 1 + (i+j)%2
			rows := table.Rows(rng, 1500, d)
			row := slices.Repeat([]float64{[]float64{1e308, 7}[(i/2+j)%2]}, d)
			c := estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Epsilon: 16, Delta: delta, Components: d, Noise: kerneltest.Options{Seed: rng.Uint64()}}
			f, loss := estimatetest.Neighbours(t, New(), c, other(rel, rows, row))
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("a path loses mu^2 = %v of %v: %v", loss.Path, limit, loss.ByStep)
			}
			if t.Failed() {
				t.Fatalf("%v, %s, another row %v", rel, table.Name, row)
			}
		}
	}
}
