package release

import (
	"fmt"
	"math"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// A Group is the result for one group of a fit with a model for each group.
//
// Invariant: NoRelease is set exactly where neither Model nor Profile is.
type Group struct {
	By          map[string]string `json:"by"`             // The group's category in every column of Certificate.By.
	Rows        float64           `json:"rows,omitempty"` // Noisy; 0 where nothing was learned.
	Model       *model.Mixture    `json:"model,omitempty"`
	Profile     []ColumnProfile   `json:"profile,omitempty"`
	Diagnostics *Diagnostics      `json:"diagnostics,omitempty"`
	NoRelease   *Reason           `json:"no_release,omitempty"`
	Spent       Spent             `json:"spent"` // By itself, under add-or-remove-one.
}

// A Reason is why a group has no model.
type Reason struct {
	Reason string `json:"reason"`
	Advice string `json:"advice"`
}

// Categories returns the group's categories in the order of the columns.
func (g *Group) Categories(by []string) (words []string) {
	for _, column := range by {
		words = append(words, g.By[column])
	}
	return words
}

// Name returns the group's categories with commas.
func (g *Group) Name(by []string) string { return strings.Join(g.Categories(by), ",") }

// relation returns the certificate's relation, 0 if it is none.
func (c *Certificate) relation() privacy.Relation {
	r, _ := privacy.ParseRelation(c.Relation)
	return r
}

// Of returns the release of group i by itself: its model, and of the certificate its budget and its
// measurements.
func (r *Release) Of(i int) *Release {
	g, c := &r.Groups[i], r.Certificate
	b := privacy.BudgetPerGroup(c.relation(), privacy.Budget{Epsilon: c.Epsilon, Delta: c.Delta, Rho: c.Rho})
	c.Epsilon, c.Delta, c.Rho = b.Epsilon, b.Delta, b.Rho
	c.Relation, c.Rows, c.By, c.Spent, c.Plan = AddRemoveOne, nil, nil, g.Spent, nil
	for _, s := range r.Certificate.Plan {
		if s.Group == i+1 {
			s.Group = 0
			c.Plan = append(c.Plan, s)
		}
	}
	out := &Release{Format: r.Format, Identity: r.Identity, Model: g.Model, Profile: g.Profile, Columns: r.Columns, Certificate: c}
	if g.Diagnostics != nil {
		out.Diagnostics = *g.Diagnostics
	}
	return out
}

// models returns the model of the release, or those of its groups.
func (r *Release) models() (out []*model.Mixture) {
	if r.Model != nil {
		out = append(out, r.Model)
	}
	for _, g := range r.Groups {
		if g.Model != nil {
			out = append(out, g.Model)
		}
	}
	return out
}

// Find returns the number of the group of that name: its categories, with commas.
func (r *Release) Find(name string) (int, error) {
	var names []string
	for i := range r.Groups {
		if names = append(names, r.Groups[i].Name(r.Certificate.By)); names[i] == name {
			return i, nil
		}
	}
	return 0, &Error{Field: "group", Wanted: "one of " + strings.Join(names, "; "), Got: fmt.Sprintf("%q", name), Hint: "write the group's categories with commas, in the order of the columns of by"}
}

// groups checks a release of groups: each by itself, and their joint cost.
func (v *verifier) groups(r *Release) {
	c := &r.Certificate
	v.fault(r.Model != nil || r.Profile != nil || len(c.By) == 0, "groups", "a model for each group, and the columns that they are made by", "another model, or no columns")
	v.terms(c)
	v.numbers(c)
	spent, seen := []privacy.Loss(nil), map[string]bool{}
	for i := range r.Groups {
		g, own := &r.Groups[i], r.Of(i)
		name := g.Name(c.By)
		v.fault(seen[name] || len(g.By) != len(c.By), fmt.Sprintf("groups[%d].by", i), "a category of its own of every column", fmt.Sprint(g.By))
		seen[name] = true
		v.amount(fmt.Sprintf("groups[%d].rows", i), g.Rows, math.MaxFloat64)
		spent = append(spent, privacy.Loss(g.Spent))
		var faults []error
		empty := g.Model == nil && g.Profile == nil
		if empty == (g.NoRelease == nil) {
			v.fault(true, fmt.Sprintf("groups[%d]", i), "a model, or why there is none", "both or neither")
			continue
		}
		if faults = Verify(own); empty { // Verify wants a model; nothing else is wrong with its lack
			faults = faults[1:]
		}
		for _, f := range faults {
			v.faults = append(v.faults, fmt.Errorf("group %s: %w", name, f))
		}
	}
	for _, s := range c.Plan {
		v.fault(s.Group < 1 || s.Group > len(r.Groups), fmt.Sprintf("certificate.plan, step %q, group", s.Step), fmt.Sprintf("a number from 1 to %d", len(r.Groups)), fmt.Sprint(s.Group))
	}
	all := privacy.LossOfGroups(c.relation(), spent)
	v.atLeast("certificate.spent.epsilon", c.Spent.Epsilon, all.Epsilon)
	v.atLeast("certificate.spent.delta", c.Spent.Delta, all.Delta)
	v.atLeast("certificate.spent.mu", c.Spent.Mu, all.Mu)
	v.atLeast("certificate.spent.rho", c.Spent.Rho, all.Rho)
	v.asked(c)
}
