package gaussian

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/columns"
)

// A rowsAt is a number of rows for d columns.
type rowsAt struct{ d, n float64 }

// The rows for an error within twice the non-private one in 85 % of runs, at mu = tableMu under
// replace-one. Full covariance: measured by TestTable, about half of [TYLERPRESS] Section 7; the
// others by TestSpecialShapes. Few columns need as many rows in a special shape: the fit goes by
// way of the full covariance, and there are fewer numbers over which a bad one is averaged.
var (
	needs          = []rowsAt{{1, 700}, {2, 750}, {5, 1100}, {10, 2050}, {20, 5050}, {50, 27000}}
	diagonalNeeds  = []rowsAt{{1, 700}, {2, 750}, {5, 1500}, {10, 1900}, {20, 2800}, {25, 3500}, {50, 6500}, {100, 13000}}
	sphericalNeeds = []rowsAt{{1, 700}, {2, 1150}, {5, 1600}, {10, 2100}, {20, 2700}, {50, 4600}}
)

const (
	neededMu = .2367 // of (1, 1e-6)
	// planFactor times the table is what a planner asks for.
	planFactor = 1.25
	// addRemoveFactor: sums have sensitivity 1 instead of sqrt2.
	addRemoveFactor = .75
	// tooFewFactor: with fewer than RowsNeeded/tooFewFactor rows a fit is not tried. Chosen on
	// Gaussian rows, of which hardly a fit was released below, in 1 to 20 columns; and no smallest
	// n of docs/experiments/single/smallest.md lies there.
	tooFewFactor = 2.1
)

// goesByFull reports that public facts have the fit go by way of a full covariance, or would where
// rows are private and enough.
func goesByFull(p estimate.Problem) bool {
	return wayIsFull(p) && !(p.Relation == privacy.ReplaceOne && few(p, float64(p.Rows)))
}

// wayIsFull reports that a fit with enough rows goes by way of a full covariance: also for few
// uncorrelated columns, whose spreads many rows show better so. With fewer, columns are fitted by
// themselves.
func wayIsFull(p estimate.Problem) bool {
	p = p.Planned()
	return p.Covariance == estimate.Full || p.Columns == 1 || p.Covariance == estimate.Diagonal && p.Columns <= diagonalByFull ||
		p.Covariance == estimate.Spherical && p.Columns <= sphericalByFull
}

// few reports that so many rows, public or released, are too few for a full covariance, where
// columns by themselves need far fewer.
func few(p estimate.Problem, rows float64) bool {
	return p.Planned().Columns >= fewestByColumns && p.Mu > 0 && rows > 0 && rows < fullFrom(p)
}

// ByColumns reports that a public number of rows, too few for a full covariance, is enough for
// columns by themselves, which nearly all fits of such a problem end in.
func ByColumns(p estimate.Problem) bool {
	return wayIsFull(p) && !goesByFull(p) && float64(p.Rows) >= triedFrom(p)
}

// fullFrom returns the number of rows from which on nearly every fit by way of a full covariance
// ends in a release: fullFew of the table and fullMore for each column, up to fullMost. Measured on
// tables of several condition numbers in 6, 8, 10 and 20 columns, 12 to 16 fits each. In many
// columns the plain way needs fewer, a guess.
func fullFrom(p estimate.Problem) float64 {
	const fullFew, fullMore, fullMost, wideRows = .55, .05, 1.05, 75
	p = p.Planned()
	p.Covariance = estimate.Full
	d := float64(p.Columns)
	from := math.Min(fullFew+fullMore*d, fullMost) * RowsNeeded(p) / planFactor
	if p.Columns > wideColumns {
		from = math.Min(from, wideRows*d/p.Mu)
	}
	return from
}

// Utility constants of the way, guesses but for fewestByColumns, chosen of 2, 5 and 10: below it
// both ways need about as many rows.
const (
	// The largest d at which special shapes are fitted by way of the full covariance.
	diagonalByFull  = 24
	sphericalByFull = 4
	// The least d at which columns by themselves take the place of a full covariance in few rows.
	fewestByColumns = 6
	// Where less than this part of mu is left, rows are few for what was spent before: the way is
	// that of the whole budget.
	leastOfBudget = .5
)

// mayGo reports which ways a fit may go, of whose rows, which may be private, some may lack cells,
// and whose budget may have been spent in part before: with enough rows of enough columns, both.
func mayGo(p estimate.Problem) (byFull, byColumns bool) {
	switch {
	case !wayIsFull(p):
		return false, true
	case p.Planned().Columns < fewestByColumns:
		return true, false
	}
	return goesByFull(p), true
}

// RowsNeeded returns planFactor times the table, interpolated in log d, scaled by 1/mu, and never
// less than sampling alone needs.
func RowsNeeded(p estimate.Problem) float64 {
	n := planFactor * neededRows(p) * neededMu / p.Mu
	if p.Relation == privacy.AddRemoveOne {
		n *= addRemoveFactor
	}
	return math.Max(n, tooFewFactor*leastRows(p))
}

// With a smaller mu the release of d^2/(n mu) weighs more relative to the sampling error, with a
// larger one less: the rows for an error within twice the latter go like mu to the -1 less these,
// as measured from mu = .065 to 2.9.
const lowMuExtra, highMuExtra = .6, .15

// rowsWithinTwice returns the rows for a covariance within twice the sampling error in most runs. A
// fit is tried with fewer (RowsNeeded).
func rowsWithinTwice(p estimate.Problem) float64 {
	extra := highMuExtra
	if p.Mu < neededMu {
		extra = lowMuExtra
	}
	return math.Max(RowsNeeded(p)*math.Pow(neededMu/p.Mu, extra), tooFewFactor*leastRows(p))
}

// triedFrom returns the number of rows below which a fit is not tried.
func triedFrom(p estimate.Problem) float64 {
	from := RowsNeeded(p) / tooFew(p)
	switch {
	case !wayIsFull(p):
		from = math.Max(from, unitsFrom(p))
	case p.Planned().Columns >= fewestByColumns:
		from = unitsFrom(p)
	}
	return math.Max(from, leastRows(p))
}

// leastRows returns what even a fit without noise needs.
func leastRows(p estimate.Problem) float64 {
	if !wayIsFull(p) {
		return 10
	}
	return float64(2*p.Columns + 8)
}

// unitsFrom returns the number of rows from which the spreads of columns can be seen without a full
// covariance, whose preconditioner would find them by itself: a wrong unit of one of many columns
// spoils all. In few rows they are sought in pairs, or under add-or-remove-one by bisection.
func unitsFrom(p estimate.Problem) float64 {
	if !(p.Mu > 0) {
		return 0
	}
	from := clearUnits * columns.RowsOfSpread(p.Columns, p.Mu*math.Sqrt(columns.FewSpreadPart))
	if !usesPairs(p) {
		from *= addRemoveFactor
	}
	return from
}

// clearUnits: with fewer rows than what the spreads need times this, one of many fits has a wrong
// one. Measured: with .98 three of ten tables of 24 columns had none, with 1.15 and more each of 60
// had its.
const clearUnits = 1.15

func neededRows(p estimate.Problem) float64 {
	table := needs
	switch p.Covariance {
	case estimate.Diagonal:
		table = diagonalNeeds
	case estimate.Spherical:
		table = sphericalNeeds
	}
	d, i := float64(p.Columns), 1
	for i < len(table)-1 && table[i].d < d {
		i++
	}
	a, b := table[i-1], table[i]
	return a.n * math.Pow(b.n/a.n, math.Log(d/a.d)/math.Log(b.d/a.d))
}

// Expect gives the rows needed, and says where there are too few.
func Expect(p estimate.Problem) estimate.Expectation { return expect(p, p.Covariance) }

// expect is Expect of a fit by way of the problem's covariance, where another may have been asked.
func expect(p estimate.Problem, asked estimate.CovarianceType) (e estimate.Expectation) {
	if !(p.Mu > 0) || p.Columns < 1 {
		return e
	}
	e.RowsNeeded = rowsWithinTwice(p)
	switch n, needed := float64(p.Rows), RowsNeeded(p); {
	case !(n > 0):
	case n < triedFrom(p):
		e.Notes = append(e.Notes, "too few rows: a fit would spend the count and end without a release")
	case p.Covariance != estimate.Spherical && wayIsFull(p) && few(p, n):
		if asked == estimate.Full {
			e.Notes = append(e.Notes, fmt.Sprintf("few rows: a fit gives means and standard deviations, and from about %.0f rows on how columns vary together", estimate.AboutRows(fullFrom(p))))
		}
	case n < needed:
		e.Notes = append(e.Notes, "few rows: fit may end without a release")
	}
	return e
}

// advice returns what would help, in rows.
func advice(p estimate.Problem) string {
	var or []string
	diagonal := p
	diagonal.Covariance = estimate.Diagonal
	if p.Covariance == estimate.Full && RowsNeeded(diagonal) < RowsNeeded(p) {
		or = append(or, "--covariance diagonal")
	}
	rows := 0.0
	if p.Mu > 0 {
		rows = rowsWithinTwice(p)
	}
	return program.Needs(p, rows, "", or...)
}

// tooFew returns tooFewFactor, or less under add-or-remove-one: there the need is smaller and the
// count noisy, and a third of the rows that replace-one needs must be refused all the same.
func tooFew(p estimate.Problem) float64 {
	if p.Relation == privacy.AddRemoveOne {
		return tooFewPrivate
	}
	return tooFewFactor
}

const tooFewPrivate = 1.6
