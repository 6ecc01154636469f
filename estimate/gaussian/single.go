package gaussian

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
	"github.com/gauze-dp/gauze/parts/tyler"
)

// A Fit is a run of one fit: public facts and released values only. Its Rows are n or a noisy
// count, which price what is asked.
type Fit struct {
	program.Run
	Tuning
	Context context.Context // of the fit, which long computations stop with
	Tyler   *tyler.Rounder
	name    string
	// cells is, for any two columns, the part of the rows that has both cells; nil where rows that
	// lack some are left out.
	cells   *mat.SymDense
	start   *tyler.State // of Round; nil for the columns as they are
	round   *tyler.State // that Round got to; nil before it
	centred bool         // centre is done
	byFull  bool         // by way of a full covariance, not by columns themselves
	whole   float64      // mu of the problem, of which columns of categories may have spent some
	far     float64      // share of rows, of Round
}

// newFit returns a fit with all that a has left, by the method of that name, before its first
// measurement. It measures steps that begin with prefix only.
func newFit(ctx context.Context, name string, t Tuning, a *kernel.SubBudget, p estimate.Problem, prefix string) *Fit {
	s, whole := a.Session(), p.Mu
	p.Mu, p.Columns, p.Relation = a.LeftMu(), s.Columns(), s.Relation()
	f := &Fit{name: name, Tuning: t, Context: ctx, whole: whole, Tyler: &tyler.Rounder{SubBudget: a, Prefix: prefix, Good: &component.RowCount{Public: math.NaN()}}}
	f.Run = program.Run{SubBudget: a, Problem: p, Mu2: a.Left(), Advise: advice, Factor: program.Factor(p.Relation),
		Columns: &program.Columns{All: p.Columns, Grids: fit1d.DeclaredGrids(p.RoundedTo, p.Columns)}}
	return f
}

// checkOne refuses a problem on public facts: several components, or fewer rows than a fit can use.
func checkOne(name string, p estimate.Problem) error {
	if p.Columns < 1 {
		return fmt.Errorf("%s: columns: want at least 1, got %d", name, p.Columns)
	}
	if err := program.OneComponent(name, p); err != nil {
		return err
	}
	switch rows := float64(p.Rows); {
	case p.Relation != privacy.ReplaceOne:
	case rows < leastRows(p):
		return program.Refusal(advice(p), "the table has %d rows, too few for a fit of %d columns at any epsilon", p.Rows, p.Columns)
	case p.Mu > 0 && rows < triedFrom(p):
		return program.Refusal(advice(p), "%d rows are too few for a fit of %d columns at this epsilon", p.Rows, p.Columns)
	}
	return nil
}

// countPart of mu^2 buys the noisy count where n is private, and at most sparsePart the scales of
// columns in which few rows differ from one value. Guesses.
const countPart, sparsePart = .01, .06

// Open counts the rows and finds the units of the columns for the problem, whose columns, mu and
// relation are the fit's. An error may be a refusal: see End.
func (f *Fit) Open(p estimate.Problem) error {
	if !(p.Mu > 0) {
		return fmt.Errorf("%s: %w", f.name, kernel.ErrExhausted)
	}
	good, lacking, sd, err := f.countRows()
	if err != nil {
		return err
	}
	partial := lacking > partialSDs*sd && lacking > leastPartial*(lacking+math.Max(good, 0))
	if f.Rows = good; partial {
		f.Rows, sd = good+lacking, math.Sqrt2*sd
	}
	f.Tyler.Good.Add(f.Rows, sd)
	if n, public := f.Session().Rows(); public {
		f.Tyler.Good.Public = float64(n)
		f.Rows = f.Good()
	}
	f.Tyler.Rows = f.Rows
	f.byFull = f.way(p)
	if none := TooFew(p, f.Rows); none != nil {
		return refused(none)
	}
	if partial {
		return f.usePartial(p, lacking/f.Rows)
	}
	u, err := f.units(p)
	if err != nil {
		return err
	}
	return f.use(u, p)
}

// way reports that the fit goes by way of a full covariance, one of those that were planned.
func (f *Fit) way(p estimate.Problem) bool {
	planned := p
	planned.Mu = f.whole
	byFull, byColumns := mayGo(planned)
	return byFull && !(byColumns && p.Mu >= leastOfBudget*f.whole && few(p, f.Rows))
}

// use takes the units, or refuses.
func (f *Fit) use(u columns.Units, p estimate.Problem) error {
	if none := f.Use(u); none != nil {
		return refused(none)
	}
	if f.Hidden() {
		return refusal(advice(p), "the noise hides whether a column is constant")
	}
	return nil
}

// upTo returns the loss of a look that may cost mu2 of mu^2, or half of what is left: something is
// left for what comes after.
func (f *Fit) upTo(mu2 float64) float64 { return parts.Mu(math.Min(mu2, f.Left()/2)) }

// Good returns the number of rows that are not null, from everything released so far.
func (f *Fit) Good() float64 { return f.Tyler.Good.Good() }

// units returns the centre and the spread of every column by the profile if there is one.
// Otherwise, under replace-one, it measures the spread by the octaves of pairs, if these can be
// clear, and then finds the centres, unless a full covariance is fitted, whose preconditioner finds
// them by itself. Else it measures location and scale, if that can be sharp enough, and uses raw
// units if neither can be. Nothing is spent if public bounds on the eigenvalues give the spread; a
// bound that is far off costs steps of the preconditioner, and no more.
func (f *Fit) units(p estimate.Problem) (u columns.Units, err error) {
	d, prefix, full := p.Columns, f.Tyler.Prefix, f.byFull
	share, sharp := columns.CenterShare(p.Relation, d, f.Rows, f.Mu2)
	paired := f.paired(p)
	byPairs, clear := columns.SpreadShare(d, paired, f.Mu2, spreadPart(full))
	cfg := columns.UnitsConfig{Prefix: prefix, CenterMu2: share * f.Mu2, ScaleMu2: scaleShare(full) * f.Mu2, SparseMu2: sparsePart * f.Mu2, Rows: f.Rows}
	f.Tyler.Unit = 1
	switch {
	case p.Profile != nil:
		return f.ByProfile(f.SubBudget, prefix)
	case full && p.Facts.KnowsEigenvalues():
		return unitsOf(d, p.Facts.Eigenvalues[1]), nil
	case usesPairs(p) && (clear || !sharp):
		if u, err = columns.SpreadByPairs(f.SubBudget, cfg, paired, byPairs*f.Mu2); err == nil && !full {
			err = u.FindCenters(f.SubBudget, prefix, f.Rows, cfg.CenterMu2)
		}
		return u, err
	case sharp || !full:
		return columns.MeasureUnits(f.SubBudget, cfg)
	}
	f.Tyler.Unit = 0
	return unitsOf(d, 1), nil
}

// paired returns of how many rows the pairs of all rows are worth: a pair shows nothing if one of
// its rows lacks a cell.
func (f *Fit) paired(p estimate.Problem) float64 {
	if n := float64(p.Rows); n > f.Rows {
		return f.Rows * f.Rows / n
	}
	return f.Rows
}

// knowsUnits reports that public facts give the columns' spread, and say that none is constant.
func knowsUnits(p estimate.Problem) bool { return goesByFull(p) && p.Facts.KnowsEigenvalues() }

// spreadPart returns the largest part of mu^2 for the spreads of columns by pairs.
func spreadPart(byFull bool) float64 {
	if byFull {
		return columns.SpreadPart
	}
	return columns.FewSpreadPart
}

// unitsOf returns the centres 0 and the scale of one variance.
func unitsOf(d int, variance float64) columns.Units {
	return columns.Units{Center: make([]float64, d), Scale: slices.Repeat([]float64{math.Sqrt(variance)}, d), Constant: make([]bool, d)}
}

// usesPairs reports whether units may come from pairs of rows; under add-or-remove-one fewer rows
// find a partner and location and scale is cheaper.
func usesPairs(p estimate.Problem) bool { return p.Relation == privacy.ReplaceOne }

// scaleShare returns the part of mu^2 for the scales of location and scale: twice as much if only a
// rough release corrects them.
func scaleShare(byFull bool) float64 {
	if byFull {
		return columns.ScalePart
	}
	return 2 * columns.ScalePart
}

// sdOfOctave: a scale that was found is the octave of the median distance to the centre, and a
// Gaussian's sd is 1.48 to 2.97 times it.
const sdOfOctave = 2.1

// SDs returns those of the columns that vary, about.
func (f *Fit) SDs() []float64 {
	sd := slices.Clone(f.Space.Scale)
	floats.Scale(sdOfOctave, sd)
	return sd
}
