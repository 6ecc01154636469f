package gauze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/source"
)

// smokers are rows of two groups at 0 and 9, of which .2 and .7 smoke; .05 do not say so.
func smokers(rng *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("x,smoker,ward,y\n")
	for range n {
		at, p, ward := 0., .2, "aab"[rng.IntN(3)]
		if rng.IntN(2) == 1 {
			at, p, ward = 9, .7, "abb"[rng.IntN(3)]
		}
		smoker := []string{"No", "0", "false"}[rng.IntN(3)]
		if rng.Float64() < p {
			smoker = []string{"yes", "1", "TRUE"}[rng.IntN(3)]
		}
		if rng.IntN(20) == 0 {
			smoker = ""
		}
		fmt.Fprintf(&b, "%g,%s,%c,%g\n", at+rng.NormFloat64(), smoker, ward, at+rng.NormFloat64())
	}
	return b.String()
}

// TestYesNo: in a mixture the values of yes and no are counted in each component, between other
// columns of categories or without any, and do not make components of their own; its plan can be
// made again. For one Gaussian, and where no number would be left, they are numbers. False alarms:
// below 1e-6.
func TestYesNo(t *testing.T) {
	text := smokers(rand.New(rand.NewPCG(stattest.Seed(t), 1)), 12000)
	x, smoker, y := source.Column{Name: "x"}, source.Column{Name: "smoker", Kind: source.YesNo}, source.Column{Name: "y"}
	ward := source.Column{Name: "ward", Kind: source.Categories, Categories: []string{"a", "b"}}
	found := source.Column{Name: "ward", Kind: source.Categories, Find: true}
	budget := privacy.Budget{Epsilon: 2, Delta: 1e-6}
	for _, c := range []struct {
		r       Request
		columns []source.Column
		counted bool
	}{
		{Request{Budget: budget}, []source.Column{x, smoker, y}, true},
		{Request{Budget: budget, Relation: privacy.AddRemoveOne}, []source.Column{smoker, ward, x, y}, true},
		{Request{Budget: budget, Method: "axis-aligned", Components: 2}, []source.Column{ward, x, smoker}, true},
		{Request{Budget: budget}, []source.Column{x, smoker, found, y}, true},
		{Request{Budget: budget, Components: 1}, []source.Column{x, smoker, y}, false},
		{Request{Budget: budget, Method: MethodProfile}, []source.Column{x, smoker}, false},
		{Request{Budget: privacy.Budget{Rho: .2}, Method: "gaussian"}, []source.Column{x, smoker}, false},
		{Request{Budget: budget, Method: "univariate"}, []source.Column{smoker}, false},
	} {
		t.Run(fmt.Sprint(c.r.Method, c.r.Components, c.columns[0].Name, len(c.columns)), func(t *testing.T) {
			result := fitMixed(t, text, &source.Schema{Unit: source.NoUnit, Columns: c.columns}, c.r, nil)
			if result.Release == nil {
				t.Fatal(result.NoRelease)
			}
			out := reread(t, result.Release)
			if v := Verify(out); v.Faults != nil || !v.Replanned {
				t.Fatalf("it does not verify: %v", v)
			}
			stated := out.Named("smoker")
			if stated.Kind != source.YesNo || stated.Categorical() != c.counted {
				t.Fatalf("the column is %+v", stated)
			}
			if !c.counted {
				return
			}
			m := out.Model
			if got := m.Header(); len(got) != len(c.columns) {
				t.Fatalf("the columns are %q", got)
			}
			groups, _ := m.Split()
			if len(groups) != 2 {
				t.Errorf("%d components", len(groups))
			}
			of := m.Categories[slices.IndexFunc(m.Categories, func(o model.Category) bool { return o.Name == "smoker" })]
			if !slices.Equal(of.Values, []string{"0", "1", ""}) {
				t.Fatalf("values %q", of.Values)
			}
			for _, i := range groups {
				want := .95 * .2
				if m.Components[i].Mean[0] > 4.5 {
					want = .95 * .7
				}
				if p := of.Probabilities[i]; math.Abs(p[1]-want) > .06 || math.Abs(p[2]-.05) > .04 {
					t.Errorf("component at %.1f: %.3f, want %.3f and .05", m.Components[i].Mean[0], p, want)
				}
			}
		})
	}
}
