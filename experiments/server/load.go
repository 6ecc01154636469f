package server

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// The load on the server.
const (
	loadAnalysts = 200
	loadPlans    = 10_000
	loadFits     = 500
	loadRows     = 1000
	// loadRequests are the different plans: of ten, some two are made for the first time.
	loadRequests = 2000
	// slowest is what the slowest of a hundred plans may take, and growth the memory at the end
	// over that at half time.
	slowest = 50 * time.Millisecond
	growth  = 1.5
	// planPause is how long an analyst looks at a plan, on average: some 100 plans a second in all.
	planPause = 2 * time.Second
)

// A tally is what analysts got.
type tally struct {
	mu       sync.Mutex
	statuses map[string]int
	took     []time.Duration // of plans that were answered
}

func (t *tally) add(what string, a answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := strconv.Itoa(a.status)
	if a.err != nil {
		status = "no answer"
	}
	t.statuses[what+" "+status]++
	if what == "plan" && a.status == 200 {
		t.took = append(t.took, a.took)
	}
}

// load lets many analysts plan and fit at the same time.
func load(ctx context.Context, f *field, p *engine.Page, runs int) error {
	f.flags = []string{"--slot", "100ms", "--slot-per-cell", "1us"}
	var analysts []string
	for i := range loadAnalysts {
		analysts = append(analysts, fmt.Sprintf("analyst-%d", i))
	}
	if err := f.people(ctx, "custodian", "kim"); err != nil {
		return err
	}
	if err := f.people(ctx, "analyst", analysts...); err != nil {
		return err
	}
	if err := f.start(ctx); err != nil {
		return err
	}
	if _, err := f.register(ctx, "people", f.drawn(loadRows), analysts...); err != nil {
		return err
	}
	for _, who := range analysts { // what hashes tokens is asked once
		if _, err := f.wants(ctx, 200, who, "GET", "/me", ""); err != nil {
			return err
		}
	}
	got := &tally{statuses: map[string]int{}}
	memory := []string{f.resident()}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for tick := time.NewTicker(15 * time.Second); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				memory = append(memory, f.resident())
			}
		}
	}()
	begun := time.Now()
	var all sync.WaitGroup
	for i, who := range analysts {
		all.Go(func() { f.analyst(ctx, got, i, who) })
	}
	all.Wait()
	took := time.Since(begun)
	close(done)
	<-watched
	memory = append(memory, f.resident())
	return f.bore(ctx, p, got, memory, took)
}

// analyst plans and fits, and waits where the server says so.
func (f *field) analyst(ctx context.Context, got *tally, i int, who string) {
	fits := loadFits / loadAnalysts
	if i < loadFits%loadAnalysts {
		fits++
	}
	plans := loadPlans / loadAnalysts
	for j := range plans {
		time.Sleep(time.Duration(f.dice.part() * 2 * float64(planPause)))
		body := fmt.Sprintf(`{"dataset": "people", "epsilon": %.4f, "delta": 1e-9, "components": 1}`, 1+float64(f.dice.below(loadRequests))/loadRequests)
		f.insist(ctx, got, "plan", who, "/plans", body)
		if j%(plans/(fits+1)) == 0 && fits > 0 {
			fits--
			f.insist(ctx, got, "fit", who, "/fits", ask("people"))
		}
	}
}

// insist sends until the answer is another than 429.
func (f *field) insist(ctx context.Context, got *tally, what, who, path, body string) {
	for ctx.Err() == nil {
		a := f.send(ctx, who, "POST", api+path, body)
		if got.add(what, a); a.status != 429 {
			return
		}
		wait, _ := strconv.Atoi(a.header.Get("Retry-After"))
		time.Sleep(time.Duration(max(1, wait)) * time.Second)
	}
}

// resident returns the server's memory.
func (f *field) resident() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.process.Process.Pid))
	if err != nil {
		return "?"
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "kB")))
	return strconv.Itoa(kib >> 10)
}

// bore waits until all fits are over, and writes what came of it.
func (f *field) bore(ctx context.Context, p *engine.Page, got *tally, memory []string, took time.Duration) error {
	all, err := f.settled(ctx)
	if err != nil {
		return err
	}
	memory = append(memory, f.resident())
	whole, own, fits, counted, releases := 0., 0., 0, 0, 0
	for _, b := range all {
		if b.Dataset+b.Name == "people" {
			whole, fits, releases = b.Spent.Mu*b.Spent.Mu, b.Fits, b.Releases
		} else {
			own, counted = own+b.Spent.Mu*b.Spent.Mu, counted+b.Fits
		}
	}
	p.Text(fmt.Sprintf("%d analysts at the same time make %d plans, of %d different requests, and submit %d fits of %d rows; each pauses %v between plans on average. Whoever gets 429 waits as long as it says "+
		"and asks again. The server has its defaults but for slots of .1 s at least; it, the analysts and whatever else the machine does share its cores.", loadAnalysts, loadPlans, loadRequests, loadFits, loadRows, planPause))
	t := engine.Table{Head: []string{"answer", "how often"}}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range got.statuses {
			if !yield(name) {
				return
			}
		}
	}) {
		t.Add(name, got.statuses[name])
	}
	p.Table(t)
	slices.Sort(got.took)
	at := func(q float64) string {
		if len(got.took) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f ms", got.took[int(q*float64(len(got.took)-1))].Seconds()*1e3)
	}
	fine := 0
	for _, name := range []string{"plan 200", "plan 429", "fit 202", "fit 429"} {
		fine += got.statuses[name]
	}
	every := 0
	for _, n := range got.statuses {
		every += n
	}
	first, _ := strconv.Atoi(memory[len(memory)/2])
	last, _ := strconv.Atoi(memory[len(memory)-1])
	c := engine.Table{Head: []string{"what", "figure", "wanted", "holds"}}
	c.Add("seconds, plans a second", fmt.Sprintf("%.0f, %.0f", took.Seconds(), loadPlans/took.Seconds()), "", "")
	c.Add("answers that are neither right nor 429", every-fine, "0", every == fine)
	c.Add("plans, p50, p90, p99", strings.Join([]string{at(.5), at(.9), at(.99)}, ", "), "p99 below "+slowest.String(), len(got.took) == loadPlans && got.took[int(.99*float64(len(got.took)-1))] < slowest)
	c.Add("memory of the server every 15 s, and when all fits were over, MiB", strings.Join(memory, ", "), fmt.Sprintf("at most %g times that at half time", growth), float64(last) <= growth*float64(first))
	c.Add("fits taken; of the data set's account; of the analysts' together; releases", fmt.Sprintf("%d; %d; %d; %d", got.statuses["fit 202"], fits, counted, releases), "the first three equal", got.statuses["fit 202"] == fits && fits == counted && releases <= fits)
	c.Add("mu^2 of the data set's account; of the analysts' together", fmt.Sprintf("%.9g; %.9g", whole, own), "equal", math.Abs(whole-own) < 1e-9*whole)
	p.Table(c)
	return nil
}
