// Package general learns a Gaussian mixture of overlapping, unequal, not quite Gaussian components
// from raw columns: the default of `gauze fit` when more than one component is allowed.
//
// The course of a fit, all of it released step by step: units of the columns (noisy bisection, and
// near pairs); where some column's whole spread, or many of its pairs, are far wider than near
// pairs, components that lie apart, found by boxes if thousands of times as far, in a short table
// by the histogram of one column if that shows a gap, and otherwise level by level, as the method
// "separated" starts whatever near pairs say; else one robust global Gaussian and a noisy tree of
// counts in its leading directions, whose leaves are a private coreset; EM on the coreset, which
// costs nothing, for every number of components; then private EM in all columns, each round one
// soft E-step and one release of clipped moments; and in the end the columns' means of all rows,
// towards which components move, because clipping has cost long tails a part. With at most one
// component, or where no more are seen after the first rounds, neither along lines nor in the
// histograms of the columns, it is the Gaussian of package gaussian; in a table too short for all
// this, lines and columns show whether there are several, before that method makes the rows round
// and in few columns after it.
//
// Source: [KSSU19] Section E of the restatement (its default for real data), with the mendings of
// its Section E.2.
// Differs: of a large table a sample is asked first; units by stage 0 instead of pair histograms; a
// consistent tree; clipping undone to first order at every round; Kalman gains instead of Stein's
// rule; components merged in all columns after each round; the means of all rows in the end.
package general

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// fit is the state of one run.
type fit struct {
	program.Run
	method   Estimator
	space    component.Space // the columns that vary; after the global Gaussian, standardised by it
	schedule schedule
	// table asks all rows; drawn, where one row in odds is asked until the last rounds, those
	table, drawn *kernel.SubBudget
	all, odds    float64
	global       component.Gaussian
	coarse       bool    // the start may be far wider than the components are
	countSD      float64 // noise of a count of the tree
	whole        bool    // no component found in coarse cells fell in pieces
	contested    bool    // several components have won against one
	asked        bool    // in which directions rows are least like one Gaussian
	glanced      bool    // a look along lines has seen several, where rows were too few for a search
	even         bool    // components are spheres until the last round: their columns' units are what they have in common
	narrow       bool    // components lie farther apart than the floor of their scales knows
	missing      missing
}

// run makes the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	if err := f.CountRows(stepCount.Name, countPart); err != nil {
		return estimate.Outcome{}, err
	}
	if err := f.incomplete(); err != nil {
		return estimate.Outcome{}, err
	}
	if f.Problem.Components == 0 && f.AtMost < rowsOfSeveral(f.Problem) && (f.missing.table != nil || !wide(f.Problem, f.AtMost)) {
		// One Gaussian makes use of the cells that rows have.
		if none := gaussian.TooFew(f.Problem, math.Max(f.AtMost, f.missing.rows)); none != nil {
			return estimate.Outcome{NoRelease: none, Diagnostics: f.Notes}, nil
		}
		return f.method.fitOne(ctx, f.method.looks(f.Problem, f.AtMost), false, 0, f.SubBudget, f.Problem)
	}
	if least := leastFor(shaped(f.Problem, f.AtMost), max(f.Problem.Components, 2)); f.missing.early && f.AtMost < least || !f.missing.early && f.Few(least) {
		return f.Refuse("about %.0f rows are too few for %d components in %d columns", math.Max(0, f.Rows), max(f.Problem.Components, 2), f.All), nil
	}
	if out, done, err := f.units(); done {
		return out, err
	}
	if err := f.begun(); err != nil {
		return estimate.Outcome{}, err
	}
	if out, done, err := f.wideStart(ctx); done {
		return out, err
	}
	x, gaps, err := f.gaps(ctx)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if gaps {
		f.global.Cov = symmetric.Identity(f.space.Dim())
		if start, err := f.inColumns(ctx, x.PairSpread); err != nil || start != nil {
			if err != nil {
				return estimate.Outcome{}, err
			}
			return f.finish(ctx, start)
		}
		if !f.Problem.NoDelta && !f.method.Without.BoxesFirst && x.PairSpread > farBoxed {
			if out, done, err := f.boxed(ctx); done {
				return out, err
			}
		}
		var out estimate.Outcome
		if !f.Problem.NoDelta && !f.method.Without.CoarseBoxes && x.PairSpread <= farBoxed {
			x.Coarse = func() (done bool, err error) {
				out, done, err = f.boxed(ctx)
				return done, err
			}
		}
		start, err := f.apart(x)
		if err != nil || x.Stopped {
			return out, err
		}
		return f.finish(ctx, start)
	}
	if err := f.fitGlobal(x.Space.Scale); err != nil {
		return estimate.Outcome{}, err
	}
	c, axes, err := f.tree()
	if err != nil {
		return estimate.Outcome{}, err
	}
	f.countSD = c.SD
	if !f.Problem.NoDelta && !f.method.Without.FullCells && unresolved(c) {
		if out, done, err := f.boxed(ctx); done {
			return out, err
		}
	}
	start, err := f.choose(ctx, c, axes)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.finish(ctx, start)
}

// finish ends a fit from its start: as that of one Gaussian, if nothing but one is seen.
func (f *fit) finish(ctx context.Context, start []component.Gaussian) (estimate.Outcome, error) {
	f.keepForGaps()
	r, err := f.begin(ctx, start)
	if err == nil {
		err = f.em(ctx, r)
	}
	switch {
	case errors.Is(err, errOne):
		f.giveBack()
		f.asks(true)
		f.asFound()
		return f.method.fitOne(ctx, nil, true, f.seen(), f.SubBudget, f.Problem)
	case err != nil:
		return estimate.Outcome{}, err
	}
	return f.outcome(r), nil
}

// errOne ends the rounds of a fit that ends as that of one Gaussian.
var errOne = errors.New("one Gaussian")

// begin makes rounds of a start, and sees to it that components have their own scale and hold no
// others, and that atoms have their own.
func (f *fit) begin(ctx context.Context, start []component.Gaussian) (*privateem.Rounds, error) {
	for j := range start {
		if !f.even {
			start[j].Uncertainty = component.StartUncertainty()
		}
		if f.Problem.Covariance != estimate.Full {
			start[j].Cov = symmetric.OnlyDiagonal(start[j].Cov, f.even || f.Problem.Covariance == estimate.Spherical)
		}
		start[j].Uncertainty.Weight += sq(2 * f.countSD / math.Max(start[j].Weight*f.Rows, 1))
	}
	r := f.rounds(start)
	if f.even {
		r.Form = query.SphericalForm
	}
	r.Floor, r.Background, r.Outliers = f.floor(), privateem.NewBackground(f.global, r.Form), privateem.NewOutliers(f.global)
	if f.coarse {
		if err := f.alike(ctx, r); err != nil {
			return nil, err
		}
		return r, f.refine(ctx, r)
	}
	f.splitAtoms(r)
	return r, nil
}

// em runs the rounds of private EM.
func (f *fit) em(ctx context.Context, r *privateem.Rounds) error {
	// Boxes that found nothing have been paid for: rounds and last round then share what is left as
	// they would have shared the whole.
	part, rounds := f.schedule.em*math.Min(f.Mu2, f.Left()/(f.schedule.em+f.schedule.final)), f.schedule.rounds
	var missed error
	extra, least := int(math.Ceil(spareRounds*float64(rounds))), openRounds
	if f.Problem.Components > 0 {
		least = extra
	}
	next := func(i int) (float64, bool) {
		missed = cmp.Or(missed, f.renewed(i, r))
		enough := !f.method.Without.Settled && f.odds == 1 && f.missing.table == nil && i >= least && slices.Min(component.Alone(r.Components)) > settled &&
			!slices.ContainsFunc(r.Components, func(c component.Gaussian) bool { return !c.Uncertainty.Framed(r.Space.Dim()) })
		mu := parts.Mu(math.Min(part*f.round(i, r), f.Left()/float64(rounds+1-i)))
		if i >= f.numbered() {
			f.unevenly(r, mu, earlyNoise)
		}
		if i <= openRounds && !f.method.Without.Faint {
			r.LikeOthers(mu)
		}
		return mu, i < rounds && !enough
	}
	before := func(r *privateem.Rounds) error {
		f.unevenly(r, f.LeftMu(), evenNoise)
		if f.coarse && !f.method.Without.RenewedBackground { // what was known of the whole when the rounds began was noise in part
			r.Background = privateem.NewBackground(component.Joined(r.Components[0], r.Components[1:]...), r.Form)
		}
		if missed == nil {
			missed = f.last(r)
		}
		return missed
	}
	return f.EM(ctx, r, program.Schedule{Next: next, ExtraUntil: extra,
		Join: openRounds, Refine: f.look, Number: f.numbered(), MergeMu: f.Mu(f.schedule.final), Contest: f.contest, Shrink: !f.method.Without.Shrink, Shapes: f.shapes(shapePart),
		Before: before, Means: !f.method.Without.Means, Count: f.OutsidePart() * f.Mu2})
}

// rounds returns private EM in the working space.
func (f *fit) rounds(start []component.Gaussian) *privateem.Rounds {
	r := f.Rounds(f.space, program.Form(f.Problem.Covariance), start)
	f.set(r)
	return r
}

// set says what counts as a component.
func (f *fit) set(r *privateem.Rounds) {
	r.Without = f.method.Without.Rounds
	r.Misfit, r.LeastRows, r.MostUncertainty = misfit, goneOpen, mostDoubt
	if f.Problem.Components > 0 {
		r.LeastRows, r.MostUncertainty = goneAsked, 0
	}
}

// Utility constants of the rounds, chosen on the public tables, by experiments/files; spares on
// development families: pancakes, chains, light components.
const (
	// if k was not asked for, a component with fewer rows than this is deleted after the last
	// round, and so is one whose weight is in more doubt than this, relative variance
	goneOpen  = 20.0
	mostDoubt = .12
	goneAsked = 3.0 // rows, if the number of components was asked for
	// spare components are fitted in addition to those requested, in the first part of the rounds:
	// they find what a start with the right number would miss.
	spare       = 10
	spareRounds = .7
	// spareWide replaces spare if the rows are too few for full covariances in so many columns:
	// more find no more, and take longer. Of 0, 2, 5 and 10, on mixtures of problems.Spec of 10 to
	// 50 columns.
	spareWide = 2
	// .. if the number is open, components that this many rounds do not separate are merged: of 2,
	// 4, 6 and all, on families of made-up tables
	openRounds = 4
	// .. after which, and after those with spares, rounds end, for the good of the last one, where
	// no component shares more than the rest of its rows: none changes hands any more. A guess.
	settled = .95
	// floorStandard is the smallest eigenvalue of a component in standardised units. It falls with
	// the strength beyond floorStrength, down to floorLeast: what noise can no longer fake may be
	// narrow.
	floorStandard = 1e-8
	floorStrength = 100.0
	floorLeast    = 1e-11
	// .. and to floorNarrow once two components that lie far apart have come down to it: near pairs
	// did not tell how far. A guess, which float64 bears.
	floorNarrow = 1e-24
	// misfit: what clipping hides is unlike a Gaussian's tail; see component.ClippingRadius2.
	// Chosen of 1 and .02, on the public tables and on mixtures of problems.Spec.
	misfit = .02
)

// floor returns the smallest eigenvalue of a component's covariance in working coordinates.
func (f *fit) floor() float64 {
	if f.narrow {
		return floorNarrow
	}
	return math.Max(floorLeast, floorStandard*math.Min(1, floorStrength/strength(f.Problem, f.space.Dim(), f.Rows)))
}
