package axisaligned

import (
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

const stepCount, stepCells = "count", "rows with cells"

// Utility constants, guesses: parts of the total mu^2 for each count of rows, and for the missing
// cells of components.
const countPart, gapsPart = .01, .02

// A Tuning is the constants of the method. They affect utility only; tests and experiments may set
// them, and no request can. All are guesses.
type Tuning struct {
	// Of mu^2: for the histogram of spacings, for histograms of columns, and for trees of counts.
	Spacings, Counts, Tree float64
	Keep                   float64 // of mu^2, what is left for trees and rounds whatever boxes would use
	Last                   float64 // of what is left then, for the last round
	Overall                float64 // of mu^2, for mean and variances of all rows
	Rounds                 int     // of EM
	MostRounds             int     // .. if there are more components than requested at first
	Misfit                 float64 // of components, before it is measured: see component.ClippingRadius2
	LeastRows              float64 // a component with fewer rows is deleted after the last round
	Clear                  float64 // .. and one whose rows are fewer than this many sds of their noise
	MostUncertainty        float64 // of a weight, relative variance, if k was not requested
	LeastHeld              float64 // boxes that hold less than this part of the rows say nothing of the others
}

// Usual returns the constants that run.
func Usual() Tuning {
	return Tuning{Spacings: .22, Counts: .16, Tree: .16, Keep: .16, Last: .5, Overall: .05, Rounds: 3, MostRounds: 6,
		Misfit: 1, LeastRows: 5, Clear: 2.5, MostUncertainty: .12, LeastHeld: .3}
}

// With returns the estimator with constants of its own.
func (e Estimator) With(t Tuning) Estimator {
	e.tuning = t
	return e
}

// boxed returns the way by boxes.
func (t Tuning) boxed() program.Boxed {
	return program.Boxed{SpacingsStep: "gaps", CountsStep: "histograms", TreeStep: "trees of counts",
		Spacings: t.Spacings, Counts: t.Counts, Tree: t.Tree, Keep: t.Keep, Last: t.Last, Overall: t.Overall}
}

// steps returns the worst case of a fit.
func (e Estimator) steps(p estimate.Problem) []kernel.Step {
	out := []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source},
		{Name: stepCells, Query: query.Presence.Of(query.Count{}.Kind()), Share: countPart, Most: 1, Source: source},
		{Name: program.StepMissing, Query: query.KindCategoryCounts, Share: gapsPart, Most: program.MostMissing}}
	out = append(out, e.tuning.boxed().Steps(p.Columns)...)
	out = append(out, program.RoundSteps(source, 1, e.tuning.MostRounds, 1)...)
	return append(out, e.one.Steps(plain(p), prefixOne, 1)...)
}

// prefixOne comes before the steps of the Gaussian that a fit may end in.
const prefixOne = "one: "

// plain returns the problem of one Gaussian for all rows.
func plain(p estimate.Problem) estimate.Problem {
	p.Components, p.MaxComponents = 1, 1
	if p.Covariance != estimate.Spherical {
		p.Covariance = estimate.Diagonal
	}
	return p
}
