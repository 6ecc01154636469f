package program

import (
	"cmp"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// A Run is what every fit has: a question, somebody to ask, and a budget. What an estimator adds
// to it are public facts and released values only.
type Run struct {
	*kernel.SubBudget
	*Columns
	Problem estimate.Problem
	Mu2     float64 // the whole of the budget
	// Factor is the L2 sensitivity of what rows of norm 1 add up to: sqrt2 under replace-one, 1
	// under add-or-remove-one.
	Factor float64
	// Advice, if set, says what would help a fit that ends without a model, in place of Advise.
	Advice string
	Advise func(estimate.Problem) string
	Outside
	Means *Means // of the columns; nil if they were not measured
}

// Begin returns a run with the whole budget of the session; advise returns what would help a fit
// with this many rows, public or released, that ends without a model.
func Begin(s *kernel.Session, p estimate.Problem, advise func(estimate.Problem) string) Run {
	mu2 := s.Mu() * s.Mu()
	if p.Profile != nil && len(p.Categories) > 0 { // which may have cost a third
		mu2 = s.SubBudget().Left()
	}
	return Run{SubBudget: s.SubBudget(), Problem: p, Mu2: mu2, Factor: Factor(p.Relation), Advise: advise,
		Columns: &Columns{All: p.Columns, Rows: float64(p.Rows), Grids: fit1d.DeclaredGrids(p.RoundedTo, p.Columns)}}
}

// Factor returns Run.Factor under a relation.
func Factor(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return 1
	}
	return math.Sqrt2
}

// Mu returns the loss of a measurement that costs a part of the whole budget.
func (r *Run) Mu(part float64) float64 { return parts.Mu(part * r.Mu2) }

// Most returns the largest number of components that there may be.
func (r *Run) Most() int { return MostFor(r.Problem, r.Rows) }

// Utility constants of MostFor, guesses: n mu over so much for every component and column, of four
// at least, and of manyColumns at most, beyond which components are told apart with shapes that
// they share; and an end.
const (
	rowsOfOne   = 40.0
	manyColumns = 10.0
	manyMost    = 64
)

// MostFor returns MostComponents, or as many components as the rows, public or released, can
// support, if that is more and the problem allows it.
func MostFor(p estimate.Problem, rows float64) int {
	if p.Components > 0 || !p.MoreComponents {
		return MostComponents(p)
	}
	carried := rows * p.Mu / (rowsOfOne * math.Max(math.Min(float64(p.Columns), manyColumns), 4))
	return max(MostComponents(p), int(math.Min(carried, manyMost)))
}

// MostComponents returns the requested number of components, or else the largest allowed.
func MostComponents(p estimate.Problem) int { return cmp.Or(p.Components, max(1, p.MaxComponents)) }

// Few reports that there are fewer than least rows. Where they are not, Rows is at least that.
func (r *Run) Few(least float64) bool {
	if r.AtMost < least {
		return true
	}
	r.Rows = math.Max(r.Rows, least)
	return false
}

// CountRows buys the number of good rows: see Count.
func (r *Run) CountRows(step string, part float64) (err error) {
	known := r.Grids
	if r.Columns, err = Count(r.SubBudget, step, r.Mu(part)); err == nil {
		r.Grids = known
	}
	return err
}

// Open finds the units of the columns, by the problem's profile if there is one; cfg.Sample, if
// set, is one row in inverseRate, and is asked what they are recorded in. done says that out is the
// outcome: the units cannot be used, all columns are constant, or the noise hides whether they are.
func (r *Run) Open(cfg columns.UnitsConfig, inverseRate float64) (out estimate.Outcome, done bool, err error) {
	var u columns.Units
	if cfg.Rows = r.Rows; r.Problem.Profile != nil {
		u, err = r.ByProfile(r.SubBudget, cfg.Prefix)
	} else {
		u, err = columns.MeasureUnits(r.SubBudget, cfg)
	}
	if err != nil {
		return out, true, err
	}
	switch none := r.Use(u); {
	case none != nil:
		return estimate.Outcome{NoRelease: none, Diagnostics: r.Notes}, true, nil
	case r.Hidden():
		return r.Refuse("the noise hides whether a column is constant"), true, nil
	case r.Space.Dim() == 0:
		out, err = r.constant()
		return out, true, err
	case r.Problem.Profile != nil:
		return out, false, nil
	}
	err = r.Recorded(cfg.Prefix, cmp.Or(cfg.Sample, r.SubBudget), r.Rows/inverseRate)
	return out, err != nil, err
}
