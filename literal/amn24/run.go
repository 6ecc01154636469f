// Package amn24 holds the algorithms for mixtures of arbitrary Gaussians of [AMN24] as they are
// printed, one file each and named after it, as programs over the kernel. They are for comparison:
// they enumerate, so they take few columns, few components and a large epsilon. Functions (2) and
// (3) of the source's Section E.1 are in sectione1_score.go, and a form of them that can be
// computed in sectione1_celldeficits.go.
//
// Whatever decides what is measured next is public or was released, so the facts that the analysis
// rests on can spoil an estimate and never the guarantee.
//
// Source: [AMN24].
package amn24

import (
	"context"
	"fmt"
	"math"
	"sort"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"

	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts"
)

// run is what the algorithms share: whom they ask, and what they may assume: public facts and
// released values.
type run struct {
	c    Constants
	a    *kernel.SubBudget
	d, k int
	n    float64 // public, or released
	held float64 // mu^2 that the check of the chosen mixture gets
}

// stepCount buys the number of good rows: nulls under replace-one, n under add-or-remove-one.
const stepCount = "rows"

func (c Constants) countSteps() []kernel.Step {
	return []kernel.Step{{Name: stepCount, Query: query.Count{}.Kind(), Share: c.CountShare, Most: 1, Source: "AMN24 Section 4"}}
}

// begin counts the rows.
func begin(s *kernel.Session, c Constants, k int) (*run, *program.Columns, error) {
	mu := parts.Mu(c.CountShare * s.Mu() * s.Mu())
	notes, err := program.Count(s.SubBudget(), stepCount, mu)
	if err != nil {
		return nil, nil, err
	}
	// where n is public all rows are good unless the count says otherwise by so many noise sds
	const missingSDs = 4
	r := &run{c: c, a: s.SubBudget(), d: s.Columns(), k: k, n: notes.Rows, held: c.CheckShare * s.Mu() * s.Mu()}
	if n, public := s.Rows(); public && float64(n)-r.n < missingSDs/mu {
		r.n = float64(n)
	}
	return r, notes, nil
}

// noRows returns why nothing can be learned from the number of rows, or nil.
func (r *run) noRows() *estimate.NoRelease {
	if r.n < 2 {
		return &estimate.NoRelease{Reason: fmt.Sprintf("the released number of rows is %.0f", r.n)}
	}
	return nil
}

// finish runs the fine approximation of what was found, and the outcome.
func (r *run) finish(ctx context.Context, p estimate.Problem, notes *program.Columns, found crude, none *estimate.NoRelease,
	expect func() estimate.Expectation) (estimate.Outcome, error) {
	var m mixture
	var said string
	if none == nil {
		var err error
		if m, said, none, err = r.fine(ctx, found); err != nil {
			return estimate.Outcome{}, err
		}
	}
	if none != nil {
		if none.Advice == "" {
			none.Advice = advice(expect())
		}
		return estimate.Outcome{NoRelease: none, Diagnostics: notes.Notes}, nil
	}
	far, err := r.distance(m)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if far != "" {
		notes.Notes.Flag(flags.New(flags.NotGaussian, "%s", far))
	}
	return release(p, m, len(found.pairs), said, notes, r.n), nil
}

// advice says what would help.
func advice(x estimate.Expectation) string {
	help := "needs more rows, a larger epsilon, or fewer components"
	if x.RowsNeeded > 0 {
		help = fmt.Sprintf("needs about %s rows at this epsilon, or fewer components", paper.RowsText(x.RowsNeeded))
	}
	return help + "; the practical methods need far less"
}

// release makes the model, heaviest component first.
func release(p estimate.Problem, m mixture, found int, said string, notes *program.Columns, n float64) estimate.Outcome {
	order := make([]int, len(m.weights))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return m.weights[order[i]] > m.weights[order[j]] })
	draft := program.NewDraft(p.Columns, notes.Notes)
	draft.Notes.Flag(flags.New(flags.Method, "%d crude approximations of components were released, and the mixture was chosen around them", found))
	if said != "" {
		draft.Notes.Flag(flags.New(flags.Method, "%s", said))
	}
	for _, i := range order {
		cov, err := program.Shaped(m.pairs[i].L, p.Covariance)
		draft.Add(m.weights[i], m.pairs[i].Mean, cov, err, estimate.ComponentNote{EffectiveRows: m.weights[i] * math.Max(0, n)})
	}
	return draft.Outcome()
}

// enumerable returns the refusal of a number of components for which K may be beyond the guard
// though as few pairs are taken as can be; nil if it is not (see roomFor).
func (c Constants) enumerable(d, k int, factor float64, p estimate.Problem) error {
	n := float64(p.Rows)
	if p.Relation != privacy.ReplaceOne {
		n = 2 // n^3 is then at least 8
	}
	unit := paper.Line(0, 1)
	if d == 2 {
		unit = paper.Product([]float64{0, 0}, []float64{1, 1})
	}
	zeta, ok := c.roomFor(unit, within(factor, n), k)
	if ok {
		return nil
	}
	advice := "use --method general, or univariate in one column, which enumerate nothing"
	if c.Coarsest == 0 && p.Mu > 0 {
		return program.Refusal(advice, "%s", c.beyond(d, k, within(factor, n), p.Mu*p.Mu))
	}
	if p.Components == 0 {
		advice = "say how many components there are; or " + advice
	}
	return program.Refusal(advice, "the mixtures of %d Gaussians of nets around that many, "+
		"spaced %.2g standard deviations and within a factor of %.2g, are more than %d", k, zeta, within(factor, n), c.MostHypotheses)
}

// beyond says how many mixtures the printed net has, by the size that Lemma D.1 states, constants
// left out, and how many rows the choice among them takes.
//
// Source: [AMN24] Lemma D.1; Lemma D.3.
func (c Constants) beyond(d, k int, factor, mu2 float64) string {
	base, power := factor*math.Sqrt(float64(d))/c.zeta(), float64(k*d*(d+3)/2)
	epsilon := paper.SelectionEpsilon((1 - c.CrudeShare) * mu2)
	rows := paper.SelectionRows(c.Accuracy, c.FailureProb, epsilon, math.Min(1e150, math.Pow(base, power)))
	return fmt.Sprintf("the printed net, within a factor of %.2g of every pair, makes about %.2g^%.0f mixtures, of which %d can be listed; "+
		"a choice among all takes about %s rows", factor, base, power, c.MostHypotheses, paper.RowsText(rows))
}
