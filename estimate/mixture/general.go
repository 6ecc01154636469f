// Package mixture learns a Gaussian mixture of overlapping, unequal, not quite Gaussian components from raw columns: the default
// of `gauze fit` when more than one component is allowed.
//
// The course of a fit, all of it released step by step: units of the columns (noisy bisection); one robust global Gaussian;
// a noisy tree of counts in its leading directions, whose leaves are a private coreset; EM on the coreset, which costs nothing, for
// every number of components; then private EM in all columns, each round one soft E-step and one release of clipped moments.
// With at most one component it is the Gaussian of package gaussian.
//
// Source: [KSSU19] Section E of the restatement (its default for real data), with the mendings of its Section E.2.
// Differs: units by stage 0 instead of pair histograms; a consistent tree; clipping undone to first order at every round; Kalman
// gains instead of Stein's rule; components merged in all columns after each round.
package mixture

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/blocks/stagezero"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
)

// fit is the state of one run.
type fit struct {
	p        estimate.Problem
	a        *kernel.Allotment
	rows     float64 // released
	mu2      float64 // total
	factor   float64 // sqrt2 under replace-one, 1 under add-or-remove-one
	units    stagezero.Units
	space    space
	schedule schedule
	global   gauss
	treeSD   float64 // noise of one count of the tree
	notes    estimate.Diagnostics
}

// run is the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	if err := f.count(); err != nil {
		return estimate.Outcome{}, err
	}
	if f.p.Components == 0 && largestK(f.p, f.p.Columns, f.rows) == 1 {
		return gaussian.FitAllotment(f.a, f.p, prefixOne)
	}
	k := max(f.p.Components, 2)
	if tooFew(f.p, f.rows) {
		return f.refuse(fmt.Sprintf("about %.0f rows are too few for %d components", math.Max(0, f.rows), k), k), nil
	}
	f.schedule = planned(f.p, f.p.Columns, f.rows)
	if !stagezero.SharpEnough(f.p.Relation, f.p.Columns, f.rows, centersOfUnits*f.schedule.units*f.mu2) {
		return f.refuse(fmt.Sprintf("about %.0f rows are too few to find the units of %d columns", f.rows, f.p.Columns), k), nil
	}
	if err := f.findUnits(); err != nil {
		return estimate.Outcome{}, err
	}
	if j := f.badScale(); j >= 0 {
		return estimate.Outcome{Diagnostics: f.notes, NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the released scale of column %d, %.3g, has no variance in float64", j+1, f.units.Scale[j]),
			Advice: "check the column's values and record it in another unit",
		}}, nil
	}
	if len(f.notes.ConstantColumns) > 0 && f.units.Unseen > f.rows/2 {
		return f.refuse("the noise hides whether a column is constant", k), nil
	}
	if f.space.dim() == 0 {
		return f.constant()
	}
	if err := f.fitGlobal(); err != nil {
		return estimate.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	c, axes, err := f.tree()
	if err != nil {
		return estimate.Outcome{}, err
	}
	f.treeSD = c.sd
	r, err := f.em(ctx, f.choose(c, axes))
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r)
}

func (f *fit) refuse(reason string, k int) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: reason, Advice: advice(f.p, k)}, Diagnostics: f.notes}
}

// count buys the number of good rows: n is private under add-or-remove-one, and null rows are under replace-one.
func (f *fit) count() error {
	ans, err := f.a.Sum("count", query.Count{}, math.Sqrt(countPart*f.mu2)*(1-1e-12))
	if err != nil {
		return err
	}
	f.rows = ans.Values[0]
	if n, public := f.a.Session().Rows(); public {
		if missing := float64(n) - f.rows; missing > seenSDs*ans.Sigma {
			f.notes.Flags = append(f.notes.Flags, fmt.Sprintf("about %.0f of %d rows are incomplete: they count in n, and the weights are shares of the others", missing, n))
		}
		f.rows = math.Min(f.rows, float64(n))
	}
	return nil
}

// findUnits finds a centre and a scale of each column and leaves constant columns out of the working space.
func (f *fit) findUnits() error {
	part := f.schedule.units * f.mu2
	u, err := stagezero.Run(f.a, stagezero.Config{Prefix: "units: ", CenterMu2: centersOfUnits * part, ScaleMu2: (1 - centersOfUnits) * part,
		WeakMu2: weakPart * f.mu2 * (1 - 1e-9)})
	if err != nil {
		return err
	}
	f.units = u
	for j := range u.Center {
		if u.Constant[j] {
			f.notes.ConstantColumns = append(f.notes.ConstantColumns, j)
			continue
		}
		f.space.columns = append(f.space.columns, j)
		f.space.center = append(f.space.center, u.Center[j])
		f.space.scale = append(f.space.scale, u.Scale[j])
	}
	return nil
}

// widest is the largest scale whose variance leaves room in float64.
const widest = 0x1p500

// badScale is a column of the working space whose scale has no variance in float64, or -1.
func (f *fit) badScale() int {
	for _, j := range f.space.columns {
		if s := f.units.Scale[j]; s > widest || s < stagezero.Narrowest {
			return j
		}
	}
	return -1
}

// em runs the rounds of private EM from a start.
func (f *fit) em(ctx context.Context, start []gauss) (*rounds, error) {
	for j := range start {
		start[j].doubt = startDoubt
		if f.p.Covariance != estimate.Full {
			start[j].cov = onlyDiagonal(start[j].cov, f.p.Covariance == estimate.Spherical)
		}
		start[j].doubt.weight += sq(2 * f.treeSD / math.Max(start[j].w*f.rows, 1))
	}
	r := &rounds{space: f.space, shape: f.p.Covariance, components: start, rows: f.rows, factor: f.factor, floor: f.floor(), grid: f.grid(), misfit: misfit, gone: goneRows, prune: f.p.Components == 0,
		background: newBackground(f.global, f.p.Covariance)}
	if f.p.Components > 0 {
		r.gone = goneAsked
	}
	final := math.Sqrt(f.schedule.final * f.mu2)
	per := math.Sqrt(f.schedule.em*f.mu2/float64(f.schedule.rounds)) * (1 - 1e-12)
	for i := range f.schedule.rounds {
		if k := f.p.Components; k > 0 && float64(i) >= spareRounds*float64(f.schedule.rounds) {
			r.reduce(k)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.round(f.a, "EM rounds", per, false); err != nil {
			return nil, err
		}
		if f.p.Components == 0 {
			r.merge(final)
		}
	}
	if f.p.Components == 0 {
		r.simplify(final)
		if err := f.contest(r); err != nil {
			return nil, err
		}
	}
	return r, r.round(f.a, "last round", f.a.LeftMu(), true)
}

// Utility constants of the rounds.
const (
	// spare components are fitted beside those that are asked for, in the first part of the rounds: they find what a start with the right
	// number would miss.
	spare       = 4
	spareRounds = .4
	seenSDs     = 4.0 // a released count beyond this many noise sds is worth telling
	// floorStandard is the smallest eigenvalue of a component in standardised units. It falls with the strength beyond floorStrength,
	// down to floorLeast: what noise can no longer fake may be narrow.
	floorStandard = 1e-8
	floorStrength = 100.0
	floorLeast    = 1e-11
	// misfit, globalMisfit: what clipping hides is unlike a Gaussian's tail; see clip.Radius2.
	misfit       = 1.0
	globalMisfit = .02
)

// floor is the smallest eigenvalue of a component's covariance in working coordinates.
func (f *fit) floor() float64 {
	return math.Max(floorLeast, floorStandard*math.Min(1, floorStrength/strength(f.p, f.space.dim(), f.rows)))
}

// grid is the least variance of each working column: u^2/12 for a column that is recorded in units of u.
func (f *fit) grid() []float64 {
	g := make([]float64, f.space.dim())
	for i, c := range f.space.columns {
		if c < len(f.p.RoundedTo) {
			g[i] = sq(f.p.RoundedTo[c]/f.space.scale[i]) / 12
		}
	}
	return g
}
