package axisaligned

import (
	"context"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/boxes"
	"github.com/gauze-dp/gauze/parts/em"
)

// fit is the state of one run.
type fit struct {
	program.Run
	found []boxes.Box
}

// Utility constants, guesses.
const (
	misfit    = 1.0
	seenSDs   = 4.0 // sds of noise below which a count may be of no rows at all
	goneBoxed = 5.0
	mostDoubt = .12 // of a weight, relative variance, where k was not asked for
)

// run is the whole fit.
func (f *fit) run(ctx context.Context) (estimate.Outcome, error) {
	if err := f.CountRows(stepCount, countPart); err != nil {
		return estimate.Outcome{}, err
	}
	if f.Rows = math.Max(f.Rows, 1); tooFew(f.Problem, f.Rows) || f.Rows < seenSDs*f.Factor/f.Mu(countPart) {
		return f.Refuse("about %.0f rows are too few for %d components at this epsilon", f.Rows, max(f.Problem.Components, 1)), nil
	}
	if needed := rowsFor(f.Problem, max(f.Problem.Components, 1)); f.Rows < scarce*needed {
		f.Flag("about %.0f rows are few for what was asked: from about %.0f on, places and shapes can be relied on", f.Rows, math.Ceil(needed/100)*100)
	}
	b := boxed
	b.Form, b.Set, b.Rounds = f.form(), f.set, f.rounds
	found, held, enough, err := b.Find(ctx, &f.Run)
	switch f.found = found; {
	case err != nil:
		return estimate.Outcome{}, err
	case len(found) == 0:
		return f.Refuse("no rows that lie together were seen in every column"), nil
	case !enough:
		return f.Refuse("about %.0f of %.0f rows lie where no place was seen in every column", f.Rows-held, f.Rows), nil
	}
	r, err := b.Fit(ctx, &f.Run, found)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r), nil
}

// rounds is how many there are from a start of so many components.
func (f *fit) rounds(start int) int {
	if start > program.BoxesFor(f.Problem) {
		return maxRounds
	}
	return emRounds
}

// set says what counts as a component.
func (f *fit) set(r *em.Rounds) {
	if r.Misfit, r.Gone = misfit, goneBoxed; f.Problem.Components == 0 {
		r.MostDoubt = mostDoubt
	}
}

// form is that of the moments: there are no full covariances here.
func (f *fit) form() query.Form {
	if f.Problem.Covariance == estimate.Spherical {
		return query.SphericalForm
	}
	return query.DiagonalForm
}
