// Package audit attacks fits. It runs one many times on two made-up neighbouring tables, guesses
// from the release which of the two it was, and computes what its right guesses prove about the
// program's actual epsilon. It also replays the answers of each fit on both tables, where the fit's
// queries, costs and statements must not differ.
//
// It calls the front door, with the operating system's noise, and observes its measurements
// (package kerneltest). A bound below the claim proves only that this attack fails; one above it
// proves a fault.
package audit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

// A Request says what to audit.
type Request struct {
	// Fit is the fit's request, without columns, which are the audit's.
	Fit gauze.Request
	// Rows and Columns are those of the made-up tables. Rows = 0 takes the fewest rows at which the
	// attack sees much of the budget, and Columns = 0 one column.
	Rows, Columns int
	// Categories is how many columns of categories, and of yes and no by turns, of two values each,
	// stand beside those of numbers.
	Categories int
	// Find has the fit find the values of these: what it asks of them is replayed, and not scored.
	Find bool
	// Runs is the number of fits attacked for each pair of tables; 0 means DefaultRuns.
	Runs int
	// scouts is the number of fits of each pair that choose the pairs to attack, and few the number
	// of pairs; 0 means usualScouts, and all.
	scouts, few int
	// Progress, if set, is called now and then with the number of attacks that are over, and their
	// total.
	Progress func(done, of int)
}

// DefaultRuns is enough for a lower bound on mu about .07 below it.
const DefaultRuns = 5000

// A Report holds the results of an audit.
type Report struct {
	Method   string  `json:"method"`
	Relation string  `json:"relation"`
	Epsilon  float64 `json:"epsilon,omitempty"`
	Delta    float64 `json:"delta,omitempty"`
	Rho      float64 `json:"rho,omitempty"`
	Rows     int     `json:"rows"`
	Columns  int     `json:"columns"`
	// Columns of categories, beside those of numbers.
	Categories int `json:"categories,omitempty"`
	// Confidence is that of all bounds together, and FalseAlarm that of all verdicts together.
	Confidence float64 `json:"confidence"`
	FalseAlarm float64 `json:"false_alarm"`
	Fits       int     `json:"fits"`
	Released   int     `json:"released"` // fits with a model
	// Refused is why the method refuses as many rows as were tried; then nothing was attacked.
	Refused string `json:"refused,omitempty"`
	// Whole is the bound of the whole transcript, and Steps are those of the plan's steps.
	Whole *Bound `json:"whole,omitempty"`
	Steps []Step `json:"steps,omitempty"`
	// Unscored are measured steps that are no vectors of sums: they are only replayed.
	Unscored []string `json:"unscored,omitempty"`
	// Faults are the replays' findings; nil if there are none.
	Faults []string `json:"faults,omitempty"`
}

// A Step is a step of the plan, with its bound.
type Step struct {
	Step string `json:"step"`
	Bound
}

// Passed reports whether no bound is above its claim and no replay found a fault.
func (r *Report) Passed() bool {
	return r.Faults == nil && (r.Whole == nil || !r.Whole.Above) && !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Above })
}

// Run audits the front door.
//
// Failures: those of gauze.Plan, except for a refusal, which is a result; and ctx's.
func Run(ctx context.Context, r Request) (*Report, error) {
	if r.Columns == 0 {
		r.Columns = 1
	}
	if r.Runs == 0 {
		r.Runs = DefaultRuns
	}
	if r.Rows < 0 || r.Columns < 0 || r.Runs < 0 || r.Categories < 0 || r.Rows == 1 {
		return nil, &privacy.FieldError{Field: "rows, columns, runs", Wanted: "two rows or more, a column, a run", Got: fmt.Sprint(r.Rows, r.Columns, r.Runs), Fix: "leave them out"}
	}
	r.Fit.Columns = columns(r.Columns, r.Categories)
	var texts [][]string
	for j := range r.Categories {
		if c := &r.Fit.Columns[r.Columns+j]; r.Find {
			texts = append(texts, c.Categories)
			c.Kind, c.Categories, c.Find = source.Categories, nil, true
		}
	}
	return run(ctx, r, frontDoor(r.Fit, r.Categories, texts))
}

// columns returns d columns of numbers, and c whose values are counted, two of each: of categories
// and of yes and no by turns.
func columns(d, c int) (all []source.Column) {
	for j := range d {
		all = append(all, source.Column{Name: fmt.Sprintf("x%d", j+1)})
	}
	for j := range c {
		column := source.Column{Name: fmt.Sprintf("c%d", j+1), Kind: source.Categories, Categories: []string{"a", "b"}}
		if j%2 == 1 {
			column.Kind, column.Categories = source.YesNo, []string{"0", "1"}
		}
		all = append(all, column)
	}
	return all
}

// ladder are the numbers of rows that are tried: a guess.
var ladder = []int{200, 600, 2000, 6000, 20000}

// enough is the part of mu that the attack should be able to see before it stops trying more rows:
// a guess.
const enough = .6

// run audits a subject.
func run(ctx context.Context, r Request, s subject) (*Report, error) {
	b := r.Fit.Budget
	report := &Report{Method: r.Fit.Method, Relation: r.Fit.Relation.String(), Epsilon: b.Epsilon, Delta: b.Delta, Rho: b.Rho, Columns: r.Columns, Categories: r.Categories,
		Confidence: 1 - wrongBound, FalseAlarm: falseAlarm}
	rows := ladder
	if r.Rows > 0 {
		rows = []int{r.Rows}
	}
	var best *scouted
	for _, n := range rows {
		plan, err := gauze.Plan(r.Fit, n)
		var refused *estimate.Refusal
		if errors.As(err, &refused) {
			report.Rows, report.Refused = n, refused.Reason
			continue
		} else if err != nil {
			return nil, err
		}
		all := coded(neighbours(s.relation, n, r.Columns), s.codes)
		found, err := s.scout(ctx, all[:min(len(all), cmp.Or(r.few, len(all)))], cmp.Or(r.scouts, usualScouts))
		if err != nil {
			return nil, err
		}
		found.rows, found.plan = n, plan
		if best == nil || found.reach(found.whole, "") > best.reach(best.whole, "")+.05 || found.faults != nil {
			best = found
		}
		if best.faults != nil || best.reach(best.whole, "") >= enough {
			break
		}
	}
	if best == nil {
		return report, nil
	}
	report.Rows, report.Method, report.Refused, report.Faults = best.rows, best.plan.Method, "", best.faults
	if report.Faults != nil {
		return report, nil
	}
	return report, s.measure(ctx, r, best, report)
}

// claims returns the plan's promise for the whole fit: a mu if all its measurements are Gaussian,
// up to thresholds and tests that may fail with a probability of at most delta.
func claims(p *gauze.Statement) claim {
	c := claim{epsilon: p.Epsilon, delta: p.Delta}
	if p.Rho > 0 {
		c.mu, c.slack = p.Mu, p.Delta
	}
	return c
}

// measure attacks the chosen pairs, and writes the bounds.
func (s subject) measure(ctx context.Context, r Request, best *scouted, report *Report) error {
	chosen := best.chosen()
	part := .5 / float64(max(1, len(best.steps)))
	tallies := make([]*tally, len(best.pairs))
	for at, i := range chosen {
		var progress func(int)
		if r.Progress != nil {
			progress = func(done int) { r.Progress(at*r.Runs+done, len(chosen)*r.Runs) }
		}
		t, err := s.trials(ctx, best.pairs[i], r.Runs, replays, progress)
		if err != nil {
			return err
		}
		tallies[i] = t
		report.Fits += r.Runs
		report.Released += t.released
		report.Faults = append(report.Faults, t.faults...)
	}
	claimed := claims(best.plan)
	whole := tallies[best.whole].bound("", r.Runs, claimed, .5)
	whole.Neighbours = best.pairs[best.whole].name
	report.Whole = &whole
	for _, step := range best.steps {
		i := best.of(step, chosen)
		of := tallies[i]
		if of.steps[step] == nil { // a step that no other run reached
			continue
		}
		b := of.bound(step, of.steps[step].trials, claim{mu: math.Sqrt(of.steps[step].mu2), slack: claimed.delta, epsilon: claimed.epsilon, delta: claimed.delta}, part)
		b.Neighbours = best.pairs[i].name
		report.Steps = append(report.Steps, Step{Step: step, Bound: b})
	}
	report.Unscored = best.unscored
	return nil
}

// A tally holds the results of many trials.
type tally struct {
	released int
	whole    sum
	steps    map[string]*sum
	faults   []string
	order    []string // of the steps, in order of appearance
	unscored []string
}

// A sum counts how often the sign of a score was right, and how far it could reach.
type sum struct {
	right      int
	trials     int
	reach, mu2 float64 // the largest of all trials
	reaches    float64 // sum over all trials
}

// mean returns the mean square of what the trials could reach.
func (s *sum) mean() float64 { return s.reaches / float64(max(1, s.trials)) }

// replays is the number of attacked fits of a pair that are also replayed, on both tables: a guess.
const replays = 30

// mostFaults is the number of different faults that are reported: a guess.
const mostFaults = 5

// trials attacks one of the two tables, chosen by a fair coin, again and again.
func (s subject) trials(ctx context.Context, p pair, runs, replays int, progress func(int)) (*tally, error) {
	coins := make([]byte, 9*runs)
	_, _ = rand.Read(coins) // never fails
	all := make([]trial, runs)
	step := max(1, runs/50)
	for from := 0; from < runs; from += step {
		n := min(step, runs-from)
		err := parallel.Each(ctx, n, func(i int) {
			coin := coins[9*(from+i):]
			all[from+i] = s.attack(ctx, p, int(coin[0]&1), binary.LittleEndian.Uint64(coin[1:9]), from+i < replays)
		})
		if err != nil {
			return nil, err
		}
		if progress != nil {
			progress(from + n)
		}
	}
	t := &tally{steps: map[string]*sum{}}
	for i := range all {
		t.add(&all[i], coins[9*i]&1 == 0)
	}
	return t, nil
}

// add adds one trial, of the first table or of the second. A score of zero guesses the first.
func (t *tally) add(one *trial, first bool) {
	if one.released {
		t.released++
	}
	for _, f := range one.faults {
		if len(t.faults) < mostFaults && !slices.Contains(t.faults, f) {
			t.faults = append(t.faults, f)
		}
	}
	for _, name := range one.unscored {
		if !slices.Contains(t.unscored, name) {
			t.unscored = append(t.unscored, name)
		}
	}
	t.whole.add(&one.whole, first)
	for _, name := range one.order {
		if t.steps[name] == nil {
			t.steps[name] = new(sum)
			t.order = append(t.order, name)
		}
		t.steps[name].add(one.steps[name], first)
	}
}

func (s *sum) add(of *score, first bool) {
	if (of.sum >= 0) == first {
		s.right++
	}
	s.trials++
	s.reaches += of.reach
	s.reach, s.mu2 = math.Max(s.reach, of.reach), math.Max(s.mu2, of.mu2)
}

// bound returns the bound of a step, or of the whole for "".
func (t *tally) bound(step string, runs int, c claim, part float64) Bound {
	of := &t.whole
	if step != "" {
		of = t.steps[step]
	}
	b := bound(of.right, runs, c, part)
	if c.mu > 0 {
		b.Reach = math.Sqrt(of.reach) / c.mu
	}
	return b
}
