package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// A neighbour is what is done to a table of which another copy is left as it is.
type neighbour struct {
	name   string
	change func(lines []string) []string
	// private: of the two relations the one that hides the number of rows
	private bool
	// gone: its file is removed once it is registered. These are no neighbours: its fits fail, at
	// the end of their slots, which is public.
	gone bool
	// planted changes answers about the changed table on their way to the analyst.
	planted func(f *field, path string, a *answer)
}

func same(lines []string) []string { return lines }

func row(text string) func([]string) []string {
	return func(lines []string) []string {
		lines[7] = text
		return lines
	}
}

var changes = []neighbour{
	{name: "one row moved", change: row("95,12")},
	{name: "one row of 1e308", change: row("1e308,-1e308")},
	{name: "one row malformed", change: row("forty,?")},
	{name: "one row removed", change: func(lines []string) []string { return lines[1:] }, private: true},
	{name: "no neighbour: file removed", change: same, gone: true},
	{name: "planted: one answer in four is a byte longer", change: same, planted: func(f *field, _ string, a *answer) {
		if f.dice.below(4) == 0 {
			a.body = append(a.body, ' ')
		}
	}},
	{name: "planted: answers are 1 ms late", change: same, planted: func(_ *field, _ string, a *answer) {
		time.Sleep(time.Millisecond)
		a.took += time.Millisecond
	}},
	{name: "planted: the end shows 10 ms late", change: same, planted: func(_ *field, path string, a *answer) {
		if strings.HasPrefix(path, api+"/fits/") && a.field("state") == "released" {
			time.Sleep(10 * time.Millisecond)
		}
	}},
	{name: "planted: one list in ten leaves the fit out", change: same, planted: func(f *field, path string, a *answer) {
		if strings.HasPrefix(path, api+"/fits?") && f.dice.below(10) == 0 {
			a.body = []byte(`{"fits": []}`)
		}
	}},
}

// falseAlarm is the chance that anything of a change is called different although nothing is: it is
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
	brief := engine.Table{Head: []string{"change", "what differs", "largest |z|", "limit", "texts of one table alone", "requests"}}
	for i, c := range changes {
		before := f.sent.Load()
		w := &watched{}
		names, err := f.pair(ctx, i, c)
		if err != nil {
			return err
		}
		for range runs {
			first := f.dice.below(2)
			for _, j := range []int{first, 1 - first} {
				f.planted = nil
				if j == 1 {
					f.planted = c.planted
				}
				if err := f.measure(ctx, w, names, j); err != nil {
					return err
				}
			}
		}
		f.planted = nil
		w.compare(&t, &brief, c.name, f.sent.Load()-before)
	}
	p.Text(fmt.Sprintf("Two tables of 5,000 rows that differ in one row, %d fits of each, in pairs of random order. From the submission until the end shows the analyst asks without a pause for the state of the fit, "+
		"the budget, the lists and /healthz, for what she has no right to, and for another analyst's plans and lists; in the last %v for the state alone. Each quantity of the two is compared pair by pair (signed ranks, two-sided); a quantity is called different "+
		"beyond the |z| that happens by chance in any quantity of a change with a probability of %g. Texts are compared as they are, but for names, ids and times. Planted leaks are put on the wire, between the server and the analyst, of two equal tables.", runs, closeBy, falseAlarm))
	p.Table(brief)
	p.Text("A removed file is no neighbouring table: its fits fail, which is public at the end of the slot. What may differ of it before that is the time for which the machine is busy.")
	p.Detail("Every quantity", t)
	return nil
}

// pair registers a table and its neighbour.
func (f *field) pair(ctx context.Context, i int, c neighbour) (names [2]string, err error) {
	names = [2]string{fmt.Sprintf("table-%da", i), fmt.Sprintf("table-%db", i)}
	lines := f.drawn(5000)
	for j, name := range names {
		own, more := slices.Clone(lines), ""
		if j == 1 {
			own = c.change(own)
		}
		if c.private {
			more = `, "relation": "add-remove-one", "capacity": 6000`
		}
		path, err := f.registerWith(ctx, name, own, more, "lee", "max")
		if err == nil && j == 1 && c.gone {
			err = os.Remove(path)
		}
		if err != nil {
			return names, err
		}
	}
	return names, nil
}

// watched is what was seen of two tables.
type watched struct {
	seen  [2][]map[string]float64 // a fit each
	texts [2]map[string]bool
}

// A round of asking sums what is seen until a fit's end shows.
type round struct {
	m, counts map[string]float64
	note      func(kind string, a answer)
}

func (r *round) average(what string, x float64) {
	r.m[what] += x
	r.counts[what]++
}

// timed records the average time of an answer, and the least, which the rest of the machine
// disturbs least.
func (r *round) timed(what string, a answer) {
	r.average(what+", s", a.took.Seconds())
	if least, known := r.m[what+", least, s"]; !known || a.took.Seconds() < least {
		r.m[what+", least, s"] = a.took.Seconds()
	}
}

var changing = regexp.MustCompile(`[0-9a-f]{32}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// noted keeps the text of an answer, without names, ids and times.
func (w *watched) noted(names [2]string, j int, kind string, a answer) {
	if w.texts[j] == nil {
		w.texts[j] = map[string]bool{}
	}
	text := changing.ReplaceAllString(string(a.body), "*")
	text = strings.NewReplacer(names[0], "T", names[1], "T", `"queued"`, `"running"`).Replace(text)
	w.texts[j][fmt.Sprint(kind, a.status, text)] = true
}

// closeBy is how long before the end is due nothing else is asked for.
const closeBy = 50 * time.Millisecond

// measure fits one of the tables and notes all that can be seen until the end shows.
func (f *field) measure(ctx context.Context, w *watched, names [2]string, j int) error {
	name := names[j]
	r := &round{m: map[string]float64{}, counts: map[string]float64{}, note: func(kind string, a answer) { w.noted(names, j, kind, a) }}
	taken, err := f.wants(ctx, 202, "lee", "POST", "/fits", ask(name))
	if err != nil {
		return err
	}
	r.note("submission", taken)
	r.m["submission, s"], r.m["submission, bytes"] = taken.took.Seconds(), float64(len(taken.body))
	id := taken.field("id")
	for polls := 0; ; polls++ {
		own, err := f.wants(ctx, 200, "lee", "GET", "/fits/"+id, "")
		if err != nil {
			return err
		}
		state := own.field("state")
		if state != "queued" && state != "running" {
			due, err := time.Parse(time.RFC3339Nano, own.field("due"))
			starts, fault := time.Parse(time.RFC3339Nano, own.field("starts"))
			if err != nil || fault != nil {
				return fmt.Errorf("%s: %w", own.body, err)
			}
			r.m["end seen, behind due, s"], r.m["slot, s"], r.m["rounds of asking"] = time.Since(due).Seconds(), due.Sub(starts).Seconds(), float64(polls)
			break
		}
		r.timed("own fit", own)
		r.average("own fit, bytes", float64(len(own.body)-len(state)))
		r.average("headers, bytes", headerBytes(own.header))
		r.note("fit", own)
		if due, err := time.Parse(time.RFC3339Nano, own.field("due")); err == nil && time.Until(due) < closeBy {
			continue // she wants to know when it shows
		}
		if err := f.roundOf(ctx, r, name, id); err != nil {
			return err
		}
	}
	for what, n := range r.counts {
		r.m[what] /= n
	}
	w.seen[j] = append(w.seen[j], r.m)
	return nil
}

// roundOf asks everything once.
func (f *field) roundOf(ctx context.Context, r *round, name, id string) error {
	for _, c := range []struct {
		kind, who, method, path, body string
		status                        int
	}{
		{"budget", "lee", "GET", "/datasets/" + name, "", 200},
		{"list of fits", "lee", "GET", "/fits?limit=3", "", 200},
		{"list of releases", "lee", "GET", "/releases?limit=1", "", 200},
		{"release before its time", "lee", "GET", "/releases/" + id, "", 404},
		{"what is not hers", "lee", "POST", "/datasets/" + name + "/accept", "", 403},
		{"a fault", "lee", "POST", "/plans", `{"dataset": "` + name + `", "epsilon": -1}`, 422},
		{"other's fit", "max", "GET", "/fits/" + id, "", 404},
		{"other's data sets", "max", "GET", "/datasets", "", 200},
		{"other's plan", "max", "POST", "/plans", ask(name), 200},
	} {
		a, err := f.wants(ctx, c.status, c.who, c.method, c.path, c.body)
		if err != nil {
			// the end may have come since it was asked for
			if c.kind == "release before its time" && a.status == 200 {
				continue
			}
			return err
		}
		r.timed(c.kind, a)
		switch c.kind {
		case "list of fits":
			r.average("place in the list", float64(bytes.Index(a.body, []byte(id))))
		case "other's data sets", "list of releases": // of what was before
		default:
			r.average(c.kind+", bytes", float64(len(a.body)))
			if c.kind != "budget" {
				r.note(c.kind, a)
			}
		}
	}
	a := f.send(ctx, "", "GET", "/healthz", "")
	r.timed("health", a)
	r.note("health", a)
	return a.err
}

// headerBytes returns the size of all headers but the date's.
func headerBytes(h http.Header) (n float64) {
	for name, values := range h {
		if name != "Date" {
			n += float64(len(name) + len(strings.Join(values, "")))
		}
	}
	return n
}
