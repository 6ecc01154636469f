package columns

import (
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

const source = "TYLERPRESS Section 1"

// againFactor is how many times what it needs otherwise a search for scales may have for
// comparisons that are made again.
const againFactor = (scaleQueries + scaleAgain) / float64(scaleQueries)

// The steps of this package. A method states the share of mu^2 that they may have.
var (
	// Of MeasureUnits: a column's centre, how many rows differ from it, and its scale; of
	// UnitsConfig.WeakMu2, and of UnitsConfig.SparseMu2.
	stepCenter = parts.Step{Name: "center", Query: query.ColumnCounts, Share: 1, Most: centerQueries, Source: source}
	stepVaried = parts.Step{Name: "varied", Query: query.ColumnCounts, Share: 1, Most: 2, Source: source}
	stepScale  = parts.Step{Name: "scale", Query: query.ColumnCounts, Share: (1 - VariedPart) * againFactor, Most: scaleQueries + scaleAgain, Source: source}
	WeakStep   = parts.Step{Name: "weak scale", Query: query.ColumnCounts, Share: againFactor, Most: scaleQueries + scaleAgain, Source: source}
	SparseStep = parts.Step{Name: "octaves", Query: query.Histogram, Share: 1, Most: 1, Source: source}
	// Of SpreadByPairs, FindCenters, PairUnits, and of MeasureReach and Closer.
	SpreadStep    = parts.Step{Name: "spread", Query: query.PairOctaves{}.Kind(), Share: 1, Most: 1, Source: source}
	CentersStep   = parts.Step{Name: "place", Query: query.ColumnCounts, Share: 1, Most: centerQueries, Source: source}
	PairUnitsStep = parts.Step{Name: "near pairs", Query: query.PairOctaves{}.Kind(), Share: 1, Most: 1, Source: "KSSU19 Section E"}
	ReachStep     = parts.Step{Name: "columns", Query: query.Histogram, Share: 1, Most: 5, Source: "TYLERPRESS Section 3"}
	// Of Release.
	stepRadii   = parts.Step{Name: "column radii", Query: query.DistanceCounts, Share: radiusPart, Most: 1, Source: "TYLERPRESS Section 3"}
	MomentsStep = parts.Step{Name: "column moments", Query: query.ClippedMoments{}.Kind(), Share: 1, Most: 1, Source: "TYLERPRESS Section 3"}
)

// UnitsSteps returns the lines of MeasureUnits; the shares are the largest parts of the total mu^2.
func UnitsSteps(prefix string, centerShare, scaleShare float64) []kernel.Step {
	return []kernel.Step{stepCenter.In(prefix, centerShare), stepVaried.In(prefix, scaleShare), stepScale.In(prefix, scaleShare)}
}

// OthersSteps returns the lines of FindOthers; the shares are the largest parts of the total mu^2.
func OthersSteps(prefix string, variedShare, sparseShare float64) []kernel.Step {
	return []kernel.Step{stepVaried.Times(1).In(prefix, variedShare), SparseStep.In(prefix, sparseShare)}
}

// MomentsSteps returns the lines of Release, for that many releases.
func MomentsSteps(prefix string, share float64, most int) []kernel.Step {
	return []kernel.Step{stepRadii.Times(most).In(prefix, share), MomentsStep.Times(most).In(prefix, share)}
}
