package columns

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// spread runs SpreadByPairs and FindCenters as a fit would, and checks what they spend. spent is
// the part of the centres' mu^2.
func spread(t *testing.T, rows [][]float64, rel privacy.Relation, eps float64, find bool) (u Units, asked int) {
	t.Helper()
	d, n := len(rows[0]), float64(len(rows))
	plan := kernel.Plan{Method: "stagezero", Steps: append(UnitsSteps("", .5, .5), SpreadStep.In("", .5), CentersStep.In("", .5))}
	terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: eps, Delta: 1e-6}}
	s := kerneltest.Open(t, kerneltest.Table(rows, d, terms.Relation), plan, terms, kerneltest.Options{Fresh: true})
	mu2 := s.Mu() * s.Mu()
	share, _ := SpreadShare(d, n, mu2, SpreadPart)
	center, _ := CenterShare(rel, d, n, mu2)
	cfg := UnitsConfig{CenterMu2: center * mu2, ScaleMu2: ScalePart * mu2}
	u, err := SpreadByPairs(s.SubBudget(), cfg, n, share*mu2)
	if err != nil {
		t.Fatal(err)
	}
	if find {
		if err := u.FindCenters(s.SubBudget(), "", n, cfg.CenterMu2); err != nil {
			t.Fatal(err)
		}
	}
	limits := map[string]float64{"spread": share, "center": center, "place": center, "varied": ScalePart, "scale": ScalePart * (1 - VariedPart) * againFactor}
	for _, m := range s.Measurements() {
		if spent := float64(m.Count) * m.Mu * m.Mu; !(spent <= limits[m.Step]*mu2*(1+1e-6)) {
			t.Errorf("%s spent %v of %v", m.Step, spent, limits[m.Step]*mu2)
		}
		if m.Step == "place" {
			asked = m.Count
		}
	}
	if asked > centerQueries {
		t.Errorf("%d questions for the centres, want %d at most", asked, centerQueries)
	}
	return u, asked
}

// relations are both of them: the estimators use pairs under replace-one, where they are cheap, but
// they work under both. Under add-or-remove-one .3 n rows find a partner, not .5 n, which
// SpreadShare does not count on: tables are twice as long there.
var relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}

func gaussianRows(n int, mean, sd []float64) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		for j := range mean {
			rows[i] = append(rows[i], mean[j]+sd[j]*rand.NormFloat64())
		}
	}
	return rows
}

// TestSpreadUnits: Gaussian columns of any unit: the scale is within two octaves of a quarter to
// one sd, whatever the mean. What the noise moves needs seenSDs of it in one of 2098 octaves of a
// column: 2e-6 x 2098 for one wrong octave if none were clear, and here the right one is expected
// at several times that.
func TestSpreadUnits(t *testing.T) {
	sd := []float64{1e-150, 1e-30, 1, 3e40, 1e150}
	mean := []float64{1e-149, 0, -1e6, 0, -1e151}
	for _, rel := range relations {
		for range 5 {
			u, _ := spread(t, gaussianRows(8000, mean, sd), rel, 1, false)
			for j, s := range sd {
				if r := u.Scale[j] / s; u.Constant[j] || !(r > .1 && r < 2.5) || u.Center[j] != 0 {
					t.Errorf("%v: column %d: scale %v sds, constant %v, centre %v", rel, j, r, u.Constant[j], u.Center[j])
				}
			}
		}
	}
}

// TestSpreadNearRun: the two ways to find scales agree within two octaves.
func TestSpreadNearRun(t *testing.T) {
	rows := gaussianRows(6000, []float64{0, 5, -1e3}, []float64{1, 1e-7, 1e9})
	for _, rel := range relations {
		u, _ := spread(t, rows, rel, 4, false)
		v := run(t, rows, rel, 4)
		for j := range u.Scale {
			if r := u.Scale[j] / v.Scale[j]; r < .25 || r > 4 {
				t.Errorf("%v: column %d: %v by pairs, %v by Run", rel, j, u.Scale[j], v.Scale[j])
			}
		}
	}
}

// TestSpreadUnclear: among clear columns, those without a clear spread go by way of Run: a constant
// gets its exact value, a column of NaN is constant, and one that is zero in 85 of 100 rows has a
// scale.
func TestSpreadUnclear(t *testing.T) {
	const n = 12000
	constants := []float64{0, -7.25, 0x1p1000, 5e-324, math.MaxFloat64}
	for _, find := range []bool{false, true} {
		for _, rel := range relations {
			rows := gaussianRows(n, []float64{3, -1e9}, []float64{1, 1e8})
			for i := range rows {
				sparse := 0.0
				if rand.Float64() < .15 {
					sparse = 1e20 * (5 + rand.NormFloat64())
				}
				rows[i] = append(append(rows[i], sparse), constants...)
			}
			rows[5][3], rows[6][7] = 1e308, -1e308
			u, _ := spread(t, rows, rel, 4, find)
			for j, c := range constants {
				if k := j + 3; !u.Constant[k] || u.Center[k] != c || u.Scale[k] != 1 {
					t.Errorf("%v: column of %v: constant %v, centre %v, scale %v", rel, c, u.Constant[k], u.Center[k], u.Scale[k])
				}
			}
			for j, s := range []float64{1, 1e8, 5e20} {
				if r := u.Scale[j] / s; u.Constant[j] || !(r > .1 && r < 2.5) {
					t.Errorf("%v: column %d: scale %v, constant %v", rel, j, u.Scale[j], u.Constant[j])
				}
			}
			if c := u.Center[2]; math.Abs(c) > u.Scale[2] || c != 0 && rel == privacy.ReplaceOne {
				t.Errorf("%v: the centre of a sparse column is %v", rel, c)
			}
		}
	}
}

// TestSpreadHard: tables in which there is nothing to find end in a number, and in nothing else.
func TestSpreadHard(t *testing.T) {
	wild := make([][]float64, 500)
	missing := make([][]float64, 500)
	for i := range wild {
		wild[i] = []float64{math.Copysign(math.MaxFloat64, rand.Float64()-.5), math.Float64frombits(rand.Uint64())}
		missing[i] = []float64{math.NaN(), rand.NormFloat64()}
	}
	tables := map[string][][]float64{
		"two rows": {{1, 2}, {3, 4}}, "one row": {{1, 2}}, "few rows": gaussianRows(40, []float64{0, 1e9}, []float64{1, 1}),
		"wild": wild, "missing": missing, "no unit": gaussianRows(500, []float64{0, 0}, []float64{5e-324, 1e308}),
	}
	for name, rows := range tables {
		for _, rel := range relations {
			for _, eps := range []float64{.1, 1, 1e4} {
				u, _ := spread(t, rows, rel, eps, true)
				for j := range u.Scale {
					if !(u.Scale[j] > 0) || math.IsInf(u.Scale[j], 0) || math.IsNaN(u.Center[j]) || math.IsInf(u.Center[j], 0) {
						t.Errorf("%s, %v, epsilon %v: column %d: centre %v, scale %v", name, rel, eps, j, u.Center[j], u.Scale[j])
					}
				}
			}
		}
	}
}

// TestSpreadOneNaNColumn: rows with a missing value count for nothing, in every column.
func TestSpreadOneNaNColumn(t *testing.T) {
	rows := gaussianRows(8000, []float64{0, 0}, []float64{1, 1e10})
	for i := range rows {
		if i%3 == 0 {
			rows[i][0] = math.NaN()
		}
	}
	for _, rel := range relations {
		u, _ := spread(t, rows, rel, 2, true)
		for j, s := range []float64{1, 1e10} {
			if r := u.Scale[j] / s; u.Constant[j] || !(r > .1 && r < 2.5) {
				t.Errorf("%v: column %d: scale %v sds, constant %v", rel, j, r, u.Constant[j])
			}
		}
	}
}

// TestRunOnAsksNothingElse: a search of some columns asks nothing of the others, and with all of
// them it is Run.
func TestRunOnAsksNothingElse(t *testing.T) {
	rows := gaussianRows(3000, []float64{1, 2, 3}, []float64{1, 1, 0})
	ask := func(is []bool) (u Units, asked kerneltest.Transcript) {
		plan := kernel.Plan{Method: "stagezero", Steps: UnitsSteps("", .5, .5)}
		terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 8, Delta: 1e-6}}
		s := kerneltest.Open(t, kerneltest.Table(rows, 3, terms.Relation), plan, terms, kerneltest.Options{Seed: 1, Record: &asked})
		cfg := UnitsConfig{CenterMu2: .4 * s.Mu() * s.Mu(), ScaleMu2: .4 * s.Mu() * s.Mu()}
		var err error
		if is == nil {
			u, err = MeasureUnits(s.SubBudget(), cfg)
		} else {
			u, err = MeasureUnitsOf(s.SubBudget(), cfg, is)
		}
		if err != nil {
			t.Fatal(err)
		}
		return u, asked
	}
	u, asked := ask([]bool{false, true, false})
	if len(asked.Queries) == 0 {
		t.Fatal("nothing was asked")
	}
	for i, q := range asked.Queries {
		if at := slices.Concat(q.(query.Counts).Edges...); !math.IsNaN(at[0]) || math.IsNaN(at[1]) || !math.IsNaN(at[2]) {
			t.Errorf("question %d, %s: thresholds %v", i, asked.Steps[i], at)
		}
	}
	if math.Abs(u.Center[1]-2) > .5 || !(u.Scale[1] > .2 && u.Scale[1] < 2.5) {
		t.Errorf("centre %v, scale %v", u.Center[1], u.Scale[1])
	}
	a, first := ask(nil)
	b, second := ask([]bool{true, true, true})
	if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(first.Mus, second.Mus) || !reflect.DeepEqual(first.Answers, second.Answers) {
		t.Errorf("Run found %+v, runOn with all columns %+v", a, b)
	}
}

func TestSpreadShare(t *testing.T) {
	if share, ok := SpreadShare(5, 1e6, .056, SpreadPart); share != leastSpreadPart || !ok {
		t.Errorf("a long table: share %v, %v", share, ok)
	}
	if share, ok := SpreadShare(5, 100, .056, SpreadPart); share != SpreadPart || ok {
		t.Errorf("a short table: share %v, %v", share, ok)
	}
	last := 1.0
	for n := 10.0; n < 1e7; n *= 1.5 {
		share, ok := SpreadShare(20, n, .056, SpreadPart)
		if share > last || share < leastSpreadPart || share > SpreadPart || ok != (share < SpreadPart) {
			t.Errorf("%v rows: share %v (%v) after %v", n, share, ok, last)
		}
		last = share
	}
	if share, ok := SpreadShare(3, 0, .056, SpreadPart); math.IsNaN(share) || ok {
		t.Errorf("no rows: share %v, %v", share, ok)
	}
}
