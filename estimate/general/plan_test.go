package general

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// TestPlanGolden: the plans of typical problems, as text; review a change as a diff.
func TestPlanGolden(t *testing.T) {
	var b strings.Builder
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, c := range []struct {
			name      string
			d, n      int
			k, most   int
			epsilon   float64
			onlyKnown bool // n is public
		}{
			{"two components", 4, 20000, 2, 0, 1, false},
			{"automatic", 4, 20000, 0, 10, 1, false},
			{"at most one", 4, 20000, 0, 1, 1, false},
			{"one", 1, 5000, 1, 0, 1, false},
			{"automatic, one column", 1, 50000, 0, 10, 1, false},
			{"automatic, too few rows for two", 4, 1000, 0, 10, 1, true},
			{"automatic, hardly enough rows for two", 4, 1400, 0, 10, 1, true},
			{"two, too few rows", 4, 300, 2, 0, 1, true},
			{"two, fewer rows than columns", 30, 20, 2, 0, 1e6, true},
		} {
			if c.onlyKnown && rel == privacy.AddRemoveOne {
				continue
			}
			p := estimate.Problem{Columns: c.d, Rows: c.n, Relation: rel, Mu: privacy.MuOf(c.epsilon, 1e-6), Components: c.k, MaxComponents: c.most}
			plan, ok := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, %s", rel, c.name), tested, p)
			if !ok {
				continue
			}
			fmt.Fprintln(&b, estimatetest.Plan(plan))
		}
		p := estimate.Problem{Columns: 4, Rows: 20000, Relation: rel, Mu: muOne, MaxComponents: 10}
		plan, _ := estimatetest.WritePlan(t, &b, fmt.Sprintf("%v, separated, automatic", rel), separated, p)
		fmt.Fprintln(&b, estimatetest.Plan(plan))
	}
	estimatetest.Golden(t, "testdata/plans.txt", b.String(), *update)
}

// TestPlanDoesNotKnowRows: under add-or-remove-one a plan is the same whatever Rows says.
func TestPlanDoesNotKnowRows(t *testing.T) {
	for _, k := range []int{0, 1, 2, 5} {
		text := ""
		for _, n := range []int{0, 3, 500, 1 << 30} {
			p := estimate.Problem{Columns: 3, Rows: n, Relation: privacy.AddRemoveOne, Mu: .2, Components: k, MaxComponents: 10}
			plan, err := tested.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			if text != "" && estimatetest.Plan(plan) != text {
				t.Errorf("K = %d: the plan for n = %d differs", k, n)
			}
			text = estimatetest.Plan(plan)
		}
	}
}

// TestOneIsTheGaussian: with at most one component the fit is that of the method gaussian: the same
// plan but for the steps' prefix and the same answers to the same noise.
func TestOneIsTheGaussian(t *testing.T) {
	rng := newRand(t)
	m := estimatetest.Truth(t, rng, madeup.Moderate{Columns: 2, Components: 1, Kappa: 10})
	rows := estimatetest.Draw(t, m, 4000, rng)
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, shape := range shapes {
			for _, k := range []int{0, 1} {
				run := func(e estimate.Estimator) (tr kerneltest.Transcript, out estimate.Outcome) {
					f := estimatetest.RunChecked(t, e, estimatetest.Case{Rows: rows, Columns: 2, Relation: rel, Mu: .5, Components: k, MaxComponents: 1,
						Covariance: shape, Noise: kerneltest.Options{Seed: 5, Record: &tr}})
					return tr, f.Outcome
				}
				tr, out := run(tested)
				want, wantOut := run(gaussian.New())
				for i := range want.Steps {
					want.Steps[i] = prefixOne + want.Steps[i]
				}
				if !estimatetest.SameQuestions(want, tr) {
					t.Errorf("%v %v: other questions than the Gaussian's", rel, shape)
				}
				if !bytes.Equal(asJSON(t, out.Model), asJSON(t, wantOut.Model)) {
					t.Errorf("%v %v: another model than the Gaussian's", rel, shape)
				}
				p := estimate.Problem{Columns: 2, Rows: 4000, Relation: rel, Mu: .5, Components: k, MaxComponents: 1, Covariance: shape}
				plan, err := tested.Plan(p)
				if err != nil {
					t.Fatal(err)
				}
				gauss, err := gaussian.New().Plan(p)
				if err != nil {
					t.Fatal(err)
				}
				for i := range gauss.Steps {
					gauss.Steps[i].Name = prefixOne + gauss.Steps[i].Name
				}
				if fmt.Sprint(plan.Steps) != fmt.Sprint(gauss.Steps) {
					t.Errorf("%v %v: plan %v, want the Gaussian's %v", rel, shape, plan, gauss)
				}
			}
		}
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
