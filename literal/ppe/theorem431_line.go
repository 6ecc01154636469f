package ppe

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// Line is the method "gaussian:ppe-line": PPE where estimates are numbers, the means of one
// Gaussian in one column whose variance is publicly known. It is there to show that Theorem 4.3.1
// asks for no more than a distance and a mask: here |y - y'| and Gaussian noise.
//
// Privacy: pure.ReleasePopular on a pure.Line.
//
// Source: [PPE] Theorem 4.3.1 (another space); Algorithm 1.
type Line struct {
	estimate.Named
	learners.List
	c Constants
}

// NewLine returns the estimator.
func NewLine(c Constants) Line {
	return Line{estimate.Describe("gaussian:ppe-line", "PPE Theorem 4.3.1",
		"the mean of one Gaussian of known variance in one column, by the published reduction on a line; to compare with"), learners.Ours(), c}
}

var (
	_ estimate.LearnerUser = Line{}
	_ estimate.FactUser    = Line{}
)

// Uses says that the known variance is made use of.
func (Line) Uses(estimate.Problem) estimate.Uses { return estimate.Uses{Covariance: true} }

// Printed returns the same method with the source's constants: half of the budget for the test.
func (Line) Printed() estimate.Estimator { return NewLine(Printed()) }

const stepLine = "popular number"

// Utility constants of the line, guesses: unitPart is the unit in which estimates are rounded, in
// those of their scatter; agreeing friends are within agreeSDs of the scatter of a difference.
const (
	unitPart = 1. / 64
	agreeSDs = 2.2
	leastOf  = 8 // rows of a block
	// wantedError is the sd of what is released, in the column's, that rowsNeeded promises. Twice
	// too few rows are refused, as in nine of ten fits the total variation is up to .23 then, and
	// nothing is released beyond mostError, where a private number of rows, or bad ones, leave
	// more.
	wantedError, hopelessLine = .25, 2
	mostError                 = .4

	leastScatter = 0x1p-900 // whose units have an inverse
)

// test returns the epsilon, the delta and the number of blocks of the test: mostPure bounds what
// the kernel takes.
func (e Line) test(p estimate.Problem) (epsilon, delta float64, t int) {
	const mostPure = 1e6
	epsilon, delta = math.Min(mostPure, e.c.TestShare*p.Budget.Epsilon), p.Budget.Delta/2
	return epsilon, delta, blocksFor(epsilon, delta)
}

// Plan states the worst case. It refuses what public facts show to be hopeless.
func (e Line) Plan(p estimate.Problem) (kernel.Plan, error) {
	if err := e.refuse(p); err != nil {
		return kernel.Plan{}, err
	}
	epsilon, delta, t := e.test(p)
	if t > mostBlocks {
		return kernel.Plan{}, program.Refusal("use a larger epsilon or delta", "%d blocks would be needed, more than %d", t, mostBlocks)
	}
	if need := e.rowsNeeded(p); p.Relation == privacy.ReplaceOne && float64(p.Rows) < math.Max(leastOf*float64(t), need/hopelessLine) {
		return kernel.Plan{}, program.Refusal(fmt.Sprintf("needs about %s rows at this budget, or a larger epsilon", paper.RowsText(need)), "the noise of a mean of one of %d blocks of %d rows hides the column's", t, p.Rows/t)
	}
	return kernel.Plan{Method: e.Name(), Steps: []kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: e.c.CountShare, Most: 1, Source: "PPE Algorithm 1"},
		{Name: stepLine, Query: pure.PopularNumberKind, Share: 1, Most: 1, Source: e.Source(), Extra: pure.Closeness{Delta: delta, Pure: epsilon}},
	}}, nil
}

// rowsNeeded returns about how many rows make the sd of a block's mean and of the noise wantedError
// of the column's, or as many as blocks need.
func (e Line) rowsNeeded(p estimate.Problem) float64 {
	epsilon, delta, t := e.test(p)
	noise := 2 * agreeSDs * math.Sqrt2 / privacy.MuOf(math.Max(p.Budget.Epsilon-epsilon, (1-e.c.TestShare)*p.Budget.Epsilon), delta)
	return float64(t) * math.Max(leastOf, (1+noise*noise)/(wantedError*wantedError))
}

func (e Line) refuse(p estimate.Problem) error {
	refusal := func(advice, why string) error { return program.Refusal(advice, "method %s %s", e.Name(), why) }
	switch {
	case p.Columns != 1 || program.MostComponents(p) != 1:
		return refusal("use black-box:paper, or give one column and --components 1", "fits one component in one column")
	case p.KnownCovariance == nil:
		return refusal("state --known-covariance, or use --method gaussian", "has to be told the variance: distances on a line need a unit")
	case p.NoDelta || !(p.Budget.Epsilon > 0):
		return refusal("state --epsilon and --delta in place of --rho", "needs a budget of epsilon and delta: its test may fail with probability delta")
	}
	return nil
}

// Expect returns what public facts say of the number of rows.
func (e Line) Expect(p estimate.Problem) estimate.Expectation {
	if e.refuse(p) != nil {
		return estimate.Expectation{}
	}
	return estimate.Expectation{RowsNeeded: math.Ceil(e.rowsNeeded(p)), Notes: []string{
		"a literal algorithm, to compare with: the mean of one of its blocks behind noise; the method gaussian is far more exact"}}
}

// Fit follows the plan with the whole budget of the session.
func (e Line) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	p.Columns, p.Relation = s.Columns(), s.Relation()
	if err := e.refuse(p); err != nil {
		return estimate.Outcome{}, err
	}
	epsilon, _, t := e.test(p)
	a := s.SubBudget()
	notes, err := program.Count(a, stepCount, math.Sqrt(e.c.CountShare)*s.Mu())
	if err != nil {
		return estimate.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	// scatter is the sd of a block's mean.
	scatter := math.Max(leastScatter, math.Sqrt(p.KnownCovariance[0][0])*math.Sqrt(float64(t)/math.Max(float64(t), notes.Rows)))
	_, exponent := math.Frexp(scatter * unitPart)
	unit := math.Ldexp(.5, exponent)
	line := pure.Line{Unit: unit, Reach: 2 * int64(math.Ceil(agreeSDs*math.Sqrt2*scatter/unit)), Mu: a.LeftMu()}
	noise := float64(line.Reach) * unit / line.Mu
	if off, sd := math.Hypot(noise, scatter), math.Sqrt(p.KnownCovariance[0][0]); !(off <= mostError*sd) {
		return estimate.Outcome{Diagnostics: notes.Notes, NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the mean would be off by %.2g, with the column's standard deviation %.2g", off, sd),
			Advice: fmt.Sprintf("about %s rows, or a larger epsilon; --method gaussian needs far fewer", paper.RowsText(e.rowsNeeded(p)))}}, nil
	}
	y, ok, err := pure.ReleasePopular(a, stepLine, e.Blocks(p, 1, t), line, epsilon)
	if err != nil {
		return estimate.Outcome{}, err
	}
	if !ok {
		return estimate.Outcome{Diagnostics: notes.Notes, NoRelease: &estimate.NoRelease{
			Reason: fmt.Sprintf("the blocks' means do not agree: of %d, too few pairs are within %.2g of one another", t, float64(line.Reach/2)*unit),
			Advice: "the variance may be larger than stated, or the column no Gaussian; use --method gaussian"}}, nil
	}
	notes.Notes.Flag(flags.New(flags.Method, "the mean of one of %d blocks of rows, with noise of sd %.2g", t, noise))
	draft := program.NewDraft(1, notes.Notes)
	cov, err := model.NewDiagonal([]float64{p.KnownCovariance[0][0]})
	draft.Add(1, []float64{y[0].Mean[0] * unit}, cov, err, estimate.ComponentNote{EffectiveRows: math.Max(0, notes.Rows)})
	return draft.Outcome(), nil
}
