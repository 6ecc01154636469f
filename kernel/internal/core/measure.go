package core

import (
	"fmt"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Measurement describes one measurement: a line of the certificate. It holds public facts only.
type Measurement struct {
	Step, Query string
	Count       int // number of identical measurements in a row, which share a line
	// of the noise: "" is the Gaussian, others are named by the packages that draw them
	Law         string
	Sensitivity float64 // L2 for the Gaussian, in the answer's own unit
	Noise       float64 // sigma, or the scale of the law, in the same unit
	// per measurement; Sensitivity/Noise <= Mu for the Gaussian; 0 where a curve is charged
	Mu float64
	// epsilon of a measurement that is epsilon-DP, delta being 0; 0 for all others
	Pure float64
	// added by a threshold, the factor (1+e^epsilon) included, or by a test and its mask
	// (Step.Extra)
	Delta  float64
	Mask   any // the public numbers of a mask, whose curve is charged; nil for all others
	Shape  any // of the query: see Terms.Shape
	Source string
}

// A Mechanism is one measurement, as brought by another package: everything that is checked and
// charged before a row is read, and the function that works with rows and noise.
type Mechanism struct {
	Step  string
	Query interface{ Kind() string }
	// Mu is charged to the budget: the whole measurement is Mu-GDP, except for the part of the
	// stability delta that a Threshold takes and for the loss that the Extra of the plan's step has
	// paid.
	Mu float64
	// Pure is charged to a pure budget: the whole measurement is Pure-DP. 0 means that it is not
	// pure, and a pure budget does not pay for it.
	Pure      float64
	Threshold bool
	// Covered returns an error if the Extra of the plan's step does not pay for the measurement.
	// Nil if the measurement needs no Extra.
	Covered func(Extra) error
	// Release computes, draws and records. It may reveal results only through Draw.Record.
	Release func(*Draw) error
}

// Measure charges, computes, draws and records, in this order. It is the only way from rows to an
// answer.
//
// If it refuses, nothing is charged and no row was read. A charge stays, whatever happens
// afterwards: an answer may have shown itself, if only by the time it took.
func Measure(a *SubBudget, m Mechanism) error {
	if err := a.s.measure(a, m); err != nil {
		return err
	}
	a.s.observe(m.Step)
	return nil
}

// Line makes a measurement whose answer is one line of the certificate; the plan completes the
// line. draw returns the values to release and, for tests, the sums before noise.
func Line(a *SubBudget, step string, q interface{ Kind() string }, line Measurement, threshold bool, draw func(*Draw) (values []float64, exact []int64)) (
	released []float64, err error) {
	err = Measure(a, Mechanism{Step: step, Query: q, Mu: line.Mu, Pure: line.Pure, Threshold: threshold, Release: func(d *Draw) error {
		values, exact := draw(d)
		line.Delta = d.Delta
		released = d.Record(line, values, exact)
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return released, nil
}

func (s *Session) measure(a *SubBudget, m Mechanism) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer sealed(&err)
	u, delta, err := s.reserve(a, m)
	if err != nil {
		return err
	}
	if err := m.Release(s.draw(Draw{m: m, Step: u.step, Delta: delta})); err != nil {
		return err
	}
	return s.ctx.Err() // the context ends a scan before its last row
}

// sealed, deferred, turns a panic into errInternal.
func sealed(err *error) {
	if recover() != nil {
		*err = errInternal
	}
}

// reserve charges one measurement to its step, its sub-budget and the filter, before any row is
// read. If it fails, nothing is charged. A measurement with a threshold is also charged delta, its
// part of the stability slack.
func (s *Session) reserve(a *SubBudget, m Mechanism) (u *usage, delta float64, err error) {
	if err := s.ctx.Err(); err != nil {
		return nil, 0, err
	}
	step, kind := m.Step, s.kindOf(m.Query.Kind())
	if u = s.used[step]; u == nil {
		return nil, 0, fmt.Errorf("kernel: step %q is not in the plan %q", step, s.plan.Method)
	}
	if u.step.Query != kind {
		return nil, 0, fmt.Errorf("kernel: step %q may ask %q, not %q", step, u.step.Query, kind)
	}
	if err := query.Registered(m.Query); err != nil {
		return nil, 0, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	if m.Covered != nil {
		if err := m.Covered(u.step.Extra); err != nil {
			return nil, 0, fmt.Errorf("kernel: step %q: %w", step, err)
		}
	}
	cost := amount{mu2: privacy.Mu2(privacy.MulUp(m.Mu, m.Mu))}
	if s.terms.Budget.Pure() {
		if cost = (amount{epsilon: privacy.Epsilon(m.Pure)}); !(cost.epsilon > 0) {
			return nil, 0, fmt.Errorf("kernel: step %q: a budget without delta pays for pure losses alone, and %q has none", step, kind)
		}
	}
	// shares are decimal fractions; privacy rests on the filter, not on the shares
	const slop = 1 + 1e-9
	spent, most := u.spent.plus(cost), s.of(u.step.Share*s.cap().number()*slop)
	if u.count+1 > u.step.Most || !most.covers(spent) {
		return nil, 0, fmt.Errorf("kernel: step %q would exceed its plan (%d measurements, share %v)", step, u.step.Most, u.step.Share)
	}
	if left := a.left.least(s.left()); !left.covers(cost) {
		return nil, 0, fmt.Errorf("kernel: step %q asks for %v of the budget, %v is left: %w", step, cost.number(), left.number(), ErrExhausted)
	}
	if m.Threshold {
		// The slack is divided into Most equal parts, each slightly too small, so that neither
		// their sum nor slacks that sum to 1+1e-12 can exceed the whole.
		const short = 1 - 1e-11
		delta = privacy.MulDown(s.total.ThresholdDelta*short, u.step.Slack/float64(u.step.Most))
		if !(delta > 0) {
			return nil, 0, fmt.Errorf("kernel: step %q asks for a threshold but its plan gives it no slack", step)
		}
		if err := s.filter.SpendThreshold(delta); err != nil {
			return nil, 0, err
		}
	}
	if err := s.spend(cost); err != nil {
		return nil, 0, err
	}
	a.left, u.spent = a.left.less(cost), spent
	u.count++
	return u, delta, nil
}

// record adds a line, or counts the measurement in the last line if it is the same.
func (s *Session) record(m Measurement) {
	m.Query = s.kindOf(m.Query)
	if n := len(s.log); n > 0 {
		last := &s.log[n-1]
		m.Count = last.Count
		if *last == m {
			last.Count++
			return
		}
	}
	m.Count = 1
	s.log = append(s.log, m)
}

// observe calls the observer without the lock, so that it may ask the session what was spent.
func (s *Session) observe(step string) {
	if s.terms.Observe != nil {
		s.terms.Observe(step, 1-s.left().number()/s.cap().number())
	}
}

// watch shows a measurement to a test's hook, which may replace the answer by a recorded one.
func (s *Session) watch(step string, q any, mu float64, values []float64, exact []int64) []float64 {
	if s.hook == nil {
		return values
	}
	if s.hook.Replay != nil {
		if replayed, ok := s.hook.Replay(); ok {
			values = replayed
		}
	}
	if s.hook.Record != nil {
		s.hook.Record(step, q, mu, values, exact)
	}
	return values
}
