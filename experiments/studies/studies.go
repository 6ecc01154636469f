// Package studies has experiments as data: cells of made-up tables whose truth is known, the
// methods that are asked about them, and the tables of a page. What runs them is the engine.
package studies

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

type (
	study      = engine.Study[cell]
	experiment = engine.Experiment[cell]
	results    = engine.Results[cell]
	line       = engine.Line[cell]
)

// All are the studies.
var All = []*study{single, separated, unbounded, clusters, enough, papers, reduction}

// A cell is tables of one law, and what is asked of them.
type cell struct {
	name string
	draw func(seed uint64, n int) (table, error)
	// law is what draw draws from, as the results keep it.
	law any
	// ask is the request; what it leaves out is the contender's or the command line's.
	ask gauze.Request
	// rows are the numbers of rows that are tried; a search starts at the first one.
	rows []int
	by   []contender
	// d and k are the columns and components, x, row and column the place in a summary's table.
	d, k        int
	x           float64
	row, column string
	// plain and task are the cells of the studies that need more.
	plain plainCell
	task  task
}

// A contender is a method and how it is asked.
type contender struct {
	name, method string
	printed      bool // on the constants that its source prints
	told         bool // the facts of the cell, its known covariance and its learner
	given        bool // the number of components, where the cell leaves it to the method
	runs         int  // if not 0, instead of the experiment's
}

// by returns contenders that differ only in the method.
func by(methods ...string) (out []contender) {
	for _, m := range methods {
		out = append(out, contender{name: m, method: m, told: true})
	}
	return out
}

// A table is rows with the truth behind them: of a mixture, or of one distribution.
type table struct {
	rows     *mat.Dense
	mixture  *madeup.Instance
	one      *madeup.Sample
	relation privacy.Relation // of the run, where it is drawn
	drawn    engine.Values    // what else the run drew
}

// ofMixture returns a draw of a mixture as a table.
func ofMixture(in *madeup.Instance, err error) (table, error) {
	if err != nil {
		return table{}, err
	}
	return table{rows: in.Rows, mixture: in}, nil
}

// ofOne returns a draw of one distribution as a table.
func ofOne(s *madeup.Sample, err error) (table, error) {
	if err != nil {
		return table{}, err
	}
	return table{rows: s.Rows, one: s}, nil
}

// request returns a contender's request for a table.
func (c cell) request(o engine.Options, by contender) gauze.Request {
	r := c.ask
	r.Method, r.Printed, r.Force = by.method, by.printed, true
	if r.Budget == (privacy.Budget{}) {
		r.Budget = o.Budget
	}
	r.Relation = o.Relation
	if !by.told {
		r.Facts, r.KnownCovariance, r.Learner = estimate.Facts{}, nil, ""
	}
	return r
}

// A measure compares a fit with the truth.
type measure func(c cell, t table, f engine.Fitted) (engine.Outcome, error)

// params is what a cell's and a contender's names stand for, as the results keep it.
type params struct {
	Law        any            `json:"law,omitempty"`
	Method     string         `json:"method"`
	Components int            `json:"components,omitempty"`
	Facts      estimate.Facts `json:"facts"`
	Epsilon    float64        `json:"epsilon,omitempty"`
	Delta      float64        `json:"delta,omitempty"`
	Relation   string         `json:"relation"`
}

// lines returns the runs of cells by their contenders, or by those that the command line names:
// draw, fit, measure.
func lines(cells func() []cell, m measure) func(engine.Options) ([]*line, string) {
	return func(o engine.Options) (out []*line, note string) {
		for _, c := range cells() {
			contenders := c.by
			if o.Methods != nil {
				contenders = by(o.Methods...)
			}
			for _, by := range contenders {
				r := c.request(o, by)
				out = append(out, &line{Cell: c, Name: c.name, By: by.name, Rows: c.rows, Runs: by.runs,
					Params: params{c.law, r.Method, r.Components, r.Facts, r.Budget.Epsilon, r.Budget.Delta, r.Relation.String()},
					Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
						return c.run(ctx, r, by, n, seed, m)
					}})
			}
		}
		return out, ""
	}
}

// run makes one run.
func (c cell) run(ctx context.Context, r gauze.Request, by contender, n int, seed uint64, m measure) (engine.Outcome, error) {
	t, err := c.draw(seed, n)
	if err != nil {
		return engine.Outcome{}, err
	}
	if t.drawn != nil {
		r.Relation = t.relation
	}
	if by.given {
		r.Components = len(t.mixture.Truth.Components)
	}
	f, err := engine.Fit(ctx, t.rows, r)
	if err != nil {
		return engine.Outcome{}, err
	}
	return m(c, t, f)
}

// noisy matches numbers that differ between runs in the reasons of those without a model.
var noisy = regexp.MustCompile(`\d[\d.e+-]*`)

// fine is a ratio of 2^(1/4): finer than the runs of a search can tell.
const fine = 1.189207115002721

// setting says under what the runs of a page were made.
func setting(r *results) string {
	return fmt.Sprintf("ε = %g, δ = %g, %s, no bounds given, where nothing else is said. ", r.Options.Budget.Epsilon, r.Options.Budget.Delta, r.Options.Relation)
}

// gridOf returns a table of one contender over the cells' rows and columns.
func gridOf(r *results, corner, by string, show func(*line) string) engine.Table {
	columns := r.Distinct(func(l *line) string { return l.Cell.column })
	t := engine.Table{Head: append([]string{corner}, columns...)}
	for _, row := range r.Distinct(func(l *line) string { return l.Cell.row }) {
		cells := []any{row}
		for _, column := range columns {
			of := r.By(by)
			i := slices.IndexFunc(of, func(l *line) bool { return l.Cell.row == row && l.Cell.column == column })
			if i < 0 {
				cells = append(cells, "")
			} else {
				cells = append(cells, show(of[i]))
			}
		}
		if slices.ContainsFunc(cells[1:], func(text any) bool { return text != "" }) {
			t.Add(cells...)
		}
	}
	return t
}

// leasts writes the table of a search.
func leasts(p *engine.Page, r *results) {
	t := engine.Table{Head: []string{"problem", "method", "smallest n"}}
	for _, l := range r.Lines {
		t.Add(l.Name, l.By, l.LeastText())
	}
	p.Table(t)
}
