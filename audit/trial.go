package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A subject is the audited program over a protected table. run also receives the table's rows,
// which the front door ignores: tests use them to plant faults.
type subject struct {
	columns  int        // of numbers and, the last, of codes of categories
	codes    int        // how many these are
	texts    [][]string // what the codes stand for, where the fit finds that; else nil
	relation privacy.Relation
	table    func(rows [][]float64, d int, r privacy.Relation, s *kerneltest.Script) *kernel.Table
	run      func(ctx context.Context, rows [][]float64, t *kernel.Table) (*gauze.Result, error)
}

// frontDoor returns the subject that fits as users do.
func frontDoor(r gauze.Request, codes int, texts [][]string) subject {
	return subject{columns: len(r.Columns), codes: codes, texts: texts, relation: r.Relation, table: kerneltest.Observed,
		run: func(ctx context.Context, _ [][]float64, t *kernel.Table) (*gauze.Result, error) {
			return gauze.Fit(ctx, t, r)
		}}
}

// An ending is everything that a fit has revealed.
type ending struct {
	text        string
	certificate *release.Certificate // nil after an error
	released    bool
	heard       []kerneltest.Heard
	beyond      bool
}

// fit runs the subject once.
func (s subject) fit(ctx context.Context, rows [][]float64, script *kerneltest.Script) (e ending) {
	script.Codes, script.Texts = s.codes, s.texts
	result, err := s.run(ctx, rows, s.table(rows, s.columns, s.relation, script))
	e.heard, e.beyond = script.Heard, script.Beyond
	if err != nil {
		e.text = "error: " + err.Error()
		return e
	}
	e.certificate, e.released = &result.Certificate, result.Release != nil
	text, err := json.Marshal(result)
	if err != nil {
		e.text = "error: " + err.Error()
		return e
	}
	e.text = string(text)
	return e
}

// A trial is one fit to one of two neighbours, attacked.
type trial struct {
	released bool
	whole    score
	steps    map[string]*score
	order    []string // of the steps, in order of appearance
	unscored []string // steps that have no score
	faults   []string
}

// A score is evidence, from released values: positive for the first table.
type score struct {
	sum   float64
	reach float64 // sum of squares of the mu that these neighbours can show
	mu2   float64 // sum of squares of the mu that is claimed
}

// attack fits one of a pair of tables, with the noise of the operating system, and asks both tables
// the fit's queries, without noise. The seed is for the secret draws of these queries only: pairs
// and blocks of the fit itself stay unknown, so that every score is a function of released values.
//
// If replay is set, a fit of either table gets the fit's answers: its queries, costs and result
// have to be the same.
func (s subject) attack(ctx context.Context, p pair, side int, seed uint64, replay bool) trial {
	var script kerneltest.Script
	own := s.fit(ctx, p.tables[side], &script)
	t := trial{released: own.released, steps: map[string]*score{}}
	var again [2]ending
	for i, rows := range p.tables {
		if !replay || ctx.Err() != nil {
			break
		}
		again[i] = s.fit(ctx, rows, &kerneltest.Script{Replayed: true, Answers: own.heard, Seed: seed})
		t.faults = append(t.faults, differences(own, again[i], i == side)...)
	}
	if t.faults != nil || own.certificate == nil {
		return t
	}
	lines, fault := linesOf(own)
	if fault != "" {
		t.faults = append(t.faults, fault)
		return t
	}
	if replay {
		t.moved(again, lines)
	}
	t.score(ctx, own, lines, s, p, seed)
	return t
}

// moved adds a fault for every Gaussian measurement, of blocks too, whose exact integers differ
// between two neighbours by more than the certificate says, with the same secret draws.
func (t *trial) moved(again [2]ending, lines []release.PlanStep) {
	for k, line := range lines {
		first, second := again[0].heard[k], again[1].heard[k]
		if line.Law != "" || !(line.Noise > 0) || first.Exact == nil || len(first.Exact) != len(second.Exact) {
			continue
		}
		t.far(line, apart(first, line.Noise, second.Exact))
	}
}

// differences returns the ways in which a fit that got another fit's answers behaved differently.
func differences(own, again ending, same bool) (faults []string) {
	where := "on the neighbouring table"
	if same {
		where = "on the same table"
	}
	if again.beyond || len(again.heard) != len(own.heard) {
		return []string{fmt.Sprintf("%s the same answers led to another number of measurements: the fit branched on something that was not released", where)}
	}
	for k, h := range own.heard {
		if other := again.heard[k]; h.Step != other.Step || h.Mu != other.Mu || !kerneltest.Same(h.Query, other.Query) {
			return []string{fmt.Sprintf("%s the same answers led to another question in the step %q: the fit branched on something that was not released", where, h.Step)}
		}
	}
	if own.text != again.text {
		return []string{fmt.Sprintf("%s the same answers ended in other words or numbers: %s", where, firstDifference(own.text, again.text))}
	}
	return nil
}

// firstDifference shows where two texts begin to differ; made-up rows keep no secrets.
func firstDifference(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	const around = 40
	cut := func(s string) string { return s[max(0, at-around):min(len(s), at+around)] }
	return fmt.Sprintf("%q against %q", cut(a), cut(b))
}

// score computes the evidence of every Gaussian measurement: with y the answer, x and x' the exact
// answers on either table, and sigma as the certificate states it,
//
//	m^2 = sum |x - x'|^2/sigma^2,  z = sum (y - (x+x')/2) (x - x')/sigma^2 / m,
//
// z is N(m/2, 1) on the first table and N(-m/2, 1) on the second, whatever was released before, and
// m is at most the mu of the measurement. (Sums over pairs add what their draws differ by, which
// knows neither side.) The whole transcript has the log-likelihood ratio sum m z; a step of several
// measurements sum mu z. A measurement that is not a vector of sums of the table has no score.
func (t *trial) score(ctx context.Context, own ending, lines []release.PlanStep, s subject, p pair, seed uint64) {
	var exact [2][][]int64
	for i, rows := range p.tables {
		var err error
		if exact[i], err = s.ask(ctx, rows, own.heard, lines, seed); err != nil {
			t.faults = append(t.faults, "asking again what the fit had asked: "+err.Error())
			return
		}
	}
	for k, h := range own.heard {
		if exact[0][k] == nil {
			t.unscored = append(t.unscored, h.Step)
			continue
		}
		z, m := gaussian(h, lines[k].Noise, exact[0][k], exact[1][k])
		t.add(lines[k], z, m)
	}
}

// linesOf returns the line of the certificate of each measurement, or what is wrong with them.
func linesOf(own ending) (lines []release.PlanStep, fault string) {
	for _, line := range own.certificate.Plan {
		for range line.Count {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(own.heard) {
		return nil, fmt.Sprintf("the certificate has %d measurements, and %d were made", len(lines), len(own.heard))
	}
	for k, h := range own.heard {
		if lines[k].Step != h.Step {
			return nil, fmt.Sprintf("the certificate says that step %q was measured where %q was", lines[k].Step, h.Step)
		}
	}
	return lines, ""
}

// summed is the common interface of sums over rows and over pairs of rows.
type summed interface {
	Weight(i int) float64
	Unit() float64
}

// gaussian returns z and m of one measurement.
func gaussian(h kerneltest.Heard, noise float64, first, second []int64) (z, m float64) {
	q := h.Query.(summed)
	for i, y := range h.Values {
		sigma := noise / q.Unit() * q.Weight(i)
		apart := float64(first[i] - second[i]) // modulo 2^64, as the sums
		if apart == 0 {
			continue
		}
		middle := float64(second[i]) + apart/2
		z += (y/q.Unit() - middle) / sigma * (apart / sigma)
		m += apart / sigma * (apart / sigma)
	}
	if m == 0 {
		return 0, 0
	}
	m = math.Sqrt(m)
	return z / m, m
}

// apart returns m for two exact answers to one query.
func apart(h kerneltest.Heard, noise float64, other []int64) (m float64) {
	q, ok := h.Query.(summed)
	for i, x := range h.Exact {
		sigma := noise
		if ok {
			sigma = noise / q.Unit() * q.Weight(i)
		}
		m += math.Pow(float64(x-other[i])/sigma, 2)
	}
	return math.Sqrt(m)
}

// loose is the relative excess allowed of a reach over its mu: roundings.
const loose = 1e-6

// far adds a fault for a measurement that two neighbours move farther than the certificate allows.
func (t *trial) far(line release.PlanStep, m float64) {
	if m > line.Mu*(1+loose) {
		t.faults = append(t.faults, fmt.Sprintf("step %q: the exact answers on neighbouring tables are farther apart than the certificate says, %.3g standard deviations of its noise",
			line.Step, line.Mu))
	}
}

// add adds a measurement to its step and to the whole.
func (t *trial) add(line release.PlanStep, z, m float64) {
	t.far(line, m)
	s := t.steps[line.Step]
	if s == nil {
		s = new(score)
		t.steps[line.Step] = s
		t.order = append(t.order, line.Step)
	}
	s.sum += line.Mu * z
	t.whole.sum += m * z
	for _, of := range []*score{s, &t.whole} {
		of.reach += m * m
		of.mu2 += line.Mu * line.Mu
	}
}
