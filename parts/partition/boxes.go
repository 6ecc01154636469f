// Package partition finds where the rows of an unbounded table are, column by column: boxes that
// hold one or more components each, whatever their places and scales. No bound is needed: spacing
// histograms, of the gaps between neighbouring values, show the scales and places.
package partition

import (
	"context"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Config says how much a search may spend. All fields are public or released.
type Config struct {
	SpacingsStep, CountsStep string
	SpacingsMu2, CountsMu2   float64 // parts of mu^2. Required.
	Columns                  []int   // to measure, in this order; nil means all
	Rows                     float64 // public or released. Required.
	Least                    float64 // boxes with fewer rows are dropped
	Components               int     // that a column may show in a box
	Open                     bool    // whether that is a limit only, and not what was asked for
	// Keep is the part of mu^2 for what comes after: closer looks, and second ones at columns that
	// others have cut since, leave it alone.
	Keep float64
	// Grids are what the columns of the table are recorded in; Find adds those that it infers.
	// Nil means that none is known and none is to be inferred.
	Grids []fit1d.Grid
}

// lattice returns that of column j.
func (c Config) lattice(j int) fit1d.Grid {
	if j < len(c.Grids) {
		return c.Grids[j]
	}
	return fit1d.Grid{}
}

// mostBoxes bounds the number of boxes: what is lighter is dropped. A utility constant, a guess.
const mostBoxes = 64

// Steps returns the steps that Find may measure; the shares are the largest parts of the total
// mu^2, slack is that of the thresholds. columns is the number of columns that it measures.
func Steps(c Config, gapsShare, countsShare, slack float64, columns int) []kernel.Step {
	gaps := query.SpacingMasses{}.Kind()
	const source = "AAL21 Section 6"
	first := slack / float64(2*columns)
	if columns == 1 {
		first = slack
	}
	out := []kernel.Step{{Name: c.SpacingsStep, Query: gaps, Share: gapsShare, Most: 1, Slack: first, Source: source}}
	if columns > 1 {
		out = append(out, kernel.Step{Name: c.SpacingsStep + inBoxes, Query: query.PartsOf(gaps), Share: min(1, 2*gapsShare), Most: 2*columns - 1,
			Slack: slack * float64(2*columns-1) / float64(2*columns), Source: source})
	}
	return append(out, kernel.Step{Name: c.CountsStep, Query: query.PartsOf(query.Histogram), Share: 1, Most: 2 * mostLooks * columns, Source: source})
}

// Planned number of histograms per column: the first cuts the windows, the second what the first
// saw. There may be more, mostLooks, if something is narrower than the bins. Utility constants,
// guesses.
const (
	looks      = 2
	mostLooks  = 16
	refineBins = 24
	largeBins  = 1200 // of a histogram, whose bins far from all leaves are then joined
)

// Once returns what one histogram of a column costs, of the part of mu^2 for all.
func Once(countsMu2 float64, columns int) float64 { return countsMu2 / float64(columns) / looks }

const inBoxes = " in boxes"

// Find measures one column after the other: spacings in every box so far, histograms there, and a
// new box for every cluster. A row is in one box at most, so all boxes are asked at once and the
// cost is that of one: additive in the columns, where lists of products grow like powers. A nil
// list means that nothing was seen in some column.
//
// Source: [AAL21] Section 6 of the restatement, step 1.
// Differs: two histograms with edges chosen from what was seen before, instead of a tree of eight
// levels.
func Find(ctx context.Context, a *kernel.SubBudget, c Config) ([]Box, error) {
	d := a.Session().Columns()
	columns := c.Columns
	if columns == nil {
		columns = parts.Upto(d)
	}
	f := &finder{Config: c, ctx: ctx, a: a, per: 1 / float64(len(columns)), found: []Box{whole(d, c.Rows)}, ahead: len(columns)}
	// all of them, then those again that look mixed in boxes that others have cut
	for i, j := range slices.Concat(columns, columns) {
		if i < len(columns) {
			f.ahead--
		} else if !f.mixed(j) || a.Left() < f.reserve(f.once()) {
			continue
		}
		if err := f.look(j); err != nil || len(f.found) == 0 {
			return nil, err
		}
	}
	return f.found, nil
}

// A finder is the state of a search.
type finder struct {
	Config
	ctx   context.Context
	a     *kernel.SubBudget
	per   float64 // a column's part of the budgets
	found []Box
	sigma float64 // of the last histograms
	ahead int     // columns not measured yet
}

// once returns the price of one histogram of a column without finer ones, of mu^2.
func (f *finder) once() float64 { return f.per * (f.SpacingsMu2 + f.CountsMu2) }

// reserve returns what must be left of mu^2 for something at a price that columns can do without.
func (f *finder) reserve(price float64) float64 { return price + float64(f.ahead)*f.once() + f.Keep }

// mixed reports that column j was seen in boxes that have been cut since, and that it did not look
// like one component's there.
func (f *finder) mixed(j int) bool {
	return slices.ContainsFunc(f.found, func(b Box) bool { return b.Stale[j] && b.Gain[j] > staleGain })
}

// staleGain is the gain, in nats a row, beyond which a column is measured again. A utility
// constant, a guess.
const staleGain = .04

// look measures column j in every box and cuts the boxes into what it shows.
func (f *finder) look(j int) error {
	q := query.SpacingMasses{Column: j, LogWindow: query.LogWindow(f.Rows)}
	step := f.SpacingsStep
	if len(f.found) > 1 || !f.found[0].whole() {
		q.Partition, step = partition(f.found), f.SpacingsStep+inBoxes
	}
	windows, _, err := kernel.SpacingHistogram(f.a, step, q, parts.Mu(f.SpacingsMu2*f.per))
	if err != nil {
		return err
	}
	clusters, err := f.clusters(windows, j)
	if err != nil {
		return err
	}
	f.found = refine(f.found, clusters, j)
	return nil
}

// A line is what is known of one column of one box.
type line struct {
	edges    []float64     // of the next histogram; nil if none is wanted
	comb     []float64     // points that have bins of their own in it
	on       fit1d.Stretch // that the points are in
	gaps     bool          // were seen
	recorded bool          // the lattice is known
	seen     []fit1d.Histogram
	found    []fit1d.Component
	atoms    []bool // of found: all rows have one value
	ghost    []bool // of found: they are not clear of the noise
}

// clusters measures histograms of column j in every box, each with edges from what the ones before
// showed, and returns the clusters of each box. Where no gaps were seen, because values repeat or
// rows are few, the first histogram has bins by powers of two over all numbers: a finer histogram
// then finds the rows without a threshold.
func (f *finder) clusters(windows []kernel.Spacing, j int) ([][]cluster, error) {
	lines := make([]line, len(f.found))
	of := make([][]kernel.Spacing, len(f.found))
	for _, w := range windows {
		of[w.Leaf] = append(of[w.Leaf], w)
	}
	for b := range lines {
		lines[b].gaps = len(of[b]) > 0
		if lines[b].edges = fit1d.SpacingEdges(of[b]); lines[b].edges == nil && f.found[b].Scale[j] == 0 {
			lines[b].edges = fit1d.ApartFromZero(fit1d.HoleEdges(math.Inf(-1), math.Inf(1), 0))
		}
	}
	for look := range mostLooks {
		if !slices.ContainsFunc(lines, func(l line) bool { return l.edges != nil }) {
			break
		}
		if look >= looks && f.a.Left() < f.reserve(f.CountsMu2*f.per/looks) {
			break
		}
		if err := f.histograms(lines, j); err != nil {
			return nil, err
		}
		for b := range lines {
			if lines[b].edges != nil {
				if err := f.next(&lines[b], look, j, f.found[b].Mass); err != nil {
					return nil, err
				}
			}
		}
	}
	out := make([][]cluster, len(f.found))
	for b, l := range lines {
		l.banish()
		out[b] = slices.DeleteFunc(cut(l.found, l.atoms), func(c cluster) bool { return !(c.mass >= f.Least && c.finite()) })
	}
	return out, nil
}

// banish leaves out the ghosts.
func (l *line) banish() {
	kept := 0
	for i, c := range l.found {
		if !l.ghost[i] {
			l.found[kept], l.atoms[kept] = c, l.atoms[i]
			kept++
		}
	}
	l.found, l.atoms = l.found[:kept], l.atoms[:kept]
}

// next fits the histograms of a line and chooses the edges of the next one, if it is expected to
// help. Its error is the context's.
func (f *finder) next(l *line, look, j int, mass float64) (err error) {
	on := f.lattice(j)
	if on.Unit > 0 && !l.recorded { // what was found may be values
		l.recorded, l.found = true, nil
	}
	if on.Unit > 0 {
		for i, h := range l.seen {
			l.seen[i] = h.Recorded(on)
		}
	}
	d := fit1d.NewData(l.seen, fit1d.Known{Least: on.Unit / math.Sqrt(12)})
	most := f.Components
	if f.Open {
		most = min(most, mostOpen)
	}
	for _, most := range []int{most, max(most, mostInLine)} {
		l.found, _, err = d.Search(f.ctx, fit1d.Options{Most: most, Penalty: penalty, Quick: true, Extra: 1, Start: l.found})
		if err != nil {
			return err
		}
		if most == mostInLine || mass-fit1d.RowsOf(l.found) < math.Max(unheld*mass, f.Least) {
			break
		}
	}
	l.found = slices.DeleteFunc(l.found, func(c fit1d.Component) bool { return !(c.Rows > f.Least/2) || !(c.SD > 0) })
	l.edges, l.atoms, l.ghost = nil, make([]bool, len(l.found)), make([]bool, len(l.found))
	blurred := look+1 < looks
	for i, c := range l.found {
		l.ghost[i] = f.Open && (!d.Seen(c) || d.Gain(l.found, i) < clearWorth)
		if l.atoms[i] = d.Atom(c); l.atoms[i] {
			low, _ := d.Bin(c)
			l.found[i].Origin, l.found[i].Offset, l.found[i].SD = low, 0, pointSD(low)
		} else {
			blurred = blurred || !d.Resolved(c)
		}
	}
	missing := look <= looks && mass-fit1d.RowsOf(l.found) > math.Max(unheld*mass, f.Least)
	if (blurred || missing) && len(l.found) > 0 {
		l.edges = d.Edges(l.found, f.sigma)
		if missing {
			l.edges = fit1d.JoinEdges(l.edges, around(l.found))
		}
		if look == 0 { // what the fit has missed may lie in other leaves
			l.edges = fit1d.JoinEdges(l.edges, fit1d.RefinedEdges(l.seen[0].Leaves(), refineBins))
		}
		l.comb = f.comb(d, l, j)
		l.edges = fit1d.ApartFromZero(fit1d.EdgesBetween(fit1d.JoinEdges(l.edges, fit1d.PointEdges(l.comb)), on))
	}
	return nil
}

// around returns the edges on both sides of components, by powers of two: what they do not hold is
// there.
func around(cs []fit1d.Component) []float64 {
	low, high, unit := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, c := range cs {
		low, high, unit = math.Min(low, c.Mean()-c.SD), math.Max(high, c.Mean()+c.SD), math.Min(unit, c.SD)
	}
	unit = math.Max(unit, (high-low)*0x1p-40)
	return fit1d.JoinEdges(fit1d.HoleEdges(math.Inf(-1), low, unit), fit1d.HoleEdges(high, math.Inf(1), unit))
}

// mostInLine is how many components a line may have where those asked for leave out too much:
// its values may be few. A utility constant, a guess.
const mostInLine = 10

// mostOpen is how many components a line may have where their number is not known: the time of a
// fit grows with about its third power, and values of a recorded column pass for 60 components.
// Groups that share a line are told apart by other columns too. Chosen of 16, 25 and 32.
const mostOpen = 25

// unheld: a line is measured again if its components miss more than this part of the box's rows. A
// utility constant, a guess.
const unheld = .15

// IsPoint reports the standard deviation of a component all of whose rows have the value x, give or
// take what private EM moves it.
func IsPoint(x, sd float64) bool { return sd <= 1024*pointSD(x) }

// pointSD returns the standard deviation that stands for none at x: less than the distance to the
// next number.
func pointSD(x float64) float64 { return math.Max(math.Abs(x)*0x1p-54, 0x1p-400) }

// clearWorth is what a component must take off the cost to become a box: among some thousand bins
// noise alone takes off penalty now and then. A utility constant, a guess.
const clearWorth = 25

// penalty is what a component must take off the cost of a line's fit. A utility constant, a guess.
const penalty = 16

// histograms asks every box for the histogram of column j with the edges of its line.
func (f *finder) histograms(lines []line, j int) error {
	queries := make([]query.Counts, len(lines))
	for b, l := range lines {
		queries[b].Edges = make([][]float64, f.a.Session().Columns())
		if queries[b].Edges[j] = l.edges; len(l.edges) == 0 {
			queries[b].Edges[j] = []float64{0} // every leaf is asked something
		}
	}
	answers, err := parts.AskLeaves(f.a, f.CountsStep, partition(f.found), queries, parts.Mu(f.CountsMu2*f.per/looks))
	if err != nil {
		return err
	}
	for b := range lines {
		if l := &lines[b]; len(l.edges) > 0 {
			f.sigma = answers[b].Sigma
			h := fit1d.Histogram{Edges: l.edges, Counts: answers[b].Values, Sigma: f.sigma}
			h = f.infer(l, h, j)
			if seen := h.Leaves(); len(h.Edges) > largeBins && len(seen) > 0 {
				h = h.Around(seen)
			}
			l.seen = append(l.seen, h)
		}
	}
	return nil
}
