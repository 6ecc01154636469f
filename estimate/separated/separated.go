// Package separated learns mixtures of separated Gaussians: [KSSU19], practical and literal.
//
// The practical learner (method "separated") goes the way of the paper, with a noisy tree of counts
// in place of the search for balls: units of the columns (noisy bisection), the ball that holds the
// bulk, private PCA, a tree of counts in the leading directions whose leaves are a private coreset,
// EM on it, and the terrific test on what EM finds; then the same inside every component found,
// until nothing splits; last, private moments of every component, in the span of the means and in
// all columns.
//
// Source: [KSSU19] Part C of the restatement.
// Differs: stage 0 finds the units; levels go on as long as released values say that something
// splits; nodes are measured in the frame of what is known of them; Kalman gains instead of Stein's
// rule.
package separated

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parts/component"
)

// Estimator is the method "separated".
type Estimator struct{}

// New returns the estimator.
func New() Estimator { return Estimator{} }

var _ estimate.Estimator = Estimator{}

// Name is "separated".
func (Estimator) Name() string { return "separated" }

// Source names the algorithm.
func (Estimator) Source() string { return source }

// Summary is one line for lists of methods.
func (Estimator) Summary() string {
	return "a mixture of well separated components, of any scales and with outliers: a tree of counts, level by level"
}

// Plan is the worst case that Fit may measure, or a *estimate.Refusal for a table that is known to
// be too short.
func (Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Relation == privacy.ReplaceOne && float64(p.Rows) < leastFor(p) {
		return kernel.Plan{}, program.Refusal(advice(p), "%d rows are too few to tell components of %d columns apart at this epsilon", p.Rows, p.Columns)
	}
	return kernel.Plan{Method: "separated", Steps: steps(p)}, nil
}

// Utility constants of what is promised: fitted to the smallest numbers of rows at which nine of
// ten fits find all components, between d = 2 and 50 and k = 2 and 10 (docs/experiments/separated).
const (
	rowsUnit      = 280 * .2367 // at mu = 1; .2367 is the mu of (1, 1e-6)
	rowsByK       = 1.4
	rowsByColumns = .46
	hopeless      = .3 // of these rows are not worth a try
)

// rowsFor is about how many rows k components of about equal weight need.
func rowsFor(p estimate.Problem, k int) float64 {
	n := rowsUnit / p.Mu * math.Pow(float64(k), rowsByK) * math.Pow(float64(p.Columns), rowsByColumns)
	if p.Relation == privacy.AddRemoveOne {
		n /= math.Sqrt2
	}
	return n
}

// leastFor is the number of rows below which a fit is not tried.
func leastFor(p estimate.Problem) float64 {
	return max(hopeless*rowsFor(p, max(2, p.Components)), program.SharpRows(p, p.Columns), leastRows)
}

// needed is about how many rows the components that are asked for need, or two.
func needed(p estimate.Problem) float64 {
	return math.Max(rowsFor(p, max(2, p.Components)), leastFor(p))
}

// Expect says what to expect from public facts: the rows that the components need.
func (Estimator) Expect(p estimate.Problem) estimate.Expectation {
	e := estimate.Expectation{RowsNeeded: needed(p)}
	if most := p.MaxComponents; p.Components == 0 && most > 2 {
		e.Notes = append(e.Notes, fmt.Sprintf("the rows are for 2 components of about equal weight; %d need about %.0f", most, estimate.AboutRows(rowsFor(p, most))))
	}
	e.Notes = append(e.Notes, "for components whose means lie at least about 4 standard deviations apart; others are joined: see the method general")
	return e
}

// Fit follows the plan with the whole budget of the session.
func (Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := &fit{Run: program.Begin(s, p, advice), ctx: ctx}
	return f.run()
}

// fit is the state of one run.
type fit struct {
	program.Run
	ctx    context.Context
	space  component.Space
	radius float64 // of the ball: rows beyond are in no node
	clip   float64 // what private PCA clips rows to
	view   view
	rest   float64 // variance in the directions that the view does not see
	root   *node
}

// spare is how many components more than asked for may be found on the way: a false one must not
// take the place of a true one.
func (f *fit) spare() int {
	if f.Problem.Components > 0 {
		return spareComponents
	}
	return 0
}

// spareComponents: see spare. A utility constant, a guess.
const spareComponents = 2

func sq(x float64) float64 { return x * x }

const (
	source    = "KSSU19 Section C"
	leastRows = 30.0 // moments are divided by at least this many rows
	misfit    = 1.0  // what clipping hides is unlike a Gaussian's tail; see clip.Radius2
)

// run is the whole fit.
func (f *fit) run() (estimate.Outcome, error) {
	if err := f.CountRows(stepCount, countShare); err != nil {
		return estimate.Outcome{}, err
	}
	if f.Few(leastFor(f.Problem)) {
		return f.Refuse("about %.0f rows are too few to tell components of %d columns apart", math.Max(0, f.Rows), f.All), nil
	}
	share, _ := program.Share(f.Problem, f.All, f.Rows)
	if out, done, err := f.Open(program.Config(prefixUnits, share, weakShare, f.Mu2)); done {
		return out, err
	}
	f.space = program.OneUnit(f.Space, f.Problem.Covariance)
	if err := f.explore(); err != nil {
		return estimate.Outcome{}, err
	}
	found, err := f.refine()
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(found), nil
}

// explore finds the components: the root first, then every node again as long as something splits.
func (f *fit) explore() error {
	if err := f.findRadius(); err != nil {
		return err
	}
	if err := f.lookRoot(); err != nil {
		return err
	}
	if err := f.grow(treeShare, broad); err != nil {
		return err
	}
	split, err := f.cut()
	for level := 2; level <= mostLevels && f.again(level, split); level++ {
		if err != nil {
			return err
		}
		blurs := f.blurs()
		anyZoom := len(blurs) > 0
		if anyZoom {
			if err := f.zoom(blurs); err != nil {
				return err
			}
		}
		if err := f.settle(); err != nil {
			return err
		}
		how := narrow
		if anyZoom {
			how = broad
		}
		if err := f.grow(regrowShare, how); err != nil {
			return err
		}
		split, err = f.cut()
		if err == nil && !split && f.clear() && f.affords(2*regrowShare) {
			if err := f.grow(regrowShare, all); err != nil {
				return err
			}
			split, err = f.cut()
		}
	}
	return err
}

// clear reports whether every node holds many rows against the noise of a tree's count.
func (f *fit) clear() bool {
	sd := f.Factor / f.Mu(regrowShare/levelsPaid)
	for _, n := range f.root.leaves() {
		if n.at.Weight*f.Rows < clearRows*sd {
			return false
		}
	}
	return true
}

// Utility constants, guesses. clearRows: see clear. ampleRows: a table of more rows, over the noise
// of a count, is looked into once more though all components asked for have been found: they may be
// the wrong ones.
const (
	clearRows = 100.0
	ampleRows = 300.0
)

// again decides, from public and released facts, whether nodes are looked into: those of unknown
// scale always; the others once where the first tree did not see all directions, and as long as
// something splits.
func (f *fit) again(level int, split bool) bool {
	scarce := f.Rows*f.Mu(regrowShare/levelsPaid) < ampleRows*f.Factor
	if f.Problem.Components > 0 && len(f.root.leaves()) >= f.Problem.Components && len(f.blurs()) == 0 && scarce {
		return false
	}
	if !f.affords(lookShare + regrowCost) {
		return false
	}
	return len(f.blurs()) > 0 || split && (level > 2 || f.view.dim() > f.root.look.dim())
}

// affords reports whether a part of the total mu^2 can be spent on exploring.
func (f *fit) affords(share float64) bool { return f.Left() >= (share+refineShare)*f.Mu2 }

// mostLevels is how often nodes are looked into, the root included. A guess.
const mostLevels = 5

// cut cuts every leaf whose coreset says so, and reports whether one was. Its error is the
// context's.
func (f *fit) cut() (bool, error) {
	leaves := f.root.leaves()
	any := false
	for _, n := range leaves {
		room := f.Most() + f.spare() - len(f.root.leaves()) + 1
		m, err := n.fits.choose(f.ctx, room)
		if err != nil {
			return false, err
		}
		if m == nil || len(m.Weights) < 2 {
			n.blurred = m != nil && !n.zoomed && n.blur(m, 0)
			continue
		}
		n.split(m, f.Rows)
		any = true
	}
	return any, nil
}
