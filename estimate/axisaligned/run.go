package axisaligned

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/boxes"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/em"
)

// fit is the state of one run.
type fit struct {
	p      estimate.Problem
	a      *kernel.Allotment
	mu2    float64 // total
	factor float64 // sqrt2 under replace-one, 1 under add-or-remove-one
	rows   float64 // released
	cols   *program.Columns
	found  []boxes.Box
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
	var err error
	if f.cols, err = program.Count(f.a, stepCount, f.mu(countPart)); err != nil {
		return estimate.Outcome{}, err
	}
	if f.rows = math.Max(f.cols.Rows, 1); tooFew(f.p, f.rows) || f.rows < seenSDs*f.factor/f.mu(countPart) {
		return f.refuse(fmt.Sprintf("about %.0f rows are too few for %d components at this epsilon", f.rows, max(f.p.Components, 1))), nil
	}
	if needed := rowsFor(f.p, max(f.p.Components, 1)); f.rows < scarce*needed {
		f.flag("about %.0f rows are few for what was asked: from about %.0f on, places and shapes can be relied on", f.rows, math.Ceil(needed/100)*100)
	}
	f.found, err = boxes.Find(f.a, boxes.Config{GapsStep: stepGaps, CountsStep: stepBins, GapsMu2: gapsPart * f.mu2, CountsMu2: binsPart * f.mu2,
		Rows: f.rows, Least: leastBox * f.rows / float64(f.k()), Components: f.most(), RoundedTo: f.p.RoundedTo, Keep: keepPart * f.mu2})
	if err != nil {
		return estimate.Outcome{}, err
	}
	if len(f.found) == 0 {
		return f.refuse("no rows that lie together were seen in every column"), nil
	}
	if held := boxes.Held(f.found); held < leastHeld*f.rows {
		return f.refuse(fmt.Sprintf("about %.0f of %.0f rows lie where no place was seen in every column", f.rows-held, f.rows)), nil
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	start, err := boxes.Start(f.a, stepTree, f.found, math.Min(treePart*f.mu2, f.a.Left()/2),
		boxes.Choice{Components: f.p.Components, Most: f.p.MaxComponents, Rows: f.rows, Uniform: startsOf})
	if err != nil {
		return estimate.Outcome{}, err
	}
	r, err := f.em(ctx, start)
	if err != nil {
		return estimate.Outcome{}, err
	}
	return f.outcome(r)
}

// k is the number of components to make boxes for.
func (f *fit) k() int {
	if f.p.Components > 0 {
		return f.p.Components
	}
	return unknownK
}

// most is the largest number of components that there may be.
func (f *fit) most() int {
	if f.p.Components > 0 {
		return f.p.Components
	}
	return max(f.p.MaxComponents, 1)
}

func (f *fit) refuse(reason string) estimate.Outcome {
	return estimate.Outcome{NoRelease: &estimate.NoRelease{Reason: reason, Advice: advice(f.p, f.k())}, Diagnostics: f.cols.Notes}
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
	r := &em.Rounds{Space: raw(f.p.Columns), Form: f.form(), Components: start, Rows: f.rows, Factor: f.factor, Misfit: misfit, Gone: goneRows,
		Grid: program.Grid(raw(f.p.Columns), f.p.RoundedTo)}
	rounds := emRounds
	if len(start) > f.k() {
		rounds = maxRounds
	}
	part := (1 - lastPart) * f.a.Left() / float64(rounds)
	for i := range rounds {
		if k := f.p.Components; k > 0 && 2*i >= rounds {
			r.Reduce(k)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.Round(f.a, stepEM, math.Sqrt(part)*(1-1e-12), false); err != nil {
			return nil, err
		}
		if f.p.Components == 0 {
			r.Merge(f.a.LeftMu())
		}
	}
	if f.p.Components == 0 {
		r.MostDoubt = mostDoubt
		r.Simplify(f.a.LeftMu(), draws)
	}
	return r, r.Round(f.a, stepLast, f.a.LeftMu(), true)
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
	if f.p.Covariance == estimate.Spherical {
		return query.SphericalForm
	}
	return query.DiagonalForm
}

func (f *fit) flag(format string, args ...any) {
	f.cols.Notes.Flags = append(f.cols.Notes.Flags, fmt.Sprintf(format, args...))
}
