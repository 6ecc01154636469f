package privacy

import (
	"cmp"
	"math"
	"slices"
)

// BudgetPerGroup returns the budget of every group by itself, under add-or-remove-one, given a
// budget b for all of them together under r.
//
// Under add-or-remove-one it is b, as a row is in one group. Under replace-one a row may leave one
// group and enter another, or be replaced within its own: epsilon/2 and delta/(1+e^(epsilon/2)), or
// rho/4.
//
// Proof: groups_proof.md, steps 1 and 2.
func BudgetPerGroup(r Relation, b Budget) Budget {
	if r != ReplaceOne {
		return b
	}
	return Budget{Epsilon: b.Epsilon / 2, Delta: b.Delta / (1 + math.Exp(b.Epsilon/2)) * (1 - perGroupRoundings), Rho: b.Rho / 4}
}

// perGroupRoundings is more than the roundings of an exponential and two products of float64.
const perGroupRoundings = 1e-15

// LossOfGroups returns the joint loss, under r, of groups with the given losses: the reverse of
// [BudgetPerGroup], for the largest loss of a group. Mu and Rho are 0 where a group has a Rényi
// curve, which they cannot count.
//
// Proof: groups_proof.md, steps 1 and 2.
func LossOfGroups(r Relation, groups []Loss) (all Loss) {
	gaussian := true
	for _, g := range groups {
		all.Epsilon, all.Delta = max(all.Epsilon, g.Epsilon), max(all.Delta, g.Delta)
		all.Mu, all.Rho = max(all.Mu, g.Mu), max(all.Rho, g.Rho)
		gaussian = gaussian && (g.Rho > 0 || g == Loss{}) // a group that measured nothing lost nothing
	}
	if !gaussian {
		all.Mu, all.Rho = 0, 0
	}
	if r == ReplaceOne {
		all.Delta *= (1 + math.Exp(all.Epsilon)) * (1 + perGroupRoundings)
		all.Epsilon, all.Mu, all.Rho = 2*all.Epsilon, 2*all.Mu, 4*all.Rho
	}
	return all
}

// A CostStep is the cost of one step of a plan when a row of a table is replaced although the step
// was calibrated under add-or-remove-one.
type CostStep struct {
	// Share is the largest part of the cap on mu^2 that the step's measurements may cost together.
	Share float64
	// Ratio2 bounds the cost of one measurement then, in mu^2, relative to its charge: at most 4.
	Ratio2 float64
	// Close is the closeness of the step's thresholds, over all its measurements together, where a
	// row is replaced.
	Close float64
}

// SlackKeys describes the keys of a threshold that can be empty on exactly one of two tables.
type SlackKeys struct {
	Had float64 // their number, at most, when a row comes or goes: the threshold is set for it
	Has float64 // their number, at most, when a row is replaced
	// Mass is the excess of what one of them can then hold over what the threshold is set for,
	// relative to the L2 sensitivity under add-or-remove-one.
	Mass float64
}

// SpacingKeys are the keys of soft spacing histograms (query.SpacingMasses); a test of
// kernel/people compares the numbers with those that the query states.
var SpacingKeys = SlackKeys{Had: 8, Has: 12, Mass: .1452}

// Closeness returns how close a threshold is to never showing a key that only one of two tables
// has, where these differ in a replaced row. The measurement costs at most mu and has the slack s
// where a row comes or goes.
//
// Proof: groups_proof.md, step 8.
func (k SlackKeys) Closeness(s, mu float64) float64 {
	const loose = 1e-9 // more than the errors of a logarithm and a quantile
	q := ThresholdQuantile(math.Log(s)-math.Log(k.Had)+loose) * (1 - loose)
	l := logUpperTail(q - MulUp(mu, k.Mass))
	return math.Min(1, MulUp(k.Has, math.Exp(l+Safety(l))*(1+loose)))
}

// shareSlop is the factor by which a session lets a step exceed its share.
const shareSlop = 1 + 2e-9

// Replaced returns the cost of a fit under add-or-remove-one when a row of its table is replaced.
// steps are all steps of its plan. test is the closeness that the tests of blocks add, which a
// replaced row does not change.
//
// Mu^2 is the largest sum of the steps' costs, each within its share and all of them within the
// cap. Curves, and the precision of masks, stay: they belong to blocks.
//
// Proof: groups_proof.md, steps 4 to 8.
func (c Cost) Replaced(steps []CostStep, test float64) Cost {
	steps = slices.Clone(steps)
	slices.SortFunc(steps, func(a, b CostStep) int { return cmp.Compare(b.Ratio2, a.Ratio2) })
	left, factor := 1., 0.
	c.Added = test
	for _, s := range steps {
		part := math.Min(left, MulUp(s.Share, shareSlop))
		factor = AddUp(factor, MulUp(part, s.Ratio2))
		left = AddUp(left, -part)
		c.Added = AddUp(c.Added, s.Close)
	}
	c.Mu2 = MulUp(c.Mu2, factor)
	return c
}

// AsOne returns the cost of any mechanism within the budget, epsilon and delta, whatever its steps:
// with probability delta it reveals everything, and otherwise it is epsilon-DP.
//
// Proof: groups_proof.md, step 9.
func AsOne(b Budget) Cost {
	mu := MuOfPure(b.Epsilon)
	return Cost{Epsilon: b.Epsilon, Delta: b.Delta, Mu2: MulUp(mu, mu), Added: b.Delta}
}

// OfGroups returns the joint cost of the fits of disjoint groups under r. Each costs c under
// add-or-remove-one, and replaced when a row of its table is replaced; whole is the budget of all.
// Under replace-one a row leaves one group and enters another, so that two pay c, or it is replaced
// within one: every part of the cost is the larger of the two.
//
// Proof: groups_proof.md, steps 1, 3 and 10.
func (c Cost) OfGroups(r Relation, whole Budget, replaced Cost) Cost {
	if r == ReplaceOne {
		c = c.Plus(c).max(replaced)
	}
	c.Epsilon, c.Delta = whole.Epsilon, whole.Delta
	return c
}

// pieces is the largest number of equal thresholds into which a plan may cut its slack, for fits
// that were counted without their plan. A test compares it with the plans of all methods.
const pieces = 4096

// Recounted returns what is missing in the cost c of a fit under replace-one, within the budget b,
// from a time when groups were counted at twice the cost of one. It is nothing if c shows that the
// fit had no groups, and otherwise the most by which a fit of groups can cost more.
//
// Its plan is not known. So mu^2 counts at four times that of a group, thresholds as those of
// spacing histograms in many pieces, and truncated noise as any mechanism within the budget. A fit
// without groups costs what its budget buys with thresholds or without, to the last bit; one with a
// mask cannot be distinguished from one of groups, and counts as one.
//
// Proof: groups_proof.md, steps 4, 8 and 9.
func Recounted(b Budget, c Cost) (missing Cost) {
	for _, needs := range []Needs{{}, {Thresholds: true}} {
		whole, err := Calibrate(b, needs)
		if err == nil && c.Renyi == nil && c.Mu2 == CostOf(whole, true).Mu2 {
			return missing
		}
	}
	missing.Mu2 = c.Mu2
	if c.Added > 0 {
		each := SpacingKeys.Closeness(math.Min(c.Added/2/pieces, 1), SqrtUp(c.Mu2/2)) // of one group
		missing.Added = math.Max(0, AddUp(MulUp(pieces, each), -c.Added))
	}
	if c.Slack > 4*tvOfMasks {
		whole := AsOne(b)
		missing.Mu2, missing.Added = AddUp(missing.Mu2, whole.Mu2), AddUp(missing.Added, whole.Added)
	}
	return missing
}

// max returns, part by part, the larger of two costs.
func (c Cost) max(o Cost) Cost {
	c.Mu2, c.Added, c.Slack = math.Max(c.Mu2, o.Mu2), math.Max(c.Added, o.Added), math.Max(c.Slack, o.Slack)
	if c.Renyi == nil {
		c.Renyi = o.Renyi
	}
	c.Renyi = slices.Clone(c.Renyi)
	for i, r := range o.Renyi {
		c.Renyi[i] = math.Max(c.Renyi[i], r)
	}
	return c
}

// UnderReplaceOne returns the cost under replace-one of a fit that costs c under add-or-remove-one,
// whatever its steps: replacing a row is removing one and adding one. It is known only where all
// steps are counted in Gaussian DP.
//
// Proof: groups_proof.md, step 4.
func (c Cost) UnderReplaceOne() (Cost, bool) {
	if c.Renyi != nil || c.Added > 0 || c.Slack > 0 {
		return c, false
	}
	c.Mu2 *= 4
	c.Delta = MulUp(c.Delta, 1+math.Exp(c.Epsilon)*(1+roundings))
	c.Epsilon *= 2
	return c, true
}
