package general

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of short tables, guesses tried on mixtures of 500 to 4,000 rows.
const (
	// From this n mu on several components are looked for in rows that the method for one Gaussian
	// has made round, where there are too few for a search of their own.
	leastLooked = 180.0
	// of mu^2: for the lines of a split there, for each of the next smallFrames rounds, and for
	// each of smallRounds after them
	smallLine, smallFrame, smallRound = .08, .06, .04
	smallFrames, smallRounds          = 2, 3
	smallKeep                         = .2 // of mu^2, that looking again leaves
	// .. for lines, and as much for columns, before the rows are round
	glancePart = .03
	// A group that a column shows needs less rows, in noise sds, than one along a line: measured on
	// 300 mixtures of two in 2 to 20 columns.
	columnSees = .6
	// A column with this part of its rows at a few values shows none, nor does a line that lies in
	// such columns to so large a part.
	fewShared = .5
	// A column that shows groups is measured in their sd, and this part of its own at least.
	leastGlanced = .05
	// .. and a component is tried for so much n mu in every column: of 20 and no limit but 8, on
	// mixtures of 2 to 30 columns.
	rowsGlanced = 20.0
)

// rowsOfLooking returns the number of rows from which on several components are looked for.
func rowsOfLooking(p estimate.Problem) float64 {
	if p.Covariance != estimate.Full {
		return rowsOfSeveral(p)
	}
	return math.Min(rowsOfSeveral(p), leastLooked/p.Mu)
}

// A small is what looks for several components in a table whose rows are too few for a search of
// its own.
type small struct {
	method Estimator
	seen   float64 // share of the rows that a group must hold for it; 0 if it has not looked
}

// looks returns it for so many rows, public or released: nil if they are not enough even for that,
// or one component is asked for.
func (e Estimator) looks(p estimate.Problem, rows float64) *small {
	if e.Without.Small || p.Components == 1 || program.MostComponents(p) <= 1 || p.Covariance != estimate.Full || rows < rowsOfLooking(p) {
		return nil
	}
	return &small{method: e}
}

// several looks for several components along a few lines, which one Gaussian hardly pays for, and
// ends the fit by private EM if it finds any. What the lines show is strong: all of the budget goes
// to them and to few rounds.
func (s *small) several(ctx context.Context, run *program.Run, space component.Space, cov *mat.SymDense, rough bool) (out estimate.Outcome, done bool, err error) {
	f := &fit{Run: *run, method: s.method, space: space, table: run.SubBudget, drawn: run.SubBudget, all: run.Rows, odds: 1, whole: true}
	f.Advise = advice
	f.schedule = schedule{lean: 1, rounds: smallRounds, em: smallRounds * smallRound, final: 1 - smallRounds*smallRound}
	f.global = component.Gaussian{Weight: 1, Mean: make([]float64, space.Dim()), Cov: cov, Rows: f.Rows, Uncertainty: component.StartUncertainty()}
	if rough && s.method.Without.Glance {
		return out, false, nil
	}
	if rough {
		if f.glanced, err = f.glance(ctx); err != nil || !f.glanced {
			s.seen = f.seen()
			return out, false, err
		}
		out, err = f.early(ctx)
		return out, true, err
	}
	r := f.rounds([]component.Gaussian{f.global})
	r.Floor = f.floor()
	for range mostSplits {
		if f.Left() < (smallLine+smallKeep)*f.Mu2 {
			break
		}
		before := len(r.Components)
		if err := f.split(ctx, r, smallLine); err != nil {
			return out, true, err
		}
		if len(r.Components) == before {
			break
		}
		r.SharedShape = true
		for range smallFrames {
			component.ShareShape(r.Components)
			if err := r.Round(f.SubBudget, program.StepRounds, f.Mu(smallFrame), false); err != nil {
				return out, true, err
			}
		}
		r.SharedShape = false
	}
	if len(r.Components) == 1 {
		return out, false, nil
	}
	if r, err = f.begin(ctx, r.Components); err == nil {
		err = f.em(ctx, r)
	}
	if err != nil {
		return out, true, err
	}
	return f.outcome(r), true, nil
}

// early ends the fit by private EM from a tree of counts, which shows groups where the columns that
// have a gap between two are measured in the groups' sd.
func (f *fit) early(ctx context.Context) (out estimate.Outcome, err error) {
	f.coarse, f.schedule = true, planned(f.Problem, f.All, f.Rows)
	c, axes, err := f.tree()
	if err != nil {
		return out, err
	}
	f.countSD = c.SD
	start, err := f.choose(ctx, c, axes)
	if err != nil {
		return out, err
	}
	return f.finish(ctx, start)
}

// glance reports whether a line or a column shows groups with a gap, and takes the groups' sd for
// the units of the columns that do.
func (f *fit) glance(ctx context.Context) (found bool, err error) {
	r := f.rounds([]component.Gaussian{f.global})
	if f.Problem.Profile == nil {
		if err := f.Recorded(prefixUnits, f.SubBudget, f.Rows); err != nil {
			return false, err
		}
	}
	lines, err := r.Lines(f.SubBudget, stepSplit, nil, f.Mu(glancePart))
	if err != nil {
		return false, err
	}
	columns, of, err := f.columnLines(f.global, privateem.LineReach, glancePart)
	if err != nil {
		return false, err
	}
	f.countSD = lines[0][0].SD
	if len(of) > 0 {
		f.countSD = math.Max(f.countSD, columnSees*columns[0].SD)
	}
	unit := slices.Repeat([]float64{1}, f.space.Dim())
	for i, l := range append(columns, lines[0]...) {
		cs, _, err := pieces(ctx, l)
		if err != nil {
			return false, err
		}
		if len(cs) < 2 || !gapped(cs) || f.shared(l.Axis) > fewShared {
			continue
		}
		if found = true; i < len(of) {
			sd := parts.Sum(cs, func(c fit1d.Component) float64 { return c.Rows * c.SD }) / fit1d.RowsOf(cs)
			unit[of[i]] = math.Max(sd, leastGlanced)
		}
	}
	cov := f.global.Cov
	f.global.Cov = symmetric.Of(len(unit), func(i, j int) float64 { return cov.At(i, j) / (unit[i] * unit[j]) })
	f.space.Scale = slices.Clone(f.space.Scale)
	floats.Mul(f.space.Scale, unit)
	return found, nil
}

// shared returns the part of a direction that is in columns most of whose rows share a few values.
func (f *fit) shared(axis []float64) (part float64) {
	for i, j := range f.space.Columns {
		if f.Atoms != nil && parts.Sum(f.Atoms[j], func(a program.Atom) float64 { return a.Share }) > fewShared {
			part += sq(axis[i])
		}
	}
	return part / dense.Norm2(axis)
}
