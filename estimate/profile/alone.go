package profile

import (
	"cmp"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// independently holds the terms of a profile that is all that is measured of numbers beside
// categories, where rows are too few for how columns depend on each other. Guesses.
var independently = terms{
	octaves: price{math.MaxFloat64, .25, .25}, bins: price{math.MaxFloat64, .4, .4}, closer: price{math.MaxFloat64, .05, .05}, values: price{math.MaxFloat64, .25, .25},
	heldOut: 14, weak: 44, farOctaves: 16,
}

// StepRest spends what is left once more on the bins of columns that no model joins.
const StepRest = besides + stepRest

// Guesses: aloneCells of mu^2 counts the cells of every column before anything else. From a public
// number of rows on that is affordable times the noise of octaves, such a fit is tried; a column is
// held out of it with fewer cells, since their number is noisy. A column of which one value is seen
// is taken for that where at most mostOthers of its cells may have others. With less than leastRest
// of mu^2 left nothing is counted again.
const aloneCells, affordable, mostOthers, leastRest = .06, 22.0, .5, 1e-6

// Affords reports whether public facts say that beside categories every column of numbers can be
// described by itself, whatever a method needs.
func Affords(method string, p estimate.Problem) bool {
	return Carried(method, p) && p.Relation == privacy.ReplaceOne && p.Components <= 1 && len(p.Categories) > 0 && p.Columns > 0 &&
		float64(p.Rows) >= independently.need(p.Relation, p.Columns, p.Mu, affordable)
}

// AlonePlan returns the plan of a fit that describes every column by itself.
func AlonePlan(method string) kernel.Plan {
	const source = "KSSU19 Section A.4"
	histogram := query.Cells.Of(query.Histogram)
	return kernel.Plan{Method: method, Steps: []kernel.Step{
		{Name: besides + stepCells, Query: query.Presence.Of(query.Histogram), Share: aloneCells, Most: 1, Source: source},
		{Name: besides + stepOctaves, Query: histogram, Share: independently.octaves.most, Most: 1, Source: source},
		{Name: besides + stepBins, Query: histogram, Share: independently.bins.most + mostCloser*independently.closer.most, Most: 1 + mostCloser, Source: source},
		{Name: besides + stepValues, Query: histogram, Share: valuesBeside * independently.values.most, Most: valuesBeside, Source: source},
		{Name: StepRest, Query: histogram, Share: 1, Most: 1, Source: source},
	}}
}

// Alone measures a profile of all columns and makes a model of it, in which they are independent.
func Alone(s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	f := begun(s.SubBudget(), p, independently, s.Mu()*s.Mu())
	f.prefix = besides
	if err := f.countCells(aloneCells * f.mu2 * (1 - 1e-12)); err != nil {
		return estimate.Outcome{}, err
	}
	if err := f.settled(); err != nil {
		return estimate.Outcome{}, err
	}
	out, err := f.byItself(s)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if out.Model == nil {
		out.NoRelease = &estimate.NoRelease{Reason: "the noise hides every column of numbers", Advice: program.Needs(p, 2*independently.need(p.Relation, p.Columns, p.Mu, affordable), "", "fewer columns")}
	}
	return f.with(out, out.Kept), nil
}

// byItself returns the model in which every column is as its own histogram says, independent of all
// others: of the columns that have one. With all that is left of the session it counts the rows in
// their bins again. There is no model, and nothing is asked, if none has.
func (f *fit) byItself(s *kernel.Session) (out estimate.Outcome, err error) {
	if len(f.live) == 0 {
		return out, nil
	}
	if f.SubBudget = s.SubBudget(); f.Left() > leastRest*s.Mu()*s.Mu() {
		if err := f.again(); err != nil {
			return out, err
		}
	}
	var mean, variances []float64
	var same []int
	noise := 0.
	for _, j := range f.kept(s.Mu(), true) {
		c, sd := f.columns[j], 0.
		if one := c.constant || (c.reason == oneValue || c.onlyOne()) && c.others < mostOthers*c.cells; !one {
			if sd = c.sd; c.reason == unresolved { // of which the bins say where it is
				c.mean, sd, _ = c.byBins()
			} else if c.reason != "" {
				continue
			}
			if !(sd > 0 && sd*sd <= math.MaxFloat64) { // one column does not end all
				c.reason = cmp.Or(c.reason, hiddenSpread)
				continue
			}
			noise = math.Max(noise, math.Min(2*c.sdSD/sd, 1))
		} else {
			same = append(same, j)
		}
		out.Kept, mean, variances = append(out.Kept, j), append(mean, c.mean), append(variances, sd*sd)
	}
	cov, off := model.NewDiagonal(variances)
	if off != nil || len(mean) == 0 {
		return estimate.Outcome{}, nil
	}
	d := program.NewDraft(len(mean), estimate.Diagnostics{})
	d.Add(1, mean, cov, nil, estimate.ComponentNote{EffectiveRows: f.rows, EffectiveNoise: noise})
	kept := out.Kept
	out = d.Outcome()
	out.Kept = kept
	out.Diagnostics.Flag(flags.New(flags.OtherShape, "too few rows to measure correlations: the model describes each column by itself"))
	for _, j := range same {
		c := f.columns[j]
		share := math.Min(1, c.others/math.Max(c.cells, 1))
		out.Aside = append(out.Aside, flags.New(flags.ConstantColumn, "column %v: only one value was seen; the noise may hide others, in up to about %.1f%% of the rows", flags.Ref{j}, 100*share).In(j).Of(0, share/2))
	}
	return out, nil
}

// onlyOne reports that of a column's values the histogram has one alone, though not all cells are
// there, and says how many may have others.
func (c *column) onlyOne() bool {
	if c.reason != "" || c.sd > 0 || len(c.atoms) != 1 {
		return false
	}
	a := c.atoms[0]
	c.others = math.Max(0, c.cells-a.rows) + 2*math.Hypot(c.cellsSD, a.sd)
	return true
}

// again counts the rows in the bins of all columns once more, with all that is left, and joins that
// with what is known.
func (f *fit) again() error {
	counts, sigma, err := f.histogram(stepRest, f.live, func(c *column) []float64 { return c.bins.edges }, f.Left())
	if err != nil {
		return err
	}
	for i, c := range f.live {
		for k, n := range counts[i] {
			old, fresh := c.bins.sds[k]*c.bins.sds[k], sigma*sigma
			c.bins.rows[k] = (c.bins.rows[k]*fresh + n*old) / (old + fresh)
			c.bins.sds[k] = math.Sqrt(old * fresh / (old + fresh))
		}
		c.settle()
		c.bySettled()
	}
	f.hold()
	return nil
}
