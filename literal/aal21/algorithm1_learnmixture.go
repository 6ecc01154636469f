package aal21

import (
	"fmt"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/literal/hypotheses"
	"github.com/gauze-dp/gauze/literal/printed"
)

const stepChoice = "choice"

// A cover is the finite set of mixtures that one is chosen among.
type cover struct {
	rung
	*hypotheses.List
}

// learnMixture is Learn-Mixture after its first step, list decoding, from a list that is not empty:
// all mixtures of at most k of its Gaussians with weights that are multiples of 1/N, and private
// selection among them by the minimum distance, with all that is left of the budget.
//
// Utility: if every component of weight 1-gamma or more is listed, one of the mixtures is within
// alpha/9 (components) + alpha/9 (weights) + k(1-gamma) (components that are lost) of the truth in
// total variation, and the chosen one within three times that + 2t + 2 ln(M/beta)/(epsilon n), t =
// sqrt(ln(M^2/beta)/(2n)) for M mixtures.
//
// Source: [AAL21] Algorithm 1; Theorem 3.2; Lemma 3.1.
// Differs: lists and choice look at the same rows and share the budget, where the source has two
// halves of the rows with the whole epsilon each: the kernel does not split rows at random, and
// both ways lose a factor 2 of the rows at most. No mixture is listed twice; and they are at most
// MostMixtures of at most MostGaussians, for which the net is coarsened (see Constants), else there
// is no release.
func (r *run) learnMixture(l decoded) (estimate.Outcome, error) {
	cover, reason, err := r.cover(l)
	if err != nil || reason != "" {
		return r.noRelease(reason), err
	}
	chosen, err := hypotheses.Choose(r.a, stepChoice, cover.List, hypotheses.Options{}, printed.Choice(r.a.Left()))
	if err != nil {
		return estimate.Outcome{}, err
	}
	mixture, err := cover.Mixture(chosen, nil)
	if err != nil {
		return program.Outsize(estimate.Diagnostics{}), nil
	}
	return r.outcome(mixture, cover), nil
}

// cover is the finest set that is small enough, or the reason why there is none.
func (r *run) cover(l decoded) (c cover, reason string, err error) {
	rungs := r.c.rungs(r.k, r.d, l.root != nil)
	for i := len(rungs) - 1; i >= 0; i-- {
		c.rung = rungs[i]
		n := r.c.lattice(c.step, l.root != nil)
		size := l.size(n)
		// the nets over neighbouring bins overlap, so there may be a fraction of these
		if size <= 16*mostListed {
			lines := l.lines(n)
			size = 1
			for _, line := range lines {
				size *= float64(len(line))
			}
			if size <= float64(r.c.MostGaussians) && hypotheses.CountMixtures(int(size), r.k, c.grains) <= float64(r.c.MostMixtures) {
				c.List, err = hypotheses.Mixtures(l.gaussians(lines), r.k, c.grains)
				return c, "", err
			}
		}
		reason = fmt.Sprintf("the lists are of about %.2g Gaussians, and mixtures of at most %d of them with weights in %dths are too many: at most %d "+
			"and %d can be enumerated", size, r.k, c.grains, r.c.MostGaussians, r.c.MostMixtures)
	}
	return cover{}, reason, nil
}
