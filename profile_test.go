package gauze

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// TestDescribe: table one of ages and a column that is nearly empty has the mean and the sd of the
// ages within six sds of their noise, which chance exceeds once in 10^8, and holds the other out by
// name.
func TestDescribe(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 11))
	rows := make([][]float64, 20_000)
	for i := range rows {
		rows[i] = []float64{math.Round(50 + 12*rng.NormFloat64()), math.NaN()}
		if i%200 == 0 {
			rows[i][1] = rng.NormFloat64()
		}
	}
	in, err := FromRows(rows, source.Column{Name: "age"}, source.Column{Name: "rare"})
	if err != nil {
		t.Fatal(err)
	}
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := in.Request()
	r.Relation, r.Budget = privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}
	result, err := Describe(t.Context(), table, r)
	if err != nil || result.Release == nil || len(result.Release.Profile) != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	age, rare := result.Release.Profile[0], result.Release.Profile[1]
	if age.Mean == nil || age.SD == nil || math.Abs(age.Mean.Value-50) > 6*age.Mean.Noise+.5 || math.Abs(age.SD.Value-12) > 6*age.SD.Noise+.3 {
		t.Errorf("ages: %+v, want a mean of 50 and an sd of 12", age)
	}
	if rare.HeldOut == "" || rare.Mean != nil {
		t.Errorf("a column with 100 values: %+v, want it held out", rare)
	}
}

// TestHeldOutByEveryMethod: a column of which 98 % is missing is held out of the model by name, by
// every method that people use; what the other columns have is there, since rows that lack that
// cell alone are whole, and table one stands beside the model.
func TestHeldOutByEveryMethod(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 12))
	rows := make([][]float64, 20_000)
	for i := range rows {
		rows[i] = []float64{50 + 10*rng.NormFloat64() + 400*float64(i%2), math.NaN(), -3 + rng.NormFloat64()}
		if i%50 == 0 {
			rows[i][1] = 1e6 + rng.NormFloat64()
		}
	}
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		in, err := FromRows(rows, source.Column{Name: "a"}, source.Column{Name: "rare"}, source.Column{Name: "b", RoundedTo: .001})
		if err != nil {
			t.Fatal(err)
		}
		table, err := in.Load(relation, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"", "gaussian", "heavy-tailed", "general", "separated"} {
			r := in.Request()
			r.Relation, r.Budget, r.Method = relation, privacy.Budget{Epsilon: 1, Delta: 1e-6}, method
			if method == "gaussian" || method == "heavy-tailed" {
				r.Components = 1
			}
			result, err := Fit(t.Context(), table, r)
			if err != nil || result.Release == nil {
				t.Errorf("%v, %q: %+v, %v", relation, method, result, err)
				continue
			}
			got := result.Release
			if m := got.Model; !slices.Equal(m.Columns, []string{"a", "b"}) || len(got.Profile) != 3 || got.Profile[1].HeldOut == "" || got.Profile[1].Mean != nil {
				t.Errorf("%v, %q: columns %v, profile %+v", relation, method, m.Columns, got.Profile)
			}
			if !slices.ContainsFunc(got.Diagnostics.Flags, func(f release.Flag) bool {
				return f.Code == flags.HeldOut && slices.Equal(f.Columns, []string{"rare"}) && math.Abs(f.Share-.02) < .05
			}) {
				t.Errorf("%v, %q: flags %v, want one that names the column", relation, method, got.Diagnostics.Flags)
			}
			mean := 0.0
			for i, w := range got.Model.Weights {
				mean += w * got.Model.Components[i].Mean[1]
			}
			if math.Abs(mean+3) > .3 {
				t.Errorf("%v, %q: mean %v of b, want -3", relation, method, mean)
			}
			if v := Verify(got); v.Faults != nil || !v.Replanned {
				t.Errorf("%v, %q: %v", relation, method, v)
			}
		}
	}
}

// TestProfileBesideModel: where rows are many the profile beside a model has quantiles near the
// table's own; where they are few the cells of every column are counted alone. The unit of an age
// is 1, and rarely half of that, on which whole numbers lie too; a wrong one is a failure.
func TestProfileBesideModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 13))
	for _, n := range []int{2000, 30_000} {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = []float64{math.Round(50 + 12*rng.NormFloat64()), rng.ExpFloat64()}
		}
		in, err := FromRows(rows, source.Column{Name: "age"}, source.Column{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		table, err := in.Load(privacy.ReplaceOne, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := in.Request()
		r.Relation, r.Budget = privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}
		result, err := Fit(t.Context(), table, r)
		if err != nil || result.Release == nil || len(result.Release.Profile) != 2 {
			t.Fatalf("%+v, %v", result, err)
		}
		age := result.Release.Profile[0]
		if math.Abs(age.Cells-1) > 6*age.CellsNoise {
			t.Errorf("%d rows: %+v, want all cells", n, age)
		}
		if few := age.HeldOut != ""; few != (n == 2000) {
			t.Errorf("%d rows: %+v", n, age)
		} else if !few && (age.Grid != 1 && age.Grid != .5 && age.Grid != 0 || math.Abs(age.Quantile(.5)-50) > 4 || math.Abs(age.Quantile(.9)-65.4) > 5) {
			t.Errorf("%d rows: %+v, want a median of 50", n, age)
		}
	}
}

// noReleaseForOdd fails the test unless a fit of one Gaussian ends without a release for the sake
// of the column odd. Of 1,500 fits of TestNoColumnKept 17 ended in a model, as the profile had not
// held the column out, and 22 for another reason: none of three is as wanted with a probability of
// 2e-5.
func noReleaseForOdd(t *testing.T, rows [][]float64, epsilon float64, columns ...source.Column) {
	t.Helper()
	for range 3 {
		in, err := FromRows(rows, columns...)
		if err != nil {
			t.Fatal(err)
		}
		table, err := in.Load(privacy.ReplaceOne, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := in.Request()
		r.Relation, r.Budget, r.Components = privacy.ReplaceOne, privacy.Budget{Epsilon: epsilon, Delta: 1e-6}, 1
		result, err := Fit(t.Context(), table, r)
		if err != nil {
			t.Fatal(err)
		}
		if result.NoRelease != nil && strings.HasPrefix(result.NoRelease.Reason, "column odd: ") {
			return
		}
		t.Logf("%v, %+v", result.Release, result.NoRelease)
	}
	t.Error("three fits did not end without a release for the sake of column odd")
}

// TestNoReleaseNamesColumn: where one column ends a fit, the reason has its name.
func TestNoReleaseNamesColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 14))
	rows := make([][]float64, 3000)
	for i := range rows {
		rows[i] = []float64{50 + 10*rng.NormFloat64(), 1e200 * rng.NormFloat64()}
	}
	noReleaseForOdd(t, rows, 1, source.Column{Name: "age"}, source.Column{Name: "odd"})
}

// TestNoColumnKept: where the only column is held out of the model for its values, the reason is
// not that it has too few.
func TestNoColumnKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 15))
	rows := make([][]float64, 4000)
	for i := range rows {
		if rows[i] = []float64{rng.NormFloat64()}; i%4 == 0 {
			rows[i][0] = 1e150 * rng.NormFloat64()
		}
	}
	noReleaseForOdd(t, rows, 3, source.Column{Name: "odd"})
}
