package axisaligned

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// settings of tables for neighbours: every arrangement, so that boxes nest, stand side by side and
// hold more than one component.
var settings = []struct {
	d, n, k int
	asked   bool
	from    anywhere
}{
	{1, 900, 2, true, anywhere{Arrangement: madeup.Nested}},
	{2, 1800, 2, true, anywhere{Arrangement: madeup.Nested}},
	{2, 1500, 2, true, anywhere{Arrangement: madeup.Apart}},
	{2, 1500, 2, false, anywhere{Arrangement: madeup.Apart}},
	{3, 2500, 2, true, anywhere{Arrangement: madeup.Overlapping}},
	{1, 300, 2, false, anywhere{Arrangement: madeup.Overlapping}},
	{2, 3000, 3, false, anywhere{Arrangement: madeup.Nested}},
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

// TestOverflow: rows whose squares overflow end a fit in words, and not in an error of arithmetic
// after a part of the budget was spent.
func TestOverflow(t *testing.T) {
	rng := newRand(t)
	rows := make([][]float64, 4000)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64(), (2*rng.Float64() - 1) * math.MaxFloat64, rng.NormFloat64() + 9*float64(i%2)}
	}
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		if f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 3, Relation: rel, Epsilon: 3, Delta: delta, Noise: fresh}); f.NoRelease == nil && f.Model == nil {
			t.Error("neither a model nor a reason")
		}
	}
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2, histograms
// of gaps included; some paths lose a good part of it.
func TestReplay(t *testing.T) {
	rng := newRand(t)
	for _, rel := range relations {
		most := 0.0
		for i, s := range settings {
			s.from.Columns, s.from.Components = s.d, s.k
			truth := estimatetest.Truth(t, rng, s.from)
			rows := estimatetest.Draw(t, truth, s.n, rng)
			for j, row := range strays(truth) {
				if (i+j)%4 != 0 && !estimatetest.Long() {
					continue
				}
				other := append([][]float64{row}, rows[1:]...)
				if rel == privacy.AddRemoveOne {
					other = append(slices.Clone(rows), row)
				}
				c := estimatetest.Case{Rows: rows, Columns: s.d, Relation: rel, Epsilon: 1, Delta: delta, Noise: kerneltest.Options{Seed: rng.Uint64()}}
				if s.asked {
					c.Components = s.k
				}
				f, loss := estimatetest.Neighbours(t, tested, c, other)
				limit := math.Pow(f.Session.Mu(), 2)
				if most = max(most, loss.Path/limit); loss.Path > limit*(1+1e-9) {
					t.Errorf("%v %+v: a path loses mu^2 = %v of %v: %v", rel, s, loss.Path, limit, loss.ByStep)
				}
				if t.Failed() {
					t.Fatalf("%v %+v, another row %v", rel, s, row)
				}
			}
		}
		if t.Logf("%v: a path loses up to %.3f of mu^2", rel, most); most < leastPath[rel] {
			t.Errorf("%v: no path loses more than %.3f of mu^2: the test sees too little of the fit", rel, most)
		}
	}
}

// leastPath is the part of mu^2 that some path loses, at least.
var leastPath = map[privacy.Relation]float64{privacy.ReplaceOne: .2, privacy.AddRemoveOne: .4}

// TestReplayOfHardTables: the same for tables that no mixture explains, where fits end early, zoom
// in on atoms, or find nothing.
func TestReplayOfHardTables(t *testing.T) {
	rng := newRand(t)
	for i, table := range estimatetest.Hard() {
		for j, rel := range relations {
			if (i+j)%2 != 0 && !estimatetest.Long() {
				continue
			}
			for m, c := range []struct{ d, n, k int }{{1, 500, 2}, {2, 400, 0}} {
				if (i/4+m)%2 != 0 && !estimatetest.Long() {
					continue
				}
				rows := table.Rows(rng, c.n, c.d)
				for l, v := range []float64{1e308, 7} {
					if (i/2+l)%2 != 0 && !estimatetest.Long() {
						continue
					}
					row := slices.Repeat([]float64{v}, c.d)
					other := append([][]float64{row}, rows[1:]...)
					if rel == privacy.AddRemoveOne {
						other = append(slices.Clone(rows), row)
					}
					what := fmt.Sprintf("%v, %s, d = %d, another row of %v", rel, table.Name, c.d, v)
					f, loss := estimatetest.Neighbours(t, tested, estimatetest.Case{Rows: rows, Columns: c.d, Relation: rel, Epsilon: 1, Delta: delta,
						Components: c.k, Noise: kerneltest.Options{Seed: rng.Uint64()}}, other)
					if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
						t.Errorf("a path loses mu^2 = %v of %v: %v", loss.Path, limit, loss.ByStep)
					}
					if t.Failed() {
						t.Fatal(what)
					}
				}
			}
		}
	}
}
