package general

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
)

// Estimator is the method "general".
type Estimator struct {
	estimate.Named
	Tuning
	one   program.OneGaussian
	apart bool // components lie apart, whatever near pairs say
}

// New returns the estimator; one is what it is for one component.
func New(one program.OneGaussian) Estimator {
	return Estimator{estimate.Describe("general", source, "a mixture of overlapping, unequal, not quite Gaussian components: a private coreset, then private EM"), Usual(), one, false}
}

// NewSeparated returns the estimator for components that lie apart.
//
// Source: [KSSU19] Part C of the restatement. Differs: from its stage R on (C.6) it goes on as the
// estimator of New does.
func NewSeparated(one program.OneGaussian) Estimator {
	return Estimator{estimate.Describe("separated", sourceApart, "a mixture of well separated components, of any scales and with outliers: a tree of counts, level by level, then private EM"), Usual(), one, true}
}

var _ estimate.Estimator = Estimator{}

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for more components than
// the rows can support.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if e.One(p) {
		asked := p
		asked.Components = 1
		if _, err := e.one.Plan(asked); err != nil {
			return kernel.Plan{}, err
		}
	} else if p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastFor(p, p.Components) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few for %d components in %d columns at this epsilon", p.Rows, p.Components, p.Columns)
	}
	return kernel.Plan{Method: e.Name(), Steps: e.steps(p)}, nil
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if all := p.Planned(); e.One(all) {
		return e.fitOne(ctx, e.looks(all, float64(p.Rows)), false, 0, s.SubBudget(), p)
	}
	f := &fit{Run: program.Begin(s, p, advice), method: e}
	out, err := f.run(ctx)
	if out.NoRelease != nil { // what is reserved is for whoever describes the columns by themselves
		f.giveBack()
	}
	return out, err
}

// One reports that public facts say that the fit will be that of one Gaussian.
func (Estimator) One(p estimate.Problem) bool {
	one, sure := becomesOne(p)
	return one && sure
}

// oneGroup returns the flag of a fit of one Gaussian if more components were allowed: groups of
// less than a share of the rows could not be seen; 0 if that is not known.
func oneGroup(seen float64) estimate.Flag {
	if !(seen > 0 && seen < 1) {
		return flags.New(flags.OneComponent, "One group found; at this budget smaller or closer groups could be missed")
	}
	return flags.New(flags.OneComponent, "One group found; at this budget groups below about %.2g%% of the rows, or closer ones, could be missed", 100*seen).Of(seen, 0)
}

// Utility constants of seen, guesses. A group must hold seenSDs times the noise of a count of the
// search for components, and a share of at least leastSeen of the rows. Groups of that size were
// found in all of 72 fits of two spheres, 6 to 30 sds apart in 2 and 8 columns, 3,000 to 50,000
// rows; groups of half that size in 38.
const seenSDs, leastSeen = 16.0, .02

// seen returns the share of the rows that a group must hold for the search to see it; 0 if nothing
// was counted.
func (f *fit) seen() float64 {
	if !(f.countSD > 0) {
		return 0
	}
	return math.Max(leastSeen, seenSDs*f.countSD/f.Rows)
}

// fitOne fits one Gaussian, unless several, if set, finds more, and says so where more components
// were allowed; looked says that they have been looked for.
func (e Estimator) fitOne(ctx context.Context, several *small, looked bool, seen float64, a *kernel.SubBudget, p estimate.Problem) (estimate.Outcome, error) {
	var look program.Several
	if several != nil {
		look = several.several
	}
	out, err := e.one.FitSubBudget(ctx, a, p, prefixOne, look)
	if out.Model == nil || len(out.Model.Components) > 1 || p.Components == 1 || p.MaxComponents <= 1 {
		return out, err
	}
	told := flags.New(flags.OneComponent, "one Gaussian: too few rows to look for several components, about %.0f would be needed", estimate.AboutRows(rowsOfLooking(p)))
	if several != nil {
		looked, seen = true, several.seen
	}
	if looked {
		told = oneGroup(seen)
	}
	out.Diagnostics.Flag(told)
	number(p, &out, math.Inf(1))
	return out, err
}

// Expect says what to expect from public facts: rows for the components that are asked for, and for
// one component what the Gaussian says.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	x := e.expect(p)
	if !e.One(p) && p.Covariance == estimate.Full && wide(p, float64(p.Rows)) {
		x.Notes = append(x.Notes, "several groups in so many columns have means and standard deviations, and no correlations")
	}
	return x
}

func (e Estimator) expect(p estimate.Problem) (x estimate.Expectation) {
	if p.Components <= 1 && float64(p.Rows) < rowsOfSeveral(p) || e.One(p) {
		x = e.one.Expect(p)
		if p.Components != 1 && p.MaxComponents > 1 && !(float64(p.Rows) >= rowsOfLooking(p)) {
			x.Notes = append(x.Notes, fmt.Sprintf("to look for several components takes about %.0f rows; with fewer one Gaussian is fitted", estimate.AboutRows(rowsOfLooking(p))))
		}
		return x
	}
	k := max(p.Components, 2)
	x = estimate.Expectation{RowsNeeded: needed(p, k)}
	if p.Rows > 0 {
		rows := float64(p.Rows)
		k = max(p.Components, largestK(p, p.Columns, rows))
		x.RowsNeeded = needed(p, k)
		if odds := e.oddsFor(p, rows); odds > 1 {
			x.Notes = append(x.Notes, fmt.Sprintf("all but the last rounds ask a secret sample of one row in %.0f, at the price of all rows", odds))
		}
		x.Notes = append(x.Notes, fmt.Sprintf("up to %d components are tried", k))
	}
	return x
}

// leastFor returns the number of rows below which k components are not tried: no budget would help,
// or their moments or the columns' units cannot be measured.
func leastFor(p estimate.Problem, k int) float64 {
	if p.Rows > 0 {
		p = shaped(p, float64(p.Rows))
	}
	return leastAsked(p, k)
}

// leastAsked is leastFor for the shape that was asked for.
func leastAsked(p estimate.Problem, k int) float64 {
	return max(float64(2*p.Columns+8), rowsFor(p, k)*leastPerFit/rowsPerComponent, program.SharpRows(p, p.Columns))
}

// needed returns about how many rows k components need.
func needed(p estimate.Problem, k int) float64 { return math.Max(rowsFor(p, k), leastFor(p, k)) }

// rowsOfSeveral returns the number of rows from which on more than one component is looked for.
func rowsOfSeveral(p estimate.Problem) float64 {
	least := needed(p, 2)
	if p.Covariance == estimate.Full {
		least = math.Max(least, leastStrength*sq(float64(p.Columns))/p.Mu)
	}
	return least
}

// advice says what would help a fit that was refused.
func advice(p estimate.Problem) string {
	or := []string{"fewer components"}
	if p.Covariance == estimate.Full {
		or = append(or, "--covariance diagonal")
	}
	return program.Needs(p, needed(p, max(p.Components, 2)), "", or...)
}

// oneIsBetter reports that one Gaussian can be fitted by its own method with what is left.
func (f *fit) oneIsBetter() bool {
	p := f.Problem
	if f.glanced || p.Components > 1 || p.Covariance != estimate.Full {
		return false
	}
	p.Components, p.Mu = 1, f.LeftMu()
	if p.Rows == 0 {
		p.Rows = int(f.Rows)
	}
	x := f.method.one.Expect(p)
	return x.RowsNeeded > 0 && float64(x.RowsNeeded) <= f.all
}
