package attacks_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A spyContext is a context of somebody's own, which does something whenever it is asked whether it
// has ended.
type spyContext struct {
	context.Context
	asked func() error
}

func (c spyContext) Err() error { return c.asked() }

// loudTerms leave next to no noise.
var loudTerms = kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Rho: 1e6}}

func opened(t *testing.T, ctx context.Context, table *kernel.Table, terms kernel.Terms, kind string) *kernel.Session {
	t.Helper()
	p := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "count", Query: kind, Share: 1, Most: 9}}}
	s, err := kernel.Open(ctx, table, p, terms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestContextsCount: how often a context is asked says nothing of a private number of rows.
func TestContextsCount(t *testing.T) {
	asked := func(n int) int64 {
		var times atomic.Int64
		s := opened(t, spyContext{t.Context(), func() error { times.Add(1); return nil }}, protected(n, privacy.AddRemoveOne), loudTerms, "count")
		if _, err := s.SubBudget().Sum("count", query.Count{}, s.Mu()/9); err != nil {
			t.Error(err)
		}
		return times.Load()
	}
	if few, many := asked(10), asked(50000); few != many {
		t.Errorf("over 10 rows a context is asked %d times, over 50000 %d", few, many)
	}
}

// TestContextsFlicker: a context that ends and comes back gets no answer of a part of the rows.
func TestContextsFlicker(t *testing.T) {
	var times atomic.Int64
	flicker := func() error {
		if n := times.Add(1); n > 3 && n < 30 {
			return context.Canceled
		}
		return nil
	}
	s := opened(t, spyContext{t.Context(), flicker}, protected(50000, privacy.AddRemoveOne), loudTerms, "count")
	for range 9 {
		if answer, err := s.SubBudget().Sum("count", query.Count{}, s.Mu()/9); err == nil && math.Abs(answer.Values[0]-50000) > 100 {
			t.Errorf("counted %v of 50000 rows", answer.Values[0])
		}
	}
}

// many is a learner of 100 estimates.
type many struct{ thief }

func (many) Estimates() int { return 100 }
func (many) Learn([][]float64, uint64) ([][]float64, error) {
	estimates := make([][]float64, 100)
	for i := range estimates {
		estimates[i] = []float64{1}
	}
	return estimates, nil
}

// TestContextsOverwrite: nobody puts another session in the place of one that has been priced.
func TestContextsOverwrite(t *testing.T) {
	var s, derived *kernel.Session
	overwrite := func() error {
		if derived != nil {
			*s = *derived
		}
		return nil
	}
	own := loudTerms
	own.Own = func(int) kernel.Learner { return many{} }
	s = opened(t, spyContext{t.Context(), overwrite}, protected(50, privacy.AddRemoveOne), own, kernel.OfBlocks("count"))
	root := s.SubBudget()
	a, err := blocks.Pool(root.Take(root.Left()/2), blocks.Blocks{OfTerms: 100, Count: 5})
	if err != nil {
		t.Fatal(err)
	}
	derived = a.Session()
	if answer, err := root.Sum("count", query.Count{}, s.Mu()/9); err == nil {
		t.Errorf("100 estimates per block are counted with noise for one: %+v", answer)
	}
}

// TestTablesOverwritten: a session's table stays the one whose relation it was opened under.
func TestTablesOverwritten(t *testing.T) {
	table := protected(50, privacy.ReplaceOne)
	terms := loudTerms
	terms.Relation = privacy.ReplaceOne
	s := opened(t, t.Context(), table, terms, "count")
	*table = *protected(70, privacy.AddRemoveOne)
	if n, public := s.Rows(); n != 50 || !public {
		t.Errorf("the session tells %d rows, %v", n, public)
	}
	answer, err := s.SubBudget().Sum("count", query.Count{}, s.Mu()/9)
	if err != nil || math.Abs(answer.Values[0]-50) > 10 {
		t.Errorf("a session under %v counts %v, %v", s.Relation(), answer.Values, err)
	}
}
