package amn24

import (
	"context"
	"fmt"
	"iter"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy/convert"
	"github.com/gauze-dp/gauze/literal/hypotheses"
	"github.com/gauze-dp/gauze/parts/budget"
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

// fineSteps are the steps of Algorithm 1.
func (c Constants) fineSteps() []kernel.Step {
	steps := []kernel.Step{hypotheses.Step(stepMixture, 1, c.Choice, "AMN24 Algorithm 1")}
	if c.Refinements > 0 {
		s := hypotheses.Step(stepRefine, 1, c.Choice, "AMN24 Algorithm 1")
		s.Most = 2 * c.Refinements
		steps = append(steps, s)
	}
	return steps
}

// fine is the fine approximation: B is the union of nets of spacing zeta around crude pairs, one of
// which is within a factor of each component that matters, K all mixtures of at most k Gaussians of
// B with weights in multiples of 1/N, and the mixture is chosen among K by its minimum distance to
// the rows. It spends all that the allotment has left.
//
// Failures: |K| is beyond the guard.
//
// Source: [AMN24] Algorithm 1; Lemma D.3.
// Differs: zeta is the least, from alpha/10 on, with which |K| is within the guard, and where none
// is, pairs close to earlier ones are left out, and then the last; hypotheses are chosen by the
// minimum distance on a few sets unless Choice is the paper's tournament; then,
// Refinements times, the chosen mixture is moved by half as much as before, and chosen again, so
// that fewer hypotheses make as fine a net; all steps read all rows and share the budget, where the
// paper has fresh rows (a factor of at most 2 in n).
func (r *run) fine(ctx context.Context, crude []pair, factor float64) (m mixture, none *estimate.NoRelease, err error) {
	list, zeta := r.c.hypotheses(crude, factor, r.k)
	if list == nil && r.c.Thin > 0 {
		for kept := thinned(crude, r.c.Thin); list == nil && len(kept) > 0; kept = kept[:len(kept)-1] {
			list, zeta = r.c.hypotheses(kept, factor, r.k)
		}
	}
	if list == nil {
		return m, &estimate.NoRelease{Reason: fmt.Sprintf("there are more than %d mixtures of %d Gaussians of the nets around %d released pairs",
			r.c.MostHypotheses, r.k, len(crude)),
			Advice: "ask for fewer components; or use --method general, or univariate in one column, which enumerate nothing"}, nil
	}
	share := 1.0
	if r.c.Refinements > 0 {
		share = r.c.FirstShare
	}
	if m, err = r.choose(ctx, stepMixture, list, share); err != nil {
		return m, nil, err
	}
	for i := range r.c.Refinements {
		zeta /= 2
		for j, moved := range []hypotheses.Move{hypotheses.Means, hypotheses.Covariances} {
			list := r.c.around(m, moved, zeta, j == 0)
			if m, err = r.choose(ctx, stepRefine, list, 1/float64(2*(r.c.Refinements-i)-j)); err != nil {
				return m, nil, err
			}
		}
	}
	return m, nil, nil
}

// thinned is what is left of the pairs if those within a factor of an earlier one are left out.
func thinned(pairs []pair, factor float64) []pair {
	kept := region{Factor: factor}
	for _, p := range pairs {
		if kept.contains(p) {
			kept = kept.without(p)
		}
	}
	return kept.Found
}

// choose spends a share of what is left on the choice of a mixture.
func (r *run) choose(ctx context.Context, step string, list *hypotheses.List, share float64) (mixture, error) {
	if err := ctx.Err(); err != nil {
		return mixture{}, err
	}
	mu := budget.Mu(share * r.a.Left())
	i, err := hypotheses.Choose(r.a, step, list, hypotheses.Options{Form: r.c.Choice, Accuracy: r.c.Accuracy}, convert.BoundedRangeOfMu(mu))
	if err != nil {
		return mixture{}, err
	}
	return listed(list, i), nil
}

// listed is hypothesis i.
func listed(list *hypotheses.List, i int) (m mixture) {
	index, share := list.Terms(i)
	for t, w := range share {
		m.weights, m.pairs = append(m.weights, w), append(m.pairs, list.Gaussians[index[t]])
	}
	return m
}

// hypotheses is K for the spacing zeta, the least that the guard allows; nil if there is none.
func (c Constants) hypotheses(crude []pair, factor float64, k int) (list *hypotheses.List, zeta float64) {
	base, zeta := c.spacing(crude, factor, k)
	if base == nil {
		return nil, zeta
	}
	list, err := hypotheses.Mixtures(base, k, c.units(k))
	if err != nil {
		panic(err) // they were counted
	}
	return list, zeta
}

// spacing is B for the least zeta for which K is within the guard; nil if it is for none.
func (c Constants) spacing(crude []pair, factor float64, k int) (base []pair, zeta float64) {
	for zeta = c.zeta(); ; zeta *= 1.25 {
		base, ok := c.base(crude, factor, zeta)
		mixtures := hypotheses.CountMixtures(len(base), k, c.units(k))
		if ok && mixtures <= float64(c.MostHypotheses) && hypotheses.CostOf(c.Choice, len(base), mixtures).Runs() {
			return base, zeta
		}
		if zeta*1.25 > c.Coarsest {
			return nil, zeta
		}
	}
}

// base is B; ok is false as soon as it is too large for the guard.
func (c Constants) base(crude []pair, factor, zeta float64) (base []pair, ok bool) {
	for _, p := range crude {
		for g := range net(p, factor, zeta) {
			if base = append(base, g); len(base) > c.MostNet {
				return nil, false
			}
		}
	}
	return base, true
}

// net is Lemma D.1's.
//
// Source: [AMN24] Lemma D.1.
func net(p pair, factor, zeta float64) iter.Seq[pair] {
	if len(p.Mean) == 1 {
		return hypotheses.NetLine(p, factor, zeta)
	}
	return hypotheses.NetPlane(p, factor, zeta)
}
