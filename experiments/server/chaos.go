package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A promise is the server's last answer about a fit.
type promise struct {
	id string // of the fit
}

// chaos kills the server while analysts fit, and holds what is left against what it had said.
func chaos(ctx context.Context, f *field, p *engine.Page, kills int) error {
	f.flags = []string{"--slot", "250ms", "--slot-per-cell", "1us", "--per-second", "1000"}
	analysts := []string{"lee", "max", "ada", "joe"}
	if err := errors.Join(f.people(ctx, "custodian", "kim"), f.people(ctx, "analyst", analysts...), f.start(ctx)); err != nil {
		return err
	}
	if _, err := f.register(ctx, "people", f.drawn(20000), analysts...); err != nil {
		return err
	}
	others, err := f.strangers()
	if err != nil {
		return err
	}
	said, mu := map[string]*promise{}, sync.Mutex{}
	for kill := range kills {
		if err := f.round(ctx, kill, analysts, said, &mu, others); err != nil {
			return err
		}
		all, err := f.ledger(ctx)
		if err != nil {
			return fmt.Errorf("after %d kills: %w", kill+1, err)
		}
		others.counts(all, len(said))
		if err := f.start(ctx); err != nil {
			return err
		}
	}
	return f.settle(ctx, p, analysts, said, kills, others)
}

// mostLife is how long the server lives at most once it has taken a fit, in milliseconds.
const mostLife = 700

// round lets analysts fit for a while, beside others who copy and ask for the database, and kills
// the server.
func (f *field) round(ctx context.Context, kill int, analysts []string, said map[string]*promise, mu *sync.Mutex, others *strangers) error {
	live, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	wrong, first := make(chan error, len(analysts)), make(chan bool, 1)
	for _, who := range analysts {
		all.Go(func() {
			for i := 0; live.Err() == nil; i++ {
				key := fmt.Sprintf("%s-%d-%d", who, kill, i/2) // each is sent twice
				a := f.send(live, who, "POST", api+"/fits", frugal, "Idempotency-Key", key)
				if a.err != nil || a.status == 429 || a.status == 503 {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				id := a.field("id")
				mu.Lock()
				if said[key] == nil {
					said[key] = &promise{id: id}
				}
				known := said[key].id
				mu.Unlock()
				select {
				case first <- true:
				default:
				}
				if a.status != 202 || id == "" || id != known {
					wrong <- fmt.Errorf("%s: %d %s, had been %s", key, a.status, a.body, known)
					return
				}
				time.Sleep(time.Duration(f.dice.below(60)) * time.Millisecond)
			}
		})
	}
	select {
	case <-first:
	case <-time.After(time.Minute):
	}
	others.work(live, &all)
	time.Sleep(time.Duration(f.dice.below(mostLife)) * time.Millisecond)
	f.process.Process.Kill()
	stop()
	all.Wait()
	f.kill()
	select {
	case err := <-wrong:
		return err
	default:
		return nil
	}
}

// An end is what became of all that was promised.
type end struct {
	states         map[string]int
	lost, changed  int // promises: fits that are not there, keys whose fit is another
	released       int
	mu2            float64 // of releases
	after, counted int     // fits of the data set's account, and of its analysts' together
	whole, own     float64 // mu^2 of the same
	open           int
}

// promises waits until every fit is over that an analyst got an answer about.
func (f *field) promises(ctx context.Context, said map[string]*promise, e *end) error {
	for key, one := range said {
		who := key[:3]
		state := ""
		for range 3000 {
			a := f.send(ctx, who, "GET", api+"/fits/"+one.id, "")
			if a.err == nil && a.status == 404 {
				e.lost++
				break
			}
			if state = a.field("state"); state != "" && state != "queued" && state != "running" {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		e.states[state]++
		if again := f.send(ctx, who, "POST", api+"/fits", frugal, "Idempotency-Key", key); again.err != nil || again.field("id") != one.id {
			e.changed++
		}
		if state != "released" {
			continue
		}
		a, err := f.wants(ctx, 200, who, "GET", "/releases/"+one.id, "")
		if err != nil {
			return err
		}
		var r struct {
			Certificate struct{ Spent struct{ Mu float64 } }
		}
		if err := json.Unmarshal(a.body, &r); err != nil {
			return err
		}
		e.released++
		e.mu2 += r.Certificate.Spent.Mu * r.Certificate.Spent.Mu
	}
	return nil
}

// settle waits until every fit is over, and counts.
func (f *field) settle(ctx context.Context, p *engine.Page, analysts []string, said map[string]*promise, kills int, others *strangers) error {
	e := &end{states: map[string]int{}}
	if err := f.promises(ctx, said, e); err != nil {
		return err
	}
	all, err := f.settled(ctx)
	if err != nil {
		return err
	}
	t := engine.Table{Head: []string{"account", "fits", "releases", "not over", "spent, mu^2"}}
	for _, b := range all {
		name, spent := b.Dataset+b.Name, b.Spent.Mu*b.Spent.Mu
		t.Add(name, b.Fits, b.Releases, b.Unfinished, strconv.FormatFloat(spent, 'g', 8, 64))
		e.open += b.Unfinished
		if name == "people" {
			e.whole, e.after = spent, b.Fits
		} else {
			e.own, e.counted = e.own+spent, e.counted+b.Fits
		}
	}
	p.Text(fmt.Sprintf("Four analysts submit fits of 20,000 rows, each under a key of its own and sent twice, on two workers with slots of some 0.3 s. The server is killed as kill -9 does, "+
		"%d times, up to .7 s after it took its first fit; its ledger is verified, and it starts again. At the end every key is sent once more.", kills))
	p.Text("Meanwhile other processes copy the database, " + others.programs() + ", and a custodian asks for it, its `-wal`, `-shm`, `.lock` and key as inputs, by path, by `sqlite:` URL, by symbolic and by hard links in their folder.")
	p.Table(t)
	between := kills * len(analysts)
	c := engine.Table{Head: []string{"claim", "figure", "holds"}}
	c.Add("fits that analysts were told of are over; how they ended", fmt.Sprint(e.states), e.states["queued"]+e.states["running"]+e.states[""] == 0 && e.open == 0)
	c.Add("fits that analysts were told of and that are lost", e.lost, e.lost == 0)
	c.Add("keys whose fit is another than the first answer said", e.changed, e.changed == 0)
	c.Add("fits of the data set, of its analysts together", fmt.Sprintf("%d, %d", e.after, e.counted), e.after == e.counted)
	c.Add("fits counted, told of (a kill may come between)", fmt.Sprintf("%d, %d", e.after, len(said)), e.after >= len(said) && e.after <= len(said)+between)
	c.Add("mu^2 spent, of its analysts together", fmt.Sprintf("%.8g, %.8g", e.whole, e.own), e.whole > e.own*(1-1e-9) && e.whole < e.own*(1+1e-9))
	c.Add("mu^2 spent, of releases", fmt.Sprintf("%.6g, %.6g of %d", e.whole, e.mu2, e.released), e.whole >= e.mu2*(1-1e-9))
	others.claims(&c)
	p.Table(c)
	return killedPostgres(ctx, p)
}

// settled waits until no fit is open in the ledger, for some minutes at most, and returns its
// accounts.
func (f *field) settled(ctx context.Context) (all []account, err error) {
	for range 600 {
		if all, err = f.ledger(ctx); err != nil || !slices.ContainsFunc(all, func(b account) bool { return b.Unfinished > 0 }) {
			break
		}
		time.Sleep(time.Second)
	}
	return all, err
}

// killedPostgres runs the test that kills processes of a PostgreSQL server.
func killedPostgres(ctx context.Context, p *engine.Page) error {
	const name = "TestKilledPostgres"
	cmd := exec.CommandContext(ctx, "go", "test", "./server", "-run", name, "-v", "-count", "1")
	cmd.Env = append(os.Environ(), "GAUZE_LONG=1", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	p.Heading("PostgreSQL")
	p.Text("`GAUZE_LONG=1 go test ./server -run " + name + " -v`, which kills in turns a process of the database that serves the server, so that the database ends all of them and recovers, and all processes of the database at once, which is then started again; the server goes on, and analysts send again what was not answered:")
	for line := range strings.Lines(string(out)) {
		if _, said, found := strings.Cut(line, "_test.go:"); found {
			_, said, _ = strings.Cut(said, ": ") // behind the number of the line
			p.Text(strings.TrimSpace(said))
		}
	}
	return nil
}

// frugal is a fit of which a grant holds thousands.
const frugal = `{"dataset": "people", "epsilon": 0.1, "delta": 1e-9, "components": 1}`
