package gauze

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal"
	"github.com/gauze-dp/gauze/release"
)

// A Statement is a calibrated plan: the most that a fit may measure, what that costs, and the
// expected error. It is made from public facts alone.
type Statement struct {
	Method   string `json:"method"`
	Why      string `json:"why"` // reason for the method
	Source   string `json:"source"`
	Relation string `json:"relation"`
	// Epsilon and Delta, or Rho, are the requested budget.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Columns int     `json:"columns"`
	Rows    int     `json:"rows,omitempty"` // 0 if none were stated
	// Facts are the stated public bounds; nil if there are none.
	Facts *release.Facts `json:"facts,omitempty"`
	// Learner is the learner that the method runs on blocks of rows; nil if it runs none that could
	// be chosen.
	Learner *release.Learner `json:"learner,omitempty"`
	// the total of all measurements except those with a Rényi curve of their own
	Mu  float64 `json:"mu"`
	Rho float64 `json:"rho"` // Mu^2/2; 0 beside such a curve
	// ThresholdDelta is the part of Delta set aside for stability thresholds, and TestDelta the
	// delta that tests of blocks add as it stands.
	ThresholdDelta float64     `json:"threshold_delta,omitempty"`
	TestDelta      float64     `json:"test_delta,omitempty"`
	Steps          []StepLimit `json:"plan"`
	Expect         Expectation `json:"expect"`
	// Accuracy is the expected accuracy in the columns' own units; nil if that was not measured.
	Accuracy *Accuracy `json:"accuracy,omitempty"`
	// Candidates are all methods that could fit one component, if one is requested, and LowerBound
	// is an error that none of them can go below with this many rows.
	Candidates []catalog.Candidate `json:"candidates,omitempty"`
	LowerBound *literal.LowerBound `json:"lower_bound,omitempty"`
	// MixtureBound is the same for mixtures: for the requested number of components, or for as many
	// as are allowed.
	MixtureBound *literal.MixtureBound `json:"mixture_bound,omitempty"`
	// Mixtures holds the expected results on clusters of some numbers and distances, if several are
	// looked for and the number of rows is known or guessed.
	Mixtures []catalog.Mixture `json:"mixtures,omitempty"`
	Notes    []string          `json:"notes,omitempty"`
	// Plan and Total are the arguments of [Request.Reserve].
	Plan    kernel.Plan         `json:"-"`
	Total   privacy.Calibration `json:"-"`
	problem estimate.Problem
	example string // of what --typical-sd takes
}

// A StepLimit is one line of a Statement: the most that a step may do.
type StepLimit struct {
	Step  string `json:"step"`
	Query string `json:"query"`
	// of Mu^2, or of epsilon where delta is 0, at most; steps that are alternatives may sum to more
	// than 1
	Share float64 `json:"share"`
	Count int     `json:"count"` // number of measurements, at most
	// of each, if all Count are made alike with the whole share: Mu sqrt(Share/Count)
	Mu    float64 `json:"mu"`
	Delta float64 `json:"delta"` // of all its thresholds, at most, or of its test
	// Mask, and Pure (an epsilon), are losses of the step that are counted in one Rényi curve with
	// all Mu; nil and 0 for most steps. Where delta is 0 Pure is the epsilon of each measurement,
	// and there is no Mu.
	Mask *release.Mask `json:"mask,omitempty"`
	Pure float64       `json:"pure,omitempty"`
	From string        `json:"source"`
}

// An Expectation is the method's error as far as public facts determine it; 0 where they do not.
type Expectation struct {
	RowsNeeded    float64 `json:"rows_needed,omitempty"`
	RelativeError float64 `json:"relative_error,omitempty"`
	// CovarianceError and MeanError are the method's among the Candidates.
	CovarianceError float64  `json:"covariance_error,omitempty"`
	MeanError       float64  `json:"mean_error,omitempty"`
	Notes           []string `json:"notes,omitempty"`
}

// Plan states and calibrates what Fit would do with a table of that many rows. It sees no table.
//
// Under replace-one rows is public and required. Under add-or-remove-one it is the caller's guess,
// used for nothing but the expected error; 0 is allowed.
//
// Failures: all faults of the request, joined; a *estimate.Refusal if the problem is hopeless on
// public facts.
func Plan(r Request, rows int) (*Statement, error) {
	if rows < 0 || rows == 0 && r.Relation == privacy.ReplaceOne {
		return nil, &privacy.FieldError{Field: "rows", Wanted: "a positive number", Got: fmt.Sprint(rows),
			Fix: "replace-one makes the number of rows public, and the plan depends on it"}
	}
	public := rows
	if r.Relation != privacy.ReplaceOne {
		public = 0
	}
	q, err := r.check(public)
	if err != nil {
		return nil, err
	}
	var faults estimate.Faults
	if r.checkTypical(&faults); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return q.state(rows)
}

// calibrated returns the plan of the method, and its largest cost.
func (q *question) calibrated() (plan kernel.Plan, total privacy.Calibration, err error) {
	if plan, err = q.plan(); err != nil {
		return plan, total, q.fixed(err, q.problem.Rows)
	}
	total, err = kernel.Calibrate(plan, q.Relation, q.Budget)
	return plan, total, err
}

// state calibrates the plan of the method, and states what to expect for this many rows, known or
// guessed.
func (q *question) state(rows int) (*Statement, error) {
	plan, total, err := q.calibrated()
	if err != nil {
		return nil, err
	}
	guess := q.problem
	guess.Rows = rows
	expect := q.method.Expect(guess)
	if q.alone() {
		expect = estimate.Expectation{Notes: []string{"every column of numbers has its histogram, mean and standard deviation, as far as so few rows show them, and no correlations"}}
	}
	s := &Statement{
		Method: q.method.Name(), Why: q.why, Source: q.method.Source(), Relation: q.Relation.String(),
		Epsilon: q.Budget.Epsilon, Delta: q.Budget.Delta, Columns: q.problem.Columns, Rows: rows, Facts: q.facts(),
		Learner: q.learner(false), Mu: total.Mu, ThresholdDelta: total.ThresholdDelta, TestDelta: total.Needs.AddedDelta,
		Expect: Expectation{RowsNeeded: estimate.AboutRows(expect.RowsNeeded), RelativeError: expect.RelativeError, Notes: expect.Notes},
		Notes:  q.notes(rows), Plan: plan, Total: total, problem: q.problem, example: exampleSD(firstNumber(q.Columns)),
	}
	if total.Needs.Extra.IsZero() {
		s.Rho = privacy.RhoOfMu(total.Mu)
	}
	for _, step := range plan.Steps {
		var mask any
		var delta, pure float64
		if step.Extra != nil {
			mask, delta, pure = step.Extra.Stated()
		}
		limit := StepLimit{
			Step: step.Name, Query: step.Query, Share: step.Share, Count: step.Most,
			Mu: total.Mu * math.Sqrt(step.Share/float64(step.Most)), Delta: total.ThresholdDelta*step.Slack + delta,
			Mask: maskOf(mask), Pure: pure, From: step.Source,
		}
		if pure > 0 { // the loss is in the curve; the share is a formality
			limit.Share, limit.Mu = 0, 0
		}
		if q.Budget.Pure() {
			limit.Pure = q.Budget.Epsilon * step.Share / float64(step.Most)
		}
		s.Steps = append(s.Steps, limit)
	}
	if !q.Budget.Pure() { // no pure budget was measured, and bounds are stated for a mu
		s.Accuracy = q.accuracy(guess)
		q.compare(s, guess)
	}
	return s, nil
}

// notes returns what a reader should know of the request, for this many rows, known or guessed.
func (q *question) notes(rows int) (notes []string) {
	for _, fact := range estimate.Unused(q.method, q.problem) {
		notes = append(notes, fmt.Sprintf("the method %s makes no use of this: %s", q.method.Name(), fact))
	}
	if q.asked > 0 {
		notes = append(notes, fmt.Sprintf("the method %s spends epsilon = %.4g of the %g asked for: with more, the precision of its noise would not do",
			q.method.Name(), q.Budget.Epsilon, q.asked))
	}
	if n := float64(rows); rows > 0 && q.Budget.Delta*n >= 1 {
		notes = append(notes, fmt.Sprintf("delta = %g is not below one over the %d rows: it would allow a whole row to be published; "+
			"ask for a far smaller one", q.Budget.Delta, rows))
	}
	return notes
}

// compare states the expected error of every method for one component, and what none can reach;
// guess has the number of rows even if it is a guess.
func (q *question) compare(s *Statement, guess estimate.Problem) {
	s.Candidates = Methods().Candidates(s.problem, guess.Rows)
	for i, c := range s.Candidates {
		if c.Refused == "" {
			if err := q.affordable(c.Method); err != nil {
				s.Candidates[i] = catalog.Candidate{Method: c.Method, Refused: err.Error()}
			}
		}
	}
	if s.Candidates == nil && guess.Rows > 0 {
		s.boundMixtures(guess)
		s.expectMixtures(cmp.Or(q.Method, catalog.Auto), guess)
	}
	if s.Candidates == nil || guess.Rows == 0 {
		return
	}
	bound := literal.LowerBoundOf(guess, float64(guess.Rows))
	s.LowerBound = &bound
	for _, c := range s.Candidates {
		if c.Method != s.Method || c.CovarianceError == 0 || q.Printed || q.Tournament {
			continue
		}
		// Measured errors replace the method's own statement.
		s.Expect.RelativeError, s.Expect.CovarianceError, s.Expect.MeanError = c.RelativeError, c.CovarianceError, c.MeanError
	}
}

// boundMixtures states what no method can promise for mixtures, unless a known fact could help one.
func (s *Statement) boundMixtures(guess estimate.Problem) {
	k := cmp.Or(guess.Components, guess.MaxComponents)
	if guess.Known() == nil && k > 1 && s.Method != MethodProfile {
		bound := literal.MixtureBoundOf(guess, guess.Budget, k, float64(guess.Rows))
		s.MixtureBound = &bound
	}
}

// expectMixtures states the measured results of a method for the requested settings.
func (s *Statement) expectMixtures(asked string, guess estimate.Problem) {
	if guess.Known() != nil || guess.Covariance != estimate.Full || s.Learner != nil || guess.Printed || guess.Tournament {
		return // measurements were without public facts
	}
	all := catalog.MeasuredErrors().Mixtures(asked, guess.Columns, float64(guess.Rows), s.Mu)
	least := 0 // the first of the measured numbers that is as large as requested
	for _, m := range all {
		if least < guess.Components {
			least = m.Components
		}
	}
	for _, m := range all {
		if m.Components == least || guess.Components == 0 && m.Components <= guess.MaxComponents {
			s.Mixtures = append(s.Mixtures, m)
		}
	}
}

// affordable returns why a method's plan does not fit the budget: thresholds, for instance, need a
// delta.
func (q *question) affordable(name string) error {
	practical := q.problem
	practical.Printed, practical.Tournament = false, false
	method, _, err := Methods().Requested(name, practical)
	if err != nil {
		return err
	}
	plan, err := method.Plan(q.problem)
	if err != nil {
		return err
	}
	_, err = kernel.Calibrate(plan, q.Relation, q.Budget)
	return err
}
