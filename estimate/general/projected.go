package general

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
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
	// if n mu is wideRows for each of the breadth of a diagonal covariance.
	leastWide, wideRows = 21, 200.0
	// With a strength of leastStrength and more the search in all columns finds few components as
	// well or better, of 30,000 rows in 30 columns: a projection is worth its cost from sharedRows
	// for each of the breadth on. A guess.
	sharedRows  = 1100.0
	projectedTo = 6
	// With n mu between these for each column one Gaussian has its full covariance, and would not
	// after a look at a projection that shows but one.
	oneFull, oneFullAfter = 75.0, 95.0
	// of mu^2, for all that is asked in the projection, and for the moments of its parts
	projectedPart = .35
	// leastUnit is the least variance of a column within components, of the mean over all columns,
	// that one release shows.
	leastUnit = .02
	// A part of fewer rows than clearPart sds of their noise is none, and so is one whose mean has
	// more noise, variance in its own units, than placedPart.
	clearPart, placedPart = 6.0, .3
	// With a strength of less than sharedStrength for each part, parts start as spheres and their
	// shapes become known from one another; with more, which in a table of mostStrength even many
	// have, each can pay for its own from the start. Spheres hold no groups that are long and
	// narrow: it is no start if parts are more eccentric in the projection than mostEccentric, or
	// relative covariances have a mean square of mostCovary, and no more noise than covaryNoise.
	// Chosen on 18 round groups and 6 to 14 that are 2.7, 4 and 5.5 times as long as wide, in 30
	// columns: in 15 fits of 40,000 rows round ones had .046 at most, and in 9 of 12 with groups
	// four times as long these had more. With three times that noise one of 20 round ones ended so.
	sharedStrength, mostStrength = 2.0, 120.0
	mostEccentric                = .3
	mostCovary, covaryNoise      = .048, .35
	// Shapes are not measured with more noise in each entry than evenNoise in the last round, and
	// earlyNoise in those after the number of components is decided.
	evenNoise, earlyNoise = 1.0, .3
	// partsRadius is that of a part's frame, over the root of the number of columns: in many
	// columns rows are about as far out as the frame has them, and not nearer.
	partsRadius = 1.1
	// .. rounds there, and the part of what the projection costs that they have
	projectedRounds, roundsPart = 8, .4
	// mostProjected bounds the parts.
	mostProjected = 96
)

// partsParts are the parts of mu^2 for the moments of the parts of a projection, again and again in
// frames that become narrower: guesses.
var partsParts = []float64{.02, .04, .08}

const stepProjected = "parts of a projection"

// projectable reports whether a table of so many rows, public or released, has columns and rows for
// a start by a projection.
func projectable(p estimate.Problem, rows float64) bool {
	if each := rows * p.Mu / float64(p.Columns); p.Covariance == estimate.Full && p.Components == 0 && each >= oneFull && each < oneFullAfter {
		return false
	}
	p.Covariance = estimate.Diagonal
	each, least := strength(p, p.Columns, rows), wideRows
	if each >= leastStrength {
		least = sharedRows
	}
	return p.Columns >= leastWide && each < mostStrength && rows*p.Mu >= least*breadth(p, p.Columns)
}

// looking returns what a part of mu^2 for the projection costs: all of it, where components cannot
// pay for correlations and nothing else finds them.
func (f *fit) looking(part float64) float64 {
	if wide(f.Problem, f.AtMost) {
		return part
	}
	return f.schedule.cost(part)
}

// wide reports whether components in such a table cannot pay for correlations.
func wide(p estimate.Problem, rows float64) bool {
	return strength(p, p.Columns, rows) < leastStrength && projectable(p, rows)
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
// EM find parts that are then measured in all columns; none if the projection shows but one.
//
// Source: [KSSU19] Section C.2 of the restatement.
// Differs: a projection that is public and random costs nothing.
func (f *fit) projected(ctx context.Context) ([]component.Gaussian, error) {
	g, columns := f.onto(f.projection()), *f.Columns
	defer f.SubBudget.Return(g.SubBudget)
	g.Columns = &columns
	if err := g.fitGlobal(g.space.Scale); err != nil {
		return nil, err
	}
	c, axes, err := g.tree()
	if err != nil {
		return nil, err
	}
	g.countSD = c.SD
	start, err := g.choose(ctx, c, axes)
	if err != nil || len(start) < 2 {
		return nil, err
	}
	if start, err = f.ofProjection(ctx, g, start); len(start) > 1 {
		f.evenly()
	}
	return start, err
}

// eccentricity returns the mean over components of the logarithm of their variances' arithmetic
// over their geometric mean: 0 for spheres.
func eccentricity(cs []component.Gaussian) (mean float64) {
	for _, c := range cs {
		d := float64(len(c.Mean))
		mean += c.Weight * (math.Log(mat.Trace(c.Cov)/d) - symmetric.LogDet(c.Cov)/d)
	}
	return mean
}

// errLong ends the rounds of a fit whose parts of a projection are no spheres.
var errLong = errors.New("long groups")

// long reports that the components of such a fit are not, in a table that can pay for their shapes.
func (f *fit) long(r *privateem.Rounds) bool {
	return f.even && f.Problem.Covariance == estimate.Full && r.Seen != nil && r.Seen.Covary > mostCovary && r.Seen.CovaryNoise <= covaryNoise
}

// onto returns the fit that looks for components in a projection of all rows, with its own part of
// the budget.
func (f *fit) onto(space component.Space) *fit {
	g, q := *f, space.Dim()
	g.SubBudget = f.SubBudget.Take(f.looking(projectedPart) * f.Mu2)
	g.table, g.drawn, g.all, g.odds, g.Mu2 = g.SubBudget, g.SubBudget, f.Rows, 1, g.Left()
	g.Problem.Covariance, g.Problem.Columns, g.Problem.Mu = estimate.Full, q, math.Sqrt(g.Mu2)
	g.Problem.Components, g.Problem.MaxComponents, g.Problem.MoreComponents = 0, mostProjected, false
	g.space, g.schedule = space, planned(g.Problem, q, g.Rows)
	return &g
}

// ofProjection returns a start for f from that of g, which looks at a projection, after rounds
// there; none if these show but one.
func (f *fit) ofProjection(ctx context.Context, g *fit, start []component.Gaussian) ([]component.Gaussian, error) {
	r, err := g.partsSeen(ctx, start)
	if err != nil || r == nil || len(r.Components) < 2 {
		return nil, err
	}
	if !wide(f.Problem, f.AtMost) && f.Problem.Covariance == estimate.Full && (strength(f.Problem, f.space.Dim(), f.Rows) >= sharedStrength*float64(len(r.Components)) || eccentricity(r.Components) > mostEccentric) {
		return nil, nil
	}
	space := f.space
	if start, err = f.inAllColumns(r); err != nil || len(start) < 2 {
		f.space = space
		return nil, err
	}
	f.countSD, f.coarse, f.global = g.countSD, true, component.Joined(start[0], start[1:]...)
	return start, nil
}

// evenly has components be spheres until the last round.
func (f *fit) evenly() {
	if f.even = true; f.Problem.Covariance == estimate.Full && wide(f.Problem, f.AtMost) {
		f.Problem.Covariance = estimate.Diagonal
		f.otherShape()
	}
	if f.Problem.Components == 0 && f.Problem.MoreComponents {
		f.Problem.MaxComponents = max(f.Problem.MaxComponents, mostProjected)
	}
}

// unevenly has a round of mu, and those after it, measure the shapes of components that were
// spheres, known from one another, where an entry of them has no more noise than that.
func (f *fit) unevenly(r *privateem.Rounds, mu, noise float64) {
	form := program.Form(f.Problem.Covariance)
	if f.even && form != query.SphericalForm && len(r.Components) > 0 && r.ShapeNoise(form, mu) <= noise {
		r.Form, r.SharedPrior = form, true
	}
}

// otherShape says that components have no correlations.
func (f *fit) otherShape() {
	f.Notes.Flag(flags.New(flags.OtherShape, "too few rows to measure correlations within groups in so many columns: each group has means and standard deviations only"))
}

// partsSeen returns what private EM makes of a start in a projection.
func (f *fit) partsSeen(ctx context.Context, start []component.Gaussian) (*privateem.Rounds, error) {
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

// inAllColumns measures the parts of a projection in all columns, every row in one of them, a few
// times, each in the frames that the one before has found: number of rows, mean and mean variance.
// The last one measures the variance of every column, whose mean over the parts becomes that
// column's unit: components then start as spheres.
//
// The L2 sensitivity is that of query.ClippedMoments of one part (query.Parts).
func (f *fit) inAllColumns(r *privateem.Rounds) ([]component.Gaussian, error) {
	d, axes := f.space.Dim(), r.Space.Of.Axes
	out := slices.Clone(r.Components)
	for j, c := range out {
		at := slices.Clone(r.Space.Center)
		for l, s := range r.Space.Scale {
			at[l] += s * c.Mean[l]
		}
		out[j] = component.Gaussian{Weight: c.Weight, Mean: make([]float64, d), Cov: symmetric.Scaled(startVariance, symmetric.Identity(d)), Uncertainty: globalDoubt}
		out[j].Uncertainty.Weight = component.StartUncertainty().Weight
		symmetric.AddMul(out[j].Mean, axes, at)
	}
	for i, part := range partsParts {
		form := query.SphericalForm
		if i+1 == len(partsParts) {
			form = query.DiagonalForm
		}
		sums, hows, err := f.ofParts(r, out, form, part)
		if err != nil {
			return nil, err
		}
		update := component.Update{Form: query.SphericalForm, Rows: f.Rows, Floor: floorStandard}
		for j := range out {
			out[j] = update.Recenter(out[j], sums[j], hows[j])
		}
		if form == query.DiagonalForm {
			out = f.evenOut(out, sums, hows)
		}
	}
	return out, nil
}

// ofParts measures the rows of every part in its frame, for a part of mu^2.
func (f *fit) ofParts(r *privateem.Rounds, frames []component.Gaussian, form query.Form, part float64) (sums []component.Sums, hows []component.Clipping, err error) {
	mu := f.Mu(f.looking(part))
	noise := component.NoiseOf(form, f.space.Dim(), f.Factor, mu)
	queries := make([]query.ClippedMoments, len(frames))
	for j, c := range frames {
		q, how := f.space.Clipped(c, c.Weight, f.Rows, noise, misfit)
		q.Radius = partsRadius * math.Sqrt(float64(f.space.Dim()))
		how.Law = component.ClippedGaussian(f.space.Dim(), sq(q.Radius))
		queries[j] = query.ClippedMoments{Form: component.MeasuredForm(form), Lift: component.Lift, Components: []query.Component{q}}
		hows = append(hows, how)
	}
	answers, err := parts.AskLeaves(f.SubBudget, stepProjected, r.Parted(), queries, mu)
	for j, ans := range answers {
		sums = append(sums, component.UnpackCounted(queries[j], ans)[0])
	}
	return sums, hows, err
}

// evenOut returns the parts that hold rows at a place that is known: in noise they would take the
// rows of others. It has the columns' units be the standard deviations within them that they have
// in common, as far as the noise lets these be seen.
func (f *fit) evenOut(all []component.Gaussian, sums []component.Sums, hows []component.Clipping) (cs []component.Gaussian) {
	var own []component.Sums
	var how []component.Clipping
	for j, c := range all {
		if c.Rows >= clearPart*c.CountSD && c.Uncertainty.Mean < placedPart {
			cs, own, how = append(cs, c), append(own, sums[j]), append(how, hows[j])
		}
	}
	if len(cs) < 2 {
		return nil
	}
	shape := component.Pooled(query.DiagonalForm, own, how)
	excess, space := symmetric.DiagonalOf(shape.Excess), f.space
	seen := math.Max(0, dense.Norm2(excess)/float64(len(excess))-sq(shape.SD))
	space.Scale = slices.Clone(space.Scale)
	for l, e := range excess {
		unit := math.Sqrt(math.Max(leastUnit, 1+seen/(seen+sq(shape.SD))*e))
		space.Scale[l] *= unit
		for j := range cs {
			cs[j].Mean[l] /= unit
		}
	}
	f.space = space
	return cs
}

// wideStart ends the fit of a wide table from a projection that shows several components, and where
// it shows but one and the rows are too few for a search in all columns as that of one Gaussian.
// Otherwise the search is of the shape that the rows can pay for.
func (f *fit) wideStart(ctx context.Context) (out estimate.Outcome, done bool, err error) {
	asked, start, before := f.Problem, []component.Gaussian(nil), *f
	if projectable(f.Problem, f.AtMost) && f.missing.table == nil {
		if start, err = f.projected(ctx); err != nil {
			return out, true, err
		}
	}
	if k := f.Problem.Components; k > 0 && f.AtMost < leastAsked(asked, k) {
		f.Problem = shaped(f.Problem, f.AtMost)
	}
	if len(start) < 2 && f.Problem.Covariance != asked.Covariance {
		f.otherShape()
	}
	switch {
	case len(start) > 1:
		if out, err = f.finish(ctx, start); errors.Is(err, errLong) {
			*f = before
			return out, false, nil
		}
	case f.Problem.Components > 0 || f.AtMost >= rowsOfSeveral(f.Problem):
		return out, false, nil
	default:
		out, err = f.method.fitOne(ctx, nil, true, f.seen(), f.SubBudget, f.Problem)
	}
	return out, true, err
}
