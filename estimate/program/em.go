package program

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// The steps of private EM.
const (
	StepRounds = "EM rounds"
	StepShapes = "shapes of components"
	stepLast   = "last round"
)

// StepMissing is the step that counts the missing cells of each component, after a fit of completed
// rows.
const StepMissing = "missing cells"

// MostMissing is how often StepMissing is measured, at most.
const MostMissing = 2

// RoundSteps returns the steps of EM: most rounds, which together cost at most that share of the
// total mu^2, then the steps between, and the last round with its share.
func RoundSteps(source string, share float64, most int, last float64, between ...kernel.Step) []kernel.Step {
	moments := query.ClippedMoments{}.Kind()
	steps := append([]kernel.Step{{Name: StepRounds, Query: moments, Share: share, Most: most, Source: source}}, between...)
	return append(steps, kernel.Step{Name: stepLast, Query: moments, Share: last, Most: 1, Source: source})
}

// Rounds returns private EM in a space from a start.
func (r *Run) Rounds(space component.Space, form query.Form, start []component.Gaussian) *privateem.Rounds {
	return &privateem.Rounds{Space: space, Form: form, Components: start, Rows: r.Rows, Factor: r.Factor, Grid: r.Grid(space)}
}

// ShapeStep returns a number of measurements of where the rows of components are, with that share
// of the total mu^2 together.
func ShapeStep(source string, share float64, looks int) kernel.Step {
	return kernel.Step{Name: StepShapes, Query: query.PartsOf(query.DistanceCounts), Share: share, Most: privateem.GoodnessOfFitReleases * looks, Source: source}
}

// A Schedule is the course of private EM: rounds, between which components are joined for free,
// and a last one with all that is left.
type Schedule struct {
	// Next is the loss of round i; more is false if only the last is left.
	Next func(i int) (mu float64, more bool)
	// From round ExtraUntil on there are no more components than are asked for, if their number is.
	ExtraUntil int
	// After round Join, MergeIndistinct joins components as it does after the last, if their number
	// is open; which is decided after round Number, or after the last one if there are not so many.
	Join, Number int
	// Refine, if set, is done once round Join is.
	Refine func(context.Context, *privateem.Rounds) error
	// MergeMu is the loss of a release that tests whether two components are better than their
	// merger, if their number was not requested; 0 means all of the remaining budget.
	MergeMu float64
	// Contest, if set, has the last word on their number then, if there are several.
	Contest func(context.Context, *privateem.Rounds) error
	// Before, if set, is done with the components of the last round before it.
	Before func(*privateem.Rounds) error
	// Shrink has noisy covariances made wider, or drawn towards their diagonals.
	Shrink bool
	// Shapes is the part of mu^2 for a measurement of the shapes of the components before the last
	// round, which relies on those that are bell-shaped.
	Shapes float64
	// Means has the columns' means measured in the end: see Run.Means.
	Means bool
	// Count is the part of mu^2 for a count of the rows of every component, and of those outside
	// all of them, in the end.
	Count float64
}

// Even returns rounds of equal loss.
func Even(rounds int, mu float64) func(int) (float64, bool) {
	return func(i int) (float64, bool) { return mu, i < rounds }
}

// EM runs private EM by a schedule.
func (r *Run) EM(ctx context.Context, e *privateem.Rounds, s Schedule) error {
	worth, decided := func() float64 { return cmp.Or(s.MergeMu, r.LeftMu()) }, false
	for i := 0; ; i++ {
		mu, more := s.Next(i)
		if !more {
			break
		}
		if i >= s.ExtraUntil {
			if err := r.settle(ctx, e); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := e.Round(r.SubBudget, StepRounds, mu, false)
		if err == nil && r.Problem.Components == 0 {
			err = e.Merge(ctx, worth())
			if err == nil && i+1 == s.Join {
				err = e.MergeIndistinct(ctx, Draws, worth())
			}
			if err == nil && i+1 == s.Number {
				err, decided = r.number(ctx, e, s, worth()), true
			}
		}
		if err == nil && i+1 == s.Join && s.Refine != nil {
			err = s.Refine(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	err := r.settle(ctx, e)
	if err == nil && r.Problem.Components == 0 && !decided {
		err = r.number(ctx, e, s, worth())
	}
	if err == nil && s.Before != nil {
		err = s.Before(e)
	}
	if err != nil {
		return err
	}
	return r.last(e, s)
}

// number decides how many components there are if their number was not requested.
func (r *Run) number(ctx context.Context, e *privateem.Rounds, s Schedule, worth float64) error {
	err := e.MergeIndistinct(ctx, Draws, worth)
	if most := r.Most(); err == nil && len(e.Components) > most {
		r.Notes.Flag(flags.New(flags.AtLimit, "%d components were seen and at most %d are allowed: the nearest were merged; raise --max-components to keep them apart", len(e.Components), most))
		err = e.MergeTo(ctx, Draws, most, worth)
	}
	if err == nil && s.Contest != nil && len(e.Components) > 1 {
		err = s.Contest(ctx, e)
	}
	return err
}

// mostAfter is the largest part of what is left that each of Shapes and Count may be. A guess.
const mostAfter = .25

// last runs the last round of EM, and the counts after it.
func (r *Run) last(e *privateem.Rounds, s Schedule) error {
	shapes, count := math.Min(s.Shapes, mostAfter*r.Left()), math.Min(s.Count, mostAfter*r.Left())
	places, err := 0.0, error(nil)
	if count > 0 && len(e.Components) > 0 {
		if places, err = r.KeepForPlaces(e.Space, e.Components, r.Left()-shapes-count); err != nil {
			return err
		}
	}
	means := 0.0
	if s.Means {
		means = r.meansPrice(e)
	}
	if shapes > 0 && len(e.Components) > 0 {
		if err := e.GoodnessOfFit(r.SubBudget, StepShapes, Draws, parts.Mu(shapes)); err != nil {
			return err
		}
	}
	if err := e.Round(r.SubBudget, stepLast, parts.Mu(r.Left()-count-places-means), true); err != nil {
		return err
	}
	if s.Shrink {
		e.Shrink()
	}
	if count > 0 && len(e.Components) > 0 {
		if err := e.Count(r.SubBudget, StepOutside, parts.Mu(count), r.Problem.Components == 0); err != nil {
			return err
		}
		if err := r.Place(e.Space, e.Components, places); err != nil {
			return err
		}
	}
	return r.measureMeans(e, means)
}

// settle turns places of outliers into components, up to the requested number.
func (r *Run) settle(ctx context.Context, e *privateem.Rounds) error {
	asked := r.Problem.Components
	if err := e.Settle(ctx, asked); err != nil || asked == 0 {
		return err
	}
	return e.MergeTo(ctx, Draws, asked, r.LeftMu())
}

// Draws returns public randomness, the same for the same question.
func Draws(n, components int) privateem.Random {
	return rand.New(rand.NewPCG(uint64(n), uint64(components)))
}

// Starts returns the generators of the starts of a fit of k components to a coreset: public
// randomness, so that the same released coreset gives the same fit.
func Starts(k int) func(start int) func() float64 {
	return func(start int) func() float64 { return rand.New(rand.NewPCG(uint64(start), uint64(k))).Float64 }
}

// OneGaussian is a method for one Gaussian that another one may end in.
type OneGaussian struct {
	estimate.Estimator
	// FitSubBudget fits with all that a sub-budget has left, measuring only the steps of Steps for
	// the same prefix of their names, and of Several, if that is set.
	Steps        func(p estimate.Problem, prefix string, share float64) []kernel.Step
	FitSubBudget func(ctx context.Context, a *kernel.SubBudget, p estimate.Problem, prefix string, several Several) (estimate.Outcome, error)
}

// Several looks for several components in rows that were made round, or nearly so if rough: in a
// space whose columns have their centres and standard deviations, the rows have the covariance cov.
// It ends the fit if it finds any; else it is not done, and one Gaussian is fitted with what is
// left of the run.
type Several func(ctx context.Context, r *Run, space component.Space, cov *mat.SymDense, rough bool) (out estimate.Outcome, done bool, err error)
