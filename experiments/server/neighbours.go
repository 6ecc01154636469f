package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A neighbour is what is done to a table of which another copy is left as it is.
type neighbour struct {
	name   string
	change func(lines []string)
	// gone: its file is removed once it is registered. These are no neighbours: its fits fail, at
	// the end of their slots, which is public.
	gone bool
	// planted adds a leak to what was measured of the changed table.
	planted func(m map[string]float64)
}

var changes = []neighbour{
	{name: "one row moved", change: func(lines []string) { lines[7] = "95,12" }},
	{name: "one row of 1e308", change: func(lines []string) { lines[7] = "1e308,-1e308" }},
	{name: "one row malformed", change: func(lines []string) { lines[7] = "forty,?" }},
	{name: "file removed", change: func([]string) {}, gone: true},
	{name: "planted: one byte in an answer", change: func([]string) {}, planted: func(m map[string]float64) { m["bytes, while it runs"]++ }},
	{name: "planted: shown 30 ms early", change: func([]string) {}, planted: func(m map[string]float64) { m["end seen, behind due, s"] -= .03 }},
	{name: "planted: answers 20 % slower", change: func([]string) {}, planted: func(m map[string]float64) { m["own fit, s"] *= 1.2 }},
}

// falseAlarm is the chance that a row of the table is called different although nothing is: it is
// shared out among what is measured.
const falseAlarm = 1e-3

// neighbours fits a table and a changed one, in random order, and measures all that an analyst can.
func neighbours(ctx context.Context, f *field, p *engine.Page, runs int) error {
	f.flags = []string{"--slot", "300ms", "--slot-per-cell", "1us", "--per-second", "100000", "--workers", "1", "--waiting", "100"}
	if err := f.people(ctx, "custodian", "kim"); err != nil {
		return err
	}
	if err := f.people(ctx, "analyst", "lee", "max"); err != nil {
		return err
	}
	if err := f.start(ctx); err != nil {
		return err
	}
	t := engine.Table{Head: []string{"change", "measured", "unchanged, median", "changed, median", "z", "different"}}
	for i, c := range changes {
		var seen [2][]map[string]float64
		names := [2]string{fmt.Sprintf("table-%da", i), fmt.Sprintf("table-%db", i)}
		lines := f.drawn(5000)
		for j, name := range names {
			own := slices.Clone(lines)
			if j == 1 {
				c.change(own)
			}
			path, err := f.register(ctx, name, own, "lee", "max")
			if err != nil {
				return err
			}
			if j == 1 && c.gone {
				if err := os.Remove(path); err != nil {
					return err
				}
			}
		}
		for range runs {
			first := f.dice.below(2)
			for _, j := range []int{first, 1 - first} {
				m, err := f.measure(ctx, names[j])
				if err != nil {
					return err
				}
				if j == 1 && c.planted != nil {
					c.planted(m)
				}
				seen[j] = append(seen[j], m)
			}
		}
		compare(&t, c.name, seen)
	}
	p.Text(fmt.Sprintf("Two tables of 5,000 rows that differ in one row, %d fits of each, one after the other and in random order within each pair. The analyst asks without a pause for the state of the fit, "+
		"the budget, the list and /healthz, and another analyst's plan: from the submission until the end shows. Each quantity of the two is compared by its ranks (Mann and Whitney); a row is called different beyond "+
		"the z that happens by chance, in any of the quantities of a change, with a probability of %g. Planted leaks are added to what was measured of two equal tables.", runs, falseAlarm))
	p.Table(t)
	p.Text("A removed file is no neighbouring table: its fits fail, and that is public at the end of the slot. What differs of it before is the time that the machine is busy.")
	return nil
}

// measure fits and notes all that can be seen until the end shows.
func (f *field) measure(ctx context.Context, name string) (map[string]float64, error) {
	m, counts := map[string]float64{}, map[string]float64{}
	average := func(what string, x float64) { m[what] += x; counts[what]++ }
	taken, err := f.wants(ctx, 202, "lee", "POST", "/fits", ask(name))
	if err != nil {
		return nil, err
	}
	m["submission, s"], m["bytes of its answer"] = taken.took.Seconds(), float64(len(taken.body))
	id := taken.field("id")
	for polls := 0; ; polls++ {
		own, err := f.wants(ctx, 200, "lee", "GET", "/fits/"+id, "")
		if err != nil {
			return nil, err
		}
		state := own.field("state")
		if state != "queued" && state != "running" {
			due, err := time.Parse(time.RFC3339Nano, own.field("due"))
			starts, fault := time.Parse(time.RFC3339Nano, own.field("starts"))
			if err != nil || fault != nil {
				return nil, fmt.Errorf("%s: %w", own.body, err)
			}
			m["end seen, behind due, s"], m["slot, s"], m["rounds of asking"] = time.Since(due).Seconds(), due.Sub(starts).Seconds(), float64(polls)
			break
		}
		average("own fit, s", own.took.Seconds())
		average("bytes, while it runs", float64(len(own.body)-len(state)))
		average("headers, bytes", headerBytes(own.header))
		for what, path := range map[string]string{"budget": "/datasets/" + name, "list": "/fits?limit=3", "health": "/healthz", "other's list": "/datasets"} {
			who := "lee"
			if what == "other's list" {
				who = "max"
			}
			a, err := f.wants(ctx, 200, who, "GET", path, "")
			if err != nil {
				return nil, err
			}
			average(what+", s", a.took.Seconds())
		}
		a, err := f.wants(ctx, 200, "max", "POST", "/plans", ask(name))
		if err != nil {
			return nil, err
		}
		average("other's plan, s", a.took.Seconds())
	}
	for what, n := range counts {
		m[what] /= n
	}
	return m, nil
}

// headerBytes is the size of all headers.
func headerBytes(h http.Header) (n float64) {
	for name, values := range h {
		n += float64(len(name) + len(strings.Join(values, "")))
	}
	return n
}

// compare adds the quantities of a change: all that differ, or else the most different one.
func compare(t *engine.Table, name string, seen [2][]map[string]float64) {
	var names []string
	for what := range seen[0][0] {
		names = append(names, what)
	}
	slices.Sort(names)
	limit := math.Sqrt2 * math.Erfinv(1-falseAlarm/float64(len(names)))
	for _, what := range names {
		var x [2][]float64
		for j := range seen {
			for _, m := range seen[j] {
				x[j] = append(x[j], m[what])
			}
		}
		z := ranks(x[0], x[1])
		t.Add(name, what, median(x[0]), median(x[1]), fmt.Sprintf("%.2f", z), map[bool]string{true: "**yes**", false: "no"}[math.Abs(z) > limit])
	}
}

func median(xs []float64) string {
	s := slices.Sorted(slices.Values(xs))
	return fmt.Sprintf("%.4g", (s[(len(s)-1)/2]+s[len(s)/2])/2)
}

// ranks is the standardized sum of ranks, with ties, of the second sample: about standard normal if
// both have one law.
func ranks(a, b []float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	m, n := float64(len(a)), float64(len(b))
	total, ties := m+n, 0.
	rank := map[float64]float64{}
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		k := float64(j - i)
		rank[all[i]], ties = float64(i+j+1)/2, ties+k*k*k-k
		i = j
	}
	sum := 0.
	for _, x := range b {
		sum += rank[x]
	}
	variance := m * n / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 {
		return 0
	}
	return (sum - n*(total+1)/2) / math.Sqrt(variance)
}
