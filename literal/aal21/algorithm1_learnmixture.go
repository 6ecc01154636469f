package aal21

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"

	"github.com/gauze-dp/gauze/literal/paper"
)

const (
	stepChoice = "choice"
	stepRefine = "refine"
)

// A cover is the finite set of mixtures that one is chosen among.
type cover struct {
	rung
	size float64 // Gaussians
}

// learnMixture runs Learn-Mixture after its first step, list decoding, from a list that is not
// empty: all mixtures of at most k of its Gaussians with weights that are multiples of 1/N, and
// private selection among them by the minimum distance, with all that is left of the budget.
//
// Utility: if every component of weight 1-gamma or more is listed, one of the mixtures is within
// alpha/9 (components) + alpha/9 (weights) + k(1-gamma) (components that are lost) of the truth in
// total variation, and the chosen one within three times that + 2t + 2 ln(M/beta)/(epsilon n), t =
// sqrt(ln(M^2/beta)/(2n)) for M mixtures.
//
// Source: [AAL21] Algorithm 1; Theorem 3.2; Theorem 1.4; Lemma 3.1.
// Differs: lists and choice look at the same rows and share the budget, where the source has two
// halves of the rows with the whole epsilon each: the kernel does not split rows at random, and
// both ways lose a factor 2 of the rows at most. No mixture is listed twice; and they are at most
// MostMixtures of at most MostGaussians, for which the net is coarsened (see Constants), else there
// is no release. With Refinements, the net is laid again around the mixture that was chosen, twice
// as fine each time, and one is chosen of that, so that it is as fine as the rows can tell apart.
func (r *run) learnMixture(ctx context.Context, l List) (estimate.Outcome, error) {
	// Steps 3 and 4: all mixtures of the list with weights of a net of the simplex.
	cover, reason := r.c.cover(l, r.k)
	if reason != "" {
		return r.noRelease(reason), nil
	}
	list, err := paper.Mixtures(l.Net(cover.step), r.k, cover.grains)
	if err != nil {
		return estimate.Outcome{}, err
	}
	// Step 5: private selection.
	mu2 := r.a.Left()
	levels := r.levels(l.Moves(), list.Gaussians[0], cover.step, (1-r.c.FirstShare)*mu2)
	if levels > 0 {
		mu2 *= r.c.FirstShare
	}
	chosen, err := paper.Choose(r.a, stepChoice, list, r.choice(cover.step), selection(r.p, mu2))
	if err != nil {
		return estimate.Outcome{}, err
	}
	step := cover.step
	for level := range levels {
		if err := ctx.Err(); err != nil {
			return estimate.Outcome{}, err
		}
		step /= 2
		if list, chosen, err = r.refine(l.Moves(), list, chosen, step, levels-level); err != nil {
			return estimate.Outcome{}, err
		}
	}
	mixture, err := list.Mixture(chosen, nil)
	if err != nil {
		return program.Outsize(estimate.Diagnostics{}), nil
	}
	return r.outcome(mixture, l, cover, step), nil
}

// choice returns how one of a list is chosen whose net has that step.
func (r *run) choice(step float64) paper.Options {
	return paper.Options{Form: r.c.Selection, Accuracy: contestPart * math.Min(1, step)}
}

// contestPart of a net's step is the accuracy of a tournament: contests within three times that are
// draws. A utility constant.
const contestPart = .05

// The finest step worth choosing by, in standard deviations of a component: resolvedRows is what a
// choice with epsilon 1 tells apart, in rows. A guess.
const resolvedRows = 20

// levels returns how often the net is halved from the cover's on: until it is as fine as n rows and
// a choice with all of mu2 can tell apart. 0 if there are too many neighbours.
func (r *run) levels(moves []paper.Move, any paper.Gaussian, step, mu2 float64) int {
	for _, move := range moves {
		neighbours := math.Pow(float64(len(move(any, step, 1))), float64(r.k))
		if neighbours*float64(r.k*(r.k-1)+1) > paper.MostListed {
			return 0
		}
	}
	if len(moves) == 0 {
		return 0
	}
	n := math.Max(1, r.rows)
	finest := 1/math.Sqrt(n) + resolvedRows/(selection(r.p, mu2)*n)
	return max(0, min(r.c.Refinements, int(math.Ceil(math.Log2(step/finest)))))
}

// refine lays a finer net around the mixture that was chosen, move by move, and chooses again. left
// is how many times that is still to be done.
func (r *run) refine(moves []paper.Move, list *paper.List, chosen int, step float64, left int) (*paper.List, int, error) {
	for j, move := range moves {
		index, weights := list.Terms(chosen)
		var gaussians []paper.Gaussian
		for _, g := range index {
			gaussians = append(gaussians, list.Gaussians[g])
		}
		next, err := paper.Around(gaussians, weights, move, step, j == 0, r.c.MostMoved)
		if err != nil {
			return nil, 0, err
		}
		mu2 := r.a.Left() / float64(left*len(moves)-j)
		if chosen, err = paper.Choose(r.a, stepRefine, next, r.choice(step), selection(r.p, mu2)); err != nil {
			return nil, 0, err
		}
		list = next
	}
	return list, chosen, nil
}

// cover returns the finest set that is small enough, or the reason why there is none.
func (c Constants) cover(l List, k int) (best cover, reason string) {
	rungs := c.rungs(l, k)
	for i := len(rungs) - 1; i >= 0; i-- {
		best = cover{rung: rungs[i], size: l.Size(rungs[i].step)}
		count := int(math.Min(best.size, 1e15))
		cost := paper.CostOf(c.Selection, count, paper.CountMixtures(count, k, best.grains))
		if best.size <= float64(c.MostGaussians) && cost.Mixtures <= float64(c.MostMixtures) && cost.Runs() {
			return best, ""
		}
		reason = fmt.Sprintf("the lists are of about %.2g Gaussians, and the mixtures of at most %d of them with weights in %dths take %v; at most %d Gaussians and %d "+
			"mixtures (1024 for all pairs of them) can be enumerated", best.size, k, best.grains, cost, c.MostGaussians, c.MostMixtures)
	}
	return cover{}, reason
}
