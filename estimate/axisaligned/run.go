package axisaligned

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/gaussian"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/partition"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// fit is the state of one run.
type fit struct {
	program.Run
	one   program.OneGaussian
	found []partition.Box

	tuning Tuning
	// Of rows that lack cells: the table as it is, how many rows have some cell, released, and what
	// is kept for the missing cells of components. 0 and nil if none are completed.
	read     *kernel.SubBudget
	someCell float64
	gaps     *kernel.SubBudget
}

// Utility constants, guesses.
const (
	seenSDs   = 4.0 // sds of noise below which a count may be of no rows at all
	mostPairs = 30  // columns from which on correlations are not looked for
)

// run makes the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	if err := f.CountRows(stepCount, countPart); err != nil {
		return estimate.Outcome{}, err
	}
	if f.read = f.SubBudget; f.Rows >= unseen(f.Problem) {
		var err error
		if f.someCell, err = f.Incomplete(stepCells, f.Mu(countPart)); err != nil {
			return estimate.Outcome{}, err
		}
	}
	if f.Few(unseen(f.Problem)) || f.AtMost < leastFor(f.Problem) && gaussian.TooFew(plain(f.Problem), max(f.AtMost, f.someCell)) != nil {
		return f.Refuse("about %.0f rows are too few for %d components at this epsilon", math.Max(0, f.Rows), max(f.Problem.Components, 1)), nil
	}
	if f.Few(leastFor(f.Problem)) {
		return f.plain(ctx, "about %.0f rows are too few for %d components at this epsilon", f.Rows, max(f.Problem.Components, 1))
	}
	if needed := rowsFor(f.Problem, max(f.Problem.Components, 1)); f.Rows < scarce*needed {
		f.Notes.Flag(flags.New(flags.FewRows, "about %.0f rows are few for what was asked: from about %.0f on, means and spreads of groups can be relied on", f.Rows, math.Ceil(needed/100)*100))
	}
	b := f.tuning.boxed()
	b.Form, b.Set, b.Rounds = f.form(), f.set, f.rounds
	if f.someCell > 0 { // what is found of whole rows completes the others
		b.Refine = func(_ context.Context, r *privateem.Rounds) error {
			f.gaps = f.read.Take(gapsPart * f.Mu2)
			return f.complete(r)
		}
		b.Before = f.complete
	}
	if b.Form == query.SphericalForm { // columns have no spreads of their own
		b.Overall = 0
	}
	found, held, _, err := b.Find(ctx, &f.Run)
	switch f.found = found; {
	case err != nil:
		return estimate.Outcome{}, err
	case len(found) == 0:
		return f.plain(ctx, "no rows that lie together were seen in every column")
	case slices.ContainsFunc(found, overflows):
		return f.plain(ctx, "rows lie so far out that their squares overflow")
	case held < f.tuning.LeastHeld*f.Rows:
		return f.plain(ctx, "about %.0f of %.0f rows lie where no place was seen in every column", f.Rows-held, f.Rows)
	}
	r, overall, err := b.Fit(ctx, &f.Run, found)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r, overall), nil
}

// overflows reports a box whose moments have no squares in float64.
func overflows(b partition.Box) bool {
	return slices.ContainsFunc(slices.Concat(b.Center, b.Scale), func(x float64) bool { return !(math.Abs(x) < program.Widest) })
}

// complete has what follows asked of completed rows: those that lack cells have them drawn from the
// components of r, given the cells that they have.
func (f *fit) complete(r *privateem.Rounds) error {
	if len(r.Components) == 0 {
		return nil
	}
	table, err := kernel.Complete(f.read, program.CompletionBy(r.Space, make([]float64, f.All), r.Components))
	if err == nil {
		f.SubBudget, f.Rows, r.Rows = table, f.someCell, f.someCell
	}
	return err
}

// plain returns the outcome if no components are found: one Gaussian of all rows, with the rest of
// the budget.
func (f *fit) plain(ctx context.Context, why string, args ...any) (estimate.Outcome, error) {
	out, err := f.one.FitSubBudget(ctx, f.SubBudget, plain(f.Problem), prefixOne, nil)
	why = fmt.Sprintf(why, args...)
	if out.NoRelease != nil {
		out.NoRelease.Reason = why + ", and for one Gaussian: " + out.NoRelease.Reason
	}
	out.Diagnostics.Flags = append([]estimate.Flag{flags.New(flags.OneComponent, "%s: this is one Gaussian of all rows", why)}, out.Diagnostics.Flags...)
	return out, err
}

// rounds returns the number of rounds from a start with that many components.
func (f *fit) rounds(start int) int {
	if start > program.BoxesFor(f.Problem) {
		return f.tuning.MostRounds
	}
	return f.tuning.Rounds
}

// set says what counts as a component.
func (f *fit) set(r *privateem.Rounds) {
	if r.Misfit, r.LeastRows, r.Clear = f.tuning.Misfit, f.tuning.LeastRows, f.tuning.Clear; f.Problem.Components == 0 {
		r.MostUncertainty = f.tuning.MostUncertainty
	}
	r.Pairs = f.form() == query.DiagonalForm && 1 < f.All && f.All <= mostPairs
}

// form returns the form of the moments: there are no full covariances here.
func (f *fit) form() query.Form { return program.Form(plain(f.Problem).Covariance) }
