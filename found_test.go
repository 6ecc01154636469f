package gauze

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/categories"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/shards"
)

// foundSchema is mixedSchema with the values of ward, and of a column of names, not declared.
func foundSchema() *source.Schema {
	s := mixedSchema()
	s.Columns[0].Categories, s.Columns[0].Find = nil, true
	s.Columns = append(s.Columns, source.Column{Name: "pid", Kind: source.Categories, Find: true})
	return s
}

// TestFoundValues: with every method, under both relations, in memory and on disk, wards that are
// not declared are found, each group has its own, names that few rows have are never shown, and the
// release verifies. A part of delta is charged in plan and certificate.
func TestFoundValues(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 1)), 16000)
	if categories.Other != source.OtherValue {
		t.Fatal("two words for other values")
	}
	for _, c := range []struct {
		method     string
		components int
		relation   privacy.Relation
		room, unit bool
	}{
		{method: "auto"}, {method: "general", relation: privacy.AddRemoveOne}, {method: "separated", components: 2}, {method: "axis-aligned", components: 2, room: true},
		{method: "black-box", components: 2}, {method: "gaussian", components: 1}, {method: "heavy-tailed", components: 1, relation: privacy.AddRemoveOne}, {method: "auto", unit: true},
		{method: MethodProfile},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			r := Request{Method: c.method, Components: c.components, Relation: c.relation, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}
			schema := foundSchema()
			if c.unit {
				schema.Unit, schema.Columns = "pid", schema.Columns[:4]
			}
			var keep func(*Input)
			if c.room {
				keep = func(in *Input) { in.Keep(shards.New(0, t.TempDir())) }
			}
			result := fitMixed(t, text, schema, r, keep)
			if result.Release == nil {
				t.Fatalf("no release: %v", result.NoRelease)
			}
			out := reread(t, result.Release)
			if v := Verify(out); v.Faults != nil || !v.Replanned {
				t.Fatalf("it does not verify: %v", v)
			}
			ward := out.Named("ward")
			if got := slices.Sorted(slices.Values(ward.Categories)); !ward.Find || !slices.Equal(got, []string{"(other)", "a", "b", "c"}) {
				t.Errorf("the wards found are %q", ward.Categories)
			}
			if pid := out.Named("pid"); !c.unit && !slices.Equal(pid.Categories, []string{"(other)"}) {
				t.Errorf("names that two rows have are shown: %q", pid.Categories)
			}
			i := slices.IndexFunc(out.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == categories.StepValues })
			if i < 0 || !(out.Certificate.Plan[i].Delta > 0) || out.Certificate.Spent.Delta > 1e-6 {
				t.Fatalf("the certificate is %+v", out.Certificate)
			}
			if out.Model == nil {
				return
			}
			whole := make([]float64, len(ward.Categories)+1)
			for i, w := range out.Model.Weights {
				for v, p := range out.Model.Categories[0].Probabilities[i] {
					whole[v] += w * p
				}
			}
			want := map[string]float64{"a": .4*.7 + .6*.1, "b": .4*.2 + .6*.1, "c": .4*.1 + .6*.8, "(other)": 0, "": 0}
			for v, value := range out.Model.Categories[0].Values {
				if math.Abs(whole[v]-want[value]) > .05 {
					t.Errorf("ward %q has %v of the rows, want %v", value, whole[v], want[value])
				}
			}
		})
	}
}

// TestFoundValuesNeedDelta: what pays for no threshold, and groups, are refused before a row is
// read, with the reason.
func TestFoundValuesNeedDelta(t *testing.T) {
	r := Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: .5}, Columns: foundSchema().Columns}
	if _, err := Plan(r, 10000); err == nil || !strings.Contains(err.Error(), "stability thresholds") {
		t.Errorf("a budget without delta: %v", err)
	}
	schema := foundSchema()
	schema.By = []source.Grouping{{Name: "clinic", Categories: []string{"n", "s"}}}
	in, err := Open("-", strings.NewReader(clinics(rand.New(rand.NewPCG(1, 1)), 100)), schema)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.LoadGroups(nil); err == nil || !strings.Contains(err.Error(), "declared values beside groups") {
		t.Errorf("groups: %v", err)
	}
	in, err = Open("-", strings.NewReader(clinics(rand.New(rand.NewPCG(1, 1)), 100)), foundSchema())
	if err != nil {
		t.Fatal(err)
	}
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: foundSchema().Columns}
	r.Columns[0].Find, r.Columns[0].Categories = false, []string{"a"}
	if _, err := Fit(context.Background(), table, r); err == nil || !strings.Contains(err.Error(), "categories to be found where the table was loaded for that") {
		t.Errorf("another schema: %v", err)
	}
}

// TestFoundValuesAltered: a certificate that finds fewer columns than the release has, or a release
// that hides that its values were found, does not verify.
func TestFoundValuesAltered(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 1)), 6000)
	result := fitMixed(t, text, foundSchema(), Request{Method: "gaussian", Components: 1, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}}, nil)
	if result.Release == nil {
		t.Fatalf("no release: %v", result.NoRelease)
	}
	at := func(r *release.Release) *release.PlanStep {
		return &r.Certificate.Plan[slices.IndexFunc(r.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == categories.StepValues })]
	}
	for name, alter := range map[string]func(*release.Release){
		"nothing":    func(*release.Release) {},
		"hidden":     func(r *release.Release) { r.Columns[0].Find = false },
		"all hidden": func(r *release.Release) { r.Columns[0].Find, r.Columns[4].Find = false, false },
		"too many":   func(r *release.Release) { r.Columns[3].Find = true },
		"fewer": func(r *release.Release) {
			at(r).Shape.Of = 1
			at(r).Sensitivity /= math.Sqrt2
			at(r).Noise /= math.Sqrt2
		},
		"no threshold": func(r *release.Release) { at(r).Delta = 0 },
		"less delta":   func(r *release.Release) { at(r).Delta /= 2 },
		"not asked": func(r *release.Release) {
			r.Certificate.Plan = slices.DeleteFunc(r.Certificate.Plan, func(s release.PlanStep) bool { return s.Step == categories.StepValues })
		},
	} {
		own := reread(t, result.Release)
		alter(own)
		if v := Verify(own); (v.Faults == nil) != (name == "nothing") {
			t.Errorf("%s: %v", name, v.Faults)
		}
	}
}

// TestFoundValuesForgetTheOrder: which texts come first decides nothing: a table and its rows in
// another order have releases of the same values, in the order of their noisy counts.
func TestFoundValuesForgetTheOrder(t *testing.T) {
	text := clinics(rand.New(rand.NewPCG(stattest.Seed(t), 1)), 8000)
	lines := strings.SplitAfter(text, "\n")
	slices.Reverse(lines[1 : len(lines)-1])
	for _, text := range []string{text, strings.Join(lines, "")} {
		result := fitMixed(t, text, foundSchema(), Request{Method: "gaussian", Components: 1, Budget: privacy.Budget{Epsilon: 8, Delta: 1e-6}}, nil)
		if result.Release == nil {
			t.Fatalf("no release: %v", result.NoRelease)
		}
		if got := result.Release.Named("ward").Categories; !slices.Equal(got, []string{"c", "a", "b", source.OtherValue}) {
			t.Errorf("the wards are %q", got)
		}
	}
}

// TestRefusalOffersCategories: a refusal of a table with whole numbers says how many of them, as
// categories, the rows can pay for, and that plan is not refused.
func TestRefusalOffersCategories(t *testing.T) {
	r := Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: Named("amount", "a", "b", "c", "d", "e", "f")}
	for i := 1; i < len(r.Columns); i++ {
		r.Columns[i].Kind = source.Counts
	}
	_, err := Plan(r, 800)
	var refusal *estimate.Refusal
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(refusal.Advice, "would do with: ")
	n := 0
	for i := range r.Columns {
		if strings.Contains(text, fmt.Sprintf("%d columns of whole numbers as categories", i)) {
			n = i
		}
	}
	if !found || n == 0 {
		t.Fatalf("no offer in %q", refusal.Advice)
	}
	if strings.Contains(text, "gauze describe") {
		t.Errorf("a profile without a figure is offered: %q", text)
	}
	for i := len(r.Columns) - n; i < len(r.Columns); i++ {
		r.Columns[i] = source.Column{Name: r.Columns[i].Name, Kind: source.Categories, Categories: []string{"1", "2", "3"}}
	}
	if _, err := Plan(r, 800); err != nil {
		t.Error(err)
	}
	for i := range 12 {
		r.Columns = append(Named(fmt.Sprintf("n%d", i)), r.Columns...)
	}
	if _, err := Plan(r, 800); err == nil || !strings.Contains(err.Error(), "gauze describe, which gives the shares of categories") {
		t.Errorf("categories beside too many numbers: %v", err)
	}
	r.Method = MethodProfile
	if _, err := Plan(r, 800); err != nil {
		t.Errorf("what was offered is refused: %v", err)
	}
}
