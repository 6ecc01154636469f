package axisaligned

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/boxes"
	"github.com/gauze-dp/gauze/parts/budget"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// fit is the state of one run.
type fit struct {
	program.Run
	found []boxes.Box
}

// Utility constants.
const (
	// leastHeld: boxes that hold less than this part of the rows are not all there is.
	leastHeld = .6
	// a box with less than this part of a component's even share of the rows is dropped
	leastBox = .12
	unknownK = 6 // components that boxes are made for where k is not known
	misfit   = 1.0
	seenSDs  = 4.0 // sds of noise below which a count may be of no rows at all
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
	var err error
	f.found, err = boxes.Find(f.Allotment, boxes.Config{GapsStep: stepGaps, CountsStep: stepBins, GapsMu2: gapsPart * f.Mu2, CountsMu2: binsPart * f.Mu2,
		Rows: f.Rows, Least: leastBox * f.Rows / float64(made(f.Problem)), Components: f.Most(), RoundedTo: f.Problem.RoundedTo, Keep: keepPart * f.Mu2})
	if err != nil {
		return estimate.Outcome{}, err
	}
	if len(f.found) == 0 {
		return f.Refuse("no rows that lie together were seen in every column"), nil
	}
	if held := boxes.Held(f.found); held < leastHeld*f.Rows {
		return f.Refuse("about %.0f of %.0f rows lie where no place was seen in every column", f.Rows-held, f.Rows), nil
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	start, err := boxes.Start(f.Allotment, stepTree, f.found, math.Min(treePart*f.Mu2, f.Left()/2),
		boxes.Choice{Components: f.Problem.Components, Most: f.Problem.MaxComponents, Rows: f.Rows, Uniform: startsOf})
	if err != nil {
		return estimate.Outcome{}, err
	}
	r, err := f.em(ctx, start)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r), nil
}

// made is the number of components to make boxes for.
func made(p estimate.Problem) int {
	if p.Components > 0 {
		return p.Components
	}
	return unknownK
}

// raw is the space of the table's own columns: components of very different scales have no other in
// common.
func raw(d int) component.Space {
	s := component.Space{Center: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		s.Columns, s.Scale[j] = append(s.Columns, j), 1
	}
	return s
}

// em runs the rounds of private EM from a start.
func (f *fit) em(ctx context.Context, start []component.Gaussian) (*em.Rounds, error) {
	r := &em.Rounds{Space: raw(f.Problem.Columns), Form: f.form(), Components: start, Rows: f.Rows, Factor: f.Factor, Misfit: misfit, Gone: goneRows,
		Grid: program.Grid(raw(f.Problem.Columns), f.Problem.RoundedTo)}
	rounds := emRounds
	if len(start) > made(f.Problem) {
		rounds = maxRounds
	}
	mu := budget.Mu((1 - lastPart) * f.Left() / float64(rounds))
	for i := range rounds {
		if k := f.Problem.Components; k > 0 && 2*i >= rounds {
			r.Reduce(k)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.Round(f.Allotment, stepEM, mu, false); err != nil {
			return nil, err
		}
		if f.Problem.Components == 0 {
			r.Merge(f.LeftMu())
		}
	}
	if f.Problem.Components == 0 {
		r.MostDoubt = mostDoubt
		r.Simplify(f.LeftMu(), draws)
	}
	return r, r.Round(f.Allotment, stepLast, f.LeftMu(), true)
}

// Utility constants of the rounds.
const (
	emRounds  = 3
	goneRows  = 5.0
	mostDoubt = .12 // of a weight, relative variance, where k was not asked for
)

// startsOf are the generators of EM's starts: public randomness, seeded with k, so that the same
// released leaves give the same fit.
func startsOf(k int) func(start int) func() float64 {
	return func(start int) func() float64 { return rand.New(rand.NewPCG(uint64(start), uint64(k))).Float64 }
}

// draws is public randomness, the same for the same question.
func draws(n, components int) em.Random { return rand.New(rand.NewPCG(uint64(n), uint64(components))) }

// form is that of the moments: there are no full covariances here.
func (f *fit) form() query.Form {
	if f.Problem.Covariance == estimate.Spherical {
		return query.SphericalForm
	}
	return query.DiagonalForm
}
