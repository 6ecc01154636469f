package gauze

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/categories"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/release/check"
	"github.com/gauze-dp/gauze/source"
)

// A Result is the end of a fit: a release, or the reason why there is none. Either way Spent is
// spent.
//
// Invariant: exactly one of Release and NoRelease is set; [Result.Released] returns either.
type Result struct {
	Release   *release.Release
	NoRelease *estimate.NoRelease
	Spent     release.Spent // at most the budget
	// Certificate says what was requested and what was measured, also if there is no release. It
	// may be published as a release may.
	Certificate release.Certificate
	rows        float64 // of a profile: noisy, or public
}

// A RunError reports a fit that stopped after its session was opened. What it had measured by then
// is spent.
type RunError struct {
	Err   error
	Spent release.Spent
}

// Error returns the text of Err.
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
	if ctx == nil {
		return nil, absent("ctx", "a context", "context.Background() never ends")
	}
	if err := r.fits(table); err != nil {
		return nil, err
	}
	rows, _ := table.Rows()
	q, err := r.check(rows)
	if err != nil {
		return nil, err
	}
	categorical := (&source.Schema{Columns: q.schema().Categorical()}).Names()
	for j, c := range r.schema().Numbers() {
		if a := slices.Index(categorical, c.Name); a >= 0 {
			q.counted, q.places = append(q.counted, j), append(q.places, a)
		}
	}
	return q.fit(ctx, table)
}

// fit plans, reserves, opens a session and runs.
func (q *question) fit(ctx context.Context, table *kernel.Table) (*Result, error) {
	plan, total, err := q.calibrated()
	// after every refusal on public facts, before any measurement
	if err == nil && q.Reserve != nil {
		err = q.Reserve(plan, total)
	}
	if err != nil {
		return nil, err
	}
	session, err := kernel.Open(ctx, table, plan, kernel.Terms{Relation: q.Relation, Budget: q.Budget, Observe: q.Observe, Engine: q.Engine,
		Own: learners.Own(q.Own), Shape: check.Of})
	if err != nil {
		return nil, err
	}
	result, err := q.run(ctx, session)
	if err != nil {
		return nil, &RunError{Err: err, Spent: spentOf(session, false)}
	}
	return result, nil
}

// fits returns an error if the request cannot be one for the table.
func (r Request) fits(table *kernel.Table) error {
	switch {
	case table == nil:
		return absent("table", "a protected table", "take the one that Input.Load returns without an error")
	case table.Columns() != len(r.schema().Numbers()) || table.Categories() != len(r.schema().Categorical()):
		return &privacy.FieldError{Field: "columns", Wanted: fmt.Sprintf("%d names, as many as the table has columns", table.Columns()+table.Categories()),
			Got: fmt.Sprint(len(r.Columns)), Fix: "give one name for each column, and the same kinds as when the table was loaded"}
	case !slices.Equal(table.Texts(), r.found()):
		return &privacy.FieldError{Field: "columns", Wanted: "categories to be found where the table was loaded for that, and nowhere else",
			Got: fmt.Sprint(r.found()), Fix: "ask for the same kinds as when the table was loaded"}
	case r.Relation.Valid() && r.Relation != table.Relation():
		return &privacy.FieldError{Field: "relation", Wanted: table.Relation().String() + ", which the table was loaded for",
			Got: r.Relation.String(), Fix: "ask for that, or load the rows again"}
	}
	return nil
}

// run follows the plan that the session was opened with, and certifies what was measured. A panic
// is returned as an error, since what was spent by then must still be reported. Its message may
// depend on a row, so it is not repeated.
func (q *question) run(ctx context.Context, session *kernel.Session) (result *Result, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as parallel.Run
	defer func() {
		if recover() != nil {
			result, err = nil, fmt.Errorf("method %s: internal error %s", q.method.Name(), lastOf(session))
		}
	}()
	outcome, err := q.measure(ctx, session)
	if err != nil {
		return nil, err
	}
	certificate, err := q.certificate(session)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", q.method.Name(), err)
	}
	_, fitted := q.names(outcome)
	result = &Result{NoRelease: outcome.NoRelease.Named(fitted), Spent: certificate.Spent, Certificate: certificate}
	if outcome.NoRelease == nil {
		if outcome.Profile != nil && outcome.Model == nil {
			result.rows = outcome.Profile.Rows
		}
		result.Release, err = q.release(outcome, certificate)
	}
	return result, err
}

// measure runs the method, with a profile beside it if the fit carries one, and then counts the
// categories in each component found.
func (q *question) measure(ctx context.Context, session *kernel.Session) (outcome estimate.Outcome, err error) {
	run := q.method.Fit
	if q.alone() {
		run = func(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
			return profile.Alone(s, p)
		}
	} else if profile.Carried(q.method.Name(), q.problem) {
		run = func(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
			return profile.Fit(ctx, q.method, s, p)
		}
	}
	if q.counted != nil {
		counted, err := kernel.Counted(session.SubBudget(), q.counted, q.places)
		if err != nil {
			return outcome, err
		}
		session = counted.Session()
	}
	numbers := session
	if q.shares.All > 0 {
		numbers = session.Part(1 - q.shares.All)
	}
	outcome, err = run(ctx, numbers, q.problem)
	if err == nil && outcome.Missing != nil && outcome.Model != nil {
		err = categories.Missing(q.problem, &outcome)
	}
	if err != nil || outcome.NoRelease != nil || q.shares.All == 0 {
		return outcome, err
	}
	return outcome, categories.Measure(session.Part(q.shares.All).SubBudget(), q.problem, q.shares, &outcome)
}

// lastOf describes the last measurement of a session.
func lastOf(s *kernel.Session) string {
	measured := s.Measurements()
	if len(measured) == 0 {
		return "before its first measurement"
	}
	return fmt.Sprintf("after a measurement of its step %q", measured[len(measured)-1].Step)
}

// names returns those of all columns of numbers, and of those that were fitted.
func (q *question) names(outcome estimate.Outcome) (all, fitted []string) {
	all = (&source.Schema{Columns: q.schema().Numbers()}).Names()
	if outcome.Kept == nil {
		return all, all
	}
	for _, j := range outcome.Kept {
		fitted = append(fitted, all[j])
	}
	return all, fitted
}

// release puts the model and its certificate together, and checks both as a reader would.
func (q *question) release(outcome estimate.Outcome, certificate release.Certificate) (*release.Release, error) {
	if outcome.Model == nil && outcome.Profile == nil {
		return nil, fmt.Errorf("method %s ended without a model and without a reason", q.method.Name())
	}
	all, names := q.names(outcome)
	out := &release.Release{Format: release.Format, Identity: q.identity(), Certificate: certificate, Diagnostics: diagnosticsOf(outcome.Diagnostics, names)}
	columns := q.valued(outcome.Found)
	if outcome.Model != nil {
		m := *outcome.Model
		m.Columns = names
		for _, c := range outcome.Diagnostics.Components {
			m.Background = append(m.Background, c.Background)
		}
		for a, c := range (&source.Schema{Columns: columns}).Categorical() {
			m.Categories = append(m.Categories, model.Category{Name: c.Name, Values: c.Values(), Probabilities: outcome.Categories[a]})
			if outcome.CategoryOf != nil && outcome.CategoryOf[a] >= 0 {
				m.Categories[a].Of, m.Categories[a].Given = q.schema().Categorical()[outcome.CategoryOf[a]].Name, outcome.CategoryGiven[a]
			}
		}
		out.Model = &m
	}
	for _, c := range columns {
		out.Columns = append(out.Columns, release.Column(c))
	}
	if outcome.Profile != nil {
		out.Profile = profileOf(outcome.Profile, columns)
	}
	out.Diagnostics.Flags = append(out.Diagnostics.Flags, flags.Named(outcome.Aside, all)...)
	out.Keep()
	out.Diagnostics.Notes = append(out.Diagnostics.Notes, q.notes(q.problem.Rows)...)
	for _, c := range columns {
		if c.Find && len(c.Categories) == 1 {
			out.Diagnostics.Notes = append(out.Diagnostics.Notes, fmt.Sprintf("%q: no text is frequent enough to be shown, so all are counted as %s", c.Name, source.OtherValue))
		}
	}
	ownUnits(out)
	var own estimate.Estimator // an estimator brought by a test, which the catalogue does not know
	if q.method.Name() != profile.Name && !slices.Contains(Methods().Names(), q.method.Name()) {
		own = q.method
	}
	if v := verify(out, own); v.Faults != nil {
		return nil, fmt.Errorf("method %s: its release does not verify: %w", q.method.Name(), errors.Join(v.Faults...))
	}
	return out, nil
}

// valued returns the columns, with the values that were found.
func (q *question) valued(found [][]string) []source.Column {
	columns, a := slices.Clone(q.Columns), 0
	for i, c := range columns {
		if !c.Categorical() {
			continue
		}
		if found != nil && found[a] != nil {
			columns[i].Categories = found[a]
		}
		a++
	}
	return columns
}

// ownUnits converts a release's statements about columns of logarithms, besides the model, into the
// columns' own units, and states the map.
func ownUnits(r *release.Release) {
	if r.Diagnostics.Undescribed != nil {
		for i, c := range r.Diagnostics.Undescribed.Columns {
			column := source.Column(r.Named(c.Column))
			for side, y := range c.Beyond {
				if l := column.Log(); l.Maps() && math.Abs(y) < math.MaxFloat64 {
					r.Diagnostics.Undescribed.Columns[i].Beyond[side] = l.From(y)
				}
			}
		}
	}
	r.Diagnostics.Units = slices.DeleteFunc(r.Diagnostics.Units, func(u release.Unit) bool { return r.Named(u.Column).Kind == release.KindLog })
	for _, public := range r.Columns {
		if column := source.Column(public); column.Kind == source.Logs {
			r.Diagnostics.Notes = append(r.Diagnostics.Notes, fmt.Sprintf("%q is fitted as %v of its values x: components and flags describe these logarithms", column.Name, column.Log()))
		}
	}
}

// spentOf returns the cost of the session's measurements: mu^2 is the sum of theirs, and epsilon is
// at the budget's delta, never above the budget. If the plan has steps whose loss is no mu, such as
// a mask's, rho is 0 and epsilon holds all of theirs, except in a run that ended before it measured
// one.
func spentOf(s *kernel.Session, ended bool) release.Spent {
	loss := s.Loss()
	beside := func(m kernel.Measurement) bool { return m.Mu == 0 || m.Delta > 0 }
	if ended && loss.Delta > 0 && loss.Rho == 0 && !slices.ContainsFunc(s.Measurements(), beside) {
		loss.Epsilon, loss.Rho = min(loss.Epsilon, privacy.EpsilonOfMu(loss.Delta, loss.Mu)), privacy.RhoOfMu(loss.Mu)
	}
	return release.Spent{Epsilon: loss.Epsilon, Delta: loss.Delta, Mu: loss.Mu, Rho: loss.Rho}
}

// certificate returns the certificate: what was requested, and what was measured. It fails for a
// measurement that a certificate cannot describe.
func (q *question) certificate(s *kernel.Session) (release.Certificate, error) {
	c := release.Certificate{
		Relation: q.Relation.String(),
		Epsilon:  q.Budget.Epsilon, Delta: q.Budget.Delta, Rho: q.Budget.Rho,
		Spent: spentOf(s, true),
		Unit:  q.unit, Schema: release.SchemaDeclared, Facts: q.facts(), Method: q.method.Name(), Learner: q.learner(s.OwnLearnerRan()), Requested: q.certified(),
		Simulated: s.Simulated(), Version: Version,
	}
	switch {
	case q.Printed:
		c.Constants = release.ConstantsPrinted
	case q.Tournament:
		c.Constants = release.ConstantsTournament
	}
	if q.SchemaInferred {
		c.Schema = release.SchemaInferred
	}
	if n, public := s.Rows(); public {
		c.Rows = &n
	}
	for _, m := range s.Measurements() {
		c.Plan = append(c.Plan, stepOf(m))
	}
	return c, c.Complete()
}

// stepOf returns a measurement as a line of the certificate. A measurement that costs a Rényi curve
// and no mu states the numbers that determine the curve.
func stepOf(m kernel.Measurement) release.PlanStep {
	step := release.PlanStep{Step: m.Step, Query: m.Query, Count: m.Count, Delta: m.Delta, Source: m.Source}
	switch {
	case m.Mask != nil:
		step.Mask = maskOf(m.Mask)
	case m.Mu == 0:
		step.Pure = privacy.DivUp(m.Sensitivity, m.Noise)
	default:
		step.Law, step.Sensitivity, step.Noise, step.Mu = m.Law, m.Sensitivity, m.Noise, m.Mu
		if shape, known := m.Shape.(check.Shape); known {
			if step.Shape = &shape; m.Law == "" {
				shape.Numbers = 0
			}
		}
	}
	return step
}

// maskOf returns a mask's public numbers, as plans and certificates state them; nil for no mask.
func maskOf(m any) *release.Mask {
	switch m := m.(type) {
	case privacy.CovarianceMask:
		return &release.Mask{Kind: release.MaskLifted, Dimension: m.Dimension, Gamma: m.Gamma, Eta: m.Eta}
	case privacy.ParameterMask:
		return &release.Mask{Kind: release.MaskParameters, Components: m.Components, Dimension: m.Dimension, Gamma: m.Gamma,
			EtaWeight: m.EtaWeight, EtaMean: m.EtaMean, EtaCov: m.EtaCov}
	}
	return nil
}

// learner returns the learner that the method runs on blocks of rows; nil if it runs none, or none
// that could be chosen. A user's own learner is reported whenever the kernel has run it, whatever
// was requested.
func (q *question) learner(ranOwn bool) *release.Learner {
	name := estimate.LearnerOf(q.method, q.problem)
	if ranOwn {
		name = release.OwnLearner
	}
	if name == "" {
		return nil
	}
	return &release.Learner{Name: name, Trim: q.Trim}
}

// facts returns the certificate's public facts; nil if nothing is known.
func (q *question) facts() *release.Facts {
	f := q.Facts
	if f == (estimate.Facts{}) && q.KnownCovariance == nil {
		return nil
	}
	out := &release.Facts{Moments: f.Moments, MomentBound: f.MomentBound, LeastWeight: f.LeastWeight, KnownCovariance: cloned(q.KnownCovariance)}
	if f.KnowsMean {
		out.MeanWithin = &f.MeanWithin
	}
	if f.KnowsEigenvalues() {
		out.EigenvaluesWithin = f.Eigenvalues[:]
	}
	return out
}

// diagnosticsOf returns the diagnostics with columns named, which an estimator knows by number.
func diagnosticsOf(d estimate.Diagnostics, columns []string) release.Diagnostics {
	out := release.Diagnostics{Flags: flags.Named(d.Flags, columns)}
	for _, c := range d.Components {
		note := release.ComponentNote{EffectiveNoise: c.EffectiveNoise, Misfit: c.Misfit, EffectiveRows: c.EffectiveRows, CategoryNoise: c.CategoryNoise,
			MissingNoise: c.MissingNoise, Flags: flags.Named(c.Flags, columns)}
		for j, share := range c.Missing {
			if note.Missing == nil {
				note.Missing = map[string]float64{}
			}
			note.Missing[columns[j]] = share
		}
		out.Components = append(out.Components, note)
	}
	for _, u := range d.Unresolved {
		out.Unresolved = append(out.Unresolved, release.Direction{Direction: u.Direction, StdAtMost: u.StdAtMost})
	}
	for _, j := range d.ConstantColumns {
		out.ConstantColumns = append(out.ConstantColumns, columns[j])
	}
	for _, u := range d.Units {
		out.Units = append(out.Units, release.Unit{Column: columns[u.Column], Unit: u.Unit, Offset: u.Offset})
	}
	out.Undescribed = undescribedOf(d.Undescribed, columns)
	if n := d.Number; n != nil {
		out.Number = &release.Number{Found: n.Found, Confidence: n.Confidence, Or: n.Or}
	}
	if c := d.Core; c != nil {
		out.Core = &release.Core{Share: c.Share, Mean: c.Gaussian.Mean, Covariance: matrixOf(c.Gaussian.Cov.Dense())}
	}
	return out
}

// undescribedOf returns what a model leaves out, with columns named.
func undescribedOf(u *estimate.Undescribed, columns []string) *release.Undescribed {
	if u == nil {
		return nil
	}
	out := &release.Undescribed{Share: u.Share, Noise: u.Noise, Where: u.Where}
	for _, c := range u.Columns {
		named := release.UndescribedColumn{Column: columns[c.Column], Share: c.Share, Noise: c.Noise, Pull: c.Pull}
		if c.Beyond[0] < c.Beyond[1] {
			named.Beyond = c.Beyond[:]
		}
		out.Columns = append(out.Columns, named)
	}
	return out
}

// matrixOf returns the rows of a matrix.
func matrixOf(m mat.Matrix) (rows [][]float64) {
	n, _ := m.Dims()
	for i := range n {
		rows = append(rows, mat.Row(nil, i, m))
	}
	return rows
}
