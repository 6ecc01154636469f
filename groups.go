package gauze

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/estimate/profile"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/people"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/source"
)

// Groups are tables of disjoint groups of rows, each of which gets a model of its own. They come
// from [Input.LoadGroups].
type Groups struct {
	by     []string        // the columns that define them
	names  [][]string      // each group's category in every column
	tables []*kernel.Table // one per group, protected under add-or-remove-one: its size is private
	rows   int             // of the input, or its persons: public under replace-one
}

// Rows returns how many rows the input has, or persons where its schema has a unit, including those
// in no group: public under replace-one alone.
func (g *Groups) Rows() int { return g.rows }

// FitGroups fits every group by itself, as [Fit] does, under one certificate.
// privacy.BudgetPerGroup gives each its budget, such that all of them together keep the promise.
//
// A group whose fit ends without a model, for instance because it is too small, says so in its own
// place; only if all do the result has a NoRelease.
//
// Failures: those of Fit. After a failure nothing is learned of any group, and what the others have
// measured is spent.
func FitGroups(ctx context.Context, g Groups, r Request) (*Result, error) {
	if len(g.tables) == 0 || len(g.tables) != len(g.names) {
		return nil, &privacy.FieldError{Field: "groups", Wanted: "a table for each of at least one group", Got: fmt.Sprint(len(g.tables)),
			Fix: "take those of Input.LoadGroups"}
	}
	if err := r.ValidateGroups(); err != nil {
		return nil, err
	}
	public := 0
	if r.Relation == privacy.ReplaceOne {
		public = g.rows
	}
	if _, err := r.check(public); err != nil {
		return nil, err
	}
	own := r
	own.Relation = privacy.AddRemoveOne
	own.Budget = privacy.BudgetPerGroup(r.Relation, r.Budget)
	out := &release.Release{Format: release.Format}
	var plan []release.PlanStep
	var spent []release.Spent
	var last *Result
	for i, table := range g.tables {
		if own.Observe != nil {
			own.Observe = func(step string, part float64) {
				r.Observe(strings.Join(g.names[i], ",")+": "+step, (float64(i)+part)/float64(len(g.tables)))
			}
		}
		result, err := Fit(ctx, table, own)
		var run *RunError
		if errors.As(err, &run) || len(spent) > 0 && err != nil {
			if run != nil {
				err, spent = run.Err, append(spent, run.Spent)
			}
			return nil, &RunError{Err: err, Spent: r.spent(spent)}
		} else if err != nil {
			return nil, err
		}
		last, spent = result, append(spent, result.Spent)
		out.Groups = append(out.Groups, groupOf(result, g.by, g.names[i]))
		for _, step := range result.Certificate.Plan {
			step.Group = i + 1
			plan = append(plan, step)
		}
		if result.Release != nil {
			out.Columns, out.Identity = result.Release.Columns, result.Release.Identity
		}
	}
	return r.together(g, out, last, plan, spent, public)
}

// ValidateGroups returns an error for a request that no groups can have, though a table as a whole
// may: the plan of a group does not know of others.
func (r Request) ValidateGroups() error { return inGroups(r.Columns) }

// inGroups returns an error for columns whose values are to be found: each group would find its
// own, and one release has the same columns for all.
func inGroups(columns []source.Column) error {
	for _, c := range columns {
		if c.Find {
			return &privacy.FieldError{Field: fmt.Sprintf("column %q, categories", c.Name), Wanted: "declared values beside groups", Got: `"find"`,
				Fix: "a fit without groups finds values, which may then be declared"}
		}
	}
	return nil
}

// spent returns the joint cost of groups, given the cost of each.
func (r Request) spent(groups []release.Spent) release.Spent {
	var losses []privacy.Loss
	for _, g := range groups {
		losses = append(losses, privacy.Loss(g))
	}
	return release.Spent(privacy.LossOfGroups(r.Relation, losses))
}

// Cost returns the cost that a ledger counts: of a fit of the request or, with groups, of the fits
// of all of them, with this plan for each, calibrated to total.
func (r Request) Cost(plan kernel.Plan, total privacy.Calibration, inGroups bool) privacy.Cost {
	gaussian := plan.Method == profile.Name || slices.Contains(catalog.Methods().Names(), plan.Method)
	if inGroups {
		return people.CostOfGroups(plan, total, gaussian, r.Relation, r.Budget)
	}
	cost := privacy.CostOf(total, gaussian)
	cost.Epsilon, cost.Delta = r.Budget.Epsilon, r.Budget.Delta
	return cost
}

// together puts the groups' releases under one certificate; last is the result of one group.
func (r Request) together(g Groups, out *release.Release, last *Result, plan []release.PlanStep, spent []release.Spent, public int) (*Result, error) {
	c := last.Certificate
	c.Relation, c.Epsilon, c.Delta, c.Rho = r.Relation.String(), r.Budget.Epsilon, r.Budget.Delta, r.Budget.Rho
	c.By, c.Plan, c.Spent = g.by, plan, r.spent(spent)
	if public > 0 {
		c.Rows = &public
	}
	if c.Epsilon > 0 { // roundings of halves and of their composition
		c.Spent.Epsilon, c.Spent.Delta = min(c.Spent.Epsilon, c.Epsilon), min(c.Spent.Delta, c.Delta)
	}
	if c.Rho > 0 {
		c.Spent.Rho = min(c.Spent.Rho, c.Rho)
	}
	out.Certificate = c
	if out.Columns == nil {
		return &Result{NoRelease: last.NoRelease, Spent: c.Spent, Certificate: c}, nil
	}
	if v := Verify(out); v.Faults != nil {
		return nil, &RunError{Err: fmt.Errorf("the release of groups does not verify: %w", errors.Join(v.Faults...)), Spent: c.Spent}
	}
	return &Result{Release: out, Spent: c.Spent, Certificate: c}, nil
}

// groupOf returns the result of a group's fit.
func groupOf(result *Result, by, name []string) release.Group {
	group := release.Group{By: map[string]string{}, Spent: result.Spent}
	for j, column := range by {
		group.By[column] = name[j]
	}
	if none := result.NoRelease; none != nil {
		group.NoRelease = &release.Reason{Reason: none.Reason, Advice: none.Advice}
		return group
	}
	group.Model, group.Profile, group.Diagnostics = result.Release.Model, result.Release.Profile, &result.Release.Diagnostics
	group.Rows = result.rows
	for _, c := range result.Release.Diagnostics.Components {
		group.Rows += c.EffectiveRows
	}
	return group
}
