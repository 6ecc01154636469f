package gauze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// script is an estimator that counts rows with the given parts of the budget, then does what end
// says.
type script struct {
	parts  []float64 // of mu^2
	end    func(*kernel.Session) (estimate.Outcome, error)
	within func(i int) // is called before measurement i
}

func (script) Name() string    { return "script" }
func (script) Summary() string { return "a test" }
func (script) Source() string  { return "TEST Section 1" }
func (script) Expect(estimate.Problem) estimate.Expectation {
	return estimate.Expectation{RowsNeeded: 7}
}

func (s script) Plan(p estimate.Problem) (kernel.Plan, error) {
	return kernel.Plan{Method: "script", Steps: []kernel.Step{
		{Name: "count", Query: query.Count{}.Kind(), Share: 1, Most: max(1, len(s.parts)), Source: "TEST Section 2"},
	}}, nil
}

func (s script) Fit(_ context.Context, session *kernel.Session, _ estimate.Problem) (estimate.Outcome, error) {
	total := session.Mu() * session.Mu()
	for i, part := range s.parts {
		if s.within != nil {
			s.within(i)
		}
		mu := session.SubBudget().LeftMu()
		if part < 1 {
			mu = min(mu, math.Sqrt(part*total))
		}
		if _, err := session.SubBudget().Sum("count", query.Count{}, mu); err != nil {
			return estimate.Outcome{}, err
		}
	}
	if s.end != nil {
		return s.end(session)
	}
	return released(nil)
}

// released is a model of two columns.
func released(*kernel.Session) (estimate.Outcome, error) {
	cov, err := model.NewDiagonal([]float64{1, 4})
	if err != nil {
		return estimate.Outcome{}, err
	}
	return estimate.Outcome{
		Model: &model.Mixture{Weights: []float64{1}, Components: []model.Gaussian{{Mean: []float64{1, 2}, Cov: cov}}},
		Diagnostics: estimate.Diagnostics{
			Components:      []estimate.ComponentNote{{EffectiveRows: 12}},
			Unresolved:      []estimate.Direction{{Direction: []float64{1, 0}, StdAtMost: 3}},
			ConstantColumns: []int{1},
		},
	}, nil
}

func request(relation privacy.Relation, b privacy.Budget) Request {
	return Request{Relation: relation, Budget: b, Columns: Named("age", "bmi")}
}

func table(rows int, r privacy.Relation) *kernel.Table {
	b := kernel.NewBuilder(2)
	for i := range rows {
		b.Append([]float64{float64(i), 1})
	}
	return b.Protect(r)
}

// play runs a script as Fit runs a method of the catalog.
func play(ctx context.Context, t *testing.T, s script, rows int, r Request) (*Result, error) {
	t.Helper()
	tab := table(rows, r.Relation)
	q, err := r.check(0) // s takes any number of rows
	if err != nil {
		t.Fatal(err)
	}
	q.method = s
	q.problem.Rows, _ = tab.Rows()
	return q.fit(ctx, tab)
}

var budgets = []privacy.Budget{
	{Epsilon: 1, Delta: 1e-6}, {Epsilon: 0.01, Delta: 1e-9}, {Epsilon: 20, Delta: 1e-12}, {Rho: 0.5}, {Rho: 1e-4},
}

// A certificate adds up, says what was asked, and never says more than that was spent.
func TestCertificateAddsUp(t *testing.T) {
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, b := range budgets {
			for _, parts := range [][]float64{{1}, {.5, .5}, {.1, .1, .1, 1}, {.25}, {1e-3, 1e-3}} {
				name := fmt.Sprint(relation, b, parts)
				result, err := play(t.Context(), t, script{parts: parts}, 50, request(relation, b))
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				checkCertificate(t, name, result, relation, b, parts)
			}
		}
	}
}

func checkCertificate(t *testing.T, name string, result *Result, relation privacy.Relation, b privacy.Budget, parts []float64) {
	t.Helper()
	c := result.Release.Certificate
	if faults := release.Verify(result.Release); faults != nil {
		t.Errorf("%s: the release does not verify: %v", name, errors.Join(faults...))
	}
	sum, count := 0.0, 0
	for _, s := range c.Plan {
		sum += float64(s.Count) * s.Mu * s.Mu
		count += s.Count
	}
	if math.Abs(sum-c.Spent.Mu*c.Spent.Mu) > 1e-12*sum {
		t.Errorf("%s: Σ count·mu² = %v, spent.mu² = %v", name, sum, c.Spent.Mu*c.Spent.Mu)
	}
	if count != len(parts) {
		t.Errorf("%s: %d measurements in the certificate, %d were made", name, count, len(parts))
	}
	if c.Epsilon != b.Epsilon || c.Delta != b.Delta || c.Rho != b.Rho || c.Relation != relation.String() || c.Schema != release.SchemaDeclared {
		t.Errorf("%s: the certificate says another thing than was asked: %+v", name, c)
	}
	if result.Spent != c.Spent {
		t.Errorf("%s: Spent = %v, certificate says %v", name, result.Spent, c.Spent)
	}
	if private := relation == privacy.AddRemoveOne; private != (c.Rows == nil) || !private && *c.Rows != 50 {
		t.Errorf("%s: rows = %v", name, c.Rows)
	}
	if c.Spent.Epsilon > b.Epsilon || c.Spent.Delta > b.Delta || b.Rho > 0 && c.Spent.Rho > b.Rho {
		t.Errorf("%s: spent %+v of %v", name, c.Spent, b)
	}
	whole := 0.0
	for _, p := range parts {
		whole += p
	}
	if whole < 1 {
		return
	}
	// All was spent: then the figures are those asked, up to rounding.
	if b.Epsilon > 0 && c.Spent.Epsilon < b.Epsilon*(1-1e-9) || b.Rho > 0 && c.Spent.Rho < b.Rho*(1-1e-9) {
		t.Errorf("%s: all of %v was spent, the certificate says %+v", name, b, c.Spent)
	}
}

func TestColumnsAndDiagnosticsAreNamed(t *testing.T) {
	r := request(privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: .1})
	r.SchemaInferred, r.Force = true, true
	result, err := play(t.Context(), t, script{parts: []float64{1}}, 50, r)
	if err != nil {
		t.Fatal(err)
	}
	out := result.Release
	if got := strings.Join(out.Model.Columns, " "); got != "age bmi" {
		t.Errorf("columns = %s", got)
	}
	d := out.Diagnostics
	if len(d.ConstantColumns) != 1 || d.ConstantColumns[0] != "bmi" || len(d.Unresolved) != 1 || d.Unresolved[0].StdAtMost != 3 {
		t.Errorf("diagnostics = %+v", d)
	}
	if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, "delta = 0.1") {
		t.Errorf("notes = %q, want a warning of the large delta", notes)
	}
	if out.Certificate.Schema != release.SchemaInferred || out.Certificate.Version != Version || out.Certificate.Simulated {
		t.Errorf("certificate = %+v", out.Certificate)
	}
}

// What was known is part of the certificate, a mean of radius 0 too.
func TestFactsAreCertified(t *testing.T) {
	for _, facts := range []estimate.Facts{{}, {KnowsMean: true}, {Eigenvalues: [2]float64{.5, 4}}, {KnowsMean: true, MeanWithin: 2, Moments: 6},
		{Moments: 4, MomentBound: 5}, {LeastWeight: .2}} {
		r := request(privacy.AddRemoveOne, budgets[0])
		r.Facts = facts
		result, err := play(t.Context(), t, script{parts: []float64{1}}, 50, r)
		if err != nil {
			t.Fatal(err)
		}
		got, notes := result.Release.Certificate.Facts, strings.Join(result.Release.Diagnostics.Notes, "\n")
		if (got == nil) != (facts == estimate.Facts{}) || (got != nil) != strings.Contains(notes, "makes no use of") {
			t.Errorf("%v: certificate %+v, notes %q", facts, got, notes)
		}
		if got == nil {
			continue
		}
		if (got.MeanWithin != nil) != facts.KnowsMean || facts.KnowsMean && *got.MeanWithin != facts.MeanWithin || got.Moments != facts.Moments ||
			got.MomentBound != facts.MomentBound || got.LeastWeight != facts.LeastWeight ||
			(got.EigenvaluesWithin != nil) != facts.KnowsEigenvalues() {
			t.Errorf("%v: certificate %+v", facts, got)
		}
	}
}

// A known covariance is part of the certificate, and its model's.
func TestKnownCovarianceIsCertified(t *testing.T) {
	r := request(privacy.AddRemoveOne, budgets[0])
	for i := range r.Columns {
		r.KnownCovariance = append(r.KnownCovariance, make([]float64, len(r.Columns)))
		r.KnownCovariance[i][i] = 4
	}
	result, err := play(t.Context(), t, script{parts: []float64{1}}, 50, r)
	if err != nil {
		t.Fatal(err)
	}
	got := result.Release.Certificate.Facts
	if got == nil || len(got.KnownCovariance) != len(r.Columns) || got.KnownCovariance[0][0] != 4 {
		t.Errorf("certificate %+v", got)
	}
	if notes := strings.Join(result.Release.Diagnostics.Notes, "\n"); !strings.Contains(notes, "makes no use of this: covariance of every component") {
		t.Errorf("notes %q", notes)
	}
}

func TestNoReleaseIsSpent(t *testing.T) {
	why := &estimate.NoRelease{Reason: "a test failed", Advice: "more rows"}
	s := script{parts: []float64{.25}, end: func(*kernel.Session) (estimate.Outcome, error) { return estimate.Outcome{NoRelease: why}, nil }}
	result, err := play(t.Context(), t, s, 50, request(privacy.ReplaceOne, budgets[0]))
	if err != nil {
		t.Fatal(err)
	}
	total := privacy.MuOf(1, 1e-6)
	if result.Release != nil || result.NoRelease != why || math.Abs(result.Spent.Mu-total/2) > 1e-9 {
		t.Errorf("result = %+v, want no release and half of mu = %v spent", result, total)
	}
}

// Whatever goes wrong once a session is open, what was measured by then is told.
func TestRunErrorsTellWhatWasSpent(t *testing.T) {
	type end = func(*kernel.Session) (estimate.Outcome, error)
	for name, c := range map[string]struct {
		end  end
		want string
	}{
		"error": {func(*kernel.Session) (estimate.Outcome, error) { return estimate.Outcome{}, errors.New("a fault") }, "a fault"},
		"panic": {func(*kernel.Session) (estimate.Outcome, error) { panic(secret) }, `method script: internal error after a measurement of its step "count"`},
		"deeper": {func(*kernel.Session) (estimate.Outcome, error) {
			parallel.Run(3, func(int) { panic(secret) })
			return estimate.Outcome{}, nil
		}, "internal error"},
		"nothing": {func(*kernel.Session) (estimate.Outcome, error) { return estimate.Outcome{}, nil }, "without a model"},
	} {
		_, err := play(t.Context(), t, script{parts: []float64{.25}, end: c.end}, 50, request(privacy.ReplaceOne, budgets[0]))
		checkRunError(t, name, err)
		if err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	within := func(int) { panic(secret) }
	_, err := play(t.Context(), t, script{parts: []float64{.25}, within: within}, 50, request(privacy.ReplaceOne, budgets[0]))
	var run *RunError
	if !errors.As(err, &run) || run.Spent != (release.Spent{Delta: 1e-6}) || err.Error() != "gauze: method script: internal error before its first measurement" {
		t.Errorf("before the first measurement: got %v, %+v", err, run)
	}
}

// secret stands for what a panic may say of a row.
const secret = "73519"

// What no fit can be made of is refused in words.
func TestFitOfNothing(t *testing.T) {
	var field *privacy.FieldError
	if _, err := Fit(t.Context(), nil, request(privacy.ReplaceOne, budgets[0])); !errors.As(err, &field) || field.Field != "table" {
		t.Errorf("no table: %v", err)
	}
	var none context.Context
	if _, err := Fit(none, table(3, privacy.ReplaceOne), request(privacy.ReplaceOne, budgets[0])); !errors.As(err, &field) || field.Field != "ctx" {
		t.Errorf("no context: %v", err)
	}
}

func TestInterruptedBetweenMeasurements(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := script{parts: []float64{.25, .25}, within: func(i int) {
		if i == 1 {
			cancel()
		}
	}}
	_, err := play(ctx, t, s, 50, request(privacy.ReplaceOne, budgets[0]))
	checkRunError(t, "interrupted", err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap context.Canceled", err)
	}
}

// checkRunError wants a run error after a quarter of mu^2 at (1, 1e-6).
func checkRunError(t *testing.T, name string, err error) {
	t.Helper()
	var run *RunError
	if !errors.As(err, &run) {
		t.Errorf("%s: got %v, want a RunError", name, err)
		return
	}
	if half := privacy.MuOf(1, 1e-6) / 2; math.Abs(run.Spent.Mu-half) > 1e-9 {
		t.Errorf("%s: spent mu = %v, want %v", name, run.Spent.Mu, half)
	}
}

func TestFitRefusesBeforeItMeasures(t *testing.T) {
	good := request(privacy.ReplaceOne, budgets[0])
	good.Components = 1
	measured := false
	good.Observe = func(string, float64) { measured = true }
	for name, change := range map[string]func(*Request){
		"relation":   func(r *Request) { r.Relation = 0 },
		"budget":     func(r *Request) { r.Budget = privacy.Budget{} },
		"method":     func(r *Request) { r.Method = "gausian" },
		"columns":    func(r *Request) { r.Columns = r.Columns[:1] },
		"twice":      func(r *Request) { r.Columns = Named("age", "age") },
		"rounded":    func(r *Request) { r.Columns = []source.Column{{Name: "age", RoundedTo: -1}, {Name: "bmi"}} },
		"infinite":   func(r *Request) { r.Columns = []source.Column{{Name: "age"}, {Name: "bmi", RoundedTo: math.Inf(1)}} },
		"components": func(r *Request) { r.Components = -1 },
		"covariance": func(r *Request) { r.Covariance = 3 },
		"facts":      func(r *Request) { r.Facts.Moments = 3 },
		"bound":      func(r *Request) { r.Facts.MomentBound = 3 },
		"weight":     func(r *Request) { r.Facts.LeastWeight = 2 },
		"printed":    func(r *Request) { r.Printed = true },
		"no paper's": func(r *Request) { r.Method, r.Printed = "gaussian", true },
		"too few":    func(*Request) {}, // rows, for the method
	} {
		r := good
		change(&r)
		result, err := Fit(t.Context(), table(3, good.Relation), r)
		var run *RunError
		if err == nil || result != nil || errors.As(err, &run) {
			t.Errorf("%s: got %v, %v; want an error before anything is spent", name, result, err)
		}
	}
	if measured {
		t.Error("something was measured")
	}
	var unknown *catalog.UnknownError
	r := good
	r.Method = "gausian"
	if _, err := Fit(t.Context(), table(3, good.Relation), r); !errors.As(err, &unknown) {
		t.Errorf("got %v, want an UnknownError", err)
	}
}

func TestSimulatedSessionsAreMarked(t *testing.T) {
	s := script{parts: []float64{1}}
	plan, err := s.Plan(estimate.Problem{Columns: 2})
	if err != nil {
		t.Fatal(err)
	}
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: budgets[0]}
	session := kerneltest.Open(t, table(5, privacy.ReplaceOne), plan, terms, kerneltest.Options{Seed: 1})
	q := &question{Request: request(privacy.ReplaceOne, budgets[0]), method: s}
	if c, err := q.certificate(session); err != nil || !c.Simulated {
		t.Error("a seeded session's certificate does not say so")
	}
}

// Persons of 1 to 500 rows, the heavier the farther away: with the unit the model is that of a
// random row of a random person, as exact as so many rows allow; without it, of a random row.
// False-alarm rate: below 1e-7, seven sds of what noise and the draw of persons leave.
func TestUnit(t *testing.T) {
	const persons = 2000
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	var table strings.Builder
	table.WriteString("patient_id,x\n")
	mean, all, rows := 0., 0., 0.
	for p := range persons {
		visits, far := 1, 0.
		if p%2 == 1 {
			visits, far = 1+rng.IntN(500), 10
		}
		for range visits {
			x := far + rng.NormFloat64()
			fmt.Fprintf(&table, "%d,%g\n", p, x)
			mean += x / float64(visits) / persons
			all, rows = all+x, rows+1
		}
	}
	for _, unit := range []string{"patient_id", ""} {
		in, err := Open("-", strings.NewReader(table.String()), &source.Schema{Unit: cmp.Or(unit, source.NoUnit), Columns: []source.Column{{Name: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		protected, err := in.Load(privacy.ReplaceOne, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := in.Request()
		r.Relation, r.Budget, r.Components = privacy.ReplaceOne, privacy.Budget{Epsilon: 5, Delta: 1e-6}, 1
		result, err := Fit(t.Context(), protected, r)
		if err != nil || result.Release == nil {
			t.Fatalf("%v, %+v", err, result)
		}
		c := result.Release.Certificate
		want, n := mean, persons
		if unit == "" {
			want, n = all/rows, int(rows)
		}
		if got := result.Release.Model.Components[0].Mean[0]; math.Abs(got-want) > .4 {
			t.Errorf("unit %q: mean %.2f, want %.2f; of rows it is %.2f", unit, got, want, all/rows)
		}
		if c.Unit != unit || *c.Rows != n {
			t.Errorf("certificate %q of %d, want %q of %d", c.Unit, *c.Rows, unit, n)
		}
	}
}

// What a release says of itself comes from the request alone, to the day, and of every column what
// is publicly known.
func TestIdentity(t *testing.T) {
	r, least := request(privacy.ReplaceOne, budgets[0]), 0.
	r.Columns[0] = source.Column{Name: "age", RoundedTo: 1, AtLeast: &least, Label: "Age", UnitOfMeasure: "years"}
	r.Title, r.Dataset, r.Day = "Ages", "clinic", time.Date(2026, 2, 3, 23, 59, 0, 0, time.FixedZone("west", -3600))
	result, err := play(t.Context(), t, script{parts: []float64{1}}, 50, r)
	if err != nil {
		t.Fatal(err)
	}
	want := release.Identity{Title: "Ages", Dataset: "clinic", Created: "2026-02-04", Program: Program()}
	if got := *result.Release.Identity; got != want || !strings.HasPrefix(got.Program, "gauze "+Version) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c := result.Release.Columns; !reflect.DeepEqual(c[0], release.Column(r.Columns[0])) || !reflect.DeepEqual(c[1], release.Column{Name: "bmi"}) {
		t.Errorf("columns: %+v", c)
	}
	result.Release.Identity.Created = "yesterday"
	if faults := release.Verify(result.Release); len(faults) != 1 {
		t.Errorf("want one fault, got %v", faults)
	}
}
