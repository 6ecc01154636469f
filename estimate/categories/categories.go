// Package categories measures the columns of categories beside the numbers that a method has
// fitted: the share of each value among the rows of each component, after any method has ended.
//
// Everything is a Gaussian measurement of the session's filter, or a function of released values.
package categories

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/component"
)

// Step is the name of the measurement in plans.
const Step = "categories"

// Utility constants, guesses, tried on two public tables and made-up ones. The noise of a count may
// be one row in clear, for a part of mu^2 between least and most; where the number of rows is
// private, it is usual.
const (
	clear       = 400.0
	least, most = .05, .20
	usual       = .10
	// .. In a model most is wide times the columns' part of all columns, if that is more and the d
	// columns of numbers keep an n mu of rest + restEach d, with which they are hardly ever
	// refused. Chosen on 49 made-up tables of 400 to 3,200 rows at epsilon 1 and 3.
	wide           = .5
	rest, restEach = 115.0, 25.0
	// .. So it is where numbers would not have that with most either, and are described column by
	// column, if they keep alone sqrt(d): with 62, which that needs, a column was lost. Chosen of
	// none, 62 and 80 on tables of 700 and 800 rows with 2 and 3 numbers at epsilon 1, two public
	// and one made up: pairs of categories came nearer by .022 in the mean, of numbers farther by
	// .014.
	alone = 80.0
	// Rounds of several components: of all rows, of components by their numbers, and the last by
	// numbers and values. Each but the last has a part of the counts' own mu^2. The first is chosen
	// of .2 and .5, on the same tables and 24 of up to 16,000 rows: what it says of all rows is
	// shared by all components.
	rounds                 = 3
	firstShare, roundShare = .5, .2
	// A component with fewer rows than this many times the noise of a count is counted together
	// with others of its size.
	leastRows = 10.0
)

// Shares are the parts of mu^2 that columns of categories cost; 0 for none.
type Shares struct {
	All    float64 // of all their steps
	Values float64 // .. of which for finding values
	Pairs  float64 // .. and for the dependence of columns on each other
	Star   bool    // .. which is that on the last column alone
}

// SharesOf returns the shares of a problem, of which this is the whole mu. Columns depend on each
// other in a model alone.
func SharesOf(p estimate.Problem, mu float64, inModel bool) (s Shares) {
	if s.All = countShare(p, mu, inModel); inModel {
		s.depend(p, mu)
	}
	s.Values = valueShare(p, mu)
	s.All += s.Values
	return s
}

// countShare returns the part of mu^2 that counts of categories cost, given the number of values of
// each column; 0 for none.
func countShare(p estimate.Problem, mu float64, inModel bool) float64 {
	highest, c, d := most, float64(len(p.Categories)), float64(p.Columns)
	joint, rows := rest+restEach*d, float64(p.Rows)*mu
	wider := wide * c / (c + d)
	if left := rows * math.Sqrt(1-wider); inModel && (left >= joint || rows*math.Sqrt(1-most) < joint && left >= alone*math.Sqrt(d)) {
		highest = math.Max(highest, wider)
	}
	return shareOf(p, mu, len(p.Categories), clear, least, highest, usual)
}

// shareOf returns the part of mu^2 for which the noise of a count of so many columns is one row in
// clear, between least and most; usual where the number of rows is private, and 0 for no column.
func shareOf(p estimate.Problem, mu float64, columns int, clear, least, most, usual float64) float64 {
	switch {
	case columns == 0:
		return 0
	case p.Rows == 0:
		return usual
	}
	noise := program.Factor(p.Relation) * math.Sqrt(float64(columns)) * clear / (float64(p.Rows) * mu)
	return math.Max(least, math.Min(noise*noise, most))
}

// Extend returns a method's plan with the steps of categories, which cost so large a part of mu^2.
func Extend(plan kernel.Plan, p estimate.Problem, s Shares) kernel.Plan {
	plan.Steps = slices.Clone(plan.Steps)
	slack := 1.
	if plan.Thresholds() {
		slack = valueSlack
	}
	for i := range plan.Steps {
		plan.Steps[i].Share *= 1 - s.All
		if s.Values > 0 {
			plan.Steps[i].Slack *= 1 - slack
		}
	}
	counts := s.All - s.Pairs
	if s.Values > 0 {
		plan.Steps = append(plan.Steps, kernel.Step{Name: StepValues, Query: query.KindCategoryValues, Share: s.Values, Most: 1, Slack: slack, Source: "KSSU19 Section A.4"})
		counts = s.All - s.Values // of which pairs may turn out to have no room
	}
	plan.Steps = append(plan.Steps, kernel.Step{Name: Step, Query: query.KindCategoryCounts, Share: counts, Most: rounds})
	if s.Pairs > 0 {
		plan.Steps = append(plan.Steps, kernel.Step{Name: StepPairs, Query: query.KindCategoryCounts, Share: s.first() * s.Pairs, Most: 1})
		if !s.Star {
			plan.Steps = append(plan.Steps, kernel.Step{Name: StepTree, Query: query.KindCategoryCounts, Share: (1 - choosing) * s.Pairs, Most: 1})
		}
	}
	return plan
}

// Measure asks how often values occur among the rows of each component of the outcome's model, or
// among all rows for a profile, with all that is left in a. Of several components it asks in
// rounds: first of all rows, where noise is least; then of each component; and in the last a row's
// values say with its numbers whose it is. Before that it finds the values that are not declared,
// and at last, where there is a model, how columns depend on each other: s says which part is for
// which.
func Measure(a *kernel.SubBudget, p estimate.Problem, s Shares, out *estimate.Outcome) (err error) {
	if s.Values > 0 {
		if a, p.Categories, out.Found, err = find(a, p.Categories, s.Values/s.All); err != nil {
			return err
		}
	}
	pairs := s.Pairs / (s.All - s.Values)
	if len(s.counted(p.Categories)) == 0 {
		pairs = 0
	}
	if out.Kept != nil { // the model's numbers say whose a row is
		if a, err = kernel.Narrow(a, out.Kept); err != nil {
			return err
		}
	}
	if out.Missing != nil && spaceOf(out.Model).Columns != nil { // what a row has says whose it is
		if a, err = kernel.Complete(a, completion(out.Model)); err != nil {
			return err
		}
	}
	const room = 1 - 1e-9 // for rounding
	ofPairs := pairs * a.Left() * room
	q, mu2 := query.CategoryCounts{Values: p.Categories}, a.Left()-ofPairs
	c, group := counts{step: Step, weights: []float64{1}, columns: p.Categories, public: float64(p.Rows)}, []int{0}
	if m := out.Model; m != nil {
		noise := program.Factor(p.Relation) * math.Sqrt(float64(len(p.Categories))/mu2)
		if c.weights, group = together(m.Weights, leastRows*noise/rowsOf(p, out)); len(c.weights) > 1 {
			if err := c.ask(a, q, math.Sqrt(firstShare*mu2)); err != nil { // of all rows
				return err
			}
			numbers := densities(m)
			q.Components, q.Unseen, q.Group = numbers, m.Weights, group
			for range rounds - 2 {
				if err := c.ask(a, q, math.Sqrt(roundShare*mu2)); err != nil {
					return err
				}
				q.Components = numbers
				c.weighed(&q, m.Weights)
			}
		}
	}
	last := a.LeftMu()
	if pairs > 0 {
		last = math.Sqrt((a.Left() - pairs*(mu2+ofPairs)) * room)
	}
	if err := c.ask(a, q, last); err != nil {
		return err
	}
	if out.Profile != nil {
		out.Profile.Categories = c.shares()
	}
	if out.Model == nil {
		return nil
	}
	if pairs > 0 {
		err = c.dependence(a, s, ofPairs, out, group)
	}
	out.Categories = c.expand(group)
	c.settle(out, group)
	return err
}

// rowsOf returns the number of rows, public or released.
func rowsOf(p estimate.Problem, out *estimate.Outcome) float64 {
	rows := float64(p.Rows)
	if p.Rows == 0 {
		for _, c := range out.Diagnostics.Components {
			rows += c.EffectiveRows
		}
	}
	return math.Max(1, rows)
}

// together counts the rows of components with less than a share of all rows as those of one, whose
// noise in all rows would otherwise be that of many: the weights of what is counted apart, and of
// each component which of these it is.
func together(weights []float64, least float64) (of []float64, group []int) {
	total, rest := 0., -1
	for _, w := range weights {
		total += w
	}
	for _, w := range weights {
		g := rest
		if small := w/total < least; !small || rest < 0 {
			of = append(of, 0)
			if g = len(of) - 1; small {
				rest = g
			}
		}
		of[g] += w / total
		group = append(group, g)
	}
	return of, group
}

// densities returns the model's components as a query compares them, in units of the columns'
// standard deviations. Columns without spread are left out.
func densities(m *model.Mixture) (out []query.Component) {
	s, mean := spaceOf(m), m.Mean()
	if s.Columns == nil { // one point: weights alone say whose a row is
		s.Columns, s.Center, s.Scale = []int{0}, mean[:1], []float64{1}
	}
	for i, g := range m.Components {
		q, _ := s.Density(within(s, g), m.Weights[i])
		out = append(out, q)
	}
	return out
}

// completion returns the model as rows that lack cells are completed by it.
func completion(m *model.Mixture) kernel.Completion {
	s := spaceOf(m)
	c := kernel.Completion{Columns: s.Columns, Center: s.Center, Scale: s.Scale, Rest: m.Mean()}
	for i, g := range m.Components {
		own := within(s, g)
		cov := make([][]float64, s.Dim())
		for a := range cov {
			for b := range cov {
				cov[a] = append(cov[a], own.Cov.At(a, b))
			}
		}
		c.LogWeights, c.Means, c.Covs = append(c.LogWeights, math.Log(math.Max(m.Weights[i], math.SmallestNonzeroFloat64))), append(c.Means, own.Mean), append(c.Covs, cov)
	}
	return c
}

// within returns a component in a space.
func within(s component.Space, g model.Gaussian) component.Gaussian {
	own := component.Gaussian{Cov: symmetric.Of(s.Dim(), func(a, b int) float64 {
		return g.Cov.At(s.Columns[a], s.Columns[b]) / (s.Scale[a] * s.Scale[b])
	})}
	for a, j := range s.Columns {
		own.Mean = append(own.Mean, (g.Mean[j]-s.Center[a])/s.Scale[a])
	}
	return own
}

// spaceOf returns the columns of a model that have a spread, in units of their standard deviations.
func spaceOf(m *model.Mixture) (s component.Space) {
	mean := m.Mean()
	for j := range m.Columns {
		variance, total := 0., 0.
		for i, g := range m.Components {
			d := g.Mean[j] - mean[j]
			variance += m.Weights[i] * (g.Cov.At(j, j) + d*d)
			total += m.Weights[i]
		}
		if sd := math.Sqrt(variance / total); sd > 0 && !math.IsInf(sd, 1) {
			s.Columns, s.Center, s.Scale = append(s.Columns, j), append(s.Center, mean[j]), append(s.Scale, sd)
		}
	}
	return s
}
