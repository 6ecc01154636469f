package kmssu22

import "math"

// Constants are what the algorithms take besides the data: the constants of their analysis, most of
// which the source leaves open. None of them matters to privacy: wrong ones cost an estimate, not a
// guarantee. [Practical] has values that run, [Printed] those of the source.
type Constants struct {
	// FailureProb is beta in the logarithms.
	FailureProb float64
	// EigenvalueRatio is the ratio of neighbouring eigenvalues above which the coarse
	// preconditioner is called.
	EigenvalueRatio float64
	// Cumulative is the ratio of the largest and the next eigenvalue above which the fine
	// preconditioner is called.
	Cumulative float64
	// Remaining is gamma of the fine preconditioner, which leaves a ratio of 1/(16 gamma^2). At
	// most 1/4: nothing is widened.
	Remaining float64
	// Bound is by how much an eigenvalue may exceed its estimate, after preconditioning: rows are
	// clipped at its square root times more.
	Bound float64
	// LeastRows and RowsPerColumn times d bound the rows of a block from below.
	LeastRows, RowsPerColumn float64
	// EigenvalueMass and CenterMass are the shares of the blocks that are expected in the fullest
	// cell of a histogram of eigenvalues and of projected points: the number of blocks is what the
	// threshold asks for divided by them.
	EigenvalueMass, CenterMass float64
	// Radius is C2 in the radius of a ball that holds most projections of a point, Clip is C3: they
	// are clipped at Clip sqrt(ln t) of that radius.
	Radius, Clip float64
	// PointsPerDimension and MorePoints make q = PointsPerDimension k + MorePoints reference
	// points.
	PointsPerDimension, MorePoints int
	// LocationSide is the side of the cells in which the mean is located, in units of the largest
	// standard deviation.
	LocationSide float64
}

// Practical returns constants with which the algorithms run.
func Practical() Constants {
	return Constants{
		FailureProb:        .1,
		EigenvalueRatio:    10,
		Cumulative:         5,
		Remaining:          .25,
		Bound:              2,
		LeastRows:          50,
		RowsPerColumn:      5,
		EigenvalueMass:     .3,
		CenterMass:         .4,
		Radius:             .75,
		Clip:               2,
		PointsPerDimension: 2,
		MorePoints:         2,
		LocationSide:       .5,
	}
}

// Printed returns the constants of the source, as far as it states them: ratios of 1000 are called
// constant, and 40 is what the coarse preconditioner may leave of a gap. They ask for some hundred
// times the rows.
//
// Source: [KMSSU22] The loop; Algorithm 2.
func Printed() Constants {
	c := Practical()
	c.EigenvalueRatio, c.Cumulative, c.Bound = 1000, 1000, 40
	c.Radius, c.PointsPerDimension, c.MorePoints = 1, 1, 10
	return c
}

// points returns q for a subspace of dimension k.
func (c Constants) points(k int) int { return c.PointsPerDimension*k + c.MorePoints }

// blockRows returns the least number of rows of a block in d columns.
func (c Constants) blockRows(d int) float64 { return math.Max(c.LeastRows, c.RowsPerColumn*float64(d)) }
