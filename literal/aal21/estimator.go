// Package aal21 holds the algorithms of [AAL21] as they are printed, one file each: mixtures of
// axis-aligned Gaussians without any bound on means and variances, by list decoding and private
// hypothesis selection. They are definitions that run, to compare with: what they choose among is
// exponential in the number of components and of columns, so that only tiny instances can be
// enumerated. Anything else is refused, on public facts or on the sizes of released lists.
//
// Each is a program over the kernel: whatever decides what is measured next is public or was
// released. FAIL of the source is a fit without a release.
//
// Source: [AAL21].
package aal21

import (
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"

	"github.com/gauze-dp/gauze/literal/paper"
)

// Estimator is the method "univariate:aal21", "axis-aligned:aal21" or "general:aal21", or that of
// another list decoder: Algorithm 1 with it.
type Estimator struct {
	c Constants
	class
	other ListDecoder // if set, that of class other
}

// A class is what the Gaussians of a mixture may be.
type class string

const (
	inOneColumn class = "univariate"
	diagonals   class = "axis-aligned"
	full        class = "general"
)

// New returns the estimator of axis-aligned Gaussians in any number of columns.
func New(c Constants) Estimator { return Estimator{c: c, class: diagonals} }

// NewUnivariate returns the same for one column only, under the name of the univariate problem.
func NewUnivariate(c Constants) Estimator { return Estimator{c: c, class: inOneColumn} }

// NewGeneral returns the estimator of Gaussians of any covariance, but for correlations beyond
// Constants.Correlated.
func NewGeneral(c Constants) Estimator { return Estimator{c: c, class: full} }

// NewLearner returns Algorithm 1 with any list decoder: if a class is privately list-decodable,
// mixtures of it are privately learnable.
//
// Source: [AAL21] Theorem 1.4; Theorem 3.2.
func NewLearner(name string, d ListDecoder, c Constants) Estimator {
	return Estimator{c, class(name), d}
}

var (
	_ estimate.FactUser = Estimator{}
	_ ListDecoder       = known{}

	_ estimate.Contesting = Estimator{}
)

// Printed returns the same method with the source's own constants.
func (e Estimator) Printed() estimate.Estimator {
	e.c = Printed(printedError)
	return e
}

// Tournament returns the same method with the practical constants, and a choice by contests of all
// pairs of mixtures, of which there are at most 1024 then.
//
// Source: [BSKW19] Algorithm 2; [AMN24] Theorem D.2.
func (e Estimator) Tournament() estimate.Estimator {
	e.c = Practical()
	e.c.Selection = paper.Tournament
	return e
}

// decoder returns the list decoder of a problem.
func (e Estimator) decoder(p estimate.Problem) ListDecoder {
	switch {
	case e.other != nil:
		return e.other
	case p.Budget.Pure():
		return bounded{axisAligned{e.c}}
	case p.KnownCovariance != nil:
		return known{e.c, knownCovariance(p.KnownCovariance, p.Columns)}
	case e.class == full:
		return general{axisAligned{e.c}}
	}
	return axisAligned{e.c}
}

// Name returns the class, and that it is this paper's.
func (e Estimator) Name() string { return string(e.class) + ":aal21" }

// Summary returns one line for lists of methods.
func (e Estimator) Summary() string {
	switch e.class {
	case inOneColumn:
		return "the published algorithm for mixtures in one column, to compare with: enumerates, so for one to three components"
	case diagonals:
		return "the published algorithm for axis-aligned mixtures, to compare with: enumerates, so for one or two components and columns"
	}
	return "the published reduction, with a list decoder of full covariances, to compare with: enumerates, so for one or two components and columns"
}

// Source names the algorithm.
func (e Estimator) Source() string {
	switch e.class {
	case inOneColumn:
		return "AAL21 Algorithm 4"
	case diagonals:
		return "AAL21 Algorithm 5"
	}
	return "AAL21 Theorem 3.2"
}

// Uses reports that a known covariance is used or, where delta is 0, bounds.
func (Estimator) Uses(p estimate.Problem) estimate.Uses {
	pure := p.Budget.Pure()
	return estimate.Uses{Covariance: true, Mean: pure, Eigenvalues: pure}
}

// stepCount buys the number of rows where it is private.
const stepCount = "rows"

// Plan states the worst case. It refuses what cannot be enumerated whatever the lists are, and
// tables of so few rows that no list can hold a component.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Columns < 1 {
		return kernel.Plan{}, fmt.Errorf("%s: columns: want at least 1, got %d", e.Name(), p.Columns)
	}
	if refusal := e.refuse(p); refusal != nil {
		return kernel.Plan{}, refusal
	}
	if n := e.seen(p); p.Relation == privacy.ReplaceOne && total(p) > 0 && float64(p.Rows) < n {
		return kernel.Plan{}, program.Refusal(e.advice(p), "no list of Gaussians can hold a component of 1/%d of %d rows: at this epsilon that takes about %s rows",
			program.MostComponents(p), p.Rows, paper.RowsText(n))
	}
	return kernel.Plan{Method: e.Name(), Steps: e.steps(p)}, nil
}

// refuse says why a problem is none of this method's, whatever its rows; nil if it is not.
func (e Estimator) refuse(p estimate.Problem) error {
	k := program.MostComponents(p)
	if lacks := e.impure(p); lacks != "" {
		return program.Refusal("give a delta above 0; or, to methods univariate:aal21 and axis-aligned:aal21, --mean-within R --eigenvalues-within a,b",
			"method %s: %s", e.Name(), lacks)
	}
	switch {
	case e.class == inOneColumn && p.Columns > 1:
		return program.Refusal("name one column with --columns, or use --method axis-aligned",
			"method %s fits one column, %d were asked for", e.Name(), p.Columns)
	case p.KnownCovariance != nil && knownCovariance(p.KnownCovariance, p.Columns) == nil:
		return program.Refusal("leave out columns that depend on others, or do not state a covariance",
			"method %s cannot whiten the columns by the known covariance: it has no inverse", e.Name())
	case e.class == diagonals && p.KnownCovariance == nil && p.Covariance == estimate.Spherical && p.Columns > 1:
		return program.Refusal("use --covariance diagonal, or --method general",
			"method %s fits diagonal covariances, spherical ones were asked for", e.Name())
	case e.class == full && p.KnownCovariance == nil && p.Covariance != estimate.Full && p.Columns > 1:
		return program.Refusal("use --covariance full, or --method axis-aligned:aal21",
			"method %s fits covariances of any shape, %v ones were asked for", e.Name(), p.Covariance)
	case k > mostComponents || p.Columns > mostColumns:
		return program.Refusal("state --components 1 or 2, use fewer columns, or use "+e.practical(),
			"method %s enumerates mixtures: %d components in %d columns are too many (at most %d in at most %d)", e.Name(), k, p.Columns, mostComponents, mostColumns)
	}
	if _, reason := e.c.cover(e.decoder(p).Shortest(p), k); reason != "" {
		help := "state --components 1 or 2, use fewer columns, or use " + e.practical()
		if e.c.TargetError > 0 {
			help = "use --constants practical; or, in one column, state --components 1 and a known covariance"
		}
		return program.Refusal(help, "method %s enumerates mixtures of %d components (columns: %d), "+
			"however many rows there are: %s%s", e.Name(), k, p.Columns, reason, e.rowsToo(p))
	}
	return nil
}

// More components and columns than any constants can enumerate.
const mostComponents, mostColumns = 20, 20

// rowsToo says how many rows it would take besides.
func (e Estimator) rowsToo(p estimate.Problem) string {
	if !(total(p) > 0) {
		return ""
	}
	lists, choice, _ := e.expected(p)
	return fmt.Sprintf("; the analysis asks for about %s rows besides", paper.RowsText(math.Max(lists, choice)))
}

// practical returns the method to use instead.
func (e Estimator) practical() string { return "--method " + string(e.class) }

// The shares of what the count leaves of mu^2: of the lists and of the choice.
func (c Constants) shares(p estimate.Problem) (lists, choice float64) {
	left := 1 - c.countShare(p)
	if p.Budget.Pure() {
		return 0, left
	}
	return left * c.ListShare, left * (1 - c.ListShare)
}

func (c Constants) countShare(p estimate.Problem) float64 {
	switch {
	case p.Relation == privacy.ReplaceOne:
		return 0
	case p.Budget.Pure(): // noise is one over a part, not over its root
		return pureCountShare
	}
	return c.CountShare
}

// pureCountShare of epsilon counts rows where delta is 0. A guess.
const pureCountShare = .04

func (e Estimator) steps(p estimate.Problem) (steps []kernel.Step) {
	if count := e.c.countShare(p); count > 0 {
		steps = append(steps, kernel.Step{Name: stepCount, Query: query.Count{}.Kind(), Share: count, Most: 1, Pure: p.Budget.Pure(), Source: "AAL21 Algorithm 1"})
	}
	lists, choice := e.c.shares(p)
	decoder := e.decoder(p)
	steps = append(steps, decoder.Steps(p, lists)...)
	steps = append(steps, paper.SelectionStep(stepChoice, choice, e.c.Selection, "AAL21 Algorithm 1"))
	refine := paper.SelectionStep(stepRefine, choice, e.c.Selection, "AAL21 Algorithm 1")
	if refine.Most = e.c.Refinements * len(decoder.Shortest(p).Moves()); refine.Most > 0 {
		steps = append(steps, refine)
	}
	return steps
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(ctx context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	if refusal := e.refuse(p); refusal != nil {
		return estimate.Outcome{}, refusal
	}
	r := begin(s.SubBudget(), e.c, program.MostComponents(p))
	r.p, r.advice = p, e.advice(p)
	total := s.SubBudget().Left()
	lists, _ := e.c.shares(p)
	if err := r.count(e.c.countShare(p) * total); err != nil {
		return estimate.Outcome{}, err
	}
	l, err := e.decoder(p).Decode(Sample{SubBudget: r.a, Mu2: lists * total, Rows: r.rows, Problem: p, LeastWeight: r.least})
	if err != nil {
		return estimate.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return estimate.Outcome{}, err
	}
	if l.Size(1) == 0 {
		return r.noRelease("the list of Gaussians is empty: no octave of distances or no bin holds as many rows as a component should, or too many do"), nil
	}
	return r.learnMixture(ctx, l)
}
