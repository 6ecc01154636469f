package general

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of tables whose clusters are far apart, guesses.
const (
	// A column has clusters far apart if its whole spread is this many times that of near pairs.
	gapRatio = 2.0
	// Boxes come first if pairs are this many times as far apart as near ones: levels of the tree
	// leave cells that rounds cannot shrink so much.
	farBoxed = 4096.0
	keepPart = .35 // of mu^2, that exploring leaves to the rounds
	// mostExplored is what the looks from the root on may cost of it, at most
	// (TestStepsHoldTheWorstCase of package explore).
	mostExplored = .4
	// Where components found apart hold less than mostApart of the rows, the rest starts as one
	// more, as wide as all: the cells of a wide one among narrow ones hold too few rows to be seen.
	mostApart = .88
	// Before the rounds come at most mostFrames with the part framePart of mu^2 each, as long as
	// some variance turns out to differ by more than the factor reframed.
	mostFrames = 5
	evenFrames = 2 // of spheres
	framePart  = .025
	reframed   = 3.0
	// .. in the first of them all components have one shape, known as well as that, with parts of
	// mu^2 between these
	alikeNoise            = .4
	leastAlike, mostAlike = .008, .04
	clearNoise            = .5 // relative noise of the second moment, beyond which that is not seen
)

// prefixApart comes before the steps that look for components apart.
const prefixApart = "apart: "

// gaps measures near pairs in every column, and returns whether some column has clusters far apart:
// then one frame for all rows shows little, and components are looked for level by level.
func (f *fit) gaps(ctx context.Context) (*recursive.Finder, bool, error) {
	x := &recursive.Finder{Run: f.Run, Context: ctx, Prefix: prefixApart, Space: f.space, Keep: keepPart, Without: f.method.Without.Finder}
	if err := x.PairUnits(); err != nil {
		return nil, false, err
	}
	for i, s := range x.Space.Scale {
		if !f.method.Without.Apart && f.space.Scale[i] > gapRatio*s {
			return x, true, nil
		}
	}
	return x, f.method.apart || x.PairSpread > 0 && !f.method.Without.Apart, nil
}

// apart returns a start from components that lie apart; overlaps within them are found later.
func (f *fit) apart(x *recursive.Finder) ([]component.Gaussian, error) {
	// After boxes that found nothing less is left: the looks then share it as they would the whole.
	x.Mu2 = math.Min(x.Mu2, f.Left()/(mostExplored+keepPart))
	if err := x.Find(); err != nil || x.Stopped {
		return nil, err
	}
	if err := x.Force(); err != nil {
		return nil, err
	}
	f.space, f.countSD, f.coarse = x.Space, x.CountSD(), true
	var start []component.Gaussian
	total := 0.0
	for _, g := range x.Found() {
		if g.Weight*f.Rows >= goneOpen || start == nil {
			g.Weight = math.Max(g.Weight, goneOpen/f.Rows)
			start, total = append(start, g), total+g.Weight
		}
	}
	if rest := x.Root(); len(start) > 1 && total < mostApart && !f.method.Without.WideRest {
		rest.Weight = 1 - total
		start, total = append(start, rest), 1
	}
	for j := range start {
		start[j].Weight /= total
	}
	r := f.rounds(start)
	if !f.method.Without.Faint {
		r.LikeOthers(f.Mu(framePart))
	}
	start = r.Components
	f.global = component.Joined(start[0], start[1:]...)
	return start, nil
}

// alike runs rounds in which the components found in coarse cells share one covariance.
func (f *fit) alike(ctx context.Context, r *privateem.Rounds) error {
	if f.method.Without.SharedShape || len(r.Components) <= 1 || r.Form != query.FullForm {
		return nil
	}
	r.SharedShape = true
	part := between(leastAlike, framePart*sq(r.SharedShapeNoise(f.Mu(framePart))/alikeNoise), mostAlike)
	if err := f.frames(ctx, r, part); err != nil {
		return err
	}
	r.SharedShape = false
	for j := range r.Components {
		r.Components[j].Uncertainty.Shape = math.Min(r.Differ, component.StartUncertainty().Shape)
	}
	return nil
}

// frames runs rounds of EM until variances change little: then components that were found in coarse
// cells are measured at their own scale, and pieces of the same component are merged, if the number
// is open. It leaves splitKeep to the rounds after it.
func (f *fit) frames(ctx context.Context, r *privateem.Rounds, part float64) error {
	most := mostFrames
	if f.even {
		most = evenFrames
	}
	for i, again := 0, true; again && i < most && f.Left() >= (part+splitKeep)*f.Mu2; i++ {
		if r.SharedShape {
			component.ShareShape(r.Components)
		}
		was := slices.Clone(r.Components)
		again = false
		if err := r.Round(f.SubBudget, program.StepRounds, f.Mu(part), false); err != nil {
			return err
		}
		if !f.narrow && !f.method.Without.NarrowFloor && r.Floor > 0 && r.Flat() {
			f.narrow, again = true, true
			r.Floor = f.floor()
		}
		for j, c := range r.Components {
			if recursive.Change(c, was[j], clearNoise) > reframed || resized(c, was[j]) > reframed {
				again = true
				r.Components[j].Uncertainty = component.StartUncertainty()
			}
		}
	}
	if f.Problem.Components > 0 || r.SharedShape {
		return nil
	}
	return r.Merge(ctx, f.Mu(f.schedule.final))
}

// resized returns the factor between the variances of now and was in the geometric mean, which is
// measurable under noise that hides each of them.
func resized(now, was component.Gaussian) float64 {
	return math.Exp(math.Abs(symmetric.LogDet(now.Cov)-symmetric.LogDet(was.Cov)) / float64(len(now.Mean)))
}
