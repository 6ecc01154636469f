package amn24

import (
	"context"
	"fmt"
	"iter"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

const (
	stepMixture = "mixture"
	stepRefine  = "refine"
)

// A mixture is weights and pairs, in the columns' units.
type mixture struct {
	weights []float64
	pairs   []pair
}

// fineSteps returns the steps of Algorithm 1.
func (c Constants) fineSteps() []kernel.Step {
	steps := []kernel.Step{paper.SelectionStep(stepMixture, 1, c.Selection, "AMN24 Algorithm 1")}
	if c.Refinements > 0 {
		s := paper.SelectionStep(stepRefine, 1, c.Selection, "AMN24 Algorithm 1")
		s.Most = 2*c.Refinements + 1
		steps = append(steps, s)
	}
	return steps
}

// fine runs the fine approximation: B is the union of nets of spacing zeta around crude pairs, one
// of which is within a factor of each component that matters, K all mixtures of at most k Gaussians
// of B with weights in multiples of 1/N, and the mixture is chosen among K by its minimum distance
// to the rows. It spends all that the sub-budget has left.
//
// Failures: |K| is beyond the guard.
//
// Source: [AMN24] Algorithm 1; Lemma D.3.
// Differs: zeta is the least, from alpha/10 on, with which |K| is within the guard, and where none
// is, only pairs that explain what was released are taken, with a component near each, which is
// said (see room); hypotheses are chosen by the minimum distance on a few sets unless Choice is the
// paper's tournament; then the chosen mixture gets other weights, of as fine a net as there is room
// for, and, Refinements times, is moved by half as much as before, and chosen again, so that fewer
// hypotheses make as fine a net; all steps read all rows and share the budget, where the paper has
// fresh rows (a factor of at most 2 in n).
func (r *run) fine(ctx context.Context, found crude) (m mixture, said string, none *estimate.NoRelease, err error) {
	// Step 1: B, the nets around the pairs.
	bases, zeta, said := r.c.room(found, r.k)
	if bases == nil {
		return m, "", &estimate.NoRelease{Reason: fmt.Sprintf("there are more than %d mixtures of %d Gaussians of the nets around %d released pairs",
			r.c.MostHypotheses, r.k, len(found.pairs)),
			Advice: "ask for fewer components; or use --method general, or univariate in one column, which enumerate nothing"}, nil
	}
	// Step 2: K, the mixtures of B with weights in multiples of 1/N.
	list, err := paper.Across(bases, r.k, r.c.units(r.k))
	if err != nil {
		return m, "", nil, err
	}
	// Step 3: private hypothesis selection.
	share := 1.0
	if r.c.Refinements > 0 {
		share = r.c.FirstShare
	}
	if m, err = r.choose(ctx, stepMixture, list, share); err != nil {
		return m, "", nil, err
	}
	if r.c.Refinements > 0 && len(m.pairs) > 1 {
		if m, err = r.choose(ctx, stepRefine, r.c.weighted(m.pairs), 1/float64(2*r.c.Refinements+1)); err != nil {
			return m, "", nil, err
		}
	}
	for i := range r.c.Refinements {
		zeta /= 2
		for j, moved := range []paper.Move{paper.Means, paper.Covariances} {
			list := r.c.around(m, moved, zeta, j == 0)
			if m, err = r.choose(ctx, stepRefine, list, 1/float64(2*(r.c.Refinements-i)-j)); err != nil {
				return m, "", nil, err
			}
		}
	}
	return m, said, nil, nil
}

// weighted returns mixtures of the pairs, each of a positive weight, on the finest net of the
// simplex that the guard has room for, the printed one at most.
func (c Constants) weighted(pairs []pair) *paper.List {
	var each [][]pair
	var sizes []int
	for _, p := range pairs {
		each, sizes = append(each, []pair{p}), append(sizes, 1)
	}
	units := c.printedUnits(len(pairs))
	for units > len(pairs) && paper.CountAcross(sizes, len(pairs), units) > float64(c.MostHypotheses) {
		units--
	}
	list, err := paper.Across(each, len(pairs), units)
	if err != nil {
		panic(err) // they were counted
	}
	return list
}

// choose spends a share of what is left on the choice of a mixture.
func (r *run) choose(ctx context.Context, step string, list *paper.List, share float64) (mixture, error) {
	if err := ctx.Err(); err != nil {
		return mixture{}, err
	}
	mu := parts.Mu(share * (r.a.Left() - r.held))
	i, err := paper.Choose(r.a, step, list, paper.Options{Form: r.c.Selection, Accuracy: r.c.Accuracy}, privacy.BoundedRangeOfMu(mu))
	if err != nil {
		return mixture{}, err
	}
	return listed(list, i), nil
}

// listed returns hypothesis i.
func listed(list *paper.List, i int) (m mixture) {
	index, share := list.Terms(i)
	for t, w := range share {
		m.weights, m.pairs = append(m.weights, w), append(m.pairs, list.Gaussians[index[t]])
	}
	return m
}

// spacing returns B, by groups, for the least zeta for which K is within the guard; nil if it is
// for none.
func (c Constants) spacing(groups [][]pair, factor float64, k int) (bases [][]pair, zeta float64) {
	for zeta = c.zeta(); ; zeta *= 1.25 {
		if bases, sizes := c.bases(groups, factor, zeta); bases != nil {
			mixtures, members := paper.CountAcross(sizes, k, c.units(k)), 0
			for _, size := range sizes {
				members += size
			}
			if mixtures <= float64(c.MostHypotheses) && paper.CostOf(c.Selection, members, mixtures).Runs() {
				return bases, zeta
			}
		}
		if zeta*1.25 > c.Coarsest {
			return nil, zeta
		}
	}
}

// bases returns B by groups; nil as soon as it is too large for the guard.
func (c Constants) bases(groups [][]pair, factor, zeta float64) (bases [][]pair, sizes []int) {
	left := c.MostNet
	for _, g := range groups {
		if len(g) > 0 && len(g[0].Mean) == 1 && paper.NetLineSize(factor, zeta)*float64(len(g)) > float64(left) {
			return nil, nil
		}
		var base []pair
		for _, p := range g {
			for q := range net(p, factor, zeta) {
				if left--; left < 0 {
					return nil, nil
				}
				base = append(base, q)
			}
		}
		bases, sizes = append(bases, base), append(sizes, len(base))
	}
	return bases, sizes
}

// net returns Lemma D.1's.
//
// Source: [AMN24] Lemma D.1.
func net(p pair, factor, zeta float64) iter.Seq[pair] {
	if len(p.Mean) == 1 {
		return paper.NetLine(p, factor, zeta)
	}
	return paper.NetPlane(p, factor, zeta)
}
