package gauze

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/expected"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A Statement is a plan, calibrated: what a fit may measure at most, what that costs, and what
// error to expect of it. It is made from public facts alone.
type Statement struct {
	Method   string `json:"method"`
	Why      string `json:"why"` // the method was chosen
	Source   string `json:"source"`
	Relation string `json:"relation"`
	// Epsilon and Delta, or Rho, are the budget as asked.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Columns int     `json:"columns"`
	Rows    int     `json:"rows,omitempty"` // 0 where none were stated
	// Facts are the public bounds that were stated; nil where there are none.
	Facts *release.Facts `json:"facts,omitempty"`
	// Learner is what the method runs on blocks of rows; nil if it runs nothing that could be
	// chosen.
	Learner *release.Learner `json:"learner,omitempty"`
	// the total of all measurements but for those with a Rényi curve of their own
	Mu  float64 `json:"mu"`
	Rho float64 `json:"rho"` // Mu²/2; 0 beside such a curve
	// ThresholdDelta is the part of Delta set aside for stability thresholds, and TestDelta what
	// tests of blocks add as it stands.
	ThresholdDelta float64     `json:"threshold_delta,omitempty"`
	TestDelta      float64     `json:"test_delta,omitempty"`
	Steps          []StepLimit `json:"plan"`
	Expect         Expectation `json:"expect"`
	// Candidates are all methods that could fit one component, where one is asked for, and
	// LowerBound is below what any of them can reach with so many rows.
	Candidates []catalog.Candidate `json:"candidates,omitempty"`
	LowerBound *expected.Bound     `json:"lower_bound,omitempty"`
	// MixtureBound is the same for mixtures: of the components asked for, or of as many as are
	// allowed.
	MixtureBound *expected.MixtureBound `json:"mixture_bound,omitempty"`
	Notes        []string               `json:"notes,omitempty"`
	plan         kernel.Plan
	problem      estimate.Problem
	method       estimate.Estimator
}

// A StepLimit is one line of a Statement: the most that a step may do.
type StepLimit struct {
	Step  string `json:"step"`
	Query string `json:"query"`
	// of Mu², at most; steps that are alternatives may sum to more than 1
	Share float64 `json:"share"`
	Count int     `json:"count"` // measurements, at most
	// of each, if all Count are made alike with the whole share: Mu·√(Share/Count)
	Mu    float64 `json:"mu"`
	Delta float64 `json:"delta"` // of all its thresholds, at most, or of its test
	// Mask, and Pure (an epsilon), are losses of the step that are counted in one Rényi curve with
	// all Mu; nil and 0 for most steps.
	Mask *release.Mask `json:"mask,omitempty"`
	Pure float64       `json:"pure,omitempty"`
	From string        `json:"source"`
}

// An Expectation is what is known of the method's error from public facts; 0 where nothing is.
type Expectation struct {
	RowsNeeded    float64 `json:"rows_needed,omitempty"`
	RelativeError float64 `json:"relative_error,omitempty"`
	// CovarianceError and MeanError are those of the method among the Candidates.
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
			Mend: "replace-one makes the number of rows public, and the plan depends on it"}
	}
	return state(r, rows)
}

// state is Plan without the check of rows: a table may be empty.
func state(r Request, rows int) (*Statement, error) {
	public := rows
	if r.Relation != privacy.ReplaceOne {
		public = 0
	}
	problem, err := r.problem(public)
	if err != nil {
		return nil, err
	}
	method, why, err := Methods().Choose(r.Method, problem)
	if err != nil {
		return nil, err
	}
	return stateMethod(r, rows, problem, method, why)
}

// stateMethod calibrates the plan of one method.
func stateMethod(r Request, rows int, problem estimate.Problem, method estimate.Estimator, why string) (*Statement, error) {
	plan, err := method.Plan(problem)
	if err != nil {
		return nil, err
	}
	total, err := kernel.Calibrate(plan, r.Relation, r.Budget)
	if err != nil {
		return nil, err
	}
	guess := problem
	guess.Rows = rows
	expect := method.Expect(guess)
	s := &Statement{
		Method: method.Name(), Why: why, Source: method.Source(), Relation: r.Relation.String(),
		Epsilon: r.Budget.Epsilon, Delta: r.Budget.Delta, Columns: problem.Columns, Rows: rows, Facts: factsOf(r),
		Learner: learnerOf(r, method), Mu: total.Mu, ThresholdDelta: total.ThresholdDelta, TestDelta: total.Needs.AddedDelta,
		Expect: Expectation{RowsNeeded: expect.RowsNeeded, RelativeError: expect.RelativeError, Notes: expect.Notes},
		plan:   plan, problem: problem, method: method,
	}
	if total.Needs.Extra.IsZero() {
		s.Rho = privacy.RhoOfMu(total.Mu)
	}
	for _, step := range plan.Steps {
		limit := StepLimit{
			Step: step.Name, Query: step.Query, Share: step.Share, Count: step.Most,
			Mu: total.Mu * math.Sqrt(step.Share/float64(step.Most)), Delta: total.ThresholdDelta*step.Slack + step.Delta,
			Mask: maskOf(step.Mask), Pure: step.Pure, From: step.Source,
		}
		if step.Pure > 0 { // its loss is in the curve, its share a formality
			limit.Share, limit.Mu = 0, 0
		}
		s.Steps = append(s.Steps, limit)
	}
	s.compare(r, guess)
	for _, fact := range estimate.Unused(method, problem) {
		s.Notes = append(s.Notes, fmt.Sprintf("the method %s makes no use of this: %s", s.Method, fact))
	}
	if n := float64(rows); rows > 0 && r.Budget.Delta*n >= 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("delta = %g is not below one over the %d rows: it would allow a whole row to be published; "+
			"ask for a far smaller one", r.Budget.Delta, rows))
	}
	return s, nil
}

// String is the statement as a table for a terminal.
func (s *Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "method    %s (%s); %s\n", s.Method, s.Why, s.Source)
	fmt.Fprintf(&b, "table     %s, %s, %s\n", plural(s.Columns, "column"), s.rows(), s.Relation)
	if s.Facts != nil {
		fmt.Fprintf(&b, "known     %s\n", strings.Join(s.problem.Known(), "; "))
	}
	if l := s.Learner; l != nil {
		fmt.Fprintf(&b, "learner   %s%s\n", l.Name, trimmed(l))
	}
	s.writeBudget(&b)
	wide, wideQuery := len("step"), len("query")
	for _, step := range s.Steps {
		wide, wideQuery = max(wide, len(step.Step)), max(wideQuery, len(step.Query))
	}
	fmt.Fprintf(&b, "\n%-*s  %-*s  %8s  %8s  %9s  %s\n", wide, "step", wideQuery, "query", "share", "count", "mu each", "source")
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "%-*s  %-*s  %7.2f%%  %8d  %9s  %s\n", wide, step.Step, wideQuery, step.Query, 100*step.Share, step.Count, digits(step.Mu), step.From)
	}
	b.WriteString("(the most that each step may do; the total is never exceeded)\n")
	s.writeExpectation(&b)
	s.writeCandidates(&b)
	s.writeMixtureBound(&b)
	for _, note := range s.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

// writeBudget writes what the budget buys: a mu, and where the plan has them the losses beside it.
func (s *Statement) writeBudget(b *strings.Builder) {
	switch {
	case s.Epsilon > 0 && s.Rho == 0:
		fmt.Fprintf(b, "budget    epsilon = %g, delta = %g: Gaussian part mu = %.4g, and beside it, in one Rényi curve,\n",
			s.Epsilon, s.Delta, s.Mu)
		for _, step := range s.Steps {
			if step.Mask != nil {
				fmt.Fprintf(b, "          the mask of step %s: %s\n", step.Step, step.Mask)
			}
			if step.Pure > 0 {
				fmt.Fprintf(b, "          the test of step %s: epsilon = %.4g\n", step.Step, step.Pure)
			}
		}
	case s.Epsilon > 0:
		fmt.Fprintf(b, "budget    epsilon = %g, delta = %g: mu = %.4g, rho = %.4g\n", s.Epsilon, s.Delta, s.Mu, s.Rho)
	default:
		fmt.Fprintf(b, "budget    rho = %.4g: mu = %.4g\n", s.Rho, s.Mu)
	}
	if s.ThresholdDelta > 0 {
		fmt.Fprintf(b, "          of it delta = %.3g for thresholds\n", s.ThresholdDelta)
	}
	if s.TestDelta > 0 {
		fmt.Fprintf(b, "          of it delta = %.3g for the test of whether the blocks agree\n", s.TestDelta)
	}
}

// trimmed says what a learner leaves out, or nothing.
func trimmed(l *release.Learner) string {
	switch {
	case l.Name == release.OwnLearner:
		return ", which is handed raw rows and is the custodian's responsibility"
	case l.Trim > 0:
		return fmt.Sprintf(", which leaves out %g of each block's rows", l.Trim)
	}
	return ""
}

func (s *Statement) rows() string {
	switch {
	case s.Relation != privacy.ReplaceOne.String() && s.Rows > 0:
		return "about " + plural(s.Rows, "row") + " (a guess; the number is private)"
	case s.Relation != privacy.ReplaceOne.String():
		return "a private number of rows"
	}
	return plural(s.Rows, "row")
}

func (s *Statement) writeExpectation(b *strings.Builder) {
	var lines []string
	if s.Expect.RowsNeeded > 0 {
		needed := fmt.Sprintf("about %.0f rows are needed", s.Expect.RowsNeeded)
		if s.problem.Components == 1 && s.Learner == nil {
			needed += " for an error within twice the non-private one"
		}
		lines = append(lines, needed)
	}
	if s.Expect.RelativeError > 0 {
		lines = append(lines, fmt.Sprintf("the error is about %.3g times the non-private one", s.Expect.RelativeError))
	}
	lines = append(lines, s.Expect.Notes...)
	if lines == nil {
		return
	}
	b.WriteString("\nto expect:\n")
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
