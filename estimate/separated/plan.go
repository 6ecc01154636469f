package separated

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

// The steps of the plan that do not explore.
const (
	stepCount   = "count"
	prefixUnits = "units: "
	stepZoom    = "zoom into nodes"
	stepView    = "components in the view"
	stepRest    = "rest outside the view"
	stepLast    = "components in all columns"
)

// Parts of the total mu^2: utility constants, in the proportions of the table in [KSSU19] Part C of
// the restatement.
const (
	countShare  = .005
	weakShare   = .05
	radiusShare = .015
	pcaShare    = .10
	treeShare   = .14
	lookShare   = .03
	regrowShare = .05
	restShare   = .02
	zoomShare   = .005
	regrowCost  = 1.5 * regrowShare // of a tree with all its levels, at most: see levelsPaid
	refineShare = .12               // what exploring leaves to the rounds at least
)

// How often a step can be taken at most: trees are grown for the root and twice for every level
// below.
const (
	mostTrees      = 1 + 2*(mostLevels-1)
	mostTreeLevels = 5 // see treeLevels
)

// steps is the worst case of a fit.
func steps(p estimate.Problem) []kernel.Step {
	moments := rings.PartsOf(query.ClippedMoments{}.Kind())
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countShare, Most: 1, Source: source}}
	out = append(out, program.Steps(prefixUnits, weakShare)...)
	return append(out,
		kernel.Step{Name: stepRadius, Query: query.DistanceCounts, Share: radiusShare, Most: 1, Source: "KSSU19 Section C.1"},
		kernel.Step{Name: stepLook, Query: moments, Share: pcaShare + mostLooks*(mostLevels-1)*lookShare, Most: mostLooks * mostLevels, Source: "KSSU19 Section C.2"},
		kernel.Step{Name: stepTree, Query: rings.PartsOf(rings.CellCounts{}.Kind()), Share: 1, Most: mostTrees * mostTreeLevels, Source: "KSSU19 Section C.3"},
		kernel.Step{Name: stepZoom, Query: rings.PartsOf(query.Histogram), Share: .4, Most: mostZooms * (mostLevels - 1), Source: "KSSU19 Section C.5"},
		kernel.Step{Name: stepView, Query: moments, Share: 1, Most: 8, Source: "KSSU19 Section C.6"},
		kernel.Step{Name: stepRest, Query: rings.PartsOf(query.DistanceCounts), Share: restShare, Most: 1, Source: "KSSU19 Section C.6"},
		kernel.Step{Name: stepLast, Query: moments, Share: 1, Most: 8, Source: "KSSU19 Section C.6"},
	)
}
