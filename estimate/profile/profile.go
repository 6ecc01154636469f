// Package profile describes every column by itself, as the first table of a paper does: how many
// cells are there, quantiles, mean and standard deviation, each with its noise, the unit in which
// values seem to be recorded and the values that many rows share.
//
// Every measurement asks all columns at once, of the cells that there are, and nothing is assumed
// of the values: cells are counted first, octaves say where values lie, one histogram in units of
// that has the quantiles, closer ones resolve columns whose rows share few of its bins, one has
// bins of its own for the numbers that people write down, and clipped sums have the rest of the
// budget. A column with too few cells for the further measurements is held out by name after the
// first one, and the others need not pay for it.
//
// All of it is a Gaussian measurement of the session's filter, or a function of released values.
package profile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Name is the method's name in certificates.
const Name = "profile"

// The steps of the plan.
const (
	stepCells   = "cells"
	stepOctaves = "octaves"
	stepBins    = "bins"
	stepValues  = "values"
	stepRest    = "rest"
)

// A price is the part of mu^2 that a step may cost: so much that the cells of the column with the
// fewest are clear times the noise of a count, between least and most.
type price struct{ clear, least, most float64 }

// terms are the prices of a profile's steps, and what a column needs.
type terms struct {
	cells, octaves, bins, closer, values price
	// A column is held out if its cells are fewer than heldOut times the noise of octaves at their
	// highest price, and flagged below weak times.
	heldOut, weak float64
	// Beyond the numbers of float32, a bin of octaves has this many of them. More bins take time,
	// and fewer of them say less of where values lie.
	farOctaves int
}

// byItself holds the terms of a profile that has a budget to itself. Utility constants, guesses,
// tried on made-up columns and a dozen public tables.
var byItself = terms{
	cells: price{250, .005, .15}, octaves: price{500, .005, .20}, bins: price{1500, .02, .30}, closer: price{200, .002, .05}, values: price{400, .005, .08},
	heldOut: 40, weak: 80, farOctaves: 1,
}

const (
	// mostCloser histograms look closer at columns that the first does not resolve.
	mostCloser = 7
	quietSDs   = 3.0 // noise sds of rows that may be anywhere unseen
)

// Estimator measures a profile of every column.
type Estimator struct{ estimate.Named }

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe(Name, "KSSU19 Section A.4", "table one: what every column says by itself")}
}

// Plan states the most that a profile may measure.
func (Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	const source = "KSSU19 Section A.4"
	histogram := query.Cells.Of(query.Histogram)
	steps := []kernel.Step{
		{Name: stepCells, Query: query.Presence.Of(query.Histogram), Share: 1, Most: 2, Source: source},
		{Name: stepOctaves, Query: histogram, Share: byItself.octaves.most, Most: 1, Source: source},
		{Name: stepBins, Query: histogram, Share: byItself.bins.most + mostCloser*byItself.closer.most, Most: 1 + mostCloser, Source: source},
		{Name: stepValues, Query: histogram, Share: 2 * byItself.values.most, Most: 2, Source: source},
	}
	for _, step := range columns.MomentsSteps("", 1, 1) {
		step.Query = query.Filled.Of(step.Query)
		steps = append(steps, step)
	}
	return kernel.Plan{Method: Name, Steps: steps}, nil
}

// Expect says from how many rows on no column without missing cells is held out.
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	e := estimate.Expectation{RowsNeeded: byItself.need(p.Relation, p.Columns, p.Mu, byItself.heldOut),
		Notes: []string{"a column with fewer cells is held out, and only the number of its cells is released; from twice as many on it has no flag"}}
	if few := limitRows(p); len(limited(p)) == p.Columns && few < e.RowsNeeded {
		e.Notes = append(e.Notes, fmt.Sprintf("from about %.0f rows on there are quantiles; with fewer, means and standard deviations within the declared limits", e.RowsNeeded))
		e.RowsNeeded = few
	}
	return e
}

// Refused returns a *estimate.Refusal where the public number of rows says that every column of
// numbers would be held out, and there are no others: the budget would buy the numbers of cells.
// Declared limits let means and standard deviations be measured with fewer.
func Refused(p estimate.Problem) error {
	least := byItself.need(p.Relation, 1, p.Mu, byItself.heldOut)
	if p.Rows == 0 || float64(p.Rows) >= min(least, limitRows(p)) || len(p.Categories) > 0 {
		return nil
	}
	whole := byItself.need(p.Relation, p.Columns, p.Mu, byItself.heldOut)
	advice := fmt.Sprintf("needs about %.0f rows for one column at this epsilon, and %.0f for all", math.Ceil(least/10)*10, math.Ceil(whole/10)*10)
	p.Limits = slices.Repeat([][2]float64{{0, 1}}, p.Columns)
	if few := limitRows(p); float64(p.Rows) >= few {
		advice += "; or declare what values the columns can have, at_least and at_most in a schema: within these limits means and standard deviations can be had"
	}
	return program.Refusal(advice, "%d rows are too few: every column would be held out", p.Rows)
}

// need returns the number of cells that is clear times the noise of octaves of d columns at their
// highest price.
func (t terms) need(r privacy.Relation, d int, mu, clear float64) float64 {
	return clear * lists(r, d) / (mu * math.Sqrt(t.octaves.most))
}

// lists returns the L2 sensitivity of histograms of d columns.
func lists(r privacy.Relation, d int) float64 { return program.Factor(r) * math.Sqrt(float64(d)) }

// A fit is one run.
type fit struct {
	*kernel.SubBudget
	terms
	prefix  string // of its steps
	problem estimate.Problem
	mu2     float64
	rows    float64 // public, or released
	columns []*column
	live    []*column
	price   float64 // cells of the live column with the fewest
}

// A column is what has been released of one.
type column struct {
	index    int
	cells    float64 // noisy number of them
	cellsSD  float64
	clear    float64 // cells over the noise of octaves
	reason   string  // it is held out
	zero     float64 // rows that are 0, by octaves; 0 if that is not clear
	seen     []bin   // octaves that hold rows, of numbers that are not 0
	fine     [2]float64
	bins     bins
	counted  []bin // the settled histogram as counted, before counts are made consistent
	grid     fit1d.Grid
	declared bool
	limits   *[2]float64 // nothing but mean and sd was measured, within these
	atoms    []atom
	moments
	flags []string
}

// An atom is one value that many rows have.
type atom struct{ value, rows, sd float64 }

// Fit follows the plan.
func (Estimator) Fit(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := begun(s.SubBudget(), p, byItself, s.Mu()*s.Mu())
	if err := f.measure(); err != nil {
		return estimate.Outcome{}, err
	}
	return estimate.Outcome{Profile: f.profile()}, nil
}

// begun returns a run with a budget, before its first measurement.
func begun(a *kernel.SubBudget, p estimate.Problem, t terms, mu2 float64) *fit {
	f := &fit{SubBudget: a, terms: t, problem: p, mu2: mu2, rows: float64(p.Rows)}
	for j := range p.Columns {
		c := &column{index: j}
		if p.RoundedTo != nil && p.RoundedTo[j] > 0 {
			c.grid.Unit, c.declared = p.RoundedTo[j], true
		}
		f.columns = append(f.columns, c)
	}
	return f
}

// measure asks step after step, each of the columns that are left.
func (f *fit) measure() error {
	if err := f.countCells(f.terms.cells.of(f, float64(len(f.columns)))); err != nil {
		return err
	}
	f.choose()
	if of := f.payable(); len(of) > len(f.live) {
		return f.withinLimits(of)
	}
	if err := f.look(); err != nil {
		return err
	}
	if len(f.live) > 0 {
		if done, err := f.sums(); done || err != nil {
			return err
		}
	}
	return f.countCells(f.Left()) // nothing else is left to ask
}

// look measures where the values of the columns with enough cells are.
func (f *fit) look() error {
	if len(f.live) > 0 {
		if err := f.findOctaves(); err != nil {
			return err
		}
	}
	if len(f.live) == 0 {
		return nil
	}
	for _, do := range []func() error{f.firstBins, f.findValues, f.lookCloser} {
		if err := do(); err != nil {
			return err
		}
	}
	for _, c := range f.live {
		c.settle()
	}
	return nil
}

// of returns the part of mu^2 for a measurement of this many columns.
func (p price) of(f *fit, columns float64) float64 {
	cells := f.price
	if cells == 0 {
		cells = cmp.Or(float64(f.problem.Rows), 1)
	}
	noise := program.Factor(f.problem.Relation) * math.Sqrt(columns) * p.clear / cells
	part := math.Max(p.least, math.Min(noise*noise/f.mu2, p.most))
	return math.Min(part*f.mu2, .5*f.Left())
}

// countCells releases how many rows have each column, with what costs so much, and joins it with
// what is known.
//
// The cells that are there and those that are missing add up to the same number of rows in every
// column, which is why both are asked: their mean over columns is that number, and half of what a
// column differs from it is noise.
func (f *fit) countCells(mu2 float64) error {
	d := len(f.columns)
	answer, err := f.In(query.Presence, nil).Sum(f.prefix+stepCells, query.Counts{Edges: slices.Repeat([][]float64{{.5}}, d)}, parts.Mu(mu2))
	if err != nil {
		return err
	}
	all := 0.0
	for j := range d {
		all += (answer.Values[2*j] + answer.Values[2*j+1]) / float64(d)
	}
	sigma := answer.Sigma
	variance := sigma * sigma / 2 * (1 + 1/float64(d))
	if f.problem.Rows == 0 {
		f.rows = math.Max(all, 1)
	}
	for j, c := range f.columns {
		absent, there := answer.Values[2*j], answer.Values[2*j+1]
		there = math.Max(0, math.Min(there+(all-there-absent)/2, f.rows))
		if old := c.cellsSD * c.cellsSD; old > 0 {
			c.cells, c.cellsSD = (c.cells*variance+there*old)/(variance+old), math.Sqrt(variance*old/(variance+old))
		} else {
			c.cells, c.cellsSD = there, math.Sqrt(variance)
		}
	}
	return nil
}

// choose holds out the columns with too few cells: the fewer columns are left, the fewer cells
// they need.
func (f *fit) choose() {
	f.live = slices.Clone(f.columns)
	slices.SortStableFunc(f.live, func(a, b *column) int { return cmp.Compare(b.cells, a.cells) })
	mu := math.Sqrt(f.mu2)
	for len(f.live) > 0 {
		last := f.live[len(f.live)-1]
		least := f.need(f.problem.Relation, len(f.live), mu, f.heldOut)
		last.clear = last.cells / f.need(f.problem.Relation, len(f.live), mu, 1)
		if last.cells-2*last.cellsSD >= least || last.cells >= least && last.cellsSD < .1*last.cells {
			break
		}
		last.reason = tooFew
		f.live = f.live[:len(f.live)-1]
	}
	slices.SortFunc(f.live, func(a, b *column) int { return cmp.Compare(a.index, b.index) })
	for i, c := range f.live {
		c.clear = c.cells / f.need(f.problem.Relation, len(f.live), mu, 1)
		if i == 0 || c.cells < f.price {
			f.price = c.cells
		}
	}
}

// hold takes columns with a reason out of those that are asked.
func (f *fit) hold() {
	f.live = slices.DeleteFunc(f.live, func(c *column) bool { return c.reason != "" })
}

// histogram releases, for every one of the columns, the counts between edges, with what costs so
// much.
func (f *fit) histogram(step string, of []*column, edges func(*column) []float64, mu2 float64) (counts [][]float64, sigma float64, err error) {
	q := query.Counts{Edges: make([][]float64, len(f.columns))}
	for _, c := range of {
		q.Edges[c.index] = edges(c)
	}
	answer, err := f.In(query.Cells, nil).Sum(f.prefix+step, q, parts.Mu(mu2))
	if err != nil {
		return nil, 0, err
	}
	rest := answer.Values
	for _, c := range of {
		n := len(q.Edges[c.index]) + 1
		counts, rest = append(counts, rest[:n]), rest[n:]
	}
	return counts, math.Hypot(answer.Sigma, rounding), nil
}

// rounding is the sd of rounding to whole numbers.
const rounding = .29
