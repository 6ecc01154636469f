package gauze

import (
	"context"
	"errors"
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A Result is what a fit ends in: a release, or the reason why there is none. Either way Spent is
// spent.
//
// Invariant: exactly one of Release and NoRelease is set.
type Result struct {
	Release   *release.Release
	NoRelease *estimate.NoRelease
	Spent     release.Spent // at most the budget
	// Certificate says what was asked and what was measured, without a release too. It may be
	// published as a release may.
	Certificate release.Certificate
}

// A RunError is a fit that stopped after its session was opened. What it had measured by then is
// spent.
type RunError struct {
	Err   error
	Spent release.Spent
}

// Error is that of Err.
func (e *RunError) Error() string { return "gauze: " + e.Err.Error() }

// Unwrap returns Err.
func (e *RunError) Unwrap() error { return e.Err }

// Fit learns a model of the table's rows within the request's budget.
//
// Order: the plan is stated and calibrated from public facts, then a session is opened, then rows
// are measured; nothing is measured outside the plan.
//
// Failures: before anything is spent, those of [Plan]; after that a *[RunError], which wraps ctx's
// error if the fit was interrupted.
func Fit(ctx context.Context, table *kernel.Table, r Request) (*Result, error) {
	if table.Columns() != len(r.Columns) {
		return nil, &privacy.FieldError{Field: "columns", Wanted: fmt.Sprintf("%d names, as many as the table has columns", table.Columns()),
			Got: fmt.Sprint(len(r.Columns)), Mend: "give one name for each column"}
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if table.Relation() != r.Relation {
		return nil, &privacy.FieldError{Field: "relation", Wanted: table.Relation().String() + ", which the table was loaded for",
			Got: r.Relation.String(), Mend: "ask for that, or load the rows again"}
	}
	rows, _ := table.Rows()
	statement, err := state(r, rows)
	if err != nil {
		return nil, err
	}
	return run(ctx, table, r, statement)
}

// run follows a stated plan: reserve, open, measure, certify.
func run(ctx context.Context, table *kernel.Table, r Request, s *Statement) (*Result, error) {
	// A ledger reserves the budget here: after everything that can be refused on public facts,
	// before any measurement.
	session, err := kernel.Open(ctx, table, s.plan, kernel.Terms{Relation: r.Relation, Budget: r.Budget, Observe: r.Observe,
		Own: learners.Own(r.Own)})
	if err != nil {
		return nil, err
	}
	outcome, err := follow(ctx, session, s)
	spent := spentOf(session)
	if err != nil {
		return nil, &RunError{Err: err, Spent: spent}
	}
	certificate, err := certificateOf(r, s.method, session)
	if err != nil {
		return nil, &RunError{Err: fmt.Errorf("method %s: %w", s.Method, err), Spent: spent}
	}
	if outcome.NoRelease != nil {
		return &Result{NoRelease: outcome.NoRelease, Spent: spent, Certificate: certificate}, nil
	}
	out, err := certified(r, s, certificate, outcome)
	if err != nil {
		return nil, &RunError{Err: err, Spent: spent}
	}
	return &Result{Release: out, Spent: spent, Certificate: certificate}, nil
}

// follow runs the method. A fault of the method is an error here: what it has spent by then must be
// told all the same.
func follow(ctx context.Context, session *kernel.Session, s *Statement) (out estimate.Outcome, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("method %s: internal error: %v", s.Method, fault)
		}
	}()
	return s.method.Fit(ctx, session, s.problem)
}

// certified puts the model and its certificate together, and checks both as a reader would.
func certified(r Request, s *Statement, certificate release.Certificate, outcome estimate.Outcome) (*release.Release, error) {
	if outcome.Model == nil {
		return nil, fmt.Errorf("method %s ended without a model and without a reason", s.Method)
	}
	m := *outcome.Model
	m.Columns = append([]string(nil), r.Columns...)
	out := &release.Release{
		Format: release.Format, Model: &m,
		Certificate: certificate,
		Diagnostics: diagnosticsOf(outcome.Diagnostics, r.Columns),
	}
	out.Diagnostics.Notes = append(out.Diagnostics.Notes, s.Notes...)
	if faults := release.Verify(out); faults != nil {
		return nil, fmt.Errorf("method %s: its release does not verify: %w", s.Method, errors.Join(faults...))
	}
	return out, nil
}
