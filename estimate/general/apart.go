package general

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/estimate/program/explore"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
	"github.com/gauze-dp/gauze/parts/em"
)

// Utility constants of tables with gaps, guesses.
const (
	// A column holds a gap if its whole spread is so many times that of near pairs.
	gapRatio = 2.0
	// Boxes come first where pairs are so many times as far apart as near ones: levels of the tree
	// leave cells that rounds cannot shrink so much.
	farBoxed = 4096.0
	keepPart = .35 // of mu^2, that exploring leaves to the rounds
	// Where components found apart hold less than mostApart of the rows, the rest starts as one
	// more, as wide as all: the cells of a wide one among narrow ones hold too few rows to be seen.
	mostApart = .88
	// Components found apart are split further if their rows are as unlike a Gaussian's as that.
	unlike = .06
	// Before the rounds come at most mostFrames with the part framePart of mu^2 each, as long as
	// some variance turns out to differ by more than the factor reframed.
	mostFrames = 5
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

// gaps measures near pairs in every column, and says whether some column holds a gap: then one
// frame for all rows shows little, and components are looked for level by level.
func (f *fit) gaps(ctx context.Context) (*explore.Finder, bool, error) {
	x := &explore.Finder{Run: f.Run, Context: ctx, Prefix: prefixApart, Space: f.space, Keep: keepPart}
	if err := x.Near(); err != nil {
		return nil, false, err
	}
	for i, s := range x.Space.Scale {
		if f.space.Scale[i] > gapRatio*s {
			return x, true, nil
		}
	}
	return x, x.Far > 0, nil
}

// apart is a start from components that lie apart, and what overlaps within them: each is split as
// the whole table would be where it holds no gap.
func (f *fit) apart(ctx context.Context, x *explore.Finder) ([]component.Gaussian, error) {
	if err := x.Find(); err != nil {
		return nil, err
	}
	alone := len(x.Found()) == 1
	if err := x.Within(func(c *coreset.Coreset) (*coreset.Mixture, error) { return f.within(ctx, c, alone) }); err != nil {
		return nil, err
	}
	if err := x.Force(); err != nil {
		return nil, err
	}
	f.space, f.countSD, f.misfit, f.coarse = x.Space, x.CountSD(), x.Misfit, true
	var start []component.Gaussian
	total := 0.0
	for _, g := range x.Found() {
		if g.Weight*f.Rows >= goneOpen || start == nil {
			g.Weight = math.Max(g.Weight, goneOpen/f.Rows)
			start, total = append(start, g), total+g.Weight
		}
	}
	if rest := x.Root(); len(start) > 1 && total < mostApart {
		rest.Weight = 1 - total
		start, total = append(start, rest), 1
	}
	for j := range start {
		start[j].Weight /= total
	}
	f.global = component.Joined(start[0], start[1:]...)
	return start, nil
}

// within is the best mixture for the rows of one component, where their number is open.
func (f *fit) within(ctx context.Context, c *coreset.Coreset, alone bool) (*coreset.Mixture, error) {
	if f.Problem.Components > 0 || !alone && c.Misfit() < unlike {
		return nil, nil
	}
	return f.best(ctx, c, f.open(c))
}

// frames are rounds until components that were found in coarse cells are seen at their own scale.
func (f *fit) frames(r *em.Rounds) error {
	if len(r.Components) > 1 && r.Form == query.FullForm {
		r.Alike = true
		part := between(leastAlike, framePart*sq(r.AlikeNoise(f.Mu(framePart))/alikeNoise), mostAlike)
		if err := f.reframe(r, mostFrames, part); err != nil {
			return err
		}
		r.Alike = false
		for j := range r.Components {
			r.Components[j].Doubt.Shape = math.Min(r.Differ, component.StartDoubt().Shape)
		}
	}
	return f.reframe(r, mostFrames, framePart)
}

// reframe are rounds until variances change little.
func (f *fit) reframe(r *em.Rounds, most int, part float64) error {
	for i, again := 0, true; again && i < most; i++ {
		if r.Alike {
			component.Alike(r.Components)
		}
		was := slices.Clone(r.Components)
		again = false
		if err := r.Round(f.Allotment, program.StepRounds, f.Mu(part), false); err != nil {
			return err
		}
		for j, c := range r.Components {
			if explore.Change(c, was[j], clearNoise) > reframed || resized(c, was[j]) > reframed {
				again = true
				r.Components[j].Doubt = component.StartDoubt()
			}
		}
	}
	return nil
}

// resized is the factor between the variances of now and was in the geometric mean, which shows
// through noise that hides each of them.
func resized(now, was component.Gaussian) float64 {
	_, _, a := symmetric.Factor(now.Cov)
	_, _, b := symmetric.Factor(was.Cov)
	return math.Exp(math.Abs(a-b) / float64(len(now.Mean)))
}
