package gauze

import (
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// For mixtures a statement says what no method can promise: of the components asked for, or of as
// many as are allowed, and only where the number of rows is stated and no bound is known.
func TestStatementBoundsMixtures(t *testing.T) {
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		r := request(relation, budgets[0])
		r.Method, r.Components = "general", 3
		s, err := Plan(r, 20000)
		if err != nil {
			t.Fatal(err)
		}
		b := s.MixtureBound
		if b == nil || b.Components != 3 || b.TotalVariation < b.WithoutPrivacy || !(b.WithoutPrivacy > 0) || !(b.Rows > 10 && b.Rows < 20000) {
			t.Fatalf("%v: %+v", relation, b)
		}
		if !strings.Contains(s.String(), "on some mixtures of 3 components the mean total variation") {
			t.Errorf("%v: the text does not say so:\n%s", relation, s)
		}
		r.Components, r.MaxComponents = 0, 7
		if s, err = Plan(r, 20000); err != nil || s.MixtureBound == nil || s.MixtureBound.Components != 7 || s.MixtureBound.Rows <= b.Rows {
			t.Errorf("%v: up to seven components: %v, %+v", relation, err, s)
		}
		r.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 1}
		if s, err = Plan(r, 20000); err != nil || s.MixtureBound != nil {
			t.Errorf("%v: with a known bound: %v, %+v", relation, err, s)
		}
	}
	r := request(privacy.AddRemoveOne, budgets[0])
	r.Method, r.Components = "general", 3
	if s, err := Plan(r, 0); err != nil || s.MixtureBound != nil {
		t.Errorf("without a guess: %v, %+v", err, s)
	}
}

// A statement says what was measured on mixtures: of all numbers of components that are allowed, or
// of the next one measured, of the method as it was asked for.
func TestStatementExpectsMixtures(t *testing.T) {
	r := request(privacy.ReplaceOne, budgets[0])
	for _, c := range []struct {
		components, most int
		method           string
		want             []int
	}{{0, 10, "", []int{2, 5, 10}}, {0, 7, "auto", []int{2, 5}}, {3, 0, "auto", []int{5}}, {12, 0, "auto", []int{10}}, {0, 10, "separated", nil}} {
		r.Components, r.MaxComponents, r.Method = c.components, c.most, c.method
		s, err := Plan(r, 40_000)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, m := range s.Mixtures {
			if got = append(got, m.Components); !(m.TotalVariation > 0 && m.TotalVariation <= m.High && m.Plain > 0) && m.Note == "" {
				t.Errorf("%+v: %+v", c, m)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, c.want) || strings.Contains(s.String(), "number right") != (c.want != nil) {
			t.Errorf("%+v: components %v\n%s", c, got, s)
		}
	}
}
