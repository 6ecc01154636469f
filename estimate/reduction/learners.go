package reduction

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
	"github.com/gauze-dp/gauze/learner/pearson"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// Names of the learners.
const (
	nameEM            = "em"
	nameSpectral      = "spectral"
	nameMoitraValiant = "moitra-valiant"
)

// Learners are the names that a problem may give, the default first.
func (Estimator) Learners() []string { return []string{nameEM, nameSpectral, nameMoitraValiant} }

// Trims says whether the learner can leave out the least likely rows.
func (Estimator) Trims(learner string) bool { return learner == nameEM }

// seed of the learners' own choices: public, and the same for all fits.
const seed = 1

// blocks says how t blocks are learned from.
func blocks(p estimate.Problem, k, t int) kernel.Blocks {
	b := kernel.Blocks{Count: t, Seed: seed}
	switch {
	case p.Own != nil:
		b.Own = own{k: k, mixture: p.Own}
	case p.Learner == nameSpectral:
		b.Learner = spectral.Mixture{Components: k}
	case p.Learner == nameMoitraValiant:
		b.Learner = pearson.Learner{Components: k}
	default:
		b.Learner = em.Learner{Components: k, Trim: p.Trim}
	}
	return b
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
