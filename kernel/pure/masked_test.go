package pure

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var (
	twenty    = blocks.Stability{Rules: blocks.Rules{Estimates: 20, Components: 1, Columns: 1, Core: 16, Pass: 18, Radius: 1}, Eta: .3}
	fortyMask = privacy.ParameterMask{Components: 1, Dimension: 1, Gamma: .3, EtaWeight: .3, EtaMean: .3, EtaCov: .3}
)

const testMu, testDelta, testPure = 1., .02, 1.

// maskedPlan has both tests of agreement.
func maskedPlan() core.Plan {
	return core.Plan{Method: "masked", Steps: []core.Step{
		{Name: "stable", Query: blocks.StableKind, Share: .5, Most: 1, Extra: blocks.Agreement{Mask: twenty.Mask(), Delta: testDelta}, Source: "PPE Section B3"},
		{Name: "popular", Query: PopularKind, Share: 1e-9, Most: 1, Extra: Closeness{fortyMask, testDelta, testPure}, Source: "PPE Section A2"},
		{Name: "count", Query: "count", Share: 1, Most: 9},
	}}
}

func by(l core.Learner, count int) blocks.Blocks {
	return blocks.Blocks{OfTerms: kerneltest.Place(l), Count: count}
}

func openMasked(t testing.TB, r privacy.Relation, values []float64, h *core.TestHook) *core.Session {
	t.Helper()
	return kerneltest.OpenColumn(t, r, values, h, maskedPlan())
}

// more is ten times as many runs for a long test.
func more(few int) int {
	if os.Getenv("GAUZE_LONG") != "" {
		return 10 * few
	}
	return few
}

// TestMaskedCertificate: two lines each, with the numbers that the loss follows from, whether the
// test passes or not.
func TestMaskedCertificate(t *testing.T) {
	const want = `{Step:stable Query:of blocks: stable mean Count:1 Law: Sensitivity:1 Noise:1 Mu:1 Pure:0 Delta:0.020000000000000004 Mask:<nil> Shape:<nil> Source:PPE Section B3}
{Step:stable Query:of blocks: stable mean Count:1 Law:masked Sensitivity:0.22222 Noise:0.3 Mu:0 Pure:0 Delta:0 Mask:{Dimension:2 Gamma:0.22222 Eta:0.3} Shape:<nil> Source:PPE Section B3}
{Step:popular Query:of blocks: popular estimate Count:1 Law:popularity test Sensitivity:78 Noise:78.00000000000001 Mu:0 Pure:0 Delta:0.020000000000000004 Mask:<nil> Shape:<nil> Source:PPE Section A2}
{Step:popular Query:of blocks: popular estimate Count:1 Law:masked Sensitivity:0.3 Noise:0.3 Mu:0 Pure:0 Delta:0 Mask:{Components:1 Dimension:1 Gamma:0.3 EtaWeight:0.3 EtaMean:0.3 EtaCov:0.3} Shape:<nil> Source:PPE Section A2}
`
	gamma := fmt.Sprint(twenty.Rules.Gamma())
	for _, values := range [][]float64{kerneltest.Zeros(40), kerneltest.Zeros(40, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail, kerneltest.Fail)} {
		plan := maskedPlan()
		plan.Steps[0].Share = 1
		s := kerneltest.OpenColumn(t, privacy.ReplaceOne, values, kerneltest.Seeded(t, 3), plan)
		stable := twenty
		_, first, err := blocks.Stable(s.SubBudget(), "stable", by(kerneltest.Scaled(1), 20), stable, testMu)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = ReleasePopular(s.SubBudget(), "popular", by(kerneltest.Scaled(1), 40), Popularity{fortyMask}, testPure)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range s.Measurements() {
			got += fmt.Sprintf("%+v\n", m)
		}
		if text := strings.ReplaceAll(want, "0.22222", gamma); got != text {
			t.Errorf("passed: %v; got\n%swant\n%s", first, got, text)
		}
		loss := s.Loss()
		if loss.Mu != testMu || loss.Rho != 0 || !(loss.Epsilon > 0) || loss.Delta != .9 {
			t.Errorf("loss %+v", loss)
		}
	}
}

// TestMaskedCalibration: the plan's curves, deltas and mu^2 together are the budget, to 1e-6.
func TestMaskedCalibration(t *testing.T) {
	b := privacy.Budget{Epsilon: 4, Delta: 1e-5}
	lifted := blocks.Agreement{Mask: privacy.CovarianceMask{Dimension: 3, Gamma: .03, Eta: .25}, Delta: 2e-6}
	parameters := Closeness{privacy.ParameterMask{Components: 2, Dimension: 2, Gamma: .02, EtaWeight: .3, EtaMean: .3, EtaCov: .3}, 1e-6, .1}
	plan := core.Plan{Method: "masked", Steps: []core.Step{
		{Name: "stable", Query: blocks.StableKind, Share: .3, Most: 1, Extra: lifted},
		{Name: "other", Query: PopularKind, Share: .1, Most: 1, Extra: parameters},
		{Name: "count", Query: "count", Share: 1, Most: 1},
		{Name: "cells", Query: "boxes", Share: 1, Most: 1, Slack: 1},
	}}
	c, err := core.Calibrate(plan, privacy.ReplaceOne, b)
	if err != nil {
		t.Fatal(err)
	}
	whole := lifted.Mask.Curve().Compose(parameters.Mask.Curve(), privacy.PureCurve(.1), privacy.GaussianCurve(math.Sqrt(float64(c.Cap))))
	epsilon := whole.Epsilon(b.Delta - 3e-6 - privacy.ThresholdShare*b.Delta)
	if math.Abs(epsilon-b.Epsilon) > 1e-6 || c.Needs.AddedDelta < 3e-6 || c.Needs.AddedDelta > 3e-6*(1+1e-12) {
		t.Errorf("epsilon of the plan is %v, deltas %v", epsilon, c.Needs.AddedDelta)
	}
	if l := c.Loss(c.Cap, 0, c.ThresholdDelta); math.Abs(l.Epsilon-b.Epsilon) > 1e-6 || l.Rho != 0 {
		t.Errorf("loss %+v", l)
	}
	var field *privacy.FieldError
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Rho: 1}); !errors.As(err, &field) || field.Field != "rho" {
		t.Errorf("a zCDP budget: %v", err)
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: .05, Delta: 1e-5}); !errors.As(err, &field) || field.Field != "epsilon" {
		t.Errorf("a budget that the masks exceed: %v", err)
	}
	// the precision of masks
	for epsilon, least := range map[float64]float64{1: (1 + math.E) * blocks.MaskSlack, 40: math.Exp(40) * blocks.MaskSlack} {
		if _, got := (blocks.Agreement{Mask: lifted.Mask}).Loss(epsilon); got < least || got > least*(1+1e-9) {
			t.Errorf("epsilon %v: a mask adds %v to delta, want %v", epsilon, got, least)
		}
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: 100, Delta: 1e-5}); !errors.As(err, &field) || field.Field != "added delta" {
		t.Errorf("an epsilon that the precision of masks does not serve: %v", err)
	}
	if _, err := core.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: 4, Delta: 3e-6}); !errors.As(err, &field) || field.Field != "added delta" {
		t.Errorf("a budget that the deltas exceed: %v", err)
	}
}

// TestMaskedToldTheSame: what a program is told, but for the outcomes, is the same for tables as
// different as can be, and nothing that a learner returns makes it panic.
func TestMaskedToldTheSame(t *testing.T) {
	raw := kerneltest.Own{K: 1, Width: 3, Make: func(rows [][]float64, _ uint64) ([][]float64, error) {
		e := []float64{1, 0, 1}
		for i := range rows {
			e[i%3] = rows[i][0]
		}
		return [][]float64{e}, nil
	}}
	tables := [][]float64{nil, kerneltest.Zeros(100), kerneltest.Zeros(20, 1e300, -1e300, 5e-324, 1e-170, 1e170, -1), kerneltest.Zeros(9, math.NaN(), math.Inf(1)), {1e154, 1e-154, 1, 1, 1}}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		want := ""
		for i, values := range tables {
			for _, l := range []core.Learner{kerneltest.Scaled(1), raw} {
				s := openMasked(t, r, values, kerneltest.Seeded(t, uint64(i)))
				b := by(l, 20)
				_, _, err := blocks.Stable(s.SubBudget(), "stable", b, twenty, .5)
				_, _, again := blocks.Stable(s.SubBudget(), "stable", b, twenty, .5)
				b.Count = 40
				_, _, popular := ReleasePopular(s.SubBudget(), "popular", b, Popularity{fortyMask}, .7)
				got := fmt.Sprint(err, again, popular, s.Loss(), s.Measurements(), s.SubBudget().Left())
				if want == "" {
					want = got
				}
				if got != want || err != nil || popular != nil {
					t.Fatalf("%v, table %d: %q, with no rows %q", r, i, got, want)
				}
			}
		}
	}
}
