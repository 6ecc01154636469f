package general

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// TestApart: two and three clusters of eight columns, 30 and 1e5 sds apart along one of them, are
// found with their number open, TV below .25, in 19 of 20 fits, which two of eight contradict.
//
// False-alarm rate: 1e-6.
func TestApart(t *testing.T) {
	rng := newRand(t)
	near, all := 0, 0
	for _, rel := range relations {
		for _, gap := range []float64{30, 1e5} {
			for k := 2; k <= 3; k++ {
				var gs []model.Gaussian
				for i := range k {
					variances, mean := make([]float64, 8), make([]float64, 8)
					for j := range variances {
						variances[j] = rng.Float64() + .5
					}
					mean[3] = gap * float64(i)
					cov, err := model.NewDiagonal(variances)
					if err != nil {
						t.Fatal(err)
					}
					gs = append(gs, model.Gaussian{Mean: mean, Cov: cov})
				}
				truth, err := model.New(nil, nil, gs)
				if err != nil {
					t.Fatal(err)
				}
				f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: estimatetest.Draw(t, truth, 6000*k, rng), Columns: 8, Relation: rel,
					Epsilon: 1, Delta: boxedDelta, Noise: fresh})
				tv := 1.0
				if f.Model != nil {
					tv, _ = estimatetest.TV(t, truth, withoutBackground(t, f), 4000, rng)
				}
				if all++; tv < .25 && components(f) == k {
					near++
				} else {
					t.Logf("%v, %d clusters %v apart: TV %.3f, %d found", rel, k, gap, tv, components(f))
				}
			}
		}
	}
	t.Logf("%d of %d", near, all)
	stattest.GoodAtLeast(t, near, all, .95, 1e-6)
}

// TestFarBesideNear: most rows are in two clusters near each other, so that no column's whole
// spread tells of the third, far off; pairs of rows far apart do.
//
// False-alarm rate: 1e-5 if two fits in a hundred miss it.
func TestFarBesideNear(t *testing.T) {
	rng := newRand(t)
	found := 0
	for _, rel := range relations {
		for _, gap := range []float64{40, 100, 1e4, 1e7} {
			round, err := model.NewDiagonal([]float64{1, 1})
			if err != nil {
				t.Fatal(err)
			}
			truth, err := model.New(nil, []float64{.4, .35, .25},
				[]model.Gaussian{{Mean: []float64{0, 0}, Cov: round}, {Mean: []float64{6, 4}, Cov: round}, {Mean: []float64{gap, .8 * gap}, Cov: round}})
			if err != nil {
				t.Fatal(err)
			}
			f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: estimatetest.Draw(t, truth, 12000, rng), Columns: 2, Relation: rel,
				Epsilon: 1, Delta: boxedDelta, Noise: fresh})
			if f.Model == nil {
				continue
			}
			tv, _ := estimatetest.TV(t, truth, withoutBackground(t, f), 4000, rng)
			t.Logf("%v, %v apart: TV %.3f, %d found", rel, gap, tv, components(f))
			if tv < .2 {
				found++
			}
		}
	}
	if found < 5 {
		t.Errorf("all three clusters in %d of 8 fits", found)
	}
}

// TestApartReplay: where components are looked for level by level, which goes on to boxes where a
// delta pays for them, or, in a short table, column by column, a fit's questions are functions of
// its answers as well, and no path loses more than mu^2. The rows that differ take turns, unless
// GAUZE_LONG is set.
func TestApartReplay(t *testing.T) {
	rng := newRand(t)
	fits, levels, short := 0, 0, 0
	all := estimatetest.Draw(t, tiny(t, []float64{0, 0, 0}, []float64{3, 0, 0}, []float64{0, 4, 0}), 7000, rng)
	for r, rel := range relations {
		for i, v := range []float64{1e308, math.NaN(), 0, 1e6, 1e308, 1, 1e308, math.NaN(), 1} {
			if (r+i)%2 != 0 && !estimatetest.Long() {
				continue
			}
			fits++
			rows, boxes := all, i == 4 || i == 5
			if i > 5 {
				rows = all[:5000]
			}
			row := slices.Repeat([]float64{v}, 3)
			other := append([][]float64{row}, rows[1:]...)
			if rel == privacy.AddRemoveOne {
				other = append(slices.Clone(rows), row)
			}
			c := estimatetest.Case{Rows: rows, Columns: 3, Relation: rel, Mu: muOne, Noise: kerneltest.Options{Seed: rng.Uint64()}}
			if boxes {
				c.Mu, c.Epsilon, c.Delta = 0, 1, boxedDelta
			}
			f, loss := estimatetest.Neighbours(t, tested, c, other)
			if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
				t.Errorf("%v, another row of %v: a path loses mu^2 = %v of %v: %v", rel, v, loss.Path, limit, loss.ByStep)
			}
			asked := func(step string) bool {
				return slices.ContainsFunc(f.Session.Measurements(), func(m kernel.Measurement) bool { return m.Step == step })
			}
			switch {
			case isBoxed(f):
			case asked(prefixApart + "trees of counts"):
				levels++
			case asked(stepColumns.Name):
				short++
			}
		}
	}
	if 3*levels < fits || 9*short < 2*fits {
		t.Errorf("of %d fits %d were made level by level, %d column by column: the test sees too little", fits, levels, short)
	}
}

// TestCoarseGoesToBoxes: pairs of clusters so far apart that each is narrower than the cells of the
// first tree are looked for by boxes; levels would leave them cells that rounds cannot shrink.
func TestCoarseGoesToBoxes(t *testing.T) {
	for seed := range uint64(4) {
		x, err := madeup.Plain{Components: 8, Columns: 3, Placement: madeup.Paired, Distance: 60}.Draw(seed, 12000)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([][]float64, 12000)
		for i := range rows {
			rows[i] = x.Rows.RawRowView(i)
		}
		f := estimatetest.RunChecked(t, tested, estimatetest.Case{Rows: rows, Columns: 3, Epsilon: 1, Delta: boxedDelta, Noise: kerneltest.Options{Exact: true}})
		if tv, _ := estimatetest.TV(t, x.Truth, withoutBackground(t, f), 4000, newRand(t)); !isBoxed(f) || tv > .1 {
			t.Errorf("instance %d: boxed: %v, TV %.3f", seed, isBoxed(f), tv)
		}
	}
}
