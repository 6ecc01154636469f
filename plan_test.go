package gauze

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
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
			}
			for _, purpose := range s.Purposes() {
				if !strings.Contains(s.String(), "\n"+purpose.Text+" ") {
					t.Errorf("the text leaves out %s", purpose.Text)
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

// Facts reach the method and the statement, and those that it makes no use of are told.
func TestFactsAreStated(t *testing.T) {
	r := request(privacy.ReplaceOne, budgets[0])
	r.Facts = estimate.Facts{KnowsMean: true, MeanWithin: 50, Eigenvalues: [2]float64{1, 100}, Moments: 4}
	q, err := r.check(20000)
	if err != nil || q.problem.Facts != r.Facts {
		t.Errorf("the method is told %+v (%v), want %+v", q.problem.Facts, err, r.Facts)
	}
	q.method = script{}
	s, err := q.state(20000)
	if err != nil {
		t.Fatal(err)
	}
	if s.Facts == nil || *s.Facts.MeanWithin != 50 || s.Facts.EigenvaluesWithin[1] != 100 || s.Facts.Moments != 4 {
		t.Errorf("the statement has %+v", s.Facts)
	}
	for _, want := range []string{"known     mean within 50", "makes no use of this: mean", "makes no use of this: eigenvalues", "makes no use of this: moments"} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("want %q in\n%s", want, s)
		}
	}
	r.Facts = estimate.Facts{}
	if s, err := Plan(r, 20000); err != nil || s.Facts != nil || strings.Contains(s.String(), "known ") {
		t.Errorf("nothing is known: got %v, %v", s, err)
	}
	r.Facts = estimate.Facts{Moments: 3}
	var field *privacy.FieldError
	if _, err := Plan(r, 20000); !errors.As(err, &field) || field.Field != "moments" {
		t.Errorf("moments 3: got %v", err)
	}
}

// A known covariance reaches the method that makes use of it, is part of the statement, and is
// refused before a plan is made if it is none.
func TestKnownCovarianceIsStated(t *testing.T) {
	r := request(privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6})
	d := len(r.Columns)
	for i := range d {
		r.KnownCovariance = append(r.KnownCovariance, make([]float64, d))
		r.KnownCovariance[i][i] = float64(i + 1)
	}
	s, err := Plan(r, 20000)
	if err != nil {
		t.Fatal(err)
	}
	if s.Method != "axis-aligned" || s.Facts == nil || s.Facts.KnownCovariance[d-1][d-1] != float64(d) || s.MixtureBound != nil {
		t.Errorf("method %s, facts %+v, bound %v", s.Method, s.Facts, s.MixtureBound)
	}
	if text := s.String(); !strings.Contains(text, "known     covariance of every component\n") || strings.Contains(text, "makes no use") {
		t.Errorf("got\n%s", text)
	}
	s.problem.KnownCovariance[0][0] = -1
	if r.KnownCovariance[0][0] != 1 {
		t.Error("the problem shares the request's matrix")
	}
	r.KnownCovariance[0][0] = -1
	var field *privacy.FieldError
	if _, err := Plan(r, 20000); !errors.As(err, &field) || field.Field != "known_covariance" {
		t.Errorf("got %v", err)
	}
	r.KnownCovariance[0][0] = 1
	r.Budget = privacy.Budget{Rho: .1}
	if q, err := r.check(20000); err != nil || !q.problem.NoDelta {
		t.Errorf("zCDP has no delta: %+v, %v", q.problem, err)
	}
}

// For one component the statement compares all methods, from public facts: a guess of a private
// number of rows changes what is expected and not which method is chosen.
func TestStatementComparesMethods(t *testing.T) {
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		r := request(relation, budgets[0])
		r.Components = 1
		s, err := Plan(r, 20000)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Candidates) == 0 || s.LowerBound == nil || s.Expect.CovarianceError == 0 || s.Expect.RelativeError != s.Candidates[0].RelativeError {
			t.Errorf("%v: %+v, lower bound %v, expected %+v", relation, s.Candidates, s.LowerBound, s.Expect)
		}
		for _, c := range s.Candidates {
			if !strings.Contains(s.String(), "\n"+c.Method+" ") {
				t.Errorf("%v: the text leaves out %s", relation, c.Method)
			}
		}
		r.Components = 3
		if s, err = Plan(r, 20000); err != nil || s.Candidates != nil || s.LowerBound != nil || strings.Contains(s.String(), "lower bound") {
			t.Errorf("%v: three components: %v, %+v", relation, err, s.Candidates)
		}
	}
	r := request(privacy.AddRemoveOne, budgets[0])
	r.Components = 1
	s, err := Plan(r, 0)
	if err != nil || s.LowerBound != nil || s.Expect.CovarianceError != 0 {
		t.Errorf("without a guess: %v, %+v", err, s)
	}
	few, err := Plan(r, 5)
	if err != nil || few.Method != s.Method || few.Why != s.Why {
		t.Errorf("a guess of a private number of rows changed the method: %v, %+v", err, few)
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

// A budget that promises next to nothing is refused, on public facts, unless it is forced; where n
// is private nothing is known of delta n.
func TestForce(t *testing.T) {
	for _, c := range []struct {
		relation privacy.Relation
		budget   privacy.Budget
		field    string
	}{
		{privacy.ReplaceOne, privacy.Budget{Epsilon: LargestEpsilon, Delta: .99e-4}, ""},
		{privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-4}, "delta"},
		{privacy.ReplaceOne, privacy.Budget{Epsilon: 20.01, Delta: 1e-6}, "epsilon"},
		{privacy.AddRemoveOne, privacy.Budget{Epsilon: 1, Delta: 1e-4}, ""},
		{privacy.AddRemoveOne, privacy.Budget{Epsilon: 20.01, Delta: 1e-4}, "epsilon"},
		{privacy.ReplaceOne, privacy.Budget{Rho: 1}, ""},
	} {
		r := request(c.relation, c.budget)
		_, err := Plan(r, 10000)
		var field *privacy.FieldError
		if errors.As(err, &field); (err == nil) != (c.field == "") || err != nil && (field == nil || field.Field != c.field || !strings.Contains(field.Fix, "--force")) {
			t.Errorf("%+v: got %v, want a fault of %q", c, err, c.field)
		}
		r.Force = true
		if _, err := Plan(r, 10000); err != nil {
			t.Errorf("%+v, forced: %v", c, err)
		}
	}
}

// A request with very many columns is checked and planned in time that grows as they do: with the
// square of their number this would take minutes.
func TestManyColumns(t *testing.T) {
	start := time.Now()
	for _, d := range []int{MostColumns, 100_000} {
		for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			r := request(relation, budgets[0])
			r.Columns = Named(model.DefaultColumns(d)...)
			if d == MostColumns {
				r.Covariance = estimate.Diagonal
			}
			_, err := Plan(r, 900_000)
			var field *privacy.FieldError
			if wide := errors.As(err, &field) && field.Field == "columns"; wide != (d > MostColumns) || wide && !strings.Contains(field.Fix, "80 GB") {
				t.Errorf("%d columns, %v: %v", d, relation, err)
			}
			r.Columns[d-1] = r.Columns[0]
			if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "every column once") {
				t.Errorf("two columns of one name: %v", err)
			}
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
