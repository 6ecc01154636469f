// Package learners lists the learners of mixtures that a black box may run on blocks of rows, and
// hands them to the kernel: a line here, and both forms of the reduction have one more.
package learners

import (
	"cmp"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/learner/pearson"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// Names of the learners.
const (
	EM            = "em"
	Spectral      = "spectral"
	MoitraValiant = "moitra-valiant"
)

// Standard is the learner that a method runs where none is named. An Estimator that embeds it lets
// the asker choose.
type Standard string

// Learners are the names that a problem may give, the standard one first.
func (s Standard) Learners() []string {
	names := []string{EM, Spectral, MoitraValiant}
	at := slices.Index(names, string(s))
	return slices.Concat(names[at:at+1], names[:at], names[at+1:])
}

// Trims says whether the learner of that name can leave out the least likely rows
// (estimate.Problem.Trim).
func (Standard) Trims(name string) bool { return name == EM }

// seed of the learners' own choices: public, and the same for all fits.
const seed = 1

// Blocks says how t blocks are learned from, k components each, by the problem's learner, by
// somebody's own, or by the standard one.
func (s Standard) Blocks(p estimate.Problem, k, t int) blocks.Blocks {
	b := blocks.Blocks{Count: t, Seed: seed}
	switch name := cmp.Or(p.Learner, string(s)); {
	case p.Own != "":
		b.OfTerms = k
	case name == Spectral:
		b.Learner = spectral.Mixture{Components: k}
	case name == MoitraValiant:
		b.Learner = pearson.Learner{Components: k}
	default:
		b.Learner = em.Learner{Components: k, Trim: p.Trim}
	}
	return b
}

// Own is a learner of somebody's own as the terms of a session hold it, nil for none.
func Own(mixture learner.Mixture) func(k int) kernel.Learner {
	if mixture == nil {
		return nil
	}
	return func(k int) kernel.Learner { return own{k, mixture} }
}

// own is somebody's own learner, as the kernel runs learners.
type own struct {
	k       int
	mixture learner.Mixture
}

// Estimates is k.
func (o own) Estimates() int { return o.k }

// Coordinates is that of a component.
func (o own) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the mixture's components.
func (o own) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	components, err := o.mixture.LearnMixture(rows, o.k, seed)
	return learner.Estimates(components), err
}
