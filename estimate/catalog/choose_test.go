package catalog

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func problemOf(d, n int, rel privacy.Relation) estimate.Problem {
	return estimate.Problem{Columns: d, Rows: n, Relation: rel, Mu: privacy.MuOf(1, 1e-6), Components: 1, MaxComponents: 1}
}

// The embedded table has every method for one component under both relations, and forOne in all
// shapes.
func TestTableCoversMethods(t *testing.T) {
	table := MeasuredErrors()
	for _, m := range everything.One {
		kinds := table.Kinds(m.Name())
		for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			if !slices.ContainsFunc(kinds, func(k Kind) bool { return k.Relation == rel }) {
				t.Errorf("%s: nothing was measured under %v: add it to entries in experiments/expected, and go run ./experiments expected %[1]s", m.Name(), rel)
			}
			for _, shape := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
				k := Kind{Method: m.Name(), Shape: shape, Relation: rel, Data: GaussianRows}
				if m.Name() == forOne && !slices.Contains(kinds, k) {
					t.Errorf("%+v was not measured", k)
				}
			}
		}
	}
	names := everything.Names()
	for _, p := range table.Points() {
		if !slices.Contains(names, p.Method) {
			t.Errorf("the table has the method %s, which there is not: go run ./experiments expected", p.Method)
			break
		}
	}
}

func TestCandidates(t *testing.T) {
	p := problemOf(2, 20000, privacy.ReplaceOne)
	got := everything.Candidates(p, p.Rows)
	if len(got) != len(everything.One) {
		t.Fatalf("%d candidates", len(got))
	}
	for _, c := range got {
		switch {
		case c.Method == forOne && (c.CovarianceError == 0 || c.MeanError == 0 || c.Released < .8 || c.RelativeError < .9 || c.RelativeError > 2):
			t.Errorf("%+v", c)
		case c.CovarianceError == 0 && c.HeavyCovarianceError == 0 && c.Refused == "" && c.Note == "":
			t.Errorf("%s: neither an error nor a reason", c.Method)
		case len(c.Uses) > 0:
			t.Errorf("%s uses %q, and nothing was stated", c.Method, c.Uses)
		}
	}
	p.Components, p.MaxComponents = 0, 3
	if got := everything.Candidates(p, p.Rows); got != nil {
		t.Errorf("more components: %+v", got)
	}
	// A guess of the private number of rows serves as well.
	p = problemOf(2, 0, privacy.AddRemoveOne)
	if got := everything.Candidates(p, 20000); got[0].CovarianceError == 0 {
		t.Errorf("%+v", got[0])
	}
	// With too few rows for a covariance the error is that of what the fit gives instead.
	p = problemOf(8, 1300, privacy.ReplaceOne)
	few := everything.Candidates(p, p.Rows)[0]
	p.Covariance = estimate.Diagonal
	if alone := everything.Candidates(p, p.Rows)[0]; few.CovarianceError != alone.CovarianceError || few.MeanError != alone.MeanError || !strings.Contains(few.Note, "means and standard deviations") || alone.Note != "" {
		t.Errorf("few rows: %+v, columns by themselves: %+v", few, alone)
	}
	p = problemOf(2, 0, privacy.AddRemoveOne)
	if got := everything.Candidates(p, 0); got[0].CovarianceError != 0 || got[0].Note == "" {
		t.Errorf("without a guess: %+v", got[0])
	}
}

// knower makes use of a known covariance.
type knower struct{ estimate.Estimator }

func (knower) Uses(p estimate.Problem) estimate.Uses { return estimate.Uses{Covariance: p.Columns > 0} }

// A known covariance goes to the first method that makes use of it, and to none where nothing is
// known.
func TestTold(t *testing.T) {
	methods := []estimate.Estimator{gaussian.New(), knower{gaussian.New()}}
	p := problemOf(2, 20000, privacy.ReplaceOne)
	if e := told(methods, p); e != nil {
		t.Errorf("nothing is known: %v", e.Name())
	}
	p.KnownCovariance = [][]float64{{1, 0}, {0, 1}}
	if e := told(methods, p); e != methods[1] {
		t.Errorf("got %v", e)
	}
	for k := range 4 {
		p.Components, p.MaxComponents = k, 10
		if e, why, err := everything.Choose(Auto, p); err != nil || e.Name() != "axis-aligned" || why != "auto: the covariance is known, and axis-aligned makes use of it" {
			t.Errorf("%d components: %v, %q, %v", k, e, why, err)
		}
	}
	p.NoDelta = true
	if e := told(methods, p); e != nil {
		t.Errorf("%s has thresholds that nothing pays for", e.Name())
	}
	p.NoDelta = false
	if e := told(methods[:1], p); e != nil {
		t.Errorf("%s makes no use of it", e.Name())
	}
}

// What auto takes for mixtures: every name is one, with a reason.
// published is a paper's method; printed, the same on the paper's constants.
type published struct {
	estimate.Estimator
	printed bool
}

func (published) Name() string                { return "paper" }
func (published) Printed() estimate.Estimator { return published{printed: true} }

// A paper's constants are those of a paper's method, where they are asked for.
func TestPrintedConstants(t *testing.T) {
	l := Methods().With(nil, []estimate.Estimator{published{}})
	for _, asked := range []bool{false, true} {
		e, why, err := l.Choose("paper", estimate.Problem{Printed: asked, Components: 2, Columns: 1})
		if got, ok := e.(published); err != nil || !ok || got.printed != asked || strings.Contains(why, "prints") != asked {
			t.Errorf("asked for printed constants: %v; got %+v, %q, %v", asked, e, why, err)
		}
	}
	for _, name := range []string{Auto, "", forOne, forLearners} {
		var field *privacy.FieldError
		if e, _, err := l.Requested(name, estimate.Problem{Printed: true}); e != nil || !errors.As(err, &field) || field.Field != "constants" || field.Fix == "" {
			t.Errorf("%q has no printed constants, got %v, %v", name, e, err)
		}
	}
}

func TestForMixture(t *testing.T) {
	for d := 1; d < 4; d++ {
		for _, shape := range []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical} {
			p := estimate.Problem{Columns: d, Covariance: shape, MaxComponents: 10}
			name, why := forMixture(p), "more than one component is allowed"
			if e, chosen, err := everything.Choose(Auto, p); err != nil || e.Name() != name || chosen != "auto: "+why {
				t.Errorf("d = %d, %v: %v, %q, %v", d, shape, e, chosen, err)
			}
		}
	}
}

func TestPick(t *testing.T) {
	standard := Candidate{Method: forOne, CovarianceError: .2, Released: 1}
	told := Candidate{Method: "told", CovarianceError: .1, Released: 1, Uses: []string{"a fact"}}
	with := func(c Candidate, change func(*Candidate)) Candidate { change(&c); return c }
	for name, c := range map[string]struct {
		rival  Candidate
		want   string
		others string
	}{
		"better":          {told, "told", "0.2 of gaussian"},
		"hardly better":   {with(told, func(c *Candidate) { c.CovarianceError = .19 }), forOne, "0.19 of told"},
		"not stated":      {with(told, func(c *Candidate) { c.Uses = nil }), forOne, ""},
		"refused":         {with(told, func(c *Candidate) { c.Refused = "no" }), forOne, ""},
		"not measured":    {with(told, func(c *Candidate) { c.CovarianceError = 0 }), forOne, ""},
		"seldom releases": {with(told, func(c *Candidate) { c.Released = .5 }), forOne, "0.1 of told"},
	} {
		best, others := pick([]Candidate{standard, c.rival})
		if best.Method != c.want || others != c.others {
			t.Errorf("%s: %s against %q, want %s against %q", name, best.Method, others, c.want, c.others)
		}
	}
	unknown := with(standard, func(c *Candidate) { c.CovarianceError = 0 })
	if best, _ := pick([]Candidate{unknown, told}); best.Method != forOne {
		t.Errorf("an unknown error lost against %s", best.Method)
	}
	if best, _ := pick(nil); best.Method != forOne {
		t.Errorf("no candidates: %+v", best)
	}
}

// Auto refuses a public number of rows that hardly any run gets through, and offers what does
// with them, and by name one that no run gets through. It never looks at n where that is private.
func TestTooFewRows(t *testing.T) {
	const d = 20
	p := problemOf(d, 0, privacy.ReplaceOne)
	e, err := everything.byName(forOne)
	if err != nil {
		t.Fatal(err)
	}
	needed := e.Expect(p).RowsNeeded
	p.Rows = int(.34 * needed) // enough for columns by themselves
	for _, name := range []string{Auto, forOne, forTails} {
		if _, _, err := everything.Choose(name, p); err != nil {
			t.Errorf("%s, n=%d: %v", name, p.Rows, err)
		}
	}
	p.Rows = int(.2 * needed)
	_, _, err = everything.Choose(Auto, p)
	var refusal *estimate.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Advice, "rows at this epsilon") || !strings.Contains(refusal.Advice, "--covariance diagonal, which gives mean and standard deviation of each column from about") ||
		strings.Contains(refusal.Advice, "spherical") {
		t.Errorf("n=%d: got %v, want a refusal that says what fewer rows pay for, and offers no shape that is wrong where units differ", p.Rows, err)
	}
	for _, name := range []string{forOne, forTails} {
		if _, _, err := everything.Choose(name, p); !errors.As(err, &refusal) {
			t.Errorf("%s by name: %v", name, err)
		}
	}
	p.Rows, p.Covariance = int(.34*needed), estimate.Spherical
	if _, why, err := everything.Choose(Auto, p); err != nil || why != "auto: one component" {
		t.Errorf("spherical: %q, %v", why, err)
	}
	private := problemOf(d, 0, privacy.AddRemoveOne)
	if _, _, err := everything.Choose(Auto, private); err != nil {
		t.Errorf("n private: %v", err)
	}
	for _, n := range []int{int(math.Ceil(needed)), 1e7} {
		enough := problemOf(d, n, privacy.ReplaceOne)
		if _, _, err := everything.Choose(Auto, enough); err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
	}
}

// A learner that is named, or brought along, goes to the method that runs it, whatever else is
// known; without one auto never takes it.
func TestLearnerChoosesItsMethod(t *testing.T) {
	for d := 1; d < 4; d++ {
		for k := range 4 {
			p := estimate.Problem{Columns: d, Components: k, MaxComponents: 10, Relation: privacy.AddRemoveOne}
			if e, _, err := everything.Choose(Auto, p); err != nil || e.Name() == forLearners {
				t.Errorf("d = %d, k = %d, no learner: %v, %v", d, k, e, err)
			}
			p.KnownCovariance = [][]float64{{1}}
			named, own := p, p
			named.Learner, own.Own = "em", "none"
			for _, p := range []estimate.Problem{named, own} {
				e, why, err := everything.Choose("", p)
				if err != nil || e.Name() != forLearners || why != "auto: a learner is named, and black-box runs it" {
					t.Errorf("d = %d, k = %d: %v, %q, %v", d, k, e, why, err)
				}
				if e, why, err = everything.Choose(forOne, p); err != nil || e.Name() != forOne || why != "as asked" {
					t.Errorf("by name: %v, %q, %v", e, why, err)
				}
			}
		}
	}
	// It runs what it says it runs, and the methods that run nothing say so.
	for _, m := range everything.All() {
		user, runs := m.(estimate.LearnerUser)
		want := map[string][]string{"separated:sample-aggregate": {"em", "spectral", "spectral-spheres", "vempala-wang"}, "gaussian:ppe-line": {"em"}}[m.Name()]
		if strings.HasPrefix(m.Name(), forLearners) {
			want = []string{"em", "moitra-valiant", "pearson-lines", "spectral"}
		}
		if runs != (want != nil) {
			t.Errorf("%s: runs learners: %v", m.Name(), runs)
		}
		if !runs {
			continue
		}
		names := slices.Sorted(slices.Values(user.Learners()))
		if !slices.Equal(names, want) {
			t.Errorf("%s runs %q", m.Name(), names)
		}
		for _, name := range names {
			if err := estimate.ValidateLearner(m, estimate.Problem{Learner: name}); err != nil {
				t.Errorf("%s, %s: %v", m.Name(), name, err)
			}
			if err := estimate.ValidateLearner(m, estimate.Problem{Learner: name, Trim: .1}); (err == nil) != user.Trims(name) {
				t.Errorf("%s, %s trims: %v, got %v", m.Name(), name, user.Trims(name), err)
			}
			if got := estimate.LearnerOf(m, estimate.Problem{Learner: name}); got != name {
				t.Errorf("%s: %q became %q", m.Name(), name, got)
			}
		}
		if got := estimate.LearnerOf(m, estimate.Problem{}); got != user.Learners()[0] {
			t.Errorf("%s: the default is %q, got %q", m.Name(), user.Learners()[0], got)
		}
		if got := estimate.LearnerOf(m, estimate.Problem{Own: "none"}); got != estimate.OwnLearner {
			t.Errorf("%s: own became %q", m.Name(), got)
		}
	}
}

// TestUnsure: beside categories a joint model is tried where nine of ten fits have a release.
func TestUnsure(t *testing.T) {
	e, err := everything.byName(forOne)
	if err != nil {
		t.Fatal(err)
	}
	for rows, want := range map[int]bool{500: true, 900: true, 1100: false} { // of .2, .75 and .99
		p := estimate.Problem{Columns: 3, Rows: rows, Relation: privacy.ReplaceOne, Mu: .2, MaxComponents: 1}
		if got := Unsure(e, p); got != want {
			t.Errorf("%d rows: %v", rows, got)
		}
	}
}
