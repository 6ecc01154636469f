package kssu19

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
)

// Constants are what the algorithms take besides the data: facts assumed of the mixture, and the
// constants that their analysis fixes. [Practical] has values with which they run on tables of 10^4
// to 10^6 rows, [Printed] those of the source. None of them matters to privacy: wrong ones cost an
// estimate, not a guarantee.
type Constants struct {
	// Radius is R, |mu_i| <= R, in the columns' units; SigmaMin and SigmaMax bound the square roots
	// of the top eigenvalues of the covariances (for PGE: of all eigenvalues). 0: unknown; the
	// algorithms then search a grid of all sizes and measure scales.
	Radius, SigmaMin, SigmaMax float64
	// LeastWeight is w_min, in (0, 1]. 0: 1/(2k).
	LeastWeight float64
	// Kept is how many radii of the ball that PGLOC finds around most of the rows of a node are
	// kept; 12 as printed. Private PCA is clipped there, and its noise grows with the square.
	Kept float64
	// Condition bounds, if SigmaMin and SigmaMax are unknown, the condition number of a covariance
	// divided by d (PGE halves its widest directions until this many are narrow). At least 1.
	Condition float64
	// FailureProb is beta in the logarithms.
	FailureProb float64
	// Secluded is c of a c-terrific ball. Sought is the factor that TerrificRadius looks with: with
	// c itself nothing is ever found in the projection, with c(1+c/10)+c/10 it is
	// (TestErratumSought).
	Secluded, Sought float64
	// Candidates is the most centres that TerrificBall tries for a part, those of the fullest
	// boxes.
	Candidates int
	// SizeFactor is what Lemma 4.2 multiplies its bound of t by, 1000 as printed; 0: t is what the
	// noise of the searches asks for.
	SizeFactor float64
	// PCAFactor times ln(nk/beta) is the number of directions that the warm-up learner keeps, if
	// more than k; 512 as printed.
	PCAFactor float64
	// RadiusSlack times ln(grid/beta)/epsilon, epsilon that of the choice of a radius, is Gamma of
	// GoodRadius.
	RadiusSlack float64
	// TerrificSlack is Gamma/t of TerrificRadius; 0: (24/e1) ln(2 grid/beta) as printed.
	// SecludedSlack is 2 Gamma/t of the three counts of TerrificBall; 0: as printed.
	TerrificSlack, SecludedSlack float64
	// Octaves is how far below the radius of a node its terrific balls are sought, if SigmaMin is
	// unknown.
	Octaves int
	// BoxDimensions is q of GoodCenter, at most 8; BoxSide b, a box's side in radii; BoxAttempts M,
	// how many shifts are tried.
	BoxDimensions, BoxAttempts int
	BoxSide                    float64
	// SubsetRows is about how many rows of a node the searches for radii look at, in time that is
	// quadratic in the rows of a component: more, where the noise asks for more, and no more for a
	// longer table. See [scores.Selection].
	SubsetRows int
	// PartitionShare is the part of mu^2 for the partition; the rest estimates the components.
	PartitionShare float64
	// RowsAside is what step 2 of Algorithm 1 leaves out of its ball, as a part of n w_min.
	RowsAside float64
}

// Practical returns constants with which the algorithms run.
func Practical() Constants {
	return Constants{
		Kept:           .75,
		Condition:      30,
		FailureProb:    .1,
		Secluded:       5,
		Sought:         8.5,
		Candidates:     16,
		RadiusSlack:    1.5,
		TerrificSlack:  .25,
		SecludedSlack:  .25,
		Octaves:        20,
		BoxDimensions:  4,
		BoxAttempts:    12,
		BoxSide:        8,
		SubsetRows:     2000,
		PartitionShare: .5,
		RowsAside:      .05,
	}
}

// Printed returns the constants of the source, as far as it states them: the slacks of its
// analysis, the size that Lemma 4.2 asks for, no subset of rows. papers/KSSU19.md has them beside
// those of Practical.
//
// Source: [KSSU19] Lemma 4.2; Algorithm 1; Section B.4 of the restatement.
// Differs: TerrificRadius looks with c(1+c/10)+c/10 in place of c, with which Algorithm 1 would
// find nothing in the projection.
func Printed() Constants {
	c := Practical()
	c.Sought = c.Secluded*(1+c.Secluded/10) + c.Secluded/10
	c.Kept, c.RadiusSlack, c.TerrificSlack, c.SecludedSlack = 12, 4, 0, 0
	c.SizeFactor, c.PCAFactor = 1000, 512
	c.SubsetRows = math.MaxInt32
	return c
}

// with returns the constants with what is publicly known of a mixture in place of what they assume:
// the ball of radius R that holds every component's mean, the bounds of every component's
// eigenvalues, and w_min.
func (c Constants) with(f estimate.Facts) Constants {
	held := func(v float64) float64 { return math.Max(1/mostRadius, math.Min(mostRadius, v)) }
	if f.KnowsMean && f.MeanWithin > 0 {
		c.Radius = held(f.MeanWithin)
	}
	if f.KnowsEigenvalues() {
		c.SigmaMin, c.SigmaMax = held(math.Sqrt(f.Eigenvalues[0])), held(math.Sqrt(f.Eigenvalues[1]))
	}
	if f.LeastWeight > 0 {
		c.LeastWeight = f.LeastWeight
	}
	return c
}

// uses returns the facts that with makes use of: R bounds a grid only beside sigma.
func uses(f estimate.Facts) estimate.Uses {
	return estimate.Uses{Eigenvalues: f.KnowsEigenvalues(), Mean: f.KnowsEigenvalues() && f.MeanWithin > 0}
}

// leastWeight returns w_min for k components.
func (c Constants) leastWeight(k int) float64 {
	if c.LeastWeight > 0 {
		return c.LeastWeight
	}
	return 1 / float64(2*k)
}

// inBall returns the constants for rows in a ball of the given radius, which was released: radii up
// to it, and down to Octaves below it.
func (c Constants) inBall(radius float64) Constants {
	c.Radius, c.SigmaMax, c.SigmaMin = radius, radius, radius*math.Exp2(-float64(c.Octaves))
	return c
}

// mostRadius is the largest radius of the grid of all sizes: 2^150.
const mostRadius = 0x1p150

// radii returns the grid of GoodRadius in l dimensions, a half-octave apart: from sigma_min
// sqrt(l)/8 to R + sigma_max sqrt(l) where these are known, else from 2^-150 to 2^150.
//
// Source: [KSSU19] Theorem 3.2 (its bounds); Section B.3 of the restatement.
func (c Constants) radii(l int) []float64 {
	low, high := 1/mostRadius, mostRadius
	root := math.Sqrt(float64(l))
	if c.SigmaMin > 0 {
		low = math.Max(low, c.SigmaMin*root/8)
	}
	if c.Radius > 0 && c.SigmaMax > 0 {
		high = math.Max(low, math.Min(high, c.Radius+c.SigmaMax*root))
	}
	var grid []float64
	for r := low; ; r *= math.Sqrt2 {
		if grid = append(grid, r); r >= high {
			return grid
		}
	}
}

// radiiBelow returns the grid of TerrificRadius in l dimensions, upwards to top: from sqrt(l)
// sigma_min/2, or Octaves below top.
//
// Source: [KSSU19] Algorithm 1 (steps 3 and 6); Section B.4 of the restatement.
func (c Constants) radiiBelow(top float64, l int) []float64 {
	steps := 2 * c.Octaves
	if low := c.SigmaMin * math.Sqrt(float64(l)) / 2; low > 0 {
		steps = max(0, min(2*300, int(math.Ceil(2*math.Log2(top/low)))))
	}
	grid := make([]float64, steps+1)
	for i := range grid {
		grid[i] = math.Min(1e150, top*math.Exp2(-float64(steps-i)/2))
	}
	return grid
}
