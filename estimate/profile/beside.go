package profile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
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
	octaves: price{math.MaxFloat64, .28, .28}, bins: price{math.MaxFloat64, .4, .4}, closer: price{math.MaxFloat64, .1, .1}, values: price{math.MaxFloat64, .5, .5},
	heldOut: 22, weak: 44, farOctaves: 16,
}

// Utility constants of a profile that accompanies a model, guesses.
const (
	// presencePart of mu^2 counts the cells of every column, or presenceMixed beside categories,
	// where a profile is measured in shorter tables, and few cells hold a column out of it.
	presencePart, presenceMixed = .004, .03
	heldOutMixed                = 14.0
	valuesBeside                = 2
	// If columns need finer and finer measurements, a profile may cost this many times its share;
	// beside categories, where that is larger, closerMixed.
	closerBeside, closerMixed = 1.9, 1.3
	// A column is held out of a model if it has fewer cells than this many times that noise, at a
	// share of mostShare, and clearly less than half of the rows have a cell.
	leastClear, mostShare, clearlySDs = 40.0, .15, 3.0
)

// presence returns the part of mu^2 that counts the cells of every column beside a model.
func presence(p estimate.Problem) float64 {
	if len(p.Categories) > 0 {
		return presenceMixed
	}
	return presencePart
}

// Carried reports whether a fit of that method carries a profile with its model: the practical
// methods for one Gaussian and for mixtures, if no public fact is known.
func Carried(method string, p estimate.Problem) bool {
	return p.Mu > 0 && p.Known() == nil && !p.Printed && !p.Tournament && p.Own == "" && slices.Contains([]string{"gaussian", "heavy-tailed", "general", "separated"}, method)
}

// Measured reports that a fit of that method carries a profile, and that public facts say that it
// is measured in full.
func Measured(method string, p estimate.Problem) bool {
	if !Carried(method, p) || p.Relation != privacy.ReplaceOne || p.Rows == 0 {
		return false
	}
	_, full := program.ProfileShare(p, float64(p.Rows))
	return full
}

// Beside returns the plan of a fit that carries a profile: the profile's steps, which are the count
// of cells alone if public facts say so, and then the plan.
func Beside(p estimate.Problem, plan kernel.Plan) kernel.Plan {
	const source = "KSSU19 Section A.4"
	histogram := query.Cells.Of(query.Histogram)
	t := besideModel
	step := func(name, query string, share float64, most int) kernel.Step {
		return kernel.Step{Name: besides + name, Query: query, Share: share, Most: most, Source: source}
	}
	steps := []kernel.Step{step(stepCells, query.Presence.Of(query.Histogram), presence(p), 1)}
	if p.Profiled || p.Rows == 0 {
		steps = append(steps,
			step(stepOctaves, histogram, program.MostBeside(p)*t.octaves.most, 1),
			step(stepBins, histogram, program.MostBeside(p)*(t.bins.most+mostCloser*t.closer.most), 1+mostCloser),
			step(stepValues, histogram, program.MostBeside(p)*valuesBeside*t.values.most, valuesBeside))
		if len(p.Categories) > 0 {
			steps = append(steps, step(stepRest, histogram, 1, 1))
		}
	}
	plan.Steps = append(steps, plan.Steps...)
	return plan
}

// Fit measures a profile of all columns, holds those out that have too few cells for a model, and
// fits the method to the others with what is left: a row that lacks cells only in columns that are
// held out is whole. The outcome's Kept are the columns of the model; nil for all.
func Fit(ctx context.Context, method estimate.Estimator, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := begun(s.SubBudget(), p, besideModel, 0)
	if f.prefix = besides; len(p.Categories) > 0 {
		f.heldOut = heldOutMixed
	}
	full, err := f.beside(s.Mu() * s.Mu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	kept := f.kept(s.Mu(), full)
	out, err := f.joint(ctx, method, s, p, kept, full)
	if err == nil && out.NoRelease != nil && full && len(p.Categories) > 0 {
		var own estimate.Outcome
		if own, err = f.byItself(s); own.Model != nil {
			out, kept = own, own.Kept
		}
	}
	return f.with(out, kept), err
}

// joint fits the method to the kept columns.
func (f *fit) joint(ctx context.Context, method estimate.Estimator, s *kernel.Session, p estimate.Problem, kept []int, full bool) (estimate.Outcome, error) {
	profile := f.profile()
	if len(kept) == 0 {
		return estimate.Outcome{NoRelease: f.noneKept()}, nil
	}
	if len(kept) == len(f.columns) {
		if full {
			p.Profile = profile
		}
		return method.Fit(ctx, s, p)
	}
	narrow, err := kernel.Narrow(s.SubBudget(), kept)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if p = only(p, kept); full {
		p.Profile = &estimate.Profile{Rows: profile.Rows}
		for _, j := range kept {
			p.Profile.Columns = append(p.Profile.Columns, profile.Columns[j])
		}
	}
	return method.Fit(ctx, narrow.Session(), p)
}

// noneKept returns why no column is kept: the reason of the first one that has enough values, or
// that none has.
func (f *fit) noneKept() *estimate.NoRelease {
	for j, c := range f.columns {
		if c.reason != tooFew {
			return &estimate.NoRelease{Reason: c.reason, Column: &j, Advice: "every column is held out of the model; gauze describe says why"}
		}
	}
	return &estimate.NoRelease{Reason: "every column has too few values for a model", Advice: "gauze describe says how many there are"}
}

// with adds to an outcome the profile, and what is said of the columns that are not in the model.
func (f *fit) with(out estimate.Outcome, kept []int) estimate.Outcome {
	out.Profile = f.profile()
	if out.Kept = kept; len(kept) == 0 || len(kept) == len(f.columns) {
		out.Kept = nil
		return out
	}
	for j, c := range f.columns {
		if !slices.Contains(kept, j) {
			why := c.reason
			if why == tooFew {
				why = fmt.Sprintf("about %.0f of %.0f rows have a value (give or take %.0f), too few", c.cells, f.rows, c.cellsSD)
			}
			out.Aside = append(out.Aside, flags.New(flags.HeldOut, "column %v is held out of the model: %s", flags.Ref{j}, why).In(j).Of(math.Min(1, c.cells/f.rows), c.cellsSD/f.rows))
		}
	}
	return out
}

// only returns the problem of some of the columns.
func only(p estimate.Problem, kept []int) estimate.Problem {
	p.HeldOut = p.Columns - len(kept)
	if p.Columns = len(kept); p.RoundedTo != nil {
		units := make([]float64, len(kept))
		for i, j := range kept {
			units[i] = p.RoundedTo[j]
		}
		p.RoundedTo = units
	}
	p.Limits = nil // of a profile by itself alone
	return p
}

// beside measures cells and, if the rows are enough, the rest, which makes the profile full, within
// a total of mu2.
func (f *fit) beside(mu2 float64) (full bool, err error) {
	if err := f.countCells(presence(f.problem) * mu2 * (1 - 1e-12)); err != nil {
		return false, err
	}
	share, full := program.ProfileShare(f.problem, f.rows)
	if !full {
		for _, c := range f.columns {
			c.reason = notAsked
		}
		return false, nil
	}
	f.mu2 = share * mu2 * (1 - 1e-9)
	whole := f.SubBudget
	most := closerBeside * f.mu2
	if len(f.problem.Categories) > 0 {
		most = closerMixed * f.mu2
	}
	f.SubBudget = whole.Take(most)
	defer whole.Return(f.SubBudget)
	return true, f.settled()
}

// settled measures all but sums, and has columns described by their histograms.
func (f *fit) settled() error {
	f.choose()
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
	c.reach = reach
	c.moments = c.ofBins(mean, sd, reach)
}

// ofBins returns the column's moments with mean, sd and reach by the settled histogram, and their
// noise: that of the bins, of where cells lie in a bin, and of cells that the noise hides anywhere
// within reach.
func (c *column) ofBins(mean, sd, reach float64) moments {
	m := c.moments
	m.mean, m.sd = mean, sd
	first, second, within := 0.0, 0.0, 0.0
	for _, b := range c.list {
		x := (b.low/2 + b.high/2 - mean) / sd
		first, second = math.Hypot(first, x*b.sd), math.Hypot(second, (x*x-1)*b.sd)
		within += b.rows * (b.high - b.low) / sd * (b.high - b.low) / sd
	}
	cells := math.Max(c.cells, 1)
	m.meanSD, m.sdSD = sd*math.Hypot(first/cells, inBin*math.Sqrt(within/cells)), sd*math.Hypot(second/(2*cells), inBin*within/cells)
	unseen := (c.outside[0] + c.outside[1] + 2*math.Hypot(c.spill[0], c.spill[1])) / cells
	m.meanSD, m.sdSD = math.Hypot(m.meanSD, unseen*reach), math.Hypot(m.sdSD, unseen*reach*(reach/sd)/2)
	return m
}

// inBin: how far the mean of the cells of a bin is from its middle, in widths, and how wrong its
// part of the variance, in squares of widths: all cells may share one value. A guess.
const inBin = .1

// kept returns the columns that a model may have: after a full profile, those whose values it has
// located and whose variances are numbers.
func (f *fit) kept(mu float64, full bool) (kept []int) {
	least := leastClear * lists(f.problem.Relation, len(f.columns)) / (mu * math.Sqrt(mostShare))
	for j, c := range f.columns {
		few := c.cells < least && c.cells+clearlySDs*c.cellsSD < f.rows/2
		switch {
		case few && (c.reason == "" || c.reason == notAsked):
			c.reason = tooFew
		case c.reason == "" && !c.constant && (c.sd > widest || c.sd > 0 && c.sd < narrowest):
			c.reason = noVariance
		}
		if !few && (!full || c.reason == "" || c.reason == unresolved || c.reason == oneValue) {
			kept = append(kept, j)
		}
	}
	return kept
}

// widest and narrowest bound the sds of a model's columns, noVariance is the reason of those
// beyond: a method stops where a scale has no variance in float64, and its own may differ from the
// profile's.
const (
	widest     = program.Widest / 1024
	narrowest  = columns.Narrowest * 1024
	noVariance = "the square of its spread does not fit a float64; record it in another unit"
)

// notAsked is the reason of columns of which only the cells were counted.
const notAsked = "only its cells were counted: too few rows for more beside a model; gauze describe measures the column"
