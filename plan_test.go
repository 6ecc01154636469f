package gauze

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func TestPlanIsCalibrated(t *testing.T) {
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, method := range []string{"auto", "gaussian", "general"} {
			r := request(relation, budgets[0])
			r.Method = method
			s, err := Plan(r, 20000)
			if err != nil {
				t.Fatal(err)
			}
			if want := privacy.MuOf(1, 1e-6); s.ThresholdDelta == 0 && s.Mu != want || s.Mu > want {
				t.Errorf("%v, %s: mu = %v, want %v", relation, method, s.Mu, want)
			}
			if s.Rho != privacy.RhoOfMu(s.Mu) || s.Epsilon != 1 || s.Delta != 1e-6 || len(s.Steps) == 0 {
				t.Errorf("%v, %s: %+v", relation, method, s)
			}
			for _, step := range s.Steps {
				if got := float64(step.Count) * step.Mu * step.Mu; math.Abs(got-step.Share*s.Mu*s.Mu) > 1e-9*got {
					t.Errorf("%v, %s, step %s: count·mu² = %v is not the share %v of %v", relation, method, step.Step, got, step.Share, s.Mu*s.Mu)
				}
				if !strings.Contains(s.String(), step.Step) {
					t.Errorf("the text leaves out the step %s", step.Step)
				}
			}
			if _, err := json.Marshal(s); err != nil {
				t.Error(err)
			}
		}
	}
}

// One component at most is a Gaussian, whichever way it is asked for.
func TestOneComponentIsGaussian(t *testing.T) {
	for _, c := range []struct {
		components, most int
		want             string
	}{{1, 0, "gaussian"}, {0, 1, "gaussian"}, {0, 0, "general"}, {3, 0, "general"}} {
		r := request(privacy.ReplaceOne, budgets[0])
		r.Components, r.MaxComponents = c.components, c.most
		s, err := Plan(r, 20000)
		if err != nil {
			t.Fatal(err)
		}
		if s.Method != c.want {
			t.Errorf("components %d, at most %d: method %s, want %s", c.components, c.most, s.Method, c.want)
		}
	}
}

func TestPlanNeedsPublicRows(t *testing.T) {
	var field *privacy.FieldError
	if _, err := Plan(request(privacy.ReplaceOne, budgets[0]), 0); !errors.As(err, &field) || field.Field != "rows" {
		t.Errorf("replace-one without rows: got %v", err)
	}
	s, err := Plan(request(privacy.AddRemoveOne, budgets[0]), 0)
	if err != nil || s.Rows != 0 || !strings.Contains(s.String(), "private number of rows") {
		t.Errorf("add-remove-one without rows: got %v, %v", s, err)
	}
	// A guess changes what is expected, and nothing of the plan.
	guess, err := Plan(request(privacy.AddRemoveOne, budgets[0]), 20000)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range guess.Steps {
		if step != s.Steps[i] {
			t.Errorf("the guess of the private number of rows changed step %s", step.Step)
		}
	}
}

func TestHopelessProblemsAreRefused(t *testing.T) {
	r := request(privacy.ReplaceOne, budgets[0])
	r.Method = "gaussian"
	var refusal *estimate.Refusal
	if _, err := Plan(r, 2); !errors.As(err, &refusal) || refusal.Advice == "" {
		t.Errorf("two rows: got %v, want a Refusal with advice", err)
	}
}

func TestFaultsComeTogether(t *testing.T) {
	err := Request{Method: "no", Components: -1}.Validate()
	for _, field := range []string{"relation", "epsilon", "delta", "method", "components", "columns"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s is wrong too, got %v", field, err)
		}
	}
}
