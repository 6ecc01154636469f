package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Estimate is a Monte Carlo estimate with its standard error.
type Estimate struct {
	Value  float64
	StdErr float64 // 0 where the value is exact
}

// densityDistances are the distances that one set of rows estimates together.
//
// TV(a, b) = 1/2 integral of |a - b| is estimated from rows drawn from the balanced mixture
// (a+b)/2, half from each: the mean of |a - b| / (a + b), which lies in [0, 1], so that the
// standard error is at most 1/(2 sqrt rows). For identical models it is exactly 0.
//
// Hellinger's H(a, b), H^2 = 1 - integral of sqrt(a b), is GaussianHellinger if each is one
// Gaussian, else the mean of 1 - sqrt(a b) / ((a+b)/2).
//
// KL(a, b) = integral of a log(a/b) in nats is GaussianKL if each is one Gaussian; +Inf if a has a
// component whose support is not that of a component of b; else the mean of (a log(a/b) + b - a) /
// ((a+b)/2), which has the right mean because a and b have the same mass, and is never negative.
type densityDistances struct{ tv, hellinger, klAB, klBA Estimate }

// monteCarlo estimates the distances of two models that checkPair accepts.
func monteCarlo(ctx context.Context, a, b *Mixture, rows int, rng *rand.Rand) (densityDistances, error) {
	// One reference measure for both: densities are comparable only on a common support.
	s := newSupport(present(a, b))
	scoreA, scoreB := newScorer(a, s), newScorer(b, s)
	scoreA.cells, scoreB.cells = nil, nil // distances do not change under the maps of columns
	tv, h, ab, ba := &halves{}, &halves{}, &halves{}, &halves{}
	row := make([]float64, a.Dim())
	for side, m := range []*Mixture{a, b} {
		sampler := mustSampler(m)
		sampler.cells, sampler.shared, sampler.bends, sampler.boxes = nil, nil, nil, boxes(m.Cells) // of densities, which use limits and no units
		for range (rows + side) / 2 {
			if err := ctx.Err(); err != nil {
				return densityDistances{}, err
			}
			sampler.Row(row, rng)
			t := logRatio(scoreA.LogDensity(row), scoreB.LogDensity(row))
			tv.add(side, math.Abs(math.Tanh(t/2)))
			h.add(side, versine(t/2))
			ab.add(side, klTerm(t))
			ba.add(side, klTerm(-t))
		}
	}
	out := densityDistances{tv: tv.estimate(), hellinger: rootEstimate(h.estimate()), klAB: ab.estimate(), klBA: ba.estimate()}
	out.exact(a, b)
	return out, nil
}

// exact replaces the estimates that have a closed form.
func (d *densityDistances) exact(a, b *Mixture) {
	ga, gb := present(a), present(b)
	if len(ga) == 1 && len(gb) == 1 && boxes(a.Cells) == nil && boxes(b.Cells) == nil {
		d.hellinger = Estimate{Value: GaussianHellinger(ga[0], gb[0])}
		d.klAB = Estimate{Value: GaussianKL(ga[0], gb[0])}
		d.klBA = Estimate{Value: GaussianKL(gb[0], ga[0])}
		return
	}
	if !absolutelyContinuous(ga, gb) {
		d.klAB = Estimate{Value: math.Inf(1)}
	}
	if !absolutelyContinuous(gb, ga) {
		d.klBA = Estimate{Value: math.Inf(1)}
	}
}

// absolutelyContinuous reports whether b's mixture gives mass wherever a's does. A Gaussian gives
// mass to no affine space smaller than its support, so each component of a needs one of b with the
// very same support.
func absolutelyContinuous(a, b []Gaussian) bool {
	for _, g := range b {
		if fullRank(g.Cov) && allFullRank(a) {
			return true
		}
	}
	for _, ga := range a {
		if !slices.ContainsFunc(b, func(gb Gaussian) bool { return relate(ga, gb).sameSupport(ga, gb) }) {
			return false
		}
	}
	return true
}

func allFullRank(gs []Gaussian) bool {
	return !slices.ContainsFunc(gs, func(g Gaussian) bool { return !fullRank(g.Cov) })
}

// minRows is the fewest Monte Carlo rows that give a standard error: two from each model.
const minRows = 4

func checkPair(a, b *Mixture, rows int) error {
	if err := a.Validate(); err != nil {
		return fmt.Errorf("model a: %w", err)
	}
	if err := b.Validate(); err != nil {
		return fmt.Errorf("model b: %w", err)
	}
	if a.Dim() != b.Dim() {
		return fieldError("columns", fmt.Sprintf("the %d of model a", a.Dim()), fmt.Sprintf("%d in model b", b.Dim()), "compare models of the same columns")
	}
	if rows < minRows {
		return fieldError("rows", fmt.Sprintf("at least %d", minRows), rows, "draw some 100000 rows for three digits")
	}
	return nil
}

// logRatio returns log(a/b), 0 where both densities vanish.
func logRatio(logA, logB float64) float64 {
	if t := logA - logB; !math.IsNaN(t) {
		return t
	}
	return 0
}

// versine returns 1 - 1/cosh(u) = 1 - sqrt(ab)/((a+b)/2) for u = 1/2 log(a/b).
func versine(u float64) float64 {
	if math.Abs(u) > 1 {
		return 1 - 1/math.Cosh(u)
	}
	s := math.Sinh(u / 2)
	return 2 * s * s / math.Cosh(u)
}

// klTerm returns (a t + b - a) / ((a+b)/2) for t = log(a/b).
func klTerm(t float64) float64 {
	if math.IsInf(t, -1) {
		return 2
	}
	if math.Abs(t) < 1e-3 {
		return t * t / 2 * (1 + t/6 - t*t/12) // Taylor: the terms below cancel
	}
	return 2*t/(1+math.Exp(-t)) - 2*math.Tanh(t/2)
}

// halves is a sample in two strata of equal weight, with running means and sums of squared
// deviations.
type halves struct {
	n, mean, squares [2]float64
}

func (h *halves) add(side int, x float64) {
	if h.n[side]++; math.IsInf(h.mean[side], 1) {
		return // and remains so
	}
	off := x - h.mean[side]
	h.mean[side] += off / h.n[side]
	h.squares[side] += off * (x - h.mean[side])
}

func (h *halves) estimate() Estimate {
	variance := 0.0
	for side, n := range h.n {
		variance += h.squares[side] / max(1, n-1) / n / 4
	}
	if math.IsNaN(variance) {
		variance = 0 // a term was +Inf, and so is the mean
	}
	return Estimate{Value: h.mean[0]/2 + h.mean[1]/2, StdErr: math.Sqrt(variance)}
}

// rootEstimate turns an estimate of H^2 into one of H, by the delta method.
func rootEstimate(e Estimate) Estimate {
	root := math.Sqrt(e.Value)
	if root == 0 {
		return Estimate{}
	}
	return Estimate{Value: root, StdErr: e.StdErr / (2 * root)}
}
