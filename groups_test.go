package gauze

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// wards are four groups, one of which has 40 persons, of one to three rows each.
func wards(t *testing.T) string {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	var b strings.Builder
	b.WriteString("pid,sex,ward,x,y\n")
	for g, n := range []int{3000, 40, 4000, 5000} {
		for p := range n {
			for range 1 + rng.IntN(3) {
				fmt.Fprintf(&b, "%d-%d,%s,%s,%g,%g\n", g, p, "fm"[g/2:g/2+1], "ab"[g%2:g%2+1], 100*float64(g)+rng.NormFloat64(), rng.NormFloat64())
			}
		}
	}
	b.WriteString("odd,q,a,1,1\n")
	return b.String()
}

// fitWards fits the groups of such a table.
func fitWards(t *testing.T, relation privacy.Relation, b privacy.Budget, unit string) *Result {
	schema := &source.Schema{Unit: cmp.Or(unit, source.NoUnit), Columns: []source.Column{{Name: "x"}, {Name: "y"}},
		By: []source.Grouping{{Name: "sex", Categories: []string{"f", "m"}}, {Name: "ward", Categories: []string{"a", "b"}}}}
	in, err := Open("-", strings.NewReader(wards(t)), schema)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := in.LoadGroups(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := in.Request()
	r.Relation, r.Budget, r.Components = relation, b, 1
	part := 0.
	r.Observe = func(_ string, p float64) {
		if part = max(part, p); p > 1+1e-9 {
			t.Errorf("%g of the budget is spent", p)
		}
	}
	result, err := FitGroups(t.Context(), *groups, r)
	if err != nil || part < .9 {
		t.Fatalf("%v, spent %g", err, part)
	}
	return result
}

// Four groups: three models and one no release, under one certificate that verifies, is written and
// read, and in which every change that lowers what it cost is found.
func TestFitGroups(t *testing.T) {
	for _, b := range []privacy.Budget{{Epsilon: 2, Delta: 1e-7}, {Rho: .1}} {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			result := fitWards(t, relation, b, "pid")
			r := result.Release
			if r == nil || len(r.Groups) != 4 || r.Groups[1].NoRelease == nil {
				t.Fatalf("%v: got %+v", relation, result)
			}
			for i, want := range []float64{3000, 0, 4000, 5000} {
				g := &r.Groups[i]
				if want == 0 {
					continue
				}
				if g.Model == nil || math.Abs(g.Rows-want) > 200 || math.Abs(g.Model.Components[0].Mean[0]-100*float64(i)) > 1 {
					t.Errorf("%v: group %s: %+v", relation, g.Name(r.Certificate.By), g)
				}
			}
			if rows := r.Certificate.Rows; (rows != nil) != (relation == privacy.ReplaceOne) || rows != nil && *rows != 12041 {
				t.Errorf("%v: the certificate has %v rows, want 12041 persons or none", relation, rows)
			}
			var file bytes.Buffer
			if err := release.Write(&file, r); err != nil {
				t.Fatal(err)
			}
			for name, change := range map[string]func(*release.Release){
				"":               func(*release.Release) {},
				"asked less":     func(r *release.Release) { r.Certificate.Epsilon /= 2; r.Certificate.Rho /= 2 },
				"less spent":     func(r *release.Release) { r.Certificate.Spent.Epsilon /= 2; r.Certificate.Spent.Rho /= 2 },
				"group less":     func(r *release.Release) { r.Groups[2].Spent.Mu /= 2 },
				"less noise":     func(r *release.Release) { r.Certificate.Plan[0].Noise /= 2 },
				"other group":    func(r *release.Release) { r.Certificate.Plan[0].Group = 3 },
				"no group":       func(r *release.Release) { r.Certificate.Plan[0].Group = 0 },
				"two of a name":  func(r *release.Release) { r.Groups[0].By = r.Groups[2].By },
				"a model lost":   func(r *release.Release) { r.Groups[0].Model = nil },
				"a model beside": func(r *release.Release) { r.Model = r.Groups[0].Model },
				"no columns":     func(r *release.Release) { r.Certificate.By = nil },
			} {
				read, err := release.Read(bytes.NewReader(file.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				change(read)
				if faults := release.Verify(read); (faults == nil) != (name == "") {
					t.Errorf("%v, %q: faults %v", relation, name, faults)
				}
			}
		}
	}
}

// Without a unit a row is a person; and rows of no group are in none.
func TestGroupsOfRows(t *testing.T) {
	r := fitWards(t, privacy.AddRemoveOne, privacy.Budget{Epsilon: 2, Delta: 1e-7}, "").Release
	if g := r.Groups[3]; math.Abs(g.Rows-10_000) > 500 || r.Certificate.Unit != "" {
		t.Errorf("%g rows in the last group, want about 10000", g.Rows)
	}
}

// A row that changes its group, or its values within one, costs no more than was promised, whatever
// the budget; with the whole budget for each group it would. The groups' counts are Gaussian with
// mu of what each may spend: a move changes two of them by one, a change within a group one by two.
func TestPriceOfGroups(t *testing.T) {
	for _, epsilon := range []float64{.1, .5, 1, 3, 8, 20} {
		for _, delta := range []float64{1e-4, 1e-7, 1e-12} {
			for name, whole := range map[string]bool{"divided": false, "whole": true} {
				b := privacy.Budget{Epsilon: epsilon, Delta: delta}
				if !whole {
					b = privacy.BudgetPerGroup(privacy.ReplaceOne, b)
				}
				mu := privacy.MuOf(b.Epsilon, b.Delta)
				for loss, times := range map[string]float64{"move": math.Sqrt2, "within": 2} {
					if got := privacy.DeltaOfMu(epsilon, times*mu); (got > delta*(1+1e-9)) != whole {
						t.Errorf("epsilon %g, %s, %s: delta %g, want %g at most, or more where each group has the whole", epsilon, name, loss, got, delta)
					}
				}
			}
		}
	}
	if all := privacy.LossOfGroups(privacy.ReplaceOne, []privacy.Loss{{Epsilon: .5, Delta: 1e-7, Mu: .1, Rho: .005}, {Epsilon: .4, Delta: 2e-7, Mu: .2, Rho: .02}}); all.Epsilon != 1 ||
		math.Abs(all.Delta-2e-7*(1+math.Exp(.5))) > 1e-18 || all.Mu != .4 || all.Rho != .08 {
		t.Errorf("together %+v", all)
	}
	if all := privacy.LossOfGroups(privacy.AddRemoveOne, []privacy.Loss{{Mu: .4, Rho: .08}, {}}); all.Rho != .08 || all.Mu != .4 {
		t.Errorf("together with a group that measured nothing: %+v", all)
	}
}
