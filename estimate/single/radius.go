package single

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Constants of the private radius, [TYLERPRESS] Section 3.
const (
	radiusPart    = .1 // of what is left
	radiusGrid    = 62
	radiusQueries = 6
	radiusCharged = 7
	momentsLift2  = .1
	heavyTail     = "many rows are far from Gaussian (repeated values, zero-inflated columns or heavy tails): mean and covariance are the rows' own, " +
		"the Gaussian shape is not"
)

// findRadius2 bisects a geometric grid from d/8 to 1e4 d for the least radius^2 beyond which at most tau rows lie, tau the
// count at which the noise of a larger radius outweighs the bias of a smaller one. ok is false at the end of the grid.
//
// Source: [TYLERPRESS] Section 3, private radius rule.
func (r *run) findRadius2(frame query.Affine, floor float64) (r2 float64, ok bool, err error) {
	d := float64(frame.Out())
	budget := radiusPart * r.a.Left()
	mu := math.Sqrt(budget / radiusCharged)
	left := math.Sqrt(r.a.Left() - budget)
	tau := math.Max(math.Pow(d, 1.5)/left, 4/mu)
	value := func(i int) float64 { return floor * math.Pow(1.2, float64(i)) }
	lo, hi := 0, radiusGrid+1 // the answer is in [lo, hi]; hi means beyond the grid
	for range radiusQueries {
		if lo >= hi {
			break
		}
		mid := (lo + hi) / 2
		answer, err := r.a.Sum(r.prefix+"radius", query.TailCounts{Frame: frame, Thresholds: []float64{value(mid)}}, mu)
		if err != nil {
			return 0, false, err
		}
		if answer.Values[0] <= tau {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return value(lo), lo < radiusGrid, nil
}

// finalMoments is the last release for rows that are not Gaussian: a private radius, and no inversion.
//
// Source: [TYLERPRESS] Sections 3 and 4.3, moments mode.
func (r *run) finalMoments(st *state) (estimate.Outcome, error) {
	root := math.Sqrt(consistency(st.rank(), st.nu))
	frame, ok := st.frame(root)
	if !ok {
		return r.refuse("the preconditioner does not fit float64")
	}
	r2, inside, err := r.findRadius2(frame, float64(st.rank())/8)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !inside {
		return r.refuse("the rows reach too far for any clipping radius")
	}
	mean, second, noise, err := r.momentsAt(st, root, math.Sqrt(r2), momentsLift2, r.a.LeftMu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	if second == nil {
		return r.refuse("the preconditioner does not fit float64")
	}
	if !trusted(second, noise) {
		return r.refuse("the rows reach so far that the noise of the last release is as large as what it measures")
	}
	centered := mat.NewSymDense(len(mean), nil)
	centered.SymRankOne(second, -1, mat.NewVecDense(len(mean), mean))
	_, spread := flooredRoot(centered)
	if collapsed(spread) {
		return r.refuse("the noise hides the spread in some directions")
	}
	return r.finish(st, root, mean, spread, noise, []string{heavyTail})
}
