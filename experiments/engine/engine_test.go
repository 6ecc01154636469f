package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Against published values (Newcombe 1998, Table I, method 3).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		successes, runs int
		low, high       float64
	}{{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}, {20, 20, .8389, 1}, {0, 0, 0, 1}} {
		low, high := wilson(c.successes, c.runs)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: [%.4f, %.4f], want [%.4f, %.4f]", c.successes, c.runs, low, high, c.low, c.high)
		}
	}
}

func TestLogLogSlope(t *testing.T) {
	slope, sd := LogLogSlope([]float64{1, 10, 100, 0}, []float64{5, 50, 500, 1})
	if math.Abs(slope-1) > 1e-12 || sd > 1e-12 {
		t.Errorf("slope %v ± %v, want 1 ± 0", slope, sd)
	}
	// y = 2^(+-1/2) x^-1/2 around a line; by hand: residuals (1, -2, 1) log(2)/3 of points (-1, 0,
	// 1) log(4).
	slope, sd = LogLogSlope([]float64{1, 4, 16}, []float64{2, .5, .5})
	if math.Abs(slope+.5) > 1e-12 || math.Abs(sd-math.Sqrt(6)/3/(2*math.Sqrt2)) > 1e-12 {
		t.Errorf("slope %v ± %v", slope, sd)
	}
	if slope, _ = LogLogSlope([]float64{1, 1}, []float64{2, 3}); !math.IsNaN(slope) {
		t.Errorf("slope %v of one x", slope)
	}
}

// A thousand draws tell a standard deviation within 15 % (4 / sqrt(2000) = 9 %, and what 50 runs
// differ from their law is the same in both): that of a mean is known.
func TestBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, 50)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	mean := func(chosen []int) float64 {
		sum := 0.
		for _, i := range chosen {
			sum += v[i]
		}
		return sum / float64(len(chosen))
	}
	at, sd := Bootstrap(len(v), mean)
	squares := 0.
	for _, x := range v {
		squares += (x - Mean(v)) * (x - Mean(v))
	}
	if want := math.Sqrt(squares) / float64(len(v)); math.Abs(at-Mean(v)) > 1e-12 || sd < .85*want || sd > 1.15*want {
		t.Errorf("%g ± %g, want %g ± %g", at, sd, Mean(v), want)
	}
	if _, sd := Bootstrap(3, func([]int) float64 { return 7 }); sd != 0 {
		t.Errorf("a constant varies by %g", sd)
	}
	if at, sd := Bootstrap(0, mean); !math.IsNaN(at) || !math.IsNaN(sd) {
		t.Errorf("%g ± %g of no runs", at, sd)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, math.Inf(1), 2, 3}
	if m := Median(v); m != 3 {
		t.Errorf("median %v, want 3", m)
	}
	if m := Median([]float64{1, 2, math.Inf(1)}); m != 2 {
		t.Errorf("median beside an infinity %v, want 2", m)
	}
	if q := Quantile(v, .125); q != 1.5 {
		t.Errorf("quantile %v, want 1.5", q)
	}
	if q := Quantile(v, 1); !math.IsInf(q, 1) {
		t.Errorf("largest %v, want +Inf", q)
	}
}

// steps are numbers of rows of a search.
var steps = []int{1000, 1500, 2000, 3000, 4500, 7000, 10_000, 15_000, 20_000, 30_000, 45_000, 70_000, 100_000, 150_000, 200_000}

// The search finds the edge of a rising success curve from every start, and asks for no n twice.
func TestSmallest(t *testing.T) {
	for _, edge := range []int{500, 1000, 4000, 4500, 200_000, 300_000} {
		want := 0
		for i := len(steps) - 1; i >= 0 && steps[i] >= edge; i-- {
			want = steps[i]
		}
		for _, start := range []int{1, 1000, 4500, 5000, 200_000, 1_000_000} {
			seen := map[int]bool{}
			n, tried, err := smallest(steps, start, 0, func(n int) (bool, error) {
				if seen[n] {
					t.Errorf("n = %d was asked for twice", n)
				}
				seen[n] = true
				return n >= edge, nil
			})
			if err != nil || n != want || len(tried) != len(seen) {
				t.Errorf("edge %d, start %d: got %d (%v, %v), want %d", edge, start, n, tried, err, want)
			}
		}
	}
	for _, c := range []struct{ edge, want, asked int }{{1, 3000, 2}, {3000, 3000, 2}, {3001, 4500, 2}, {4500, 4500, 2}, {4501, 7000, 2}, {10_000, 0, 2}} {
		n, tried, err := smallest(steps, 4500, 1, func(n int) (bool, error) { return n >= c.edge, nil })
		if err != nil || n != c.want || len(tried) != c.asked {
			t.Errorf("one step beside 4500, edge %d: got %d (%v, %v), want %d", c.edge, n, tried, err, c.want)
		}
	}
	fault := errors.New("fault")
	if _, _, err := smallest(steps, 1000, 0, func(int) (bool, error) { return false, fault }); !errors.Is(err, fault) {
		t.Errorf("got %v, want the fault", err)
	}
}

// A noisy success curve as experiments have: the n found has a high rate, and the one below has
// not.
func TestSmallestOnRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	// .15 at 4.5k, .72 at 7k, .955 at 10k
	rate := func(n int) float64 { return 1 / (1 + math.Pow(6000/float64(n), 6)) }
	found := map[int]int{}
	for range 200 {
		n, _, err := smallest(steps, 4500, 0, func(n int) (bool, error) {
			ok := 0
			for range 20 {
				if rng.Float64() < rate(n) {
					ok++
				}
			}
			return ok >= 18, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		found[n]++
	}
	// P(18 of 20) is below 1e-10 at 4.5k, .06 at 7k and .94 at 10k: fewer than 150 of 200 at 10k
	// have a chance below 1e-5.
	if found[10_000] < 150 || found[4500] > 0 {
		t.Errorf("found %v, want mostly 10000", found)
	}
}

func TestRunnerKeepsOrderAndWorkers(t *testing.T) {
	var now, most atomic.Int32
	var trials []task
	for i := range 40 {
		trials = append(trials, task{Key: Key{Seed: uint64(i)}, Run: func(context.Context) (Outcome, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return Outcome{Success: i%2 == 0, Values: Values{"i": float64(i)}}, nil
		}})
	}
	r := newRunner(3, nil)
	got, err := r.Run(context.Background(), trials, -1)
	if err != nil || len(got) != 40 || Count(got) != 20 {
		t.Fatalf("%d results, %d successes, %v", len(got), Count(got), err)
	}
	for i, v := range Pick(got, "i") {
		if v != float64(i) {
			t.Fatalf("result %d is of trial %v", i, v)
		}
	}
	if most.Load() > 3 {
		t.Errorf("%d runs at a time, want at most 3", most.Load())
	}
	got, err = r.Run(context.Background(), trials, 2)
	if err != nil || len(got)-Count(got) <= 2 || len(got) > 12 {
		t.Errorf("stopped after %d results with %d failures, %v", len(got), len(got)-Count(got), err)
	}
	fault := errors.New("fault")
	trials[5].Run = func(context.Context) (Outcome, error) { return Outcome{}, fault }
	if _, err := r.Run(context.Background(), trials, -1); !errors.Is(err, fault) {
		t.Errorf("got %v, want the fault", err)
	}
}

// An interrupted experiment goes on: finished runs are not made again, and a line cut off in the
// middle is made again.
func TestResume(t *testing.T) {
	name := filepath.Join(t.TempDir(), "folder", "results.jsonl")
	made := 0
	var mu sync.Mutex
	trials := func(n int) []task {
		var out []task
		for i := range n {
			out = append(out, task{Key: Key{Experiment: "e", Cell: "c", N: 10, Seed: uint64(i)}, Params: map[string]int{"d": 2},
				Run: func(context.Context) (Outcome, error) {
					mu.Lock()
					defer mu.Unlock()
					made++
					return Outcome{Success: true, Seconds: .25, Values: Values{"x": 1.25, "far": math.Inf(1), "none": math.NaN()}}, nil
				}})
		}
		return out
	}
	other := trials(1)
	other[0].Params = map[string]int{"d": 3}
	run := func(list []task, resume bool) []Result {
		s, err := openStore(name, resume)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, err := newRunner(1, s).Run(context.Background(), list, -1)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	run(trials(3), false)
	if _, err := openStore(name, false); !errors.Is(err, errNotEmpty) {
		t.Errorf("got %v, want errNotEmpty", err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(trials(5), true)
	if made != 3+3 {
		t.Errorf("%d runs were made, want 3 and 3: one cut off and two new", made)
	}
	run(other, true)
	if made != 3+3+1 {
		t.Errorf("%d runs were made, want one more: its parameters are others", made)
	}
	for _, r := range got {
		_, none := r.Values["none"]
		if !r.Success || r.Seconds != .25 || r.Values["x"] != 1.25 || !math.IsInf(r.Values["far"], 1) || r.Cell != "c" {
			t.Errorf("%+v", r)
		}
		if none && r.Seed < 2 {
			t.Errorf("a NaN was kept: %+v", r)
		}
	}
	text, err = os.ReadFile(name)
	if err != nil || bytes.Count(text, []byte("\n")) != 6 {
		t.Errorf("%d lines (%v), want 6", bytes.Count(text, []byte("\n")), err)
	}
}

// What is said of single runs is printed, and not kept.
func TestDetail(t *testing.T) {
	var p Page
	p.Title("page")
	p.Detail("All runs", Table{Head: []string{"n"}})
	if got := string(p.Bytes()); got != "# page\n\n" {
		t.Errorf("a table of nothing: %q", got)
	}
	p.Detail("All runs", Table{Head: []string{"n"}, Rows: [][]string{{"7"}}})
	folder := t.TempDir()
	if err := p.Save(folder, "page"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(folder, "page.md"))
	if err != nil || strings.Contains(string(kept), "7") || !strings.Contains(string(kept), "printed by the command") || !strings.Contains(string(p.Bytes()), "| 7 |") {
		t.Errorf("%v: kept\n%s\nprinted\n%s", err, kept, p.Bytes())
	}
}

func TestTable(t *testing.T) {
	table := Table{Head: []string{"n", "σ | τ"}}
	table.Add("4.5k", "a|b")
	table.Add(3)
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = "| n    | σ \\| τ |\n|---|---|\n| 4.5k | a\\|b   |\n| 3    |        |\n\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for v, want := range map[float64]string{.0834: "0.083", 1.26: "1.3", 12.6: "13", 2.5e-5: "2.5e-05", 0: "0", math.Inf(1): "∞"} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
	for n, want := range map[int]string{0: "-", 500: "500", 1000: "1k", 4500: "4.5k", 200_000: "200k", 1_500_000: "1.5M"} {
		if got := Rows(n); got != want {
			t.Errorf("Rows(%v) = %q, want %q", n, got, want)
		}
	}
}

// A fit through the front door: a refusal and a model.
func TestFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := mat.NewDense(4000, 2, nil)
	for i := range 4000 {
		for j := range 2 {
			rows.Set(i, j, 20*float64(i%2)+rng.NormFloat64())
		}
	}
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 5, Delta: 1e-6}, Method: "gaussian", Components: 1}
	got, err := Fit(context.Background(), rows, r)
	if err != nil || got.Foreground == nil || got.Foreground.K() != 1 || got.Seconds <= 0 || got.Why != "" {
		t.Errorf("%+v, %v", got, err)
	}
	r.Budget.Epsilon, r.Method, r.Components = 1e-4, "general", 10
	got, err = Fit(context.Background(), rows, r)
	if err != nil || got.Foreground != nil || !strings.HasPrefix(got.Why, "refused: ") {
		t.Errorf("at a hopeless budget: %+v, %v", got, err)
	}
	r.Method = "no such method"
	if got, err = Fit(context.Background(), rows, r); err != nil || !strings.HasPrefix(got.Why, faultMark) {
		t.Errorf("a method that is not there: %+v, %v", got, err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err = Fit(stopped, rows, r); err == nil {
		t.Error("an interruption is no error")
	}
}

// A sweep runs every number of rows, or searches; a series may have repeats of its own; a fault
// ends all.
func TestSweep(t *testing.T) {
	trial := func(n int, seed uint64) task {
		return task{Key: Key{N: n, Seed: seed}, Run: func(context.Context) (Outcome, error) { return Outcome{Success: n >= 2000 || seed == 7}, nil }}
	}
	run := func(w sweep, all ...*series) error {
		return w.run(context.Background(), newRunner(2, nil), 2, all, &meter{Out: io.Discard, Now: time.Now})
	}
	a, b := &series{Try: []int{1000, 3000}, trial: trial, repeats: 2}, &series{Try: []int{1000, 3000}, trial: trial, repeats: 5}
	if err := run(sweep{seed: 7, passRate: .9}, a, b); err != nil {
		t.Fatal(err)
	}
	if a.Least != 3000 || len(a.Results[1000]) != 2 || Count(a.Results[1000]) != 1 || len(b.Results[3000]) != 5 || b.Results[3000][4].Seed != 11 {
		t.Errorf("%+v, %+v", a, b)
	}
	if err := run(sweep{seed: 8, passRate: .9, grid: steps}, a); err != nil || a.Least != 2000 || len(a.Ran()) != 3 || a.Ran()[0] != 1000 || len(a.First()) != 2 {
		t.Errorf("search: %+v, %v", a, err)
	}
	broken := errors.New("broken")
	a.trial = func(n int, seed uint64) task {
		return task{Run: func(context.Context) (Outcome, error) { return Outcome{}, broken }}
	}
	if err := run(sweep{}, a, b); !errors.Is(err, broken) {
		t.Errorf("a fault ends in %v", err)
	}
}

// What a page says of itself is what its results are of.
func TestHeader(t *testing.T) {
	l := &Line[int]{Name: "c", By: "m"}
	run := func(seed uint64, commit string) Result { return Result{Key: Key{Seed: seed}, Commit: commit} }
	l.Results = map[int][]Result{10: {run(5, "b"), run(6, "a")}, 20: {run(5, "")}}
	r := &Results[int]{Study: &Study[int]{Name: "s"}, Experiment: Experiment[int]{Name: "e"}, Lines: []*Line[int]{l},
		Options: Options{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Relation: privacy.ReplaceOne, Seed: 5, Rows: []int{10, 20}, Only: []string{"c*"}}}
	got := r.header()
	if got.Command != "`go run ./experiments s -seed 5 -n 10,20 -only 'c*' e`" || got.Commit != "a, b, not recorded" || !strings.HasPrefix(got.Runs, "1 to 2") ||
		!strings.HasPrefix(got.Seed, "5 ") {
		t.Errorf("%+v", got)
	}
}

func TestParse(t *testing.T) {
	o, rest, err := Parse([]string{"-n", "3000,1000", "-only", "a,b/*", "-relation", "add-remove-one", "x", "y"}, "")
	if err != nil || !slices.Equal(rest, []string{"x", "y"}) || !slices.Equal(o.Rows, []int{1000, 3000}) || o.Relation != privacy.AddRemoveOne || o.Whole() {
		t.Errorf("%+v, %v, %v", o, rest, err)
	}
	for cell, want := range map[string]bool{"xay": true, "b/c": true, "b/c/d": false} {
		if o.matches(cell) != want {
			t.Errorf("%s matches: want %v", cell, want)
		}
	}
	if o, _, err = Parse(nil, ""); err != nil || !o.Whole() || !o.matches("x") {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"-n", "x"}, {"-n", "0"}, {"-relation", "some"}, {"-methods", "gausian"}} {
		if _, _, err := Parse(args, ""); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// A quick run has few cells, with all of their contenders.
func TestFew(t *testing.T) {
	var lines []*Line[int]
	for i := range 10 {
		for _, by := range []string{"a", "b"} {
			lines = append(lines, &Line[int]{Name: string(rune('0' + i)), By: by, Rows: []int{1000 + 10_000*(i%2)*i}})
		}
	}
	got := few(lines)
	if len(got) != 8 || got[0].Name != "0" || got[1].By != "b" || got[7].Rows[0] > 15_000 {
		t.Errorf("%d lines: %+v", len(got), got)
	}
}
