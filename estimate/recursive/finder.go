// Package recursive finds where components are, by the way of [KSSU19]: the ball that holds the
// bulk, private PCA, a tree of counts in the leading directions whose leaves are a private coreset,
// EM on it, and the terrific test on what EM finds; then the same inside every component found,
// until nothing splits.
package recursive

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
)

// Parts of the run's mu^2: utility constants, in the proportions of the table in [KSSU19] Part C of
// the restatement.
const (
	leastNear   = .04 // of PairUnits
	mostNear    = .07
	radiusShare = .015
	pcaShare    = .10
	treeShare   = .14
	lookShare   = .03
	regrowShare = .05
	refineShare = .005
	regrowCost  = 1.5 * regrowShare // of a tree with all its levels, at most: see levelsPaid
)

const (
	LeastRows = 30.0 // moments are divided by at least this many rows
	misfit    = 1.0  // what clipping hides is unlike a Gaussian's tail; see clip.Radius2
)

// How often a step can be taken at most: trees are grown for every level.
const (
	mostTrees      = mostLevels + mostAcross
	mostTreeLevels = 5 // of coreset.Levels, see flatTree
)

// Steps returns the worst case of a Finder with that prefix, whose run has the part share of the
// total mu^2, Keep included.
func Steps(prefix string, share float64) []kernel.Step {
	moments := query.PartsOf(query.ClippedMoments{}.Kind())
	return []kernel.Step{
		columns.PairUnitsStep.In(prefix, share*mostNear),
		{Name: prefix + stepRadius, Query: query.DistanceCounts, Share: share * radiusShare, Most: 1, Source: "KSSU19 Section C.1"},
		{Name: prefix + stepLook, Query: moments, Share: share * (pcaShare + mostLooks*(mostLevels-1+mostAcross)*lookShare), Most: mostLooks * (mostLevels + mostAcross), Source: "KSSU19 Section C.2"},
		{Name: prefix + stepTree, Query: query.PartsOf(query.GridCounts{}.Kind()), Share: share, Most: mostTrees * mostTreeLevels, Source: "KSSU19 Section C.3"},
		{Name: prefix + stepRefine, Query: query.PartsOf(query.Histogram), Share: share * .4, Most: mostRefinements * (mostLevels - 1), Source: "KSSU19 Section C.5"},
		{Name: prefix + stepAcross, Query: query.PartsOf(query.Histogram), Share: share * mostAcross * acrossShare, Most: mostAcross},
	}
}

// A Finder looks for components in Space. What it adds to a run are released values only.
type Finder struct {
	program.Run
	Context context.Context
	Prefix  string // of its steps
	Space   component.Space
	Keep    float64 // part of Mu2 that it leaves
	Without Without // mechanisms that are left out

	// Coarse, if set, is called where the first tree shows several components, all of them narrower
	// than its cells, before these are looked into. Find ends there if it says so; Stopped tells.
	Coarse  func() (stop bool, err error)
	Stopped bool

	View       View    // of the root: the leading directions
	Rest       float64 // variance in the directions that the view does not see
	radius     float64 // of the ball: rows beyond are in no node
	clip       float64 // what private PCA clips rows to
	root       *node
	near       bool    // PairUnits is done
	PairSpread float64 // see columns.PairUnits: of PairUnits
}

// Utility constants of Lean, guesses: n mu from which on counts that show components of LeastWeight
// cost less than their share; the least part of a share, and of that of the first look's moments;
// and the n mu that a component needs for each column to be fitted at all.
const (
	leanRows  = 2840.0
	leanest   = .12
	leanLook  = .3
	leanShape = 10.0
)

// Lean returns the part of a share for counts that d columns need at a strength of n mu to show the
// lightest component that can be fitted: it falls like (n mu)^-2, since a count costs what its
// noise in rows does. What looking does not need, the rounds and the last release have.
func Lean(d int, strength float64) float64 {
	lightest := math.Max(LeastWeight, leanShape*math.Max(4, float64(d))/strength)
	part := sq(leanRows * LeastWeight / (lightest * strength))
	return math.Min(1, math.Max(leanest, part))
}

// lean returns the part of a share that Lean leaves.
func (f *Finder) lean(share float64) float64 {
	return share * Lean(f.Space.Dim(), f.Rows*math.Sqrt(f.Mu2))
}

// Find finds the components: the root first, then every node again as long as something splits.
func (f *Finder) Find() error {
	for _, step := range []func() error{f.PairUnits, f.findRadius, f.lookRoot, func() error { return f.grow(treeShare, broad) }} {
		if err := step(); err != nil {
			return err
		}
	}
	split := f.cut()
	if nodes := len(f.root.leaves()); f.Coarse != nil && nodes > 1 && len(f.blurs()) == nodes {
		var err error
		if f.Stopped, err = f.Coarse(); err != nil || f.Stopped {
			return err
		}
	}
	for level := 2; level <= mostLevels && !f.Without.Levels && f.again(level, split); level++ {
		how := narrow
		if blurs := f.blurs(); len(blurs) > 0 {
			how = broad
			if err := f.refine(blurs); err != nil {
				return err
			}
		}
		if err := f.settle(); err != nil {
			return err
		}
		if err := f.grow(regrowShare, how); err != nil {
			return err
		}
		split = f.cut()
	}
	if f.Without.Across {
		return f.Context.Err()
	}
	return f.findAcross()
}

// fewClusters: if more clusters are requested, near pairs need proportionally more rows, as each
// cluster holds fewer pairs. A utility constant, chosen on ten spheres in five columns; a guess for
// others.
const fewClusters = 3.0

// PairUnits puts every column of the space in the unit of its near pairs; all in one unit if a
// spherical covariance is requested. Find does so first, unless it was done. If the rows are too
// few to see near pairs, the units stay as they are, and nothing is spent.
func (f *Finder) PairUnits() error {
	if f.near {
		return nil
	}
	f.near = true
	few := math.Min(1, fewClusters/math.Max(1, float64(f.Problem.Components)))
	if !columns.PairsSeen(f.Problem.Relation, f.Problem.Columns, few*f.Rows, f.Mu(PairUnitsShare(f.Problem, f.Rows))) {
		return nil
	}
	least := make([]float64, f.Space.Dim())
	for i, j := range f.Space.Columns {
		least[i] = f.Grids[j].Unit
	}
	units, far, err := columns.PairUnits(f.SubBudget, f.Prefix, f.Space.Columns, f.Space.Scale, least, f.Rows, f.Mu(PairUnitsShare(f.Problem, f.Rows)))
	if err != nil {
		return err
	}
	f.Space.Scale, f.PairSpread = slices.Clone(f.Space.Scale), far
	for i, u := range units {
		if u > 0 {
			f.Space.Scale[i] = u
		}
	}
	if f.Problem.Covariance == estimate.Spherical {
		f.Space.Scale = slices.Repeat([]float64{slices.Max(f.Space.Scale)}, f.Space.Dim())
	}
	return nil
}

// PairUnitsShare returns the part of the total mu^2 that PairUnits costs with this many rows,
// public or released.
func PairUnitsShare(p estimate.Problem, rows float64) float64 {
	return columns.PairUnitsShare(p.Relation, p.Columns, rows, p.Mu, leastNear, mostNear)
}

// ampleRows: a table of more rows, over the noise of a count, is looked into once more though all
// components asked for have been found: they may be the wrong ones. A utility constant, a guess.
const ampleRows = 300.0

// again decides, from public and released facts, whether nodes are looked into: those of unknown
// scale always; the others once where the first tree did not see all directions, and as long as
// something splits.
func (f *Finder) again(level int, split bool) bool {
	scarce := f.Rows*f.Mu(f.lean(regrowShare)/levelsPaid) < ampleRows*f.Factor
	if f.Problem.Components > 0 && len(f.root.leaves()) >= f.Problem.Components && len(f.blurs()) == 0 && scarce {
		return false
	}
	if !f.affords(lookShare + regrowCost) {
		return false
	}
	return len(f.blurs()) > 0 || split && (level > 2 || f.View.Dim() > f.root.look.Dim())
}

// affords reports whether a part of the total mu^2 can be spent on exploring.
func (f *Finder) affords(share float64) bool { return f.Left() >= (share+f.Keep)*f.Mu2 }

// mostLevels is how often nodes are looked into, the root included. A guess.
const mostLevels = 5

// cut cuts every leaf whose coreset says so, and reports whether one was; anything once the context
// is done.
func (f *Finder) cut() (any bool) {
	for _, n := range f.root.leaves() {
		room := f.Most() - len(f.root.leaves()) + 1
		m := n.fits.choose(f.Context, room)
		if m == nil || len(m.Weights) < 2 {
			n.blurred = m != nil && !n.refined && n.blur(m, 0)
			continue
		}
		n.split(m, f.Rows)
		any = true
	}
	return any
}

// Found returns the nodes found, in all working coordinates.
func (f *Finder) Found() []component.Gaussian {
	return parts.Map(f.root.leaves(), func(n *node) component.Gaussian { return n.view.Lift(n.at, f.Rest) })
}

// Root returns one Gaussian about all rows, in all working coordinates.
func (f *Finder) Root() component.Gaussian { return f.root.view.Lift(f.root.at, f.Rest) }

// CountSD returns the noise of a count of the first tree.
func (f *Finder) CountSD() float64 { return f.root.fits.set.SD }

func sq(x float64) float64 { return x * x }
