package kernel_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

func frame(d int) query.Affine {
	a := query.Affine{Center: make([]float64, d)}
	for i := range d {
		w := make([]float64, d)
		w[i] = 1
		a.W = append(a.W, w)
	}
	return a
}

func someRows(n, d int) [][]float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, n)
	for i := range rows {
		for range d {
			rows[i] = append(rows[i], rng.NormFloat64())
		}
	}
	return rows
}

var plan = kernel.Plan{Method: "test", Steps: []kernel.Step{
	{Name: "count", Query: "count", Share: .1, Most: 3},
	{Name: "step", Query: "directions", Share: 1, Most: 1000},
	{Name: "keys", Query: "stability histogram", Share: .5, Most: 3, Slack: 1},
	{Name: "keys without slack", Query: "stability histogram", Share: .5, Most: 3},
	{Name: "pairs", Query: "pair octaves", Share: .5, Most: 5},
}}

var (
	terms = kernel.Terms{Relation: privacy.AddRemoveOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
	keys  = query.BoxKeys{Grids: []query.Grid{{Map: frame(2), Side: []float64{1, 1}, Offset: []float64{0, 0}}}}
	step  = query.Directions{Map: frame(2), Lift: 1}
)

// octaves asks all rows for the octaves 0 to high.
func octaves(high int) query.Pairs {
	return query.Pairs{Queries: []query.PairSum{query.PairOctaves{Columns: 2, High: high}}, Buckets: []int{5}}
}

func open(t *testing.T, ctx context.Context) *kernel.Session {
	t.Helper()
	s, err := kernel.Open(ctx, kerneltest.Table(someRows(20, 2), 2, terms.Relation), plan, terms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRefusalsCostNothing: every measurement outside the plan is refused before anything is spent
// or read.
func TestRefusalsCostNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := open(t, ctx)
	a := s.SubBudget()
	mu := s.Mu()
	sum := func(step string, q query.Sum, mu float64) func() error {
		return func() error { _, err := a.Sum(step, q, mu); return err }
	}
	keysOf := func(step string, mu float64) func() error {
		return func() error { _, _, err := kernel.StabilityHistogram(a, step, keys, mu); return err }
	}
	refused := map[string]func() error{
		"unknown step":    sum("nothing", query.Count{}, .1*mu),
		"wrong query":     sum("count", step, .1*mu),
		"over share":      sum("count", query.Count{}, .4*mu),
		"over all":        sum("step", step, 1.1*mu),
		"zero mu":         sum("step", step, 0),
		"negative mu":     sum("step", step, -1),
		"NaN mu":          sum("step", step, math.NaN()),
		"infinite mu":     sum("step", step, math.Inf(1)),
		"denormal mu":     sum("step", step, 5e-324),
		"invalid query":   sum("step", query.Directions{Map: frame(3), Lift: 1}, .1*mu),
		"no query":        sum("step", nil, .1*mu),
		"pointer":         sum("count", &query.Count{}, .1*mu),
		"foreign query":   sum("count", spyQuery{}, .1*mu),
		"no slack":        keysOf("keys without slack", .1*mu),
		"keys over share": keysOf("keys", .9*mu),
		"keys zero mu":    keysOf("keys", 0),
		"pairs NaN":       func() error { _, err := kernel.SumPairs(a, "pairs", octaves(0), math.NaN()); return err },
		"foreign pairs": func() error {
			_, err := kernel.SumPairs(a, "pairs", query.Pairs{Queries: []query.PairSum{spyPairs{}}, Buckets: []int{5}}, .1*mu)
			return err
		},
		"no pairs":         func() error { _, err := kernel.SumPairs(a, "pairs", query.Pairs{}, .1*mu); return err },
		"no keys":          func() error { _, _, err := kernel.StabilityHistogram(a, "keys", query.BoxKeys{}, .1*mu); return err },
		"empty sub-budget": func() error { _, err := a.Take(0).Sum("step", step, .1*mu); return err },
		"NaN sub-budget":   func() error { _, err := a.Take(math.NaN()).Sum("step", step, .1*mu); return err },
	}
	check := func() {
		t.Helper()
		for name, f := range refused {
			before := a.Left()
			if err := f(); err == nil {
				t.Errorf("%s: accepted", name)
			}
			if loss := s.Loss(); a.Left() != before || loss.Mu != 0 || len(s.Measurements()) != 0 {
				t.Errorf("%s: was refused, but spent %+v", name, loss)
			}
		}
	}
	check()
	cancel()
	refused["cancelled"] = sum("step", step, .1*mu)
	check()
	if err := refused["zero mu"](); !errors.Is(err, kernel.ErrExhausted) {
		t.Errorf("mu = 0, as LeftMu of a spent sub-budget gives, is %v", err)
	}
}

// TestMost: the number of measurements of a step is a limit of its own; the parts of a slack divide
// without a remainder.
func TestMost(t *testing.T) {
	s := open(t, context.Background())
	a := s.SubBudget()
	for i := range 4 {
		_, err := a.Sum("count", query.Count{}, .01*s.Mu())
		if _, _, errKeys := kernel.StabilityHistogram(a, "keys", keys, .1*s.Mu()); (err == nil) != (i < 3) || (errKeys == nil) != (i < 3) {
			t.Errorf("measurement %d: %v, %v", i+1, err, errKeys)
		}
	}
	s = open(t, context.Background())
	for i := range 3 { // .04 each of a share of .1
		if _, err := s.SubBudget().Sum("count", query.Count{}, .2*s.Mu()); (err == nil) != (i < 2) {
			t.Errorf("share: measurement %d: %v", i+1, err)
		}
	}
	part := s.SubBudget().Take(.01 * s.Mu() * s.Mu())
	for i := range 2 { // the second finds the sub-budget spent, though the session is not
		if _, err := part.Sum("step", step, .1*s.Mu()*(1-1e-9)); errors.Is(err, kernel.ErrExhausted) != (i == 1) || part.LeftMu() > 1e-4*s.Mu() {
			t.Errorf("sub-budget: measurement %d: %v, %v left", i+1, err, part.Left())
		}
	}
	for most := 1; most < 200; most++ {
		p := kernel.Plan{Steps: []kernel.Step{{Name: "a", Query: keys.Kind(), Share: 1, Most: most, Slack: 1. / 3},
			{Name: "b", Query: keys.Kind(), Share: 1, Most: 1, Slack: 2. / 3}}}
		if most%20 != 1 {
			continue
		}
		s := kerneltest.Open(t, kerneltest.Table(nil, 2, terms.Relation), p, terms, kerneltest.Options{})
		for range most {
			if _, _, err := kernel.StabilityHistogram(s.SubBudget(), "a", keys, .01*s.Mu()); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := kernel.StabilityHistogram(s.SubBudget(), "b", keys, .01*s.Mu()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRandomPrograms: whatever is asked in whatever order from whatever sub-budgets, the lines of
// the certificate sum to what was spent, and that is at most what the terms allow.
func TestRandomPrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for run := range 60 {
		table := kerneltest.Table(someRows(5, 2), 2, privacy.Relation(1+run%2))
		budget := privacy.Budget{Epsilon: math.Exp(4 * rng.NormFloat64()), Delta: 1e-6}
		s := kerneltest.Open(t, table, plan, kernel.Terms{Relation: privacy.Relation(1 + run%2), Budget: budget}, kerneltest.Options{Seed: uint64(run)})
		pool := []*kernel.SubBudget{s.SubBudget()}
		for range 60 {
			a := pool[rng.IntN(len(pool))]
			mu := s.Mu() * rng.Float64() * rng.Float64()
			if rng.IntN(5) == 0 {
				mu = a.LeftMu()
			}
			switch rng.IntN(6) {
			case 0:
				pool = append(pool, a.Take(rng.Float64()*s.Mu()*s.Mu()))
			case 1:
				a.Return(pool[rng.IntN(len(pool))])
			case 2:
				_, _, _ = kernel.StabilityHistogram(a, "keys", keys, mu)
			case 3:
				_, _ = kernel.SumPairs(a, "pairs", octaves(3), mu)
			default:
				if _, err := a.Sum("step", step, mu); err == nil && mu > 1.0000001*s.Mu() {
					t.Fatalf("mu = %v of %v was allowed", mu, s.Mu())
				}
			}
		}
		sum, delta := 0.0, 0.0
		for _, m := range s.Measurements() {
			sum += float64(m.Count) * m.Mu * m.Mu
			delta += float64(m.Count) * m.Delta
			if m.Sensitivity/m.Noise > m.Mu*(1+1e-14) {
				t.Errorf("%s: sensitivity %v over noise %v is more than mu = %v", m.Step, m.Sensitivity, m.Noise, m.Mu)
			}
		}
		loss, total := s.Loss(), s.Mu()*s.Mu()
		if sum > total*(1+1e-13) || math.Abs(loss.Mu*loss.Mu-sum) > 1e-12*total || delta > .05*budget.Delta {
			t.Errorf("lines sum to mu^2 = %v, delta %v; the session says %v of %v", sum, delta, loss.Mu*loss.Mu, total)
		}
		if loss.Epsilon > budget.Epsilon || loss.Delta > budget.Delta {
			t.Errorf("loss %+v is more than %v", loss, budget)
		}
		left := 0.0
		for _, a := range pool {
			left += a.Left()
		}
		if a := s.SubBudget(); a.Left() < 0 || left > float64(len(pool))*total {
			t.Errorf("left %v", left)
		}
	}
}

// TestConcurrentMeasurements: a session used from several goroutines spends and records each
// measurement once (run with -race).
func TestConcurrentMeasurements(t *testing.T) {
	s := open(t, context.Background())
	seen := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := s.SubBudget().Take(s.Mu()*s.Mu()/200).Sum("step", step, .05*s.Mu()); err != nil {
					t.Error(err)
				}
				_ = s.Loss()
			}
		})
	}
	wg.Wait()
	for _, m := range s.Measurements() {
		seen += m.Count
	}
	if seen != 80 || math.Abs(s.Loss().Mu/s.Mu()-math.Sqrt(80*.0025)) > 1e-6 {
		t.Errorf("%d measurements, %v of %v spent", seen, s.Loss().Mu, s.Mu())
	}
}

// TestObserver may ask the session, and is told released facts only.
func TestObserver(t *testing.T) {
	var s *kernel.Session
	var told []string
	observed := terms
	observed.Observe = func(step string, spent float64) {
		told = append(told, step)
		if s.Loss().Mu == 0 || !(spent > 0 && spent <= 1) || len(s.Measurements()) == 0 {
			t.Errorf("after %s: spent %v, loss %+v", step, spent, s.Loss())
		}
	}
	s = kerneltest.Open(t, kerneltest.Table(someRows(5, 2), 2, observed.Relation), plan, observed, kerneltest.Options{})
	_, _ = s.SubBudget().Sum("count", query.Count{}, .1*s.Mu())
	_, _, _ = kernel.StabilityHistogram(s.SubBudget(), "keys", keys, .1*s.Mu())
	_, _ = s.SubBudget().Sum("nothing", query.Count{}, .1*s.Mu())
	if strings.Join(told, " ") != "count keys" {
		t.Errorf("told %q", told)
	}
}

// TestReplay: a recorded run replays, stability histograms included.
func TestReplay(t *testing.T) {
	run := func(o kerneltest.Options) (kernel.Answer, []kernel.HistogramCell) {
		generous := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 50, Delta: .1}}
		s := kerneltest.Open(t, kerneltest.Table(someRows(200, 2), 2, generous.Relation), plan, generous, o)
		cells, _, err := kernel.StabilityHistogram(s.SubBudget(), "keys", keys, .5*s.Mu())
		if err != nil || len(cells) == 0 {
			t.Fatal(cells, err)
		}
		answer, err := s.SubBudget().Sum("step", step, .5*s.Mu())
		if err != nil {
			t.Fatal(err)
		}
		return answer, cells
	}
	var transcript kerneltest.Transcript
	a, c := run(kerneltest.Options{Seed: 1, Record: &transcript})
	b, d := run(kerneltest.Options{Seed: 2, Replay: &transcript})
	if a.Values[0] != b.Values[0] || !reflect.DeepEqual(c, d) {
		t.Errorf("recorded %v %v, replayed %v %v", a, c, b, d)
	}
}

// TestPlanIsCopied: neither the caller's plan nor what Plan returns leads to the session's own.
func TestPlanIsCopied(t *testing.T) {
	mine := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "count", Query: "count", Share: .01, Most: 1}}}
	s := kerneltest.Open(t, kerneltest.Table(nil, 1, terms.Relation), mine, terms, kerneltest.Options{})
	mine.Steps[0].Share = 1
	s.Plan().Steps[0].Share = 1
	if _, err := s.SubBudget().Sum("count", query.Count{}, s.Mu()); err == nil || s.Plan().Steps[0].Share != .01 {
		t.Error("the plan of an open session was changed")
	}
}

type spyQuery struct{ query.Count }

func (spyQuery) Compile(int) query.RowMap { panic("read rows") }

type spyPairs struct{ query.PairOctaves }

func (spyPairs) Kind() string             { return "pair octaves" }
func (spyPairs) Validate(int) error       { return nil }
func (spyPairs) Compile(int) query.RowMap { panic("read rows") }

// A scan stops with the session's context: what was charged is spent, and nothing is answered.
func TestScansStop(t *testing.T) {
	const n, d, k = 20000, 20, 200
	q := query.ClippedMoments{Form: query.FullForm, Lift: .5}
	for range k {
		q.Components = append(q.Components, query.Component{Map: frame(d), Radius: 5})
	}
	table := kerneltest.Table(someRows(n, d), d, terms.Relation)
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "moments", Query: q.Kind(), Share: 1, Most: 1}}}
	stattest.Stops(t, func(ctx context.Context) error {
		s, err := kernel.Open(ctx, table, plan, terms)
		if err != nil {
			return err
		}
		_, err = s.SubBudget().Sum("moments", q, .1)
		if loss := s.Loss(); err != nil && math.Abs(loss.Mu-.1) > 1e-9 {
			t.Errorf("spent %+v", loss)
		}
		return err
	})
}
