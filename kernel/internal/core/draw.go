package core

import (
	"cmp"
	"context"
	"math/big"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Draw gives a Mechanism's Release, or the function that Secretly runs, access to rows and noise
// together. It must not outlive the call.
type Draw struct {
	s     *Session
	m     Mechanism
	Step  Step    // of the plan
	Delta float64 // the part of the stability delta that a Threshold was charged
}

// draw returns a Draw of the session, with fresh randomness: see noise.Gaussian.Forget.
func (s *Session) draw(d Draw) *Draw {
	d.s = s
	_, random := s.random()
	random.Forget()
	return &d
}

// Rows returns the protected table.
func (d *Draw) Rows() *engine.Table { return d.s.table.rows() }

// Engine returns the engine that reads the table.
func (d *Draw) Engine() engine.Engine { return engine.Until(d.s.ctx, d.s.terms.Engine) }

// Relation returns the table's neighbouring relation.
func (d *Draw) Relation() privacy.Relation { return d.s.terms.Relation }

// Epsilon returns the budget's epsilon.
func (d *Draw) Epsilon() float64 { return d.s.total.Budget.Epsilon }

// LogSlack returns ln of the slack that Delta buys.
func (d *Draw) LogSlack() float64 { return privacy.LogSlackOf(d.Epsilon(), d.Delta) }

// Filled returns an error unless t, made of the rows one after another, holds all of them, each
// once: the context has ended, or the disk is full. t must then be discarded.
func (d *Draw) Filled(t *engine.Table) error { return cmp.Or(d.s.ctx.Err(), t.Err()) }

// Context returns a context that ends when the fit is abandoned.
func (d *Draw) Context() context.Context { return d.s.ctx }

// Source returns the session's source of randomness.
func (d *Draw) Source() noise.Source {
	source, _ := d.s.random()
	return source
}

// Gaussian draws round(sigma X); a test's hook may change sigma.
func (d *Draw) Gaussian(sigma float64) int64 {
	factor := d.Factor()
	if factor == 0 {
		return 0
	}
	_, draw := d.s.random()
	return draw.Round(factor * sigma)
}

// Normal draws X to 512 binary places; a test's hook may change its sd.
func (d *Draw) Normal() *big.Float {
	_, draw := d.s.random()
	z := draw.Normal()
	return z.Mul(z, big.NewFloat(d.Factor()))
}

// Factor returns the number by which all noise is multiplied: 1, unless a test's hook sets it. 0
// means no noise.
func (d *Draw) Factor() float64 {
	if d.s.hook == nil {
		return 1
	}
	return d.s.hook.NoiseFactor
}

// Record writes a line of the certificate and returns the values to release: the given ones, or
// recorded ones in a test that replays. exact holds the sums before noise, for tests. Record fills
// in what the plan says of the line.
func (d *Draw) Record(line Measurement, values []float64, exact []int64) []float64 {
	values = d.s.watch(d.m.Step, d.m.Query, line.Mu, values, exact)
	line.Step, line.Query, line.Source = d.m.Step, d.m.Query.Kind(), d.Step.Source
	if of := d.s.terms.Shape; of != nil {
		line.Shape = of(d.m.Query, int(d.s.group))
	}
	d.s.record(line)
	return values
}

// Checked returns the session's own copy of a query, valid for its table.
func Checked[Q interface{ Validate(d int) error }](a *SubBudget, q Q) (own Q, err error) {
	if own, err = query.Own(q); err != nil {
		return own, err
	}
	return own, own.Validate(a.s.Columns())
}

// Group returns how many rows of the session's table one row of the protected table can replace: 1,
// or the number of estimates per block.
func Group(a *SubBudget) float64 { return a.s.group }

// Grouped returns the sensitivity for one replaced row of the protected table, rounded up.
func Grouped(a *SubBudget, sensitivity float64) float64 {
	if a.s.group == 1 {
		return sensitivity
	}
	return privacy.MulUp(a.s.group, sensitivity)
}

// ThresholdDelta returns the delta that is set aside for all thresholds of the plan.
func ThresholdDelta(a *SubBudget) float64 { return a.s.total.ThresholdDelta }
