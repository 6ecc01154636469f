package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Terms hold the promise of a session and how it runs.
type Terms struct {
	Relation privacy.Relation // Required: the table's.
	Budget   privacy.Budget   // Required.
	Engine   engine.Engine    // nil means the local engine on all cores
	// Observe, if set, is called after every measurement with its step and the part of the budget
	// spent so far: released facts only.
	Observe func(step string, spent float64)
	// Shape, if set, returns for the certificate what the sensitivity of a query, which is public
	// or released, depends on: a comparable value. group is how many rows of the session's table
	// one row of the protected table can replace.
	Shape func(query any, group int) any
	// Own, if set, returns the custodian's own learner, for a number of estimates per block. It may
	// be of any type, and blocks that ask for it (Blocks.OfTerms) call it with raw rows.
	// blocks.Secret states what its author answers for. No estimator can bring another.
	Own func(estimates int) Learner
}

// A Session is the only way to learn anything about a protected table. It makes the measurements of
// a plan, calibrated before the first row is read, so that all of them together are exactly as
// private as the terms say. Several goroutines may use it; measurements run one after another, so
// that no two can share a draw.
//
// Invariant: the sum of mu^2 over all measurements, or under a pure budget that of their epsilons,
// never exceeds the calibrated total (privacy.Filter), and every measurement belongs to a step of
// the plan.
type Session struct {
	engine.Protected
	ctx    context.Context
	table  *Table
	plan   Plan
	terms  Terms
	total  privacy.Calibration
	filter *privacy.Filter
	// random is a closure for the same reason as Table.rows: entropy not yet used must stay secret.
	random func() (noise.Source, *noise.Gaussian)
	hook   *TestHook
	root   *SubBudget
	// pooled says that table holds block estimates; group is how many of its rows one row of the
	// protected table can replace (else 1).
	pooled bool
	group  float64
	part   float64 // the fraction of the whole mu that Mu returns: 1, except after Part
	*book
}

// A book is the state that a session shares with those derived from it.
type book struct {
	// held while a measurement is charged, made and recorded; guards the fields below and every
	// SubBudget.left
	mu   sync.Mutex
	used map[string]*usage
	log  []Measurement
	// ranOwn says that Terms.Own received rows
	ranOwn bool
}

type usage struct {
	step  Step
	spent amount // rounded up
	count int
}

// Open calibrates the plan and opens a session. It reads no row. It copies its arguments before it
// checks them, so that no other code can change them in between.
func Open(ctx context.Context, t *Table, plan Plan, terms Terms) (*Session, error) {
	if t == nil || t.rows == nil {
		return nil, errors.New("kernel: Open: want a table that a Builder has protected, got none")
	}
	own := *t
	plan, err := plan.own()
	if err != nil {
		return nil, err
	}
	total, err := Calibrate(plan, terms.Relation, terms.Budget)
	if err != nil {
		return nil, err
	}
	if terms.Relation != own.relation {
		return nil, fmt.Errorf("kernel: Terms.Relation: want %v, under which the table was protected, got %v", own.relation, terms.Relation)
	}
	if terms.Engine == nil {
		terms.Engine = engine.Local{}
	}
	if terms.Engine, err = trusted(terms.Engine); err != nil {
		return nil, err
	}
	// Measurements do not consult the caller's own context: it could count the rows by the number
	// of calls, or be done in the middle and not at the end. This one, once done, stays done, and
	// is released with the session.
	ctx, cancel := context.WithCancel(ctx)
	s := &Session{ctx: ctx, table: &own, plan: plan, terms: terms, total: total, hook: own.hook, group: 1, part: 1, book: &book{used: map[string]*usage{}}}
	runtime.AddCleanup(s.book, func(cancel context.CancelFunc) { cancel() }, cancel)
	s.filter = privacy.NewFilter(total)
	source := noise.Source(noise.NewEntropy())
	if own.hook != nil && own.hook.Source != nil {
		source = own.hook.Source
	}
	draw := noise.NewGaussian(source)
	s.random = func() (noise.Source, *noise.Gaussian) { return source, draw }
	for _, step := range plan.Steps {
		s.used[step.Name] = &usage{step: step}
	}
	s.root = &SubBudget{s: s, pot: &pot{s.left()}}
	return s, nil
}

// trusted returns a copy of an engine that is a struct of numbers defined below kernel, and an
// error for any other, since engines read raw rows. (The types in its methods cannot be named
// elsewhere, but a generic type can be made to fit them.)
func trusted(e engine.Engine) (engine.Engine, error) {
	folder := strings.TrimSuffix(reflect.TypeFor[engine.Local]().PkgPath(), "/internal/engine")
	return query.CopyOf(e, folder, func(any, bool) error {
		return fmt.Errorf("kernel: Terms.Engine: want an engine of a package below %s, by value, got a %T; nil means the local engine", folder, e)
	})
}

// Calibrate returns the total mu and the stability slack that the budget buys for the plan, without
// a table.
func Calibrate(plan Plan, r privacy.Relation, b privacy.Budget) (privacy.Calibration, error) {
	if !r.Valid() {
		return privacy.Calibration{}, fmt.Errorf("kernel: relation: want replace-one or add-remove-one, got %v", r)
	}
	plan, err := plan.own()
	if err != nil {
		return privacy.Calibration{}, err
	}
	if err := plan.Validate(); err != nil {
		return privacy.Calibration{}, err
	}
	return privacy.Calibrate(b, plan.needs(b.Epsilon))
}

// Relation returns the neighbouring relation of the session.
func (s *Session) Relation() privacy.Relation { return s.terms.Relation }

// Columns returns d, the number of the table's columns of numbers.
func (s *Session) Columns() int { return s.table.Columns() }

// Categories returns c, the number of the table's columns of categories.
func (s *Session) Categories() int { return s.table.Categories() }

// Texts returns the numbers of the columns of categories that have texts in place of codes, until
// Recode gives them some.
func (s *Session) Texts() []int { return s.table.Texts() }

// Rows returns n and true under replace-one, where n is public; under add-or-remove-one n is
// private and Rows returns false.
func (s *Session) Rows() (int, bool) { return s.table.Rows() }

// Mu returns the total that the budget buys: all measurements together are Mu-GDP (with thresholds,
// up to their slack). It is 0 under a pure budget, whose total is SubBudget.Left.
func (s *Session) Mu() float64 { return privacy.MulDown(s.total.Mu, s.part) }

// Part returns the session for a program that may spend only a part, in mu^2, of the whole budget.
// Mu and SubBudget are those of the part, which is taken from what is left. Plan, filter and
// everything else are shared.
func (s *Session) Part(part float64) *Session {
	own := s.root.Take(part * s.cap().number())
	derived := *s
	derived.part = math.Min(1, privacy.SqrtDown(math.Max(0, part)))
	derived.root = &SubBudget{s: &derived, pot: own.pot}
	return &derived
}

// SubBudget returns the whole budget of the session, to spend or to share out.
func (s *Session) SubBudget() *SubBudget { return s.root }

// Plan returns the plan with which the session was opened.
func (s *Session) Plan() Plan {
	p := s.plan
	p.Steps = slices.Clone(p.Steps)
	return p
}

// Measurements returns what has been measured so far.
func (s *Session) Measurements() []Measurement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Loss returns what has been spent so far, in every unit that is reported; at most what the terms
// allow.
func (s *Session) Loss() privacy.Loss { return s.total.Loss(s.filter.Spent()) }

// OwnLearnerRan reports whether the learner of the terms received rows, here or in a session
// derived from the same one.
func (s *Session) OwnLearnerRan() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranOwn
}

// Simulated reports whether a test controls the session's noise.
func (s *Session) Simulated() bool { return s.hook != nil }
