package general

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense/symmetric"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/privateem"
)

// Utility constants of wide tables, guesses.
const (
	// From this many columns on components are looked for in a projection of them to projectedTo,
	// if n mu is wideRows for each of the breadth of a diagonal covariance, and the strength less
	// than leastStrength: with more the search in all columns finds about as many, and one Gaussian
	// would pay for both. In fewer columns no table has both.
	leastWide, wideRows = 21, 200.0
	projectedTo         = 6
	// With n mu between these for each column one Gaussian has its full covariance, and would not
	// after a look at a projection that shows but one.
	oneFull, oneFullAfter = 75.0, 95.0
	// of mu^2, for all that is asked in the projection, and for the moments of its parts
	projectedPart, partsPart = .35, .12
	// .. rounds there, and the part of what the projection costs that they have
	projectedRounds, roundsPart = 8, .4
	// mostProjected bounds the parts.
	mostProjected = 96
)

const stepProjected = "parts of a projection"

// wide reports whether a table of so many rows, public or released, has columns and rows for a
// start by a projection.
func wide(p estimate.Problem, rows float64) bool {
	each := rows * p.Mu / float64(p.Columns)
	if p.Covariance == estimate.Full && p.Components == 0 && each >= oneFull && each < oneFullAfter {
		return false
	}
	p.Covariance = estimate.Diagonal
	return p.Columns >= leastWide && strength(p, p.Columns, rows) < leastStrength && rows*p.Mu >= wideRows*breadth(p, p.Columns)
}

// shaped returns the problem with the shape of components that such a table can pay for.
func shaped(p estimate.Problem, rows float64) estimate.Problem {
	if p.Covariance == estimate.Full && wide(p, rows) {
		p.Covariance = estimate.Diagonal
	}
	return p
}

// projection returns the space of a public random projection of f.space, each axis the signed mean
// of columns of its own: it depends on the number of columns alone.
func (f *fit) projection() component.Space {
	d := f.space.Dim()
	random := program.Draws(d, projectedTo)
	order := parts.Upto(d)
	for i := d - 1; i > 0; i-- {
		j := int(random.Float64() * float64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	axes := mat.NewDense(d, projectedTo, nil)
	for l := range projectedTo {
		own := order[l*d/projectedTo : (l+1)*d/projectedTo]
		for _, j := range own {
			axes.Set(j, l, math.Copysign(1/math.Sqrt(float64(len(own))), random.Float64()-.5))
		}
	}
	return component.Space{Center: make([]float64, projectedTo), Scale: slices.Repeat([]float64{1}, projectedTo), Of: &component.Projection{Space: f.space, Axes: axes}}
}

// projected returns a start of several components from a projection, in which the tree and private
// EM find parts that one release then measures in all columns; none if the projection shows but
// one.
//
// Source: [KSSU19] Section C.2 of the restatement.
// Differs: a projection that is public and random costs nothing.
func (f *fit) projected(ctx context.Context) ([]component.Gaussian, error) {
	g, columns := *f, *f.Columns
	g.SubBudget = f.SubBudget.Take(projectedPart * f.Mu2)
	defer f.SubBudget.Return(g.SubBudget)
	g.Columns, g.table, g.drawn, g.all, g.odds, g.Mu2 = &columns, g.SubBudget, g.SubBudget, f.Rows, 1, g.Left()
	g.Problem.Covariance, g.Problem.Columns, g.Problem.Mu = estimate.Full, projectedTo, math.Sqrt(g.Mu2)
	g.Problem.Components, g.Problem.MaxComponents, g.Problem.MoreComponents = 0, mostProjected, false
	g.space, g.schedule = f.projection(), planned(g.Problem, projectedTo, g.Rows)
	r, err := g.partsSeen(ctx)
	if err != nil || r == nil || len(r.Components) < 2 {
		return nil, err
	}
	start, err := f.inAllColumns(r)
	if err != nil {
		return nil, err
	}
	f.countSD, f.coarse, f.global = g.countSD, true, component.Joined(start[0], start[1:]...)
	f.Problem = shaped(f.Problem, f.AtMost)
	if f.Problem.Components == 0 && f.Problem.MoreComponents {
		f.Problem.MaxComponents = max(f.Problem.MaxComponents, mostProjected)
	}
	return start, nil
}

// partsSeen returns what private EM makes of a tree of counts in a projection.
func (f *fit) partsSeen(ctx context.Context) (*privateem.Rounds, error) {
	if err := f.fitGlobal(f.space.Scale); err != nil {
		return nil, err
	}
	c, axes, err := f.tree()
	if err != nil {
		return nil, err
	}
	f.countSD = c.SD
	start, err := f.choose(ctx, c, axes)
	if err != nil || len(start) < 2 {
		return nil, err
	}
	r, err := f.begin(ctx, start)
	if err != nil {
		return nil, err
	}
	for i := range projectedRounds {
		mu := parts.Mu(projectedRound(i, f.Mu2, f.Left()))
		if err := r.Round(f.SubBudget, program.StepRounds, mu, false); err != nil {
			return nil, err
		}
		if err := r.Merge(ctx, mu); err != nil {
			return nil, err
		}
		if i+1 == openRounds {
			if err := f.look(ctx, r); err != nil {
				if errors.Is(err, errOne) {
					err = nil
				}
				return nil, err
			}
		}
	}
	return r, nil
}

// projectedRound returns the mu^2 of a round in the projection, of which splits may have left less
// than planned.
func projectedRound(i int, mu2, left float64) float64 {
	return math.Min(roundsPart*mu2/projectedRounds, left/float64(projectedRounds-i))
}

// inAllColumns measures the parts of a projection in all columns, every row in one of them: number
// of rows, mean and variances.
//
// The L2 sensitivity is that of query.ClippedMoments of one part (query.Parts).
func (f *fit) inAllColumns(r *privateem.Rounds) ([]component.Gaussian, error) {
	d, mu := f.space.Dim(), f.Mu(partsPart)
	noise, axes := component.NoiseOf(query.DiagonalForm, d, f.Factor, mu), r.Space.Of.Axes
	out := slices.Clone(r.Components)
	queries, hows := make([]query.ClippedMoments, len(out)), make([]component.Clipping, len(out))
	for j, c := range out {
		at := slices.Clone(r.Space.Center)
		for l, s := range r.Space.Scale {
			at[l] += s * c.Mean[l]
		}
		out[j] = component.Gaussian{Weight: c.Weight, Mean: make([]float64, d), Cov: symmetric.Scaled(startVariance, symmetric.Identity(d)), Uncertainty: globalDoubt}
		symmetric.AddMul(out[j].Mean, axes, at)
		q, how := f.space.Clipped(out[j], 1, c.Weight*f.Rows, noise, misfit)
		queries[j], hows[j] = query.ClippedMoments{Form: query.DiagonalForm, Lift: component.Lift, Components: []query.Component{q}}, how
	}
	answers, err := parts.AskLeaves(f.SubBudget, stepProjected, r.Parted(), queries, mu)
	if err != nil {
		return nil, err
	}
	update := component.Update{Form: query.DiagonalForm, Rows: f.Rows, Floor: floorStandard}
	for j := range out {
		out[j] = update.Apply(out[j], component.UnpackCounted(queries[j], answers[j])[0], hows[j])
	}
	return out, nil
}

// wideStart ends the fit of a wide table from a projection that shows several components, and where
// it shows but one and the rows are too few for a search in all columns as that of one Gaussian.
// Otherwise the search is of the shape that the rows can pay for.
func (f *fit) wideStart(ctx context.Context) (out estimate.Outcome, done bool, err error) {
	asked, start := f.Problem, []component.Gaussian(nil)
	if wide(f.Problem, f.AtMost) && f.missing.table == nil {
		if start, err = f.projected(ctx); err != nil {
			return out, true, err
		}
	}
	if k := f.Problem.Components; k > 0 && f.AtMost < leastAsked(asked, k) {
		f.Problem = shaped(f.Problem, f.AtMost)
	}
	if f.Problem.Covariance != asked.Covariance {
		f.Notes.Flag(flags.New(flags.OtherShape, "too few rows for how so many columns depend on each other within groups: each group has a mean and a standard deviation of every column, and no correlations"))
	}
	switch {
	case len(start) > 1:
		out, err = f.finish(ctx, start)
	case f.Problem.Components > 0 || f.AtMost >= rowsOfSeveral(f.Problem):
		return out, false, nil
	default:
		out, err = f.method.fitOne(ctx, nil, true, f.seen(), f.SubBudget, f.Problem)
	}
	return out, true, err
}
