package gauze

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
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
