package gauze

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// pureMethods are those that can do with a delta of 0.
const (
	pureMethods = "univariate:kv18, heavy-tailed:paper, univariate:aal21, axis-aligned:aal21"
	kv18        = "univariate:kv18"
)

func pureRequest(relation privacy.Relation, epsilon float64, method string) Request {
	return Request{Relation: relation, Budget: privacy.Budget{Epsilon: epsilon}, Columns: Named("x"), Components: 1, Method: method,
		Facts: estimate.Facts{KnowsMean: true, MeanWithin: 50, Eigenvalues: [2]float64{.1, 100}}}
}

// A delta of 0 is refused before anything is spent, with the names of the methods that can do with
// it, by every other method, by auto and with a learner; those can be planned, and what the steps
// cost at most is all of epsilon.
func TestPureIsRefused(t *testing.T) {
	table := kernel.NewBuilder(1)
	for range 5000 {
		table.Append([]float64{1})
	}
	protected := table.Protect(privacy.ReplaceOne)
	for _, method := range Methods().Names() {
		r := pureRequest(privacy.ReplaceOne, 1, method)
		if method == "heavy-tailed:paper" {
			r.KnownCovariance = [][]float64{{4}}
		}
		s, err := Plan(r, 50000)
		if slices.Contains(strings.Split(pureMethods, ", "), method) {
			if err != nil {
				t.Errorf("%s: %v", method, err)
				continue
			}
			sum := 0.
			for _, step := range s.Steps {
				if sum += float64(step.Count) * step.Pure; step.Mu != 0 || step.Delta != 0 {
					t.Errorf("%s: %+v", method, step)
				}
			}
			// limits of steps that are alternatives do not add up to the whole
			if sum < 1-1e-12 || method == kv18 && sum > 1+1e-12 || !strings.Contains(s.String(), "delta = 0: pure") {
				t.Errorf("%s: the steps cost %v of 1\n%v", method, sum, s)
			}
			continue
		}
		_, fitted := Fit(t.Context(), protected, r)
		for _, err := range []error{err, fitted} {
			var fault *privacy.FieldError
			if !errors.As(err, &fault) || fault.Field != "delta" || !strings.HasSuffix(fault.Wanted, ": "+pureMethods) {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	r := pureRequest(privacy.ReplaceOne, 1, "")
	r.Learner = "em"
	if _, err := Plan(r, 5000); err == nil || !strings.Contains(err.Error(), pureMethods) {
		t.Errorf("with a learner: %v", err)
	}
	r = pureRequest(privacy.ReplaceOne, 1, kv18)
	r.Printed = true
	if _, err := Plan(r, 1e6); err != nil {
		t.Errorf("printed: %v", err)
	}
	r.Facts = estimate.Facts{}
	var refusal *estimate.Refusal
	if _, err := Plan(r, 1e6); !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "--mean-within") {
		t.Errorf("without bounds: %v", err)
	}
}

// pureCertificate fails the test unless a certificate is of pure measurements alone whose epsilons
// sum to what was spent.
func pureCertificate(t *testing.T, c release.Certificate, epsilon float64) {
	t.Helper()
	sum := 0.
	for _, s := range c.Plan {
		if s.Law != "laplace" || s.Delta != 0 || s.Renyi != nil {
			t.Errorf("%+v", s)
		}
		sum += s.Sensitivity / s.Noise
	}
	if s := c.Spent; c.Epsilon != epsilon || c.Delta != 0 || c.Rho != 0 || s.Delta != 0 || s.Epsilon > epsilon || sum > s.Epsilon*(1+1e-9) {
		t.Errorf("asked %v, %v, %v, spent %+v, and the plan costs %v", c.Epsilon, c.Delta, c.Rho, s, sum)
	}
	for _, s := range c.Plain() {
		if strings.Contains(s.Text, "NaN") || s.Heading == "How strong the promise is" && !strings.Contains(s.Text, "That holds always.") {
			t.Errorf("%s: %s", s.Heading, s.Text)
		}
	}
}

// A pure fit releases a model whose certificate verifies, of rows, of persons and of groups.
// False-alarm rate: far below 1e-7, the tolerances being ten sds of what noise leaves.
func TestFitPure(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 4))
	var table strings.Builder
	table.WriteString("pid,sex,x\n")
	for p := range 30000 {
		for range 1 + rng.IntN(2) {
			fmt.Fprintf(&table, "%d,%s,%g\n", p, "fm"[p%2:p%2+1], 20+3*rng.NormFloat64())
		}
	}
	good := func(m *release.Release) bool {
		g := m.Model.Components[0]
		return math.Abs(g.Mean[0]-20) < 1 && math.Abs(g.Cov.At(0, 0)/9-1) < .3
	}
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, unit := range []string{"", "pid"} {
			in, err := Open("-", strings.NewReader(table.String()), &source.Schema{Unit: cmp.Or(unit, source.NoUnit), Columns: []source.Column{{Name: "x"}},
				By: []source.Grouping{{Name: "sex", Categories: []string{"f", "m"}}}})
			if err != nil {
				t.Fatal(err)
			}
			groups, err := in.LoadGroups(nil)
			if err != nil {
				t.Fatal(err)
			}
			const epsilon = 4
			r := in.Request()
			own := pureRequest(relation, epsilon, kv18)
			r.Relation, r.Budget, r.Components, r.Method, r.Facts = relation, own.Budget, 1, own.Method, own.Facts
			result, err := FitGroups(t.Context(), *groups, r)
			if err != nil || result.Release == nil {
				t.Fatalf("%v, %+v", err, result)
			}
			if s := result.Release.Certificate.Spent; s.Epsilon > epsilon || s.Epsilon < epsilon*(1-1e-9) || s.Delta != 0 {
				t.Errorf("groups spent %+v", s)
			}
			for i := range result.Release.Groups {
				each := result.Release.Of(i)
				part := epsilon / 2.
				if relation == privacy.AddRemoveOne {
					part = epsilon
				}
				if pureCertificate(t, each.Certificate, part); !good(each) {
					t.Errorf("%v, group %d: %+v", relation, i, each.Model)
				}
			}
			in, err = Open("-", strings.NewReader(table.String()), &source.Schema{Unit: cmp.Or(unit, source.NoUnit), Columns: []source.Column{{Name: "x"}}})
			if err != nil {
				t.Fatal(err)
			}
			protected, err := in.Load(relation, nil)
			if err != nil {
				t.Fatal(err)
			}
			result, err = Fit(t.Context(), protected, r)
			if err != nil || result.Release == nil {
				t.Fatalf("%v, %+v", err, result)
			}
			if pureCertificate(t, result.Certificate, epsilon); !good(result.Release) || release.Verify(result.Release) != nil {
				t.Errorf("%v, unit %q: %+v", relation, unit, result.Release.Model)
			}
		}
	}
}

// A fit that ends without a release, or is interrupted, tells its epsilon.
func TestPureNoRelease(t *testing.T) {
	table := kernel.NewBuilder(1)
	for i := range 5000 {
		table.Append([]float64{float64(i % 2 * 1e9)})
	}
	result, err := Fit(t.Context(), table.Protect(privacy.ReplaceOne), pureRequest(privacy.ReplaceOne, 1, kv18))
	if err != nil || result.NoRelease == nil || result.Spent.Epsilon <= 0 || result.Spent.Epsilon > 1 || result.Spent.Delta != 0 {
		t.Errorf("%v, %+v", err, result)
	}
}
