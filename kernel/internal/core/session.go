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

// Terms are what a session promises and how it runs.
type Terms struct {
	Relation privacy.Relation // Required: the table's.
	Budget   privacy.Budget   // Required.
	Engine   engine.Engine    // nil means the local engine on all cores
	// Observe, if set, is told after every measurement its step and the part of the budget spent so
	// far: released facts only.
	Observe func(step string, spent float64)
	// Shape, if set, says of a query, which is public or released, what its sensitivity depends on,
	// for the certificate: a value that can be compared. group is how many rows of the table that
	// is asked one row of the protected table can replace.
	Shape func(query any, group int) any
	// Own, if set, is a learner of the custodian's own, for a number of estimates per block: of any
	// type, and handed raw rows by the blocks that ask for it (Blocks.OfTerms). See
	// blocks.Secret for what its author answers for. No estimator can bring another.
	Own func(estimates int) Learner
}

// A Session is the only way to learn anything about a protected table: measurements of a plan,
// calibrated before the first row is read, so that all of them together are exactly as private as
// the terms say. It may be used by several goroutines; measurements run one after another, so that
// no two can share a draw.
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
	// random is a closure for the reason of Table.rows: entropy not yet used must stay unknown.
	random func() (noise.Source, *noise.Gaussian)
	hook   *Hook
	root   *SubBudget
	// pooled says that table holds block estimates, and group how many of its rows one row of the
	// protected table can replace (else 1).
	pooled bool
	group  float64
	part   float64 // of mu that is Mu: 1, but for Part
	*book
}

// A book is what a session shares with those derived from it.
type book struct {
	// held while a measurement is charged, made and recorded; guards what follows and every
	// SubBudget.left
	mu   sync.Mutex
	used map[string]*usage
	log  []Measurement
	// ranOwn says that Terms.Own was handed rows
	ranOwn bool
}

type usage struct {
	step  Step
	spent amount // rounded up
	count int
}

// Open calibrates the plan and opens a session. It reads no row. It copies first what it checks, so
// that nobody can change it in between.
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
	// Nobody's own context is asked while something is measured: it could count the rows by how
	// often, or be done in the middle and not at the end. This one is done for good, and let go of
	// with the session.
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

// trusted returns a copy of an engine that is a struct of numbers defined below kernel, and refuses
// others: an engine is handed raw rows. (The types in its methods cannot be named elsewhere, but a
// generic type can be made to fit them.)
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

// Relation is the neighbouring relation of the session.
func (s *Session) Relation() privacy.Relation { return s.terms.Relation }

// Columns is d.
func (s *Session) Columns() int { return s.table.Columns() }

// Categories is c, the number of the table's columns of categories.
func (s *Session) Categories() int { return s.table.Categories() }

// Rows is n under replace-one, where it is public; under add-or-remove-one it is private and Rows
// reports false.
func (s *Session) Rows() (int, bool) { return s.table.Rows() }

// Mu is the total that the budget buys: all measurements together are Mu-GDP (and, with thresholds,
// within the slack of it). 0 under a pure budget, whose total is SubBudget.Left.
func (s *Session) Mu() float64 { return privacy.MulDown(s.total.Mu, s.part) }

// Part returns the session as a program sees it that may spend a part of the whole budget, in mu^2:
// Mu and SubBudget are of that part, which is taken from what is left. Plan, filter and all else
// are shared.
func (s *Session) Part(part float64) *Session {
	own := s.root.Take(part * s.cap().number())
	derived := *s
	derived.part = math.Min(1, privacy.SqrtDown(math.Max(0, part)))
	derived.root = &SubBudget{s: &derived, pot: own.pot}
	return &derived
}

// SubBudget is the whole budget of the session, to spend or to share out.
func (s *Session) SubBudget() *SubBudget { return s.root }

// Plan is the plan the session was opened with.
func (s *Session) Plan() Plan {
	p := s.plan
	p.Steps = slices.Clone(p.Steps)
	return p
}

// Measurements lists what has been measured so far.
func (s *Session) Measurements() []Measurement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Loss is what has been spent so far, in every unit that is reported; at most what the terms allow.
func (s *Session) Loss() privacy.Loss { return s.total.Loss(s.filter.Spent()) }

// OwnLearnerRan reports that the learner of the terms was handed rows, here or in a session derived
// from the same.
func (s *Session) OwnLearnerRan() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranOwn
}

// Simulated reports a session whose noise a test controls.
func (s *Session) Simulated() bool { return s.hook != nil }
