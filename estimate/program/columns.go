// Package program is what estimators share that speaks of estimate's own types; what does not is in
// parts. A Run is whom a fit asks and what it may spend; it counts the rows and finds the units and
// the constant columns (CountRows, Open), runs private EM by a Schedule or by way of boxes (Boxed),
// and ends in a Draft that becomes a model, or in a refusal.
package program

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants, guesses.
const (
	seenSDs = 4.0 // a released count beyond this many noise sds is reported
	// Widest is the largest scale whose variance leaves room in float64.
	Widest = 0x1p500
)

// Columns are the released facts about a table's columns.
type Columns struct {
	All int // d
	// noisy number of good rows, at most n where n is public; it may be negative
	Rows float64
	// AtMost is Rows, or where n is public the most that Rows' noise leaves possible: fewer than a
	// plan was granted for are missing only if the count says so clearly.
	AtMost float64
	Units  columns.Units // of all columns, by Use
	// Space holds the columns that vary, centred and in units of their scale. By Use.
	Space component.Space
	// Grids are what the columns are recorded in: declared units, and those that were inferred
	// from released values, which count for as much. The zero Lattice where none is known.
	Grids []fit1d.Grid
	// Atoms are the values that many rows of a column share, by column, as far as the profile or
	// the search for recorded units has seen them.
	Atoms [][]Atom
	// Notes are what a reader should know so far, for the outcome's diagnostics.
	Notes estimate.Diagnostics
}

// An Atom is a share of the rows, give or take Noise, that has one value in a column.
type Atom struct{ Value, Share, Noise float64 }

// Count buys the number of good rows with loss mu: n is private under add-or-remove-one, and null
// rows are under replace-one. The step's query is a query.Count. Errors are faults of the plan or
// an interruption.
func Count(a *kernel.SubBudget, step string, mu float64) (*Columns, error) {
	ans, err := a.Sum(step, query.Count{}, mu)
	if err != nil {
		return nil, err
	}
	c := &Columns{All: a.Session().Columns(), Rows: ans.Values[0], AtMost: ans.Values[0]}
	if n, public := a.Session().Rows(); public {
		if missing := float64(n) - c.Rows; missing > seenSDs*ans.Sigma {
			c.Notes.Flag(flags.New(flags.IncompleteRows, "about %.0f of %d rows are incomplete: they count in n, and the weights are shares of the others", missing, n).
				Of(missing/float64(n), ans.Sigma/float64(n)))
		}
		c.Rows = math.Min(c.Rows, float64(n))
		c.AtMost = math.Min(c.Rows+seenSDs*ans.Sigma, float64(n))
	}
	return c, nil
}

// Use takes units and leaves constant columns out of the working space. It returns why they cannot
// be used: the distances of a column's values have no squares in float64; or nil.
func (c *Columns) Use(u columns.Units) *estimate.NoRelease {
	c.Units = u
	for j := range u.Center {
		if u.Constant[j] {
			c.Notes.ConstantColumns = append(c.Notes.ConstantColumns, j)
			continue
		}
		c.Space.Columns = append(c.Space.Columns, j)
		c.Space.Center = append(c.Space.Center, u.Center[j])
		c.Space.Scale = append(c.Space.Scale, u.Scale[j])
	}
	c.noteConstants()
	return c.badScale()
}

// noteConstants flags what the constant columns hide.
func (c *Columns) noteConstants() {
	u, unseen, differ, sd, quiet := c.Units, 0.0, 0.0, 0.0, []int(nil)
	rows := math.Max(c.Rows, 1)
	for _, j := range c.Notes.ConstantColumns {
		switch {
		case u.VariedSD == 0: // not measured
		case u.Varied[j] >= columns.ConstantSDs*u.NoiseOf(j):
			c.Notes.Flag(flags.New(flags.ConstantColumn, "column %v: about %.0f rows (%.1f%%), give or take %.0f, differ from the released value, too few to see how far: it is released as constant",
				flags.Ref{j}, u.Varied[j], 100*u.Varied[j]/rows, 2*u.NoiseOf(j)).In(j).Of(u.Varied[j]/rows, u.NoiseOf(j)/rows))
		default:
			quiet = append(quiet, j)
			if most := math.Max(u.Varied[j], 0) + columns.ConstantSDs*u.NoiseOf(j); most > unseen {
				unseen, differ, sd = most, math.Max(u.Varied[j], 0), u.NoiseOf(j)
			}
		}
	}
	if unseen > 0 {
		c.Notes.Flag(flags.New(flags.ConstantColumn, "constant columns: up to about %.0f rows (%.1f%%) may differ from the released value without being seen", unseen, 100*unseen/rows).
			In(quiet...).Of(differ/rows, sd/rows))
	}
}

// badScale returns the reason not to go on with a column of the working space whose scale has no
// variance in float64, or nil.
func (c *Columns) badScale() *estimate.NoRelease {
	for i, s := range c.Space.Scale {
		if s > Widest || s < columns.Narrowest {
			return &estimate.NoRelease{
				Reason: fmt.Sprintf("the released scale, %.3g, has no variance in float64", s),
				Column: &c.Space.Columns[i],
				Advice: "check the column's values and record it in another unit",
			}
		}
	}
	return nil
}

// Hidden reports that no column was seen to vary, and that the noise hides whether one does: more
// than half of the rows may differ from its value.
func (c *Columns) Hidden() bool { return c.Space.Dim() == 0 && c.Units.Unseen > c.Rows/2 }

// Grid returns the least variance of each coordinate of space, which may be any rescaling of
// Columns.Space: (u/scale)^2/12 for a column that is recorded in units of u, 0 if no unit is known.
func (c *Columns) Grid(space component.Space) []float64 {
	g := make([]float64, space.Dim())
	for i, j := range space.Columns {
		u := c.Grids[j].Unit / space.Scale[i]
		g[i] = u * u / 12
	}
	return g
}

// Raw maps a component in the coordinates of space, which may be any rescaling of Columns.Space, to
// the table's columns: a mean of d numbers and a covariance of the shape. Constant columns have
// their value and variance zero. Spherical is so in the table only if all columns vary and space
// has one scale; else the covariance is diagonal. The error is the model's: numbers that it cannot
// hold.
func (c *Columns) Raw(space component.Space, g component.Gaussian, shape estimate.CovarianceType) ([]float64, model.Covariance, error) {
	mean := append([]float64(nil), c.Units.Center...)
	for i, j := range space.Columns {
		mean[j] = space.Center[i] + space.Scale[i]*g.Mean[i]
	}
	if shape != estimate.Full {
		variances := make([]float64, c.All)
		for i, j := range space.Columns {
			variances[j] = space.Scale[i] * space.Scale[i] * g.Cov.At(i, i)
		}
		cov, err := OfVariances(variances, shape == estimate.Spherical && space.Dim() == c.All)
		return mean, cov, err
	}
	fac := mat.NewDense(c.All, c.All, nil)
	l, _, _ := symmetric.Factor(g.Cov)
	for i, j := range space.Columns {
		for k := 0; k <= i; k++ {
			fac.Set(j, space.Columns[k], space.Scale[i]*l.At(i, k))
		}
	}
	cov, err := model.FullFromFactor(fac)
	return mean, cov, err
}

// Form returns the form of moments that fits a shape.
func Form(shape estimate.CovarianceType) query.Form {
	return [...]query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm}[shape]
}

// constant returns the outcome of a table in which no column varies: a point at the columns'
// values, or the reason why it cannot be released.
func (c *Columns) constant() (estimate.Outcome, error) {
	cov, err := model.NewDiagonal(make([]float64, c.All))
	if err != nil {
		return estimate.Outcome{}, err
	}
	m, err := model.New(nil, nil, []model.Gaussian{{Mean: c.Units.Center, Cov: cov}})
	if err != nil {
		return estimate.Outcome{Diagnostics: c.Notes, NoRelease: &estimate.NoRelease{
			Reason: "the constant values of the columns cannot be released: " + err.Error(), Advice: "record the columns in other units"}}, nil
	}
	notes := c.Notes
	notes.Components = []estimate.ComponentNote{{EffectiveRows: c.Rows}}
	notes.Flag(flags.New(flags.ConstantColumn, "every column is constant but for at most about %.0f rows", c.Units.Unseen).In(notes.ConstantColumns...))
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

// Outsize returns the outcome for an estimate that a model cannot hold.
func (c *Columns) Outsize() estimate.Outcome { return Outsize(c.Notes) }

// commensurate: columns whose released scales are within this factor are taken to have one unit. A
// utility constant, a guess.
const commensurate = 256.0

// OneUnit gives all columns of s the largest of their units if these are not too far apart, or if
// shape is Spherical, which asks for one unit in any case: Euclidean distances ([KSSU19]) see a
// column in which components differ as wide because they differ, while in its own unit it would
// look like the others.
func OneUnit(s component.Space, shape estimate.CovarianceType) component.Space {
	low, high := slices.Min(s.Scale), slices.Max(s.Scale)
	if high > commensurate*low && shape != estimate.Spherical {
		return s
	}
	s.Scale = slices.Repeat([]float64{high}, len(s.Scale))
	return s
}
