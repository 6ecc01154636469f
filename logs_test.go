package gauze

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// incomes are rows of ages and of incomes of two groups, whose logarithms are Gaussian; a tenth has
// none.
func incomes(rng *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("income,age\n")
	for range n {
		income, age := math.Exp(9+.5*rng.NormFloat64()), 30+5*rng.NormFloat64()
		if rng.IntN(3) == 0 {
			income, age = math.Exp(11+.3*rng.NormFloat64()), 50+5*rng.NormFloat64()
		}
		if rng.IntN(10) == 0 {
			income = 0
		}
		fmt.Fprintf(&b, "%.0f,%.1f\n", income, age)
	}
	return b.String()
}

// TestLogColumns: a column of logarithms is fitted under both relations, beside others and by table
// one; its release says the map, verifies, and what is drawn of it are whole numbers from 0 on with
// the table's quantiles, by the default none far above its largest. False alarms: below 1e-6, as
// bounds are six of the noise's standard deviations or more.
func TestLogColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	text := incomes(rng, 20000)
	schema := &source.Schema{Unit: source.NoUnit, Columns: []source.Column{{Name: "income", Kind: source.Logs, RoundedTo: 1}, {Name: "age"}}}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, method := range []string{"", "gaussian", MethodProfile} {
			result := fitMixed(t, text, schema, Request{Relation: r, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}, Method: method}, nil)
			if result.Release == nil {
				t.Fatalf("%v, %q: %+v", r, method, result.NoRelease)
			}
			var file bytes.Buffer
			if err := release.Write(&file, result.Release); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(file.String(), `\"income\" is fitted as log(1 + x)`) {
				t.Errorf("%v, %q: the release does not say the map", r, method)
			}
			back, err := release.Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			if v := Verify(back); v.Faults != nil {
				t.Errorf("%v, %q: %v", r, method, v.Faults)
			}
			for _, p := range back.Profile {
				if p.Name == "income" && p.Quantiles != nil && (p.Mean != nil || math.Abs(p.Quantiles["0.5"]-10050) > 1500) {
					t.Errorf("%v, %q: table one says %+v", r, method, p)
				}
			}
			if back.Model == nil {
				continue
			}
			s, err := model.NewSampler(back.Model)
			if err != nil {
				t.Fatal(err)
			}
			row, rich := make([]float64, 2), 0
			for range 10000 {
				s.Row(row, rng)
				if !(row[0] >= 0 && row[0] == math.Trunc(row[0]) && (method != "" || row[0] < 1e7)) {
					t.Fatalf("%v, %q: drew the income %v", r, method, row[0])
				}
				if row[0] > 30000 {
					rich++
				}
			}
			if method == "" && math.Abs(float64(rich)/10000-.3) > .06 {
				t.Errorf("%v: %d of 10000 have more than 30000, want about 3000", r, rich)
			}
		}
	}
}
