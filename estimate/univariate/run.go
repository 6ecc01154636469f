package univariate

import (
	"cmp"
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
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// fit is the state of one run: public facts and released values only.
type fit struct {
	program.Run
	tuning Tuning
	ctx    context.Context
	known  fit1d.Known
	all    []fit1d.Histogram
	found  []fit1d.Component
	people int     // how many of the found were asked for; the others carry what these leave out
	looks  int     // how often it was looked closer
	combed float64 // how wide the stretch is in which a lattice was looked for last
}

func newFit(ctx context.Context, s *kernel.Session, p estimate.Problem, t Tuning) *fit {
	f := &fit{Run: program.Begin(s, p, advice), tuning: t, ctx: ctx, combed: math.Inf(1)}
	f.known.Least = f.Grids[0].Unit / math.Sqrt(12)
	if c := p.KnownCovariance; c != nil {
		f.known.SD = math.Sqrt(c[0][0])
	}
	return f
}

// run makes the whole fit.
func (f *fit) run() (estimate.Outcome, error) {
	return program.Follow(f.ctx, f.refuse, f.outcome, f.count, f.place, f.shape)
}

// sigma returns the noise of a histogram that costs a share of the total.
func (f *fit) sigma(share float64) float64 { return f.Factor / f.Mu(share) }

// count releases the number of rows where it is private.
func (f *fit) count() (string, error) {
	if f.Problem.Relation != privacy.AddRemoveOne {
		return "", nil
	}
	if err := f.CountRows(stepCount, countShare); err != nil {
		return "", err
	}
	if f.Rows < rowsSeen(f.Problem) {
		return fmt.Sprintf("about %.0f rows are too few to show any component", math.Max(0, f.Rows)), nil
	}
	return "", nil
}

// place finds where rows are: windows of gaps, a histogram of them all, and finer histograms. If no
// gaps can be seen, because values repeat or there is no delta for thresholds, it measures the
// whole line.
func (f *fit) place() (string, error) {
	var windows []kernel.Spacing
	if !f.Problem.NoDelta {
		rows := f.light()
		if f.Problem.Components == 1 {
			rows = f.Rows
		}
		var err error
		q := query.SpacingMasses{LogWindow: query.LogWindow(f.Rows)}
		if windows, _, err = kernel.SpacingHistogram(f.SubBudget, stepGaps, q, f.Mu(f.gapShare(rows))); err != nil {
			return "", err
		}
	}
	if len(windows) > 0 {
		if err := f.locate(windows); err != nil {
			return "", err
		}
	}
	if len(f.all) == 0 {
		if err := f.hunt([]hole{{math.Inf(-1), math.Inf(1), 0, f.light()}}); err != nil {
			return "", err
		}
	}
	return f.refine()
}

// locate counts the rows in the bins of the windows, again if nothing is seen.
func (f *fit) locate(windows []kernel.Spacing) error {
	edges := fit1d.SpacingEdges(windows)
	share := f.share(f.light(), f.tuning.PlaceSDs, f.tuning.PlaceShare)
	h, err := f.histogram(stepPlaces, edges, f.Mu(share))
	if err != nil {
		return err
	}
	leaves := h.Leaves()
	if len(leaves) == 0 {
		more, err := f.histogram(stepPlaces, edges, f.Mu(2*share))
		if err != nil {
			return err
		}
		h = h.Again(more)
		leaves = h.Leaves()
	}
	if len(leaves) > 0 {
		f.all = append(f.all, h.Around(leaves))
	}
	return nil
}

// shape measures the shapes of what was found: with edges from what is known so far, once more
// where rows turn up that no component has, and with all that is left at the quantiles of what was
// fitted.
func (f *fit) shape() (string, error) {
	for range mostShapes - 1 {
		if err := f.measure(parts.Mu(f.Left() * f.tuning.CoarsePart)); err != nil {
			return "", err
		}
		holes := f.holes()
		if len(holes) > 0 {
			if err := f.hunt(holes); err != nil {
				return "", err
			}
		}
		if doubt, err := f.refine(); doubt != "" || err != nil {
			return doubt, err
		}
		if len(holes) == 0 {
			break
		}
	}
	if err := f.measure(f.LeftMu()); err != nil {
		return "", err
	}
	return f.search(true)
}

// measure measures the shapes of the components found.
func (f *fit) measure(mu float64) error {
	d := f.data()
	edges := d.Edges(f.found, f.Factor/f.LeftMu())
	h, err := f.histogram(stepShapes, fit1d.JoinEdges(edges, f.tails(d, edges)), mu)
	if err == nil {
		f.all = append(f.all, h)
	}
	return err
}

// tails returns edges beyond all others, at every scale, so that the rows there are counted.
func (f *fit) tails(d *fit1d.Data, edges []float64) []float64 {
	unit := 0.0
	for _, c := range f.found {
		if d.Seen(c) {
			unit = math.Max(unit, c.SD)
		}
	}
	if len(edges) == 0 || unit < leastUnit {
		return fit1d.HoleEdges(math.Inf(-1), math.Inf(1), 0)
	}
	return fit1d.JoinEdges(fit1d.HoleEdges(math.Inf(-1), edges[0], unit), fit1d.HoleEdges(edges[len(edges)-1], math.Inf(1), unit))
}

// histogram measures the whole line. Where values are recorded in a unit, edges lie between them.
func (f *fit) histogram(step string, edges []float64, mu float64) (fit1d.Histogram, error) {
	edges = fit1d.ApartFromZero(fit1d.EdgesBetween(edges, f.Grids[0]))
	if len(edges) == 0 {
		edges = []float64{0}
	}
	answer, err := f.Sum(step, query.Counts{Edges: [][]float64{edges}}, mu)
	return fit1d.Histogram{Edges: edges, Counts: answer.Values, Sigma: answer.Sigma}, err
}

func (f *fit) data() *fit1d.Data { return fit1d.NewData(f.all, f.known) }

// search fits the components to all histograms.
func (f *fit) search(last bool) (doubt string, err error) {
	d := f.data()
	o := fit1d.Options{Most: most(f.Problem, f.Rows), Extra: f.tuning.Extra, Penalty: f.penalty(), Beyond: f.tuning.Background, BeyondPenalty: f.openPenalty(), Quick: true, Start: f.found}
	if last {
		o.Exchange, o.Quick, o.Beyond = true, false, 0
	}
	if f.found, _, err = d.Search(f.ctx, o); err != nil {
		return "", err
	}
	if last {
		if err := f.carry(d); err != nil {
			return "", err
		}
	}
	f.found = slices.DeleteFunc(f.found, func(c fit1d.Component) bool { return !(c.Rows > 0) })
	if len(f.found) == 0 {
		return "no component holds enough rows to be seen", nil
	}
	f.forget(d)
	return "", nil
}

// carry ends the fit of those that were asked for, and adds others that carry what these leave out,
// as few as give the moments that as many as pay would have.
func (f *fit) carry(d *fit1d.Data) (err error) {
	for range f.tuning.Reweighings {
		d.Weigh(f.found)
		if f.found, _, err = d.Polish(f.ctx, f.found, polishSteps); err != nil {
			return err
		}
	}
	slices.SortStableFunc(f.found, func(a, b fit1d.Component) int { return cmp.Compare(b.Rows, a.Rows) })
	// the heaviest stays: there is no better place for the rows
	for i := len(f.found) - 1; i > 0; i-- {
		if !d.Seen(f.found[i]) {
			f.found = slices.Delete(f.found, i, i+1)
		}
	}
	f.people = max(1, len(f.found))
	fits := [][]fit1d.Component{f.found}
	for more := range max(f.tuning.Background, manyCarry-f.people) {
		next := fits[more]
		o := fit1d.Options{Most: f.people, Beyond: more + 1, BeyondPenalty: f.openPenalty(), Quick: true, Start: next}
		if next, _, err = d.Search(f.ctx, o); err != nil {
			return err
		}
		next = slices.DeleteFunc(next, func(c fit1d.Component) bool { return !d.Seen(c) })
		if len(next) <= len(fits[more]) {
			break
		}
		fits = append(fits, next)
	}
	mean, sd := fit1d.MeanSD(fits[len(fits)-1])
	for i := len(fits) - 1; i >= 0; i-- {
		if m, s := fit1d.MeanSD(fits[i]); math.Abs(m-mean) <= f.tuning.SameMean*sd && math.Abs(s-sd) <= f.tuning.SameSD*sd {
			f.found = fits[i]
		}
	}
	if f.Grids[0].Unit > coarseUnit*sd {
		f.found = d.AsCounted(f.found)
		f.Notes.Flag(flags.New(flags.CoarseUnit, "the recording unit is a large part of the spread; the model describes the rounded values, as gauze sample draws them").In(0))
	}
	return nil
}

// Utility constants of the fit, guesses.
const (
	manyCarry   = 10       // components that an open number of them would have, about
	leastUnit   = 0x1p-900 // where all components are narrower, the tails are those of the whole line
	polishSteps = 20
	coarseUnit  = .3 // of the overall sd: a unit beyond which rounding is a part of the spread
)
