package gauze

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/release"
)

// halves is a learner of somebody's own for two groups on either side of x = 5. It notes what it is
// handed, which a real one must not.
type halves struct {
	mu    sync.Mutex
	seeds map[uint64]bool
	rows  int
	// what becomes of the answer, nil for nothing
	answer func([]learner.Component) ([]learner.Component, error)
}

func (h *halves) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	h.mu.Lock()
	if h.seeds == nil {
		h.seeds = map[uint64]bool{}
	}
	h.seeds[seed] = true
	h.rows += len(rows)
	h.mu.Unlock()
	if k != 2 {
		return nil, errors.New("two components only")
	}
	var out []learner.Component
	for _, right := range []bool{false, true} {
		n, sum, squares := 0.0, []float64{0, 0}, []float64{0, 0}
		for _, x := range rows {
			if x[0] > 5 != right {
				continue
			}
			n++
			for i, v := range x {
				sum[i] += v
				squares[i] += v * v
			}
		}
		root := [][]float64{{0, 0}, {0, 0}}
		for i := range sum {
			sum[i] /= n
			root[i][i] = math.Sqrt(squares[i]/n - sum[i]*sum[i])
		}
		out = append(out, learner.Component{Weight: n / float64(len(rows)), Mean: sum, Root: root})
	}
	if h.answer != nil {
		return h.answer(out)
	}
	return out, nil
}

// groups is a table of n rows about (0, 0) and (10, 0).
func groups(n int, r privacy.Relation) *kernel.Table {
	rng := rand.New(rand.NewPCG(3, 4))
	b := kernel.NewBuilder(2)
	for range n {
		b.Append([]float64{float64(10*rng.IntN(2)) + rng.NormFloat64(), 2 * rng.NormFloat64()})
	}
	return b.Protect(r)
}

// asked is a request for two components by a learner; the budget is so large that the blocks' test
// passes where they agree.
func asked(relation privacy.Relation) Request {
	r := request(relation, privacy.Budget{Epsilon: 20, Delta: 1e-6})
	r.Components = 2
	return r
}

func TestLearnerChoosesBlackBox(t *testing.T) {
	for _, c := range []struct {
		change func(*Request)
		method string
		name   string
	}{
		{func(r *Request) { r.Learner = "em" }, "black-box", "em"},
		{func(r *Request) { r.Learner, r.Method = "spectral", "auto" }, "black-box", "spectral"},
		{func(r *Request) { r.Own = &halves{} }, "black-box", "own"},
		{func(r *Request) { r.Method, r.Trim = "black-box", .02 }, "black-box", "em"},
		{func(r *Request) { r.Learner, r.KnownCovariance = "em", [][]float64{{1, 0}, {0, 1}} }, "black-box", "em"},
		{func(*Request) {}, "general", ""},
	} {
		r := asked(privacy.ReplaceOne)
		c.change(&r)
		s, err := Plan(r, 50000)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if s.Method != c.method || (s.Learner == nil) != (c.name == "") || s.Learner != nil && (s.Learner.Name != c.name || s.Learner.Trim != r.Trim) {
			t.Errorf("want %s by %q, got %s by %+v", c.method, c.name, s.Method, s.Learner)
		}
		if strings.Contains(s.Why, "auto") == (r.Method == "black-box") || s.Why == "" {
			t.Errorf("method %q: why is %q", r.Method, s.Why)
		}
	}
}

// More epsilon than the precision of a mask bears is not refused: the fit spends what it bears, and
// says so.
func TestMoreEpsilonThanAMaskBears(t *testing.T) {
	r := asked(privacy.AddRemoveOne)
	r.Budget.Epsilon, r.Own, r.Force = 1000, &halves{}, true
	s, err := Plan(r, 3000)
	if err != nil {
		t.Fatal(err)
	}
	if s.Epsilon > 40 || s.Epsilon < 30 || !strings.Contains(strings.Join(s.Notes, "; "), "of the 1000 asked for") {
		t.Errorf("epsilon %v, notes %q", s.Epsilon, s.Notes)
	}
	got, err := Fit(context.Background(), groups(3000, r.Relation), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Release == nil || got.Certificate.Epsilon != s.Epsilon || got.Spent.Epsilon > s.Epsilon || !strings.Contains(strings.Join(got.Release.Diagnostics.Notes, "; "), "of the 1000") {
		t.Errorf("%+v, spent %+v", got.NoRelease, got.Spent)
	}
	for _, b := range []privacy.Budget{{Rho: 1}, {Epsilon: 10, Delta: 1e-30}} {
		var refusal *estimate.Refusal
		if r.Budget = b; !errors.As(second(Plan(r, 3000)), &refusal) {
			t.Errorf("%+v: want a refusal", b)
		}
	}
}

// What ends after the count, which says that the rows are too few, has spent the count and no mask.
func TestSpentBeforeAMask(t *testing.T) {
	r := asked(privacy.AddRemoveOne)
	r.Budget.Epsilon, r.Own = 1, &halves{}
	got, err := Fit(context.Background(), groups(300, r.Relation), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.NoRelease == nil || len(got.Certificate.Plan) != 1 || !(got.Spent.Epsilon > 0 && got.Spent.Epsilon < .15) || got.Spent.Rho == 0 {
		t.Errorf("%+v, plan %+v, spent %+v", got.NoRelease, got.Certificate.Plan, got.Spent)
	}
}

func second(_ *Statement, err error) error { return err }

// A plan with a mask says what is beside mu, and rho is nobody's.
func TestPlanWithMask(t *testing.T) {
	r := asked(privacy.AddRemoveOne)
	r.Budget.Epsilon, r.Own = 1, &halves{}
	s, err := Plan(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if most := privacy.MuOf(1, 1e-6); !(s.Mu > .5*most && s.Mu < most) || s.Rho != 0 || !(s.TestDelta > 0 && s.TestDelta < 1e-6) {
		t.Errorf("mu %v, rho %v, delta of the test %v", s.Mu, s.Rho, s.TestDelta)
	}
	masks, text := 0, s.String()
	for _, step := range s.Steps {
		if step.Mask == nil {
			continue
		}
		if masks++; step.Mask.Kind != release.MaskLifted || step.Mask.Dimension != 3 || step.Delta <= 0 || !strings.Contains(text, step.Mask.String()) {
			t.Errorf("%+v: %+v in\n%s", step, step.Mask, text)
		}
	}
	if masks != 1 || !strings.Contains(text, "learner   own, which is handed raw rows") || strings.Contains(text, "rho") {
		t.Errorf("%d masks in\n%s", masks, text)
	}
}

// Both lines of a published reduction's step: the test costs its pure loss and no mu, the mask its
// curve.
func TestPublishedStepsAreStated(t *testing.T) {
	mask := privacy.ParameterMask{Components: 2, Dimension: 3, Gamma: .01, EtaWeight: .3, EtaMean: .2, EtaCov: .1}
	test := stepOf(kernel.Measurement{Step: "a", Query: pure.PopularKind, Count: 1, Law: pure.LawPopular, Sensitivity: 198, Noise: 396, Delta: 1e-7})
	if test.Pure < .5 || test.Pure > .5+1e-12 || test.Mu != 0 || test.Sensitivity != 0 || test.Noise != 0 || test.Delta != 1e-7 {
		t.Errorf("%+v", test)
	}
	line := stepOf(kernel.Measurement{Step: "a", Query: pure.PopularKind, Count: 1, Law: blocks.LawMasked, Sensitivity: .01, Noise: .1, Mask: mask})
	want := release.Mask{Kind: release.MaskParameters, Components: 2, Dimension: 3, Gamma: .01, EtaWeight: .3, EtaMean: .2, EtaCov: .1}
	if line.Mask == nil || *line.Mask != want || line.Sensitivity != 0 || line.Noise != 0 || line.Law != "" {
		t.Errorf("%+v: %+v", line, line.Mask)
	}
	r := request(privacy.AddRemoveOne, privacy.Budget{Epsilon: 1, Delta: 1e-6})
	r.Method, r.Components = "black-box:paper", 2
	s, err := Plan(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range s.Steps {
		if step.Query != pure.PopularKind {
			continue
		}
		if step.Mu != 0 || !(step.Pure > 0) || step.Mask == nil || !strings.Contains(s.String(), "the test of step "+step.Step+": epsilon = ") {
			t.Errorf("%+v in\n%s", step, s)
		}
	}
	if s.Learner == nil || s.Learner.Name != "pearson-lines" {
		t.Errorf("the default of black-box:paper is %+v", s.Learner)
	}
}

func TestLearnerFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		field  string
		want   string
	}{
		"unknown":                 {func(r *Request) { r.Learner = "kmeans" }, "learner", `em, spectral, pearson-lines, moitra-valiant, got "kmeans"`},
		"of no use":               {func(r *Request) { r.Method, r.Learner = "general", "em" }, "learner", "the method general runs no learner"},
		"own of no use":           {func(r *Request) { r.Method, r.Own = "gaussian", &halves{} }, "own learner", "the method gaussian runs no learner"},
		"two":                     {func(r *Request) { r.Learner, r.Own = "em", &halves{} }, "learner", "leave one of the two out"},
		"trim without a learner":  {func(r *Request) { r.Trim = .02 }, "trim", "no learner is named, got 0.02"},
		"trim too large":          {func(r *Request) { r.Learner, r.Trim = "em", .2 }, "trim", "below 0.2, got 0.2"},
		"trim negative":           {func(r *Request) { r.Learner, r.Trim = "em", -.1 }, "trim", "got -0.1"},
		"trim NaN":                {func(r *Request) { r.Learner, r.Trim = "em", math.NaN() }, "trim", "got NaN"},
		"trim and spectral":       {func(r *Request) { r.Learner, r.Trim = "spectral", .1 }, "trim", "which leaves nothing out"},
		"trim and one's own":      {func(r *Request) { r.Own, r.Trim = &halves{}, .1 }, "trim", "let that learner leave out"},
		"trim, no method learns":  {func(r *Request) { r.Method, r.Trim = "separated", .1 }, "trim", "the method separated runs no learner"},
		"negative, none to blame": {func(r *Request) { r.Trim = -1 }, "trim", "0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			r := asked(privacy.ReplaceOne)
			c.change(&r)
			_, err := Plan(r, 50000)
			var field *privacy.FieldError
			if !errors.As(err, &field) || field.Field != c.field || field.Fix == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q of the field %q", err, c.want, c.field)
			}
		})
	}
}

// A learner of one's own through the front door: it is handed every row once, in blocks with seeds
// of their own, and the certificate says that it ran. One of 266 fits ended in a model of which one
// component had both groups: that both of two do has a probability of 2e-5.
func TestOwnLearner(t *testing.T) {
	const n = 20000
	joined := 0
	for _, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		own := &halves{}
		r := asked(relation)
		r.Own = own
		result, err := Fit(t.Context(), groups(n, relation), r)
		if err != nil || result.NoRelease != nil {
			t.Fatalf("%v: %v, %+v", relation, err, result)
		}
		if own.rows != n || len(own.seeds) < 10 {
			t.Errorf("%v: the learner was handed %d rows of %d, with %d seeds", relation, own.rows, n, len(own.seeds))
		}
		c := result.Release.Certificate
		if c.Method != "black-box" || c.Learner == nil || *c.Learner != (release.Learner{Name: release.OwnLearner}) {
			t.Errorf("%v: method %s, learner %+v", relation, c.Method, c.Learner)
		}
		if faults := release.Verify(result.Release); faults != nil {
			t.Errorf("%v: %v", relation, faults)
		}
		if result.Spent.Rho != 0 || result.Spent != c.Spent || result.Spent.Epsilon > 20 || result.Spent.Epsilon < 10 {
			t.Errorf("%v: spent %+v", relation, result.Spent)
		}
		masks := 0
		for _, step := range c.Plan {
			if step.Mask != nil {
				masks++
			}
		}
		if masks != 1 {
			t.Errorf("%v: %d masks in %+v", relation, masks, c.Plan)
		}
		m := result.Release.Model
		if len(m.Components) != 2 || math.Abs(math.Abs(m.Components[0].Mean[0]-m.Components[1].Mean[0])-10) > 1 {
			t.Logf("%v: %+v", relation, m)
			joined++
		}
	}
	if joined > 1 {
		t.Error("no fit found the two groups")
	}
}

// Whatever a learner does by way of an answer, a fit ends in no release and in no error.
func TestOwnLearnerFails(t *testing.T) {
	for name, answer := range map[string]func([]learner.Component) ([]learner.Component, error){
		"error":     func([]learner.Component) ([]learner.Component, error) { return nil, errors.New("a row: 4711") },
		"panic":     func([]learner.Component) ([]learner.Component, error) { panic("a row: 4711") },
		"too few":   func(c []learner.Component) ([]learner.Component, error) { return c[:1], nil },
		"too many":  func(c []learner.Component) ([]learner.Component, error) { return append(c, c...), nil },
		"no mean":   func(c []learner.Component) ([]learner.Component, error) { c[0].Mean = nil; return c, nil },
		"no root":   func(c []learner.Component) ([]learner.Component, error) { c[1].Root = nil; return c, nil },
		"NaN":       func(c []learner.Component) ([]learner.Component, error) { c[0].Mean[1] = math.NaN(); return c, nil },
		"singular":  func(c []learner.Component) ([]learner.Component, error) { c[0].Root[0][0] = 0; return c, nil },
		"no weight": func(c []learner.Component) ([]learner.Component, error) { c[0].Weight = -1; return c, nil },
		"the same":  func(c []learner.Component) ([]learner.Component, error) { return []learner.Component{c[0], c[0]}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := asked(privacy.ReplaceOne)
			r.Own = &halves{answer: answer}
			result, err := Fit(context.Background(), groups(20000, r.Relation), r)
			if err != nil {
				t.Fatal(err)
			}
			if result.NoRelease == nil || result.NoRelease.Advice == "" || strings.Contains(result.NoRelease.Reason, "4711") {
				t.Errorf("got %+v", result)
			}
			if result.Spent.Epsilon == 0 {
				t.Error("nothing was spent")
			}
		})
	}
}

// Too few rows for blocks to agree are refused where n is public, before the learner sees one.
func TestOwnLearnerNeedsRows(t *testing.T) {
	own := &halves{}
	r := asked(privacy.ReplaceOne)
	r.Own, r.Budget.Epsilon = own, 1
	var refusal *estimate.Refusal
	if _, err := Fit(t.Context(), groups(200, r.Relation), r); !errors.As(err, &refusal) || own.rows > 0 {
		t.Errorf("got %v after %d rows", err, own.rows)
	}
}

// A reader of releases finds tests of agreement and their masks by the names that the kernel gives
// them.
func TestAgreementsAreNamedAsInTheKernel(t *testing.T) {
	if release.QueryStable != blocks.StableKind || release.QueryPopular != pure.PopularKind {
		t.Errorf("release has %q and %q, the kernel %q and %q", release.QueryStable, release.QueryPopular, blocks.StableKind, pure.PopularKind)
	}
}
