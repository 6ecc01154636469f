// Package attacks_test is somebody who wants the rows: a package outside the kernel that tries
// every way around a session that was ever thought of. Each has to be refused when it runs, or not
// to compile.
package attacks_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/learner/em"
)

var (
	terms = kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1e-3, Delta: 1e-9}}
	plan  = kernel.Plan{Method: "attack", Steps: []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 100}}}
)

// protected is a table of n rows of two columns.
func protected(n int, r privacy.Relation) *kernel.Table {
	b := kernel.NewBuilder(2)
	for i := range n {
		b.Append([]float64{float64(i), 4711})
	}
	return b.Protect(r)
}

func session(t *testing.T, terms kernel.Terms) *kernel.Session {
	t.Helper()
	s, err := kernel.Open(context.Background(), protected(50, terms.Relation), plan, terms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A thief is a learner that keeps what it is handed.
type thief struct{ kept *[][]float64 }

func (th thief) Estimates() int      { return 1 }
func (th thief) Coordinates(int) int { return 1 }
func (th thief) Learn(rows [][]float64, _ uint64) ([][]float64, error) {
	*th.kept = append(*th.kept, rows...)
	return [][]float64{{0}}, nil
}

// disguised is a learner of ours with a method of somebody else's.
type disguised struct {
	em.Learner
	kept *[][]float64
}

func (d disguised) Learn(rows [][]float64, _ uint64) ([][]float64, error) {
	return thief{d.kept}.Learn(rows, 0)
}

// TestLearners: no row reaches a learner that the terms do not hold, and the session tells when one
// reached that.
func TestLearners(t *testing.T) {
	var kept [][]float64
	a := session(t, terms).SubBudget()
	for name, l := range map[string]kernel.Learner{
		"of one's own": thief{&kept}, "in the guise of ours": disguised{em.Learner{Components: 1}, &kept}, "ours by a pointer": &em.Learner{Components: 1},
		"anonymous": struct{ kernel.Learner }{em.Learner{Components: 1}}, "none": nil,
	} {
		if _, err := blocks.Pool(a, blocks.Blocks{Learner: l, Count: 2}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := blocks.Pool(a, blocks.Blocks{OfTerms: 1, Count: 2}); err == nil || len(kept) > 0 || a.Session().OwnLearnerRan() {
		t.Errorf("the learner of terms without one: %v, and %d rows were stolen", err, len(kept))
	}
	own := terms
	own.Own = func(int) kernel.Learner { return thief{&kept} }
	s := session(t, own)
	if s.OwnLearnerRan() {
		t.Error("a learner of the terms ran before it was asked for")
	}
	if _, err := blocks.Pool(s.SubBudget(), blocks.Blocks{OfTerms: 1, Count: 1}); err != nil || len(kept) != 50 || !s.OwnLearnerRan() {
		t.Errorf("the custodian's own: %v, %d rows, told: %v", err, len(kept), s.OwnLearnerRan())
	}
}

// TestRowsTellTheirNumberOnlyWhereItIsPublic: the relation is the table's, whatever a session says.
func TestRowsTellTheirNumberOnlyWhereItIsPublic(t *testing.T) {
	table := protected(50, privacy.AddRemoveOne)
	if n, public := table.Rows(); n != 0 || public {
		t.Errorf("a table whose number of rows is private says %d", n)
	}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, 0, 3, -1} {
		other := terms
		other.Relation = r
		if _, err := kernel.Open(context.Background(), table, plan, other); err == nil {
			t.Errorf("a session under %v over a table under %v", r, table.Relation())
		}
	}
	if n, public := protected(50, privacy.ReplaceOne).Rows(); n != 50 || !public {
		t.Error(n, public)
	}
}

// TestBuilders: nobody adds to a table that is protected, and no row is dropped in silence.
func TestBuilders(t *testing.T) {
	open := func() *kernel.Builder { b := kernel.NewBuilder(2); b.Append([]float64{1, 2}); return b }
	closed := open()
	copied := *closed
	table := closed.Protect(privacy.ReplaceOne)
	for name, do := range map[string]func(){
		"append after protect":             func() { closed.Append([]float64{1, 2}) },
		"append to a copy after protect":   func() { copied.Append([]float64{1, 2}) },
		"protect twice":                    func() { closed.Protect(privacy.AddRemoveOne) },
		"protect a copy under the other":   func() { copied.Protect(privacy.AddRemoveOne) },
		"a row too short":                  func() { open().Append([]float64{1}) },
		"a row too long":                   func() { open().Append([]float64{1, 2, 3}) },
		"no row":                           func() { open().Append(nil) },
		"no relation":                      func() { open().Protect(0) },
		"a builder that nobody has made":   func() { new(kernel.Builder).Append([]float64{1}) },
		"to protect what nobody has begun": func() { new(kernel.Builder).Protect(privacy.ReplaceOne) },
	} {
		if said := panics(do); !strings.HasPrefix(said, "kernel: ") {
			t.Errorf("%s: %q", name, said)
		}
	}
	if n, _ := table.Rows(); n != 1 {
		t.Errorf("a protected table of one row has %d", n)
	}
}

func panics(do func()) (said string) {
	defer func() { said, _ = recover().(string) }()
	do()
	return "no panic"
}

// TestNoTable: a session over nothing is refused, and does not fall over.
func TestNoTable(t *testing.T) {
	for _, table := range []*kernel.Table{nil, {}} {
		if _, err := kernel.Open(context.Background(), table, plan, terms); err == nil {
			t.Error("accepted")
		}
	}
}

// TestLearnersPanic: what a learner says when it gives up reaches nobody.
func TestLearnersPanic(t *testing.T) {
	own := terms
	own.Own = func(int) kernel.Learner { return loud{} }
	a, err := blocks.Pool(session(t, own).SubBudget(), blocks.Blocks{OfTerms: 1, Count: 3})
	if err != nil || a.Session().Columns() != 1 {
		t.Error(err)
	}
}

type loud struct{ thief }

func (loud) Learn(rows [][]float64, _ uint64) ([][]float64, error) { panic(rows[0]) }

// TestBudgets: copies, gifts and odd numbers make no budget.
func TestBudgets(t *testing.T) {
	s := session(t, terms)
	root := s.SubBudget()
	copied, again := *root, *root
	s2 := *s
	all := []*kernel.SubBudget{root, &copied, &again, s2.SubBudget(), root.Take(math.NaN()), root.Take(math.Inf(-1)), root.Take(-1), copied.Take(math.Inf(1))}
	for _, a := range all {
		for _, b := range all {
			a.Return(b)
		}
	}
	for range 10 {
		for _, a := range all {
			for _, mu := range []float64{s.Mu() / 2, math.NaN(), -1, 0, math.Inf(1), -s.Mu()} {
				_, _ = a.Sum("count", query.Count{}, mu)
			}
		}
	}
	spent := 0.0
	for _, m := range s.Measurements() {
		spent += float64(m.Count) * m.Mu * m.Mu
	}
	if l := s.Loss(); spent > s.Mu()*s.Mu() || l.Epsilon > terms.Budget.Epsilon || spent == 0 {
		t.Errorf("mu^2 = %v of %v was spent, %+v", spent, s.Mu()*s.Mu(), l)
	}
	other := session(t, terms).SubBudget()
	if panics(func() { root.Return(other) }) == "no panic" {
		t.Error("a sub-budget of another session was taken back")
	}
}

// TestOutsideThePlan: nothing is measured that the plan does not hold, and the plan stays what it
// was.
func TestOutsideThePlan(t *testing.T) {
	mine := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "count", Query: "count", Share: .01, Most: 1}}}
	s, err := kernel.Open(context.Background(), protected(5, privacy.ReplaceOne), mine, terms)
	if err != nil {
		t.Fatal(err)
	}
	mine.Steps[0].Share, mine.Steps[0].Most, mine.Steps[0].Query = 1, 99, "histogram"
	s.Plan().Steps[0].Share = 1
	a := s.SubBudget()
	bins := query.Counts{Edges: [][]float64{{1}, {1}}}
	for _, err := range []error{
		fault(a.Sum("count", query.Count{}, s.Mu()/2)), fault(a.Sum("count", bins, s.Mu()/100)), fault(a.Sum("other", query.Count{}, s.Mu()/100)),
	} {
		if err == nil {
			t.Error("something outside the plan was measured")
		}
	}
	if _, err := a.Sum("count", query.Count{}, s.Mu()/11); err != nil {
		t.Error(err)
	}
	if err := fault(a.Sum("count", query.Count{}, s.Mu()/11)); err == nil || errors.Is(err, kernel.ErrExhausted) {
		t.Errorf("more than the plan's most: %v", err)
	}
}

func fault(_ kernel.Answer, err error) error { return err }

// cheap is an extra loss that says it is none, and could change the plan when it is looked at.
type cheap struct {
	blocks.Agreement
	looked *bool
}

func (m cheap) Validate() error { *m.looked = true; return nil }
func (m cheap) Loss(float64) (privacy.Curve, float64) {
	*m.looked = true
	return privacy.PureCurve(1e-9), 0
}

// TestExtras: a plan's extra losses are the kernel's, and nobody else's arithmetic is asked.
func TestExtras(t *testing.T) {
	looked := false
	extra := blocks.Agreement{Mask: privacy.CovarianceMask{Dimension: 2, Gamma: 1e-3, Eta: 1}, Delta: 1e-12}
	for _, e := range []kernel.Extra{cheap{extra, &looked}, &extra, struct{ blocks.Agreement }{extra}, struct{ kernel.Extra }{extra}} {
		p := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "mask", Query: blocks.StableKind, Share: 1, Most: 1, Extra: e}}}
		if _, err := kernel.Open(context.Background(), protected(5, privacy.ReplaceOne), p, terms); err == nil || looked {
			t.Errorf("an extra loss of type %T: %v, asked: %v", e, err, looked)
		}
		if _, err := kernel.Calibrate(p, terms.Relation, terms.Budget); err == nil || looked {
			t.Errorf("calibrated with a %T", e)
		}
	}
}

// TestReflection: what reflection can reach of a session leads to no method that gives rows.
func TestReflection(t *testing.T) {
	s := session(t, terms)
	for _, v := range []any{s, s.SubBudget(), protected(3, privacy.ReplaceOne)} {
		value := reflect.ValueOf(v)
		for i := range value.NumMethod() {
			for j := range value.Method(i).Type().NumOut() {
				if name := value.Method(i).Type().Out(j).String(); strings.Contains(name, "rows.") || strings.Contains(name, "noise.") || strings.Contains(name, "hook.") {
					t.Errorf("%T.%s returns a %s", v, value.Type().Method(i).Name, name)
				}
			}
		}
	}
}
