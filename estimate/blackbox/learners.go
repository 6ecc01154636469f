package blackbox

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/kernel/blocks"
)

// standard is the learner that runs where none is named.
const standard = learners.EM

// Learners are the names that a problem may give, the default first.
func (Estimator) Learners() []string { return learners.Names(standard) }

// Trims says whether the learner can leave out the least likely rows.
func (Estimator) Trims(learner string) bool { return learners.Trims(learner) }

// learning says how t blocks are learned from.
func learning(p estimate.Problem, t int) blocks.Blocks {
	return learners.Blocks(p, components(p), t, standard)
}
