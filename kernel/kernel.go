package kernel

import (
	"context"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// The part of the core that estimators see.
type (
	Table       = core.Table
	Builder     = core.Builder
	Plan        = core.Plan
	Step        = core.Step
	Extra       = core.Extra
	Terms       = core.Terms
	Session     = core.Session
	SubBudget   = core.SubBudget
	Answer      = core.Answer
	Measurement = core.Measurement
	Learner     = core.Learner
	Room        = core.Room
)

// The engines that read the rows: on the cores of this machine or, in [kernel/sharded], by workers.
type (
	Engine      = engine.Engine
	LocalEngine = engine.Local
)

// ErrExhausted is wrapped by the error of a measurement that the sub-budget cannot pay. Nothing is
// spent.
var ErrExhausted = core.ErrExhausted

// NewBuilder starts a table of d >= 1 columns. The number of columns is public: it comes from the
// schema.
func NewBuilder(d int) *Builder { return core.NewBuilder(d) }

// NewBuilderIn starts a table of d >= 1 columns whose rows are stored in a room, or in memory for
// nil.
func NewBuilderIn(d int, room Room) *Builder { return core.NewBuilderIn(d, room) }

// NewMixedBuilder starts a table of d columns of numbers and c columns of categories, stored as by
// NewBuilderIn.
func NewMixedBuilder(d, c int, room Room) *Builder { return core.NewMixedBuilder(d, c, room) }

// Open calibrates the plan and opens a session. It reads no row.
func Open(ctx context.Context, t *Table, plan Plan, terms Terms) (*Session, error) {
	return core.Open(ctx, t, plan, terms)
}

// Calibrate returns the total mu and the stability slack that the budget buys for the plan, without
// a table.
func Calibrate(plan Plan, r privacy.Relation, b privacy.Budget) (privacy.Calibration, error) {
	return core.Calibrate(plan, r, b)
}

// OfBlocks returns the kind, in plans, of a query of a table of block estimates.
func OfBlocks(kind string) string { return core.OfBlocks(kind) }
