package sharded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/source/shards"
)

// A fit is a method and its table: components far apart, null and partial rows among them.
type fit struct {
	method   string
	n, d, k  int
	relation privacy.Relation
	epsilon  float64
}

func (f fit) rows(b *kernel.Builder) *kernel.Table {
	rng, row := rand.New(rand.NewPCG(7, 21)), make([]float64, f.d)
	for i := range f.n {
		for j := range row {
			row[j] = 3*rng.NormFloat64() + 100*float64((i%max(1, f.k))*(j+1))
		}
		switch i % 501 {
		case 3:
			row[i%f.d] = math.NaN()
		case 5:
			row = slices.Repeat([]float64{math.NaN()}, f.d)
		}
		b.Append(row)
	}
	return b.Protect(f.relation)
}

// run fits with seeded noise; what is asked, what it costs, what is answered and what the sums are
// goes to the transcript.
func (f fit) run(t *testing.T, e engine.Engine, room kernel.Room, replay *kerneltest.Transcript) (heard *kerneltest.Transcript, outcome string) {
	t.Helper()
	heard = &kerneltest.Transcript{}
	table := f.rows(kernel.NewBuilderIn(f.d, room))
	budget := privacy.Budget{Epsilon: f.epsilon, Delta: 1e-8}
	p := estimate.Problem{Columns: f.d, Relation: f.relation, Mu: privacy.MuOf(budget.Epsilon, budget.Delta), Components: f.k, MaxComponents: f.k, Budget: budget}
	if f.relation == privacy.ReplaceOne {
		p.Rows = f.n
	}
	var method estimate.Estimator
	for _, m := range gauze.Methods().All() {
		if m.Name() == f.method {
			method = m
		}
	}
	plan, err := method.Plan(p)
	if err != nil {
		t.Fatal(f.method, err)
	}
	s := kerneltest.Open(t, table, plan, kernel.Terms{Relation: f.relation, Budget: budget, Engine: e}, kerneltest.Options{Seed: 5, Record: heard, Replay: replay})
	out, err := method.Fit(t.Context(), s, p)
	if err != nil {
		t.Fatal(f.method, err)
	}
	text, err := json.Marshal(out.Model)
	return heard, fmt.Sprintf("%s %v %+v %+v", text, err, out.NoRelease, s.Loss())
}

// differ ends the test where two transcripts do.
func differ(t *testing.T, name string, a, b *kerneltest.Transcript) {
	t.Helper()
	if len(a.Steps) != len(b.Steps) {
		t.Fatalf("%s: %d measurements and %d", name, len(a.Steps), len(b.Steps))
	}
	for i := range a.Steps {
		for _, of := range []func(*kerneltest.Transcript) any{
			func(x *kerneltest.Transcript) any { return x.Steps[i] }, func(x *kerneltest.Transcript) any { return x.Queries[i] },
			func(x *kerneltest.Transcript) any { return x.Mus[i] }, func(x *kerneltest.Transcript) any { return x.Answers[i] },
			func(x *kerneltest.Transcript) any { return x.Sums[i] },
		} {
			if x, y := fmt.Sprintf("%#v", of(a)), fmt.Sprintf("%#v", of(b)); x != y {
				t.Fatalf("%s: measurement %d, %s: %.300s and %.300s", name, i, a.Steps[i], x, y)
			}
		}
	}
}

// TestMethods: with one seed of the noise every default method asks the same, is answered the same
// integers and ends the same whatever reads the rows: this process from memory or from disk,
// workers, and workers and a scheduler that fail twice for every question. What was recorded of one
// is replayed by another; and no sum but those of blocks and of pairs is of a row that workers can
// read and is read elsewhere.
func TestMethods(t *testing.T) {
	n := 3*engine.ChunkRows - 77
	for _, f := range []fit{
		{method: "gaussian", n: n, d: 3, k: 1},
		{method: "gaussian", n: n, d: 3, k: 1, relation: privacy.AddRemoveOne},
		{method: "gaussian", n: 1 << 20, d: 1, k: 1}, // pairs are of a sample
		{method: "heavy-tailed", n: n, d: 2, k: 1},
		{method: "general", n: n, d: 2, k: 2},
		{method: "separated", n: n, d: 2, k: 2},
		{method: "univariate", n: n, d: 1, k: 2},
		{method: "axis-aligned", n: n, d: 2, k: 2},
		{method: "black-box", n: n, d: 1, k: 1, epsilon: 8},
	} {
		f.relation, f.epsilon = cmp.Or(f.relation, privacy.ReplaceOne), cmp.Or(f.epsilon, 4)
		name := fmt.Sprintf("%s, %v, %d rows", f.method, f.relation, f.n)
		want, ending := f.run(t, nil, nil, nil)
		if len(want.Steps) < 2 {
			t.Errorf("%s: %d measurements", name, len(want.Steps))
		}
		disk := shards.New(0, t.TempDir())
		got, end := f.run(t, nil, disk, nil)
		differ(t, name+", shards", want, got)
		same := end == ending
		m, asked := newMemory(2), 0
		got, end = f.run(t, New(m, schedule(func(ctx context.Context, items []string) error { asked++; return Here{m}.Run(ctx, items) })), m, nil)
		differ(t, name+", workers", want, got)
		same = same && end == ending
		bad := newMemory(1)
		got, end = f.run(t, New(bad, erratic(bad)), bad, nil)
		differ(t, name+", careless workers", want, got)
		same = same && end == ending
		other := newMemory(3)
		got, end = f.run(t, New(other, Here{other}), other, want)
		differ(t, name+", replayed", want, got)
		if f.method != "black-box" { // whose blocks are read where it runs
			blind := newMemory(2)
			got, _ = f.run(t, New(blind, forgetful(blind)), blind, want)
			for i, q := range got.Queries {
				if _, paired := q.(query.Pairs); paired { // some of them with rows that no worker can read
					got.Sums[i] = want.Sums[i]
				}
			}
			differ(t, name+", workers alone", want, got)
		}
		if same = same && end == ending; !same || asked == 0 {
			t.Errorf("%s: ends the same: %v; workers were asked %d times", name, same, asked)
		}
		t.Logf("%s: %d measurements, %d questions for workers", name, len(want.Steps), asked)
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	}
}

// forgetful spoils the rows where the fit runs before it has the first question answered: what is
// not spoilt by it is read by workers alone.
func forgetful(m *memory) schedule {
	from := 0
	return func(ctx context.Context, items []string) error {
		for ; from < len(m.all); from++ {
			chunk := m.all[from]
			m.all[from] = slices.Clone(chunk)
			for j := range chunk {
				chunk[j] = 0x1.234p56
			}
		}
		return Here{m}.Run(ctx, items)
	}
}

// erratic fails each question at all attempts but the last.
func erratic(m *memory) schedule {
	rng := rand.New(rand.NewPCG(9, 21))
	return func(ctx context.Context, items []string) error {
		attempt, err := strconv.Atoi(strings.Split(items[0], ".")[1])
		if err != nil || slices.Contains(items, "") {
			return errors.New("an odd item")
		}
		c := careless{store: m, rng: rng, runs: attempt - 1, failures: attempts - 1, say: rng.IntN(8)}
		return c.Run(ctx, items)
	}
}
