package separated

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// The steps of the plan that do not explore.
const (
	stepCount   = "count"
	prefixUnits = "units: "
	stepView    = "components in the view"
	stepRest    = "rest outside the view"
	stepLast    = "components in all columns"
)

// Parts of the total mu^2: utility constants, in the proportions of the table in [KSSU19] Part C of
// the restatement.
const (
	countShare  = .005
	weakShare   = .05
	restShare   = .02
	refineShare = .12 // what exploring leaves to the rounds at least
)

// steps returns the worst case of a fit.
func steps(p estimate.Problem) []kernel.Step {
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countShare, Most: 1, Source: source}}
	out = append(out, program.Steps(p, prefixUnits, weakShare)...)
	out = append(out, recursive.Steps("", 1)...)
	moments := query.PartsOf(query.ClippedMoments{}.Kind())
	return append(out,
		kernel.Step{Name: stepView, Query: moments, Share: 1, Most: 8, Source: "KSSU19 Section C.6"},
		kernel.Step{Name: stepRest, Query: query.PartsOf(query.DistanceCounts), Share: restShare, Most: 1, Source: "KSSU19 Section C.6"},
		kernel.Step{Name: stepLast, Query: moments, Share: 1, Most: 8, Source: "KSSU19 Section C.6"},
		program.OutsideStep(source),
	)
}
