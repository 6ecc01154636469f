package kssu19

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts/columns"
)

// The steps that sample and aggregate takes on the rows, before there are blocks.
const (
	stepSampleCount   = "count"
	prefixSampleUnits = "units: "
	stepSampleRadius  = "radius of the rows"
)

// Parts of the total mu^2 for them: utility constants.
const (
	sampleCountShare  = .005
	sampleWeakShare   = .01
	sampleNearShare   = .04
	sampleRadiusShare = .01
)

// rowSteps returns the steps of findRows.
func rowSteps() []kernel.Step {
	steps := []kernel.Step{{Name: stepSampleCount, Query: query.Count{}.Kind(), Share: sampleCountShare, Most: 1, Source: "KSSU19 Section B.11"}}
	steps = append(steps, program.Steps(estimate.Problem{}, prefixSampleUnits, sampleWeakShare)...)
	return append(steps, columns.PairUnitsStep.In(prefixSampleUnits, sampleNearShare),
		kernel.Step{Name: stepSampleRadius, Query: query.DistanceCounts, Share: sampleRadiusShare, Most: 1, Source: "KSSU19 Section C.1"})
}

// tooFew returns the reason why a problem with so many rows, 0 for an unknown number, is not tried,
// or nil: public or released facts.
func (e SampleAggregate) tooFew(p estimate.Problem, rows float64) *estimate.NoRelease {
	need := e.rowsNeeded(p)
	switch {
	case p.Components < 1:
		return &estimate.NoRelease{Reason: "sample-and-aggregate has to know the number of components", Advice: "state it, or use the method \"separated\""}
	case math.IsInf(need, 1):
		return &estimate.NoRelease{Reason: fmt.Sprintf("no number of blocks shows the estimates of %d components through the noise at this budget", p.Components),
			Advice: "use a larger epsilon, fewer components, or the method \"separated\""}
	case rows == 0 || rows >= need:
		return nil
	}
	return &estimate.NoRelease{
		Reason: fmt.Sprintf("about %s rows make too few blocks of %.0f rows for the noise, which is %d times that of a query of rows",
			paper.RowsText(math.Max(0, rows)), e.blockRows(p), p.Components),
		Advice: fmt.Sprintf("needs about %s rows at this budget; or use the method \"separated\"", paper.RowsText(estimate.AboutRows(need))),
	}
}

func (f *aggregate) dim() int { return f.space.Dim() }

// cut runs the learner of b on blocks of the rows in the ball, in the units of the space.
func (f *aggregate) cut(b blocks.Blocks) (err error) {
	b.Map, b.Radius = f.space.Affine(make([]float64, f.dim()), mat.DenseCopyOf(symmetric.Identity(f.dim()))), f.radius
	f.pooled, err = blocks.Pool(f.SubBudget, b)
	return err
}

// findRows measures the number of rows, the units of the columns, and the ball that holds what
// belongs together. Not nil: the end of the run.
func (f *aggregate) findRows() (*estimate.Outcome, error) {
	if err := f.CountRows(stepSampleCount, sampleCountShare); err != nil {
		return nil, err
	}
	if none := f.e.tooFew(f.Problem, math.Max(1, f.Rows)); none != nil {
		return &estimate.Outcome{Diagnostics: f.Notes, NoRelease: none}, nil
	}
	share, sharp := program.Share(f.Problem, f.Problem.Columns, f.Rows)
	if !sharp {
		out := f.Refuse("about %.0f rows are too few to find the units of %d columns", f.Rows, f.Problem.Columns)
		return &out, nil
	}
	if out, done, err := f.Open(program.Config(prefixSampleUnits, share, sampleWeakShare, f.Mu2), 1); done || err != nil {
		return &out, err
	}
	f.space = f.Space
	if err := f.near(); err != nil {
		return nil, err
	}
	f.space = program.OneUnit(f.space, f.Problem.Covariance)
	return f.findBall()
}

// near puts the columns in the units of their near pairs, which are those of the components: whole
// spreads are as wide as the gaps between them. Where near pairs would not show, all stays as it
// is.
//
// Source: [KSSU19] Section E of the restatement, stage A'.
func (f *aggregate) near() error {
	if !columns.PairsSeen(f.Problem.Relation, f.Problem.Columns, f.Rows, f.Mu(sampleNearShare)) {
		return nil
	}
	least := make([]float64, f.dim())
	for i, j := range f.space.Columns {
		least[i] = f.Grids[j].Unit
	}
	units, _, err := columns.PairUnits(f.SubBudget, prefixSampleUnits, f.space.Columns, f.space.Scale, least, f.Rows, f.Mu(sampleNearShare))
	if err != nil {
		return err
	}
	f.space.Scale = slices.Clone(f.space.Scale)
	for i, u := range units {
		if u > 0 {
			f.space.Scale[i] = u
		}
	}
	return nil
}

// Utility constants of the ball.
const (
	ballLow, ballHigh = -8, 80 // half-octaves, in units of the columns
	ballCore          = .9     // of the rows are in it in any case
	ballPart          = .01    // a half-octave beyond counts if it holds this part of the rows
	ballSDs           = 4.0    // .. and this many noise sds
	ballGap           = 6      // half-octaves that may be empty before it
)

// findBall finds the ball that holds what belongs together: nine rows in ten, and from there
// outwards over small gaps.
//
// Source: [KSSU19] Section C.1, stage R, of the restatement.
func (f *aggregate) findBall() (*estimate.Outcome, error) {
	var edges []float64
	for e := ballLow; e <= ballHigh; e++ {
		edges = append(edges, math.Exp2(float64(e)/2))
	}
	q := query.Counts{Map: f.space.Affine(make([]float64, f.dim()), mat.DenseCopyOf(symmetric.Identity(f.dim()))), Edges: [][]float64{edges}}
	ans, err := f.Sum(stepSampleRadius, q, f.Mu(sampleRadiusShare))
	if err != nil {
		return nil, err
	}
	last, within := -1, 0.0
	low := math.Max(ballSDs*ans.Sigma, ballPart*f.Rows)
	for b := range edges {
		count := ans.Values[b]
		if within < ballCore*f.Rows && count > ballSDs*ans.Sigma || last >= 0 && b-last <= ballGap && count > low {
			last = b
		}
		within += count
	}
	if last < 0 {
		out := f.Refuse("no distance from the centre holds enough rows to be seen")
		return &out, nil
	}
	f.radius = edges[last]
	return nil, nil
}
