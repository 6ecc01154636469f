package profile

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
)

// BesideFirst is the first step of every fit that carries a profile: it costs all that is planned
// for it.
const BesideFirst = besides + stepCells

// besides begins the names of the steps of a profile that accompanies a model.
const besides = "profile: "

// besideModel holds the terms of a profile that accompanies a model, in its share of mu^2: there
// are no sums, and the finer measurements need not be spent. Columns are reported from fewer cells
// on. Guesses.
var besideModel = terms{
	octaves: price{math.MaxFloat64, .28, .28}, bins: price{math.MaxFloat64, .4, .4}, closer: price{math.MaxFloat64, .1, .1}, values: price{math.MaxFloat64, .2, .2},
	heldOut: 22, weak: 44,
}

// Utility constants of a profile that accompanies a model, guesses except for clearBeside.
const (
	// presencePart of mu^2 counts the cells of every column.
	presencePart = .004
	// The profile's share of mu^2 is such that the cells of a whole column are clearBeside times
	// what the noise of one count of all columns at that price would be, between leastBeside and
	// mostBeside. Where that is below fewBeside, cells alone are counted.
	clearBeside, fewBeside  = 130.0, 90.0
	leastBeside, mostBeside = .01, .03
	valuesBeside            = 2
	// A column is held out of a model if it has fewer cells than this many times that noise, at a
	// share of mostShare, and clearly less than half of the rows have a cell.
	leastClear, mostShare, clearlySDs = 40.0, .15, 3.0
)

// Carried reports whether a fit of that method carries a profile with its model: the practical
// methods for one Gaussian and for mixtures, if no public fact is known.
func Carried(method string, p estimate.Problem) bool {
	return p.Mu > 0 && p.Known() == nil && !p.Printed && p.Own == "" && slices.Contains([]string{"gaussian", "heavy-tailed", "general", "separated"}, method)
}

// Beside returns the plan of a fit that carries a profile: the profile's steps, and then the plan.
func Beside(plan kernel.Plan) kernel.Plan {
	const source = "KSSU19 Section A.4"
	histogram := query.Cells.Of(query.Histogram)
	t := besideModel
	step := func(name, query string, share float64, most int) kernel.Step {
		return kernel.Step{Name: besides + name, Query: query, Share: share, Most: most, Source: source}
	}
	plan.Steps = append([]kernel.Step{
		step(stepCells, query.Presence.Of(query.Histogram), presencePart, 1),
		step(stepOctaves, histogram, mostBeside*t.octaves.most, 1),
		step(stepBins, histogram, mostBeside*(t.bins.most+mostCloser*t.closer.most), 1+mostCloser),
		step(stepValues, histogram, mostBeside*valuesBeside*t.values.most, valuesBeside),
	}, plan.Steps...)
	return plan
}

// Fit measures a profile of all columns, holds those out that have too few cells for a model, and
// fits the method to the others with what is left: a row that lacks cells only in columns that are
// held out is whole. The outcome's Kept are the columns of the model; nil for all.
func Fit(ctx context.Context, method estimate.Estimator, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := begun(s.SubBudget(), p, besideModel, 0)
	f.prefix = besides
	if err := f.beside(s.Mu() * s.Mu()); err != nil {
		return estimate.Outcome{}, err
	}
	kept := f.kept(s.Mu())
	profile := f.profile()
	if len(kept) == len(f.columns) {
		p.Profile = profile
		out, err := method.Fit(ctx, s, p)
		out.Profile = profile
		return out, err
	}
	if len(kept) == 0 {
		return estimate.Outcome{Profile: profile, NoRelease: &estimate.NoRelease{Reason: "every column has too few values for a model", Advice: "gauze describe says how many there are"}}, nil
	}
	narrow, err := kernel.Narrow(s.SubBudget(), kept)
	if err != nil {
		return estimate.Outcome{}, err
	}
	p = only(p, kept)
	p.Profile = &estimate.Profile{Rows: profile.Rows}
	for _, j := range kept {
		p.Profile.Columns = append(p.Profile.Columns, profile.Columns[j])
	}
	out, err := method.Fit(ctx, narrow.Session(), p)
	out.Profile, out.Kept = profile, kept
	for j, c := range f.columns {
		if !slices.Contains(kept, j) {
			out.Aside = append(out.Aside, flags.New(flags.HeldOut, "column %v is held out of the model: about %.0f of %.0f rows have a value (give or take %.0f), too few", flags.Ref{j}, c.cells, f.rows, c.cellsSD).
				In(j).Of(math.Min(1, c.cells/f.rows), c.cellsSD/f.rows))
		}
	}
	return out, err
}

// only returns the problem of some of the columns.
func only(p estimate.Problem, kept []int) estimate.Problem {
	if p.Columns = len(kept); p.RoundedTo != nil {
		units := make([]float64, len(kept))
		for i, j := range kept {
			units[i] = p.RoundedTo[j]
		}
		p.RoundedTo = units
	}
	return p
}

// beside measures cells and, if the rows are enough, the rest, within a total of mu2.
func (f *fit) beside(mu2 float64) error {
	if err := f.countCells(presencePart * mu2 * (1 - 1e-12)); err != nil {
		return err
	}
	noise := lists(f.problem.Relation, len(f.columns)) / parts.Mu(mu2)
	share := math.Max(leastBeside, math.Min(math.Pow(clearBeside*noise/f.rows, 2), mostBeside))
	if f.rows*math.Sqrt(share) < fewBeside*noise {
		for _, c := range f.columns {
			c.reason = notAsked
		}
		return nil
	}
	f.mu2 = share * mu2 * (1 - 1e-9)
	whole := f.SubBudget
	f.SubBudget = whole.Take(f.mu2)
	defer whole.Return(f.SubBudget)
	if err := f.look(); err != nil {
		return err
	}
	for _, c := range f.live {
		c.bySettled()
	}
	f.hold()
	return nil
}

// bySettled reads mean and sd of a column from its settled histogram.
func (c *column) bySettled() {
	if c.decide(); c.constant || c.reason != "" {
		return
	}
	mean, sd, reach := c.byBins()
	if !(sd > 0 && reach > 0 && reach < math.MaxFloat64/4) {
		if c.meanSD, c.sdSD = math.Inf(1), math.Inf(1); len(c.atoms) == 0 {
			c.reason = scattered
		}
		return
	}
	c.mean, c.sd, c.reach = mean, sd, reach
	first, second := 0.0, 0.0
	for _, b := range c.list {
		x := (b.low/2 + b.high/2 - mean) / sd
		first, second = math.Hypot(first, x*b.sd), math.Hypot(second, (x*x-1)*b.sd)
	}
	cells := math.Max(c.cells, 1)
	c.meanSD, c.sdSD = sd*first/cells, sd*second/(2*cells)
	// Without sums nothing but the bins says what lies where the noise hides it.
	unseen := (c.outside[0] + c.outside[1] + 2*math.Hypot(c.spill[0], c.spill[1])) / cells
	c.meanSD, c.sdSD = math.Hypot(c.meanSD, unseen*reach), math.Hypot(c.sdSD, unseen*reach*(reach/sd)/2)
}

// kept returns the columns that a model may have.
func (f *fit) kept(mu float64) (kept []int) {
	least := leastClear * lists(f.problem.Relation, len(f.columns)) / (mu * math.Sqrt(mostShare))
	for j, c := range f.columns {
		if !(c.cells < least && c.cells+clearlySDs*c.cellsSD < f.rows/2) {
			kept = append(kept, j)
		} else if c.reason == "" || c.reason == notAsked {
			c.reason = tooFew
		}
	}
	return kept
}

// notAsked is the reason of columns of which only the cells were counted.
const notAsked = "only its cells were counted: beside a model there are too few rows for more, which gauze describe measures"
