package people

import (
	"math"
	"strings"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// CostOfGroups returns the joint cost, under r and within the budget whole, of the fits of disjoint
// groups, each with this plan, calibrated to total under add-or-remove-one. gaussian says that the
// plan's steps are the Gaussian mechanism, on sums, pairs and thresholds, or blocks: those of
// methods that people use.
//
// Theorem. Let neighbours differ under r in one row, or person, of all groups together. Then
// everything that the groups' fits release costs no more than this, in the sense of
// kernel/privacy/compose_proof.md, step 1.
//
// Proof: kernel/privacy/groups_proof.md, steps 1 to 10.
func CostOfGroups(plan kernel.Plan, total privacy.Calibration, gaussian bool, r privacy.Relation, whole privacy.Budget) privacy.Cost {
	c := privacy.CostOf(total, gaussian)
	if r == privacy.ReplaceOne && !gaussian && (c.Renyi != nil || c.Added > 0 || c.Slack > 0) {
		return privacy.AsOne(whole)
	}
	return c.OfGroups(r, whole, replaced(plan, total, gaussian, c))
}

// replaced returns the cost of one fit that costs c when a row of its table is replaced.
func replaced(plan kernel.Plan, total privacy.Calibration, gaussian bool, c privacy.Cost) privacy.Cost {
	if total.Budget.Pure() { // a fit that is epsilon-DP under add-or-remove-one
		mu := privacy.MuOfPure(2 * total.Budget.Epsilon)
		c.Mu2 = privacy.MulUp(mu, mu)
		return c
	}
	var steps []privacy.CostStep
	for _, s := range plan.Steps {
		step := privacy.CostStep{Share: s.Share, Ratio2: worst}
		if gaussian {
			step.Ratio2 = GroupRatio2(s.Query)
			step.Close = closeness(s, total)
		}
		steps = append(steps, step)
	}
	return c.Replaced(steps, total.Needs.AddedDelta)
}

// worst is the ratio of every step in Gaussian DP, whatever its query.
//
// Proof: kernel/privacy/groups_proof.md, step 4.
const worst = 4

// ratios are the squares of the ratios of sensitivities, under replace-one over under
// add-or-remove-one, of queries by their kinds: the largest that the kind's fields allow. Each
// follows from the two numbers that the query's type states and proves.
//
// Proof: kernel/privacy/groups_proof.md, step 5.
var ratios = map[string]float64{
	"count":               1,
	query.Histogram:       2,
	query.ColumnCounts:    4, // of Balance; 1 of Above
	query.DistanceCounts:  2,
	query.TailCounts:      1,
	"clipped moments":     2,
	"directions":          2,
	"category counts":     2,
	"category values":     2,
	"log ratio":           4,
	"cell counts":         2,
	"stability histogram": 2,
	gaps:                  gapsRatio2,
	"pair octaves":        1,
	"pair distances":      1,
	"pair moments":        1,
	"pair spread":         1,
}

const (
	gaps     = "gaps"
	ofBlocks = "of blocks: "
	ulps     = 1 + 1e-12 // more than the roundings of two sensitivities and a square
)

// gapsRatio2 is the squared ratio of query.SpacingMasses.
var gapsRatio2 = func() float64 {
	ratio := query.SpacingMasses{}.Sensitivity(privacy.ReplaceOne) / query.SpacingMasses{}.Sensitivity(privacy.AddRemoveOne)
	return ratio * ratio * ulps
}()

// GroupRatio2 returns a bound on the cost of a measurement by the Gaussian mechanism, calibrated
// under add-or-remove-one, when a row is replaced: in mu^2, relative to its charge, by the kind of
// its query. It is 4 for an unknown kind.
//
// Proof: kernel/privacy/groups_proof.md, steps 4 to 7.
func GroupRatio2(kind string) float64 {
	if strings.HasPrefix(kind, ofBlocks) {
		return 1
	}
	for _, v := range []query.View{query.Cells, query.Filled, query.Presence} {
		kind = strings.TrimPrefix(kind, v.Of(""))
	}
	kind, parts := strings.CutPrefix(kind, query.PartsOf(""))
	ratio, known := ratios[kind]
	switch {
	case !known:
		return worst
	case parts:
		return max(ratio, 2)
	}
	return ratio
}

// closeness returns how close the thresholds of a step are to never showing a key that only one of
// two tables has, where these differ in a replaced row: over all measurements of step s together.
//
// Proof: kernel/privacy/groups_proof.md, step 8.
func closeness(s kernel.Step, total privacy.Calibration) float64 {
	if s.Slack == 0 {
		return 0
	}
	each := privacy.DivUp(privacy.MulUp(total.ThresholdDelta, s.Slack), float64(s.Most))
	own := privacy.DivUp(each, 1+math.Exp(total.Budget.Epsilon)*(1-1e-14))
	kind, _ := strings.CutPrefix(s.Query, query.PartsOf(""))
	if kind == gaps {
		own = privacy.SpacingKeys.Closeness(own, privacy.SqrtUp(privacy.MulUp(s.Share*(1+2e-9), float64(total.Cap))))
	}
	return privacy.MulUp(float64(s.Most), own)
}
