package kerneltest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

var plan = kernel.Plan{Method: "rehearsed", Steps: []kernel.Step{
	{Name: "count", Query: "count", Share: 1, Most: 9}, {Name: "pairs", Query: "pair octaves", Share: 1, Most: 9},
}}

func open(t *testing.T, table *kernel.Table) *kernel.Session {
	t.Helper()
	s, err := kernel.Open(context.Background(), table, plan, kernel.Terms{Relation: table.Relation(), Budget: privacy.Budget{Rho: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// count is a noisy count, of sd 1000.
func count(t *testing.T, s *kernel.Session) float64 {
	t.Helper()
	answer, err := s.SubBudget().Sum("count", query.Count{}, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Values[0]
}

func rows(n int) (out [][]float64) {
	for i := range n {
		out = append(out, []float64{float64(i * i)})
	}
	return out
}

// Sessions over a rehearsed table are heard and marked, and draw noise that no seed decides; an
// answer that is replayed is given in place of what is drawn, and one too many is told. False-alarm
// rate: two noises of sd 1000 are equal with probability 3e-4, four times with 1e-14.
func TestHeardAndReplayed(t *testing.T) {
	var first kerneltest.Script
	s := open(t, kerneltest.Observed(rows(7), 1, privacy.ReplaceOne, &first))
	var answers []float64
	for range 5 {
		answers = append(answers, count(t, s))
	}
	if !s.Simulated() || len(first.Heard) != 5 || first.Heard[0].Exact[0] != 7 || first.Heard[4].Values[0] != answers[4] {
		t.Errorf("simulated %v, heard %+v", s.Simulated(), first.Heard)
	}
	var other kerneltest.Script
	s = open(t, kerneltest.Observed(rows(7), 1, privacy.ReplaceOne, &other))
	for range 5 {
		count(t, s)
	}
	if slices.EqualFunc(first.Heard, other.Heard, func(a, b kerneltest.Heard) bool { return a.Values[0] == b.Values[0] }) {
		t.Error("two sessions drew the same noise")
	}
	again := kerneltest.Script{Replayed: true, Answers: first.Heard}
	s = open(t, kerneltest.Observed(rows(9), 1, privacy.AddRemoveOne, &again))
	for i := range 5 {
		if got := count(t, s); got != answers[i] || again.Heard[i].Exact[0] != 9 || again.Beyond {
			t.Errorf("answer %d: %v, heard %+v", i, got, again.Heard[i])
		}
	}
	if count(t, s); !again.Beyond {
		t.Error("a measurement beyond the answers was not told")
	}
}

// With one seed the pairs of the common rows are the same on neighbouring tables, in every
// measurement: the exact answers differ by one pair at most.
func TestSameDraws(t *testing.T) {
	q := query.Pairs{Queries: []query.PairSum{query.PairOctaves{Columns: 1, Low: -9, High: 30}}, Buckets: []int{20}}
	ask := func(rows [][]float64) [][]int64 {
		var exact [][]int64
		script := kerneltest.Script{Replayed: true, Answers: make([]kerneltest.Heard, 4), Seed: 5}
		for i := range script.Answers {
			script.Answers[i].Values = make([]float64, q.Queries[0].Size())
		}
		s := open(t, kerneltest.Observed(rows, 1, privacy.AddRemoveOne, &script))
		for range 4 {
			if _, err := kernel.SumPairs(s.SubBudget(), "pairs", q, 1e-3); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range script.Heard {
			exact = append(exact, h.Exact)
		}
		return exact
	}
	one, more := ask(rows(40)), ask(rows(41))
	differ := false
	for k := range one {
		moved := int64(0)
		for i, v := range one[k] {
			moved += max(v-more[k][i], more[k][i]-v)
		}
		differ = differ || !slices.Equal(one[k], one[0])
		if moved > 2 {
			t.Errorf("measurement %d: one row more moved %d counts", k, moved)
		}
	}
	if !differ {
		t.Error("all measurements drew the same pairs")
	}
}

// A planted fault is for tests, and an ordinary table is no rehearsal.
func TestOrdinary(t *testing.T) {
	if open(t, kerneltest.Table(rows(3), 1, privacy.ReplaceOne)).Simulated() {
		t.Error("an ordinary session says that it is simulated")
	}
	var script kerneltest.Script
	if count(t, open(t, kerneltest.Faulty(t, rows(3), 1, privacy.ReplaceOne, &script, 0))) != 3 {
		t.Error("no noise was asked for")
	}
}
