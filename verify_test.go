package gauze

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

// TestVerifyEarlier: a release that does not say what was asked, or was planned by another edition,
// is consistent with a warning, which says whether some request would have had its measurements.
func TestVerifyEarlier(t *testing.T) {
	for _, method := range []string{"gaussian", "general", "univariate:kv18"} {
		r := releaseOf(t, method, privacy.ReplaceOne)
		if r == nil {
			continue
		}
		if v := Verify(r); v.Faults != nil || v.Warnings != nil || !v.Replanned {
			t.Errorf("%s: genuine: %+v", method, v)
		}
		asked := r.Certificate.Requested
		r.Certificate.Requested = nil
		if v := Verify(r); v.Faults != nil || v.Replanned || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "some request") {
			t.Errorf("%s: without what was asked: %+v", method, v)
		}
		plan := slices.Clone(r.Certificate.Plan)
		r.Certificate.Plan[1].Step = "look"
		if v := Verify(r); v.Faults != nil || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "no plan") {
			t.Errorf("%s: without what was asked, and a step changed: %+v", method, v)
		}
		other := *asked
		other.Plans++
		r.Certificate.Requested, r.Certificate.Plan = &other, plan
		if v := Verify(r); v.Faults != nil || v.Replanned || len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], fmt.Sprintf("edition %d", PlanEdition+1)) {
			t.Errorf("%s: another edition: %+v", method, v)
		}
	}
}

// TestExceptions: all that the promise does not cover is said in one place.
func TestExceptions(t *testing.T) {
	r := releaseOf(t, "gaussian", privacy.ReplaceOne)
	if v := Verify(r); len(v.Exceptions) != 1 || !strings.Contains(v.Exceptions[0], "delta is 0.001") {
		t.Errorf("a forced delta: %q", v.Exceptions)
	}
	c := &r.Certificate
	c.Schema, c.Simulated, c.Learner, c.Epsilon = release.SchemaInferred, true, &release.Learner{Name: release.OwnLearner}, 21
	got := strings.Join(Verify(r).Exceptions, "\n")
	for _, want := range []string{"inferred", "simulated", "not part of Gauze", "above 20", "delta"} {
		if !strings.Contains(got, want) {
			t.Errorf("no word of %s in %q", want, got)
		}
	}
}

// TestHiddenRowsNoContradiction: where none were counted outside of the model, and the noise hides
// so many that a flag says so, nothing contradicts that; an exact 0 does.
func TestHiddenRowsNoContradiction(t *testing.T) {
	m := modelOfAges(t)
	for noise, warnings := range map[float64]int{.02: 0, 0: 1} {
		r := &release.Release{Model: m, Certificate: release.Certificate{Method: "gaussian"}, Diagnostics: release.Diagnostics{
			Flags:       []release.Flag{{Code: flags.LeftOut, Noise: noise, Text: "up to about 6% of the rows may lie there unseen"}},
			Components:  []release.ComponentNote{{EffectiveRows: 1000}},
			Undescribed: &release.Undescribed{Noise: noise, Where: "far"}}}
		var v Verdict
		if v.doubts(r); len(v.Warnings) != warnings {
			t.Errorf("noise %v: %q, want %d", noise, v.Warnings, warnings)
		}
	}
}

// TestFlagContradicts: a share in a flag is the one that the diagnostics state, of the whole or of
// a column; another one is doubted.
func TestFlagContradicts(t *testing.T) {
	m := modelOfAges(t)
	for _, c := range []struct {
		whole, column float64
		warnings      int
	}{{.06, .03, 0}, {.05, .03, 1}, {.06, .02, 1}} {
		r := &release.Release{Model: m, Certificate: release.Certificate{Method: "gaussian"}, Diagnostics: release.Diagnostics{
			Flags: []release.Flag{{Code: flags.LeftOut, Share: c.whole, Text: "out"}, {Code: flags.LeftOut, Columns: []string{"age"}, Share: c.column, Text: "far"},
				{Code: flags.SharedValue, Columns: []string{"age"}, Share: .5, Text: "zeros"}},
			Components:  []release.ComponentNote{{EffectiveRows: 1000}},
			Undescribed: &release.Undescribed{Share: .06, Noise: .001, Where: "far", Columns: []release.UndescribedColumn{{Column: "age", Share: .03}}}}}
		var v Verdict
		if v.doubts(r); len(v.Warnings) != c.warnings || c.warnings > 0 && !strings.Contains(v.Warnings[0], "a flag says") {
			t.Errorf("%+v: %q", c, v.Warnings)
		}
	}
}

// TestLastCountOfFarRowsIsTold: where a fit has counted the rows far out twice, since the noise hid
// its first form, what it says of them is what it counted last.
func TestLastCountOfFarRowsIsTold(t *testing.T) {
	m := modelOfAges(t)
	for _, c := range []struct {
		noise    []float64
		warnings int
	}{{[]float64{39}, 0}, {[]float64{21, 39}, 0}, {[]float64{39, 21}, 1}, {[]float64{21}, 1}, {nil, 0}} {
		r := &release.Release{Model: m, Diagnostics: release.Diagnostics{
			Components:  []release.ComponentNote{{EffectiveRows: 900}},
			Undescribed: &release.Undescribed{Noise: 39. / 900, Where: "far"}}}
		for _, noise := range c.noise {
			r.Certificate.Plan = append(r.Certificate.Plan, release.PlanStep{Step: "one: beyond", Noise: noise})
		}
		var said []string
		figures(r, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })
		if len(said) != c.warnings {
			t.Errorf("counts with a noise of %v: %q, want %d warnings", c.noise, said, c.warnings)
		}
	}
}

// modelOfAges returns a model of one column.
func modelOfAges(t *testing.T) *model.Mixture {
	t.Helper()
	cov, err := model.NewDiagonal([]float64{1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New([]string{"age"}, nil, []model.Gaussian{{Mean: []float64{0}, Cov: cov}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
