// Package knowncov learns a mixture whose components all have one publicly known covariance: only
// their weights and means are unknown. It is the axis-aligned learner's answer to a known
// covariance, correlated or not, in any number of columns.
//
// The course of a fit, in coordinates in which the known covariance is the identity: one stability
// histogram of boxes, eight coordinates at a time, over the unbounded grid; every box that passes,
// with its neighbours, is a start. Then a few looks: each releases count, mean and second moment of
// the rows near every component, truncated, with soft shares. What the looks together say of
// weights and means is solved by least squares against what a mixture would give on average, so
// neither truncation nor overlap biases it. A second moment larger than the known covariance splits
// a component; one that the looks do not miss is given up.
//
// Measured at epsilon 1, delta 1e-6, replace-one, components of equal weight at least 6 sds apart,
// 20 fresh instances a line: the rows per component from which on 90 % of the runs or more are
// within a total variation of .15 are about 200 in one column, 300 in two, 500 in four and 1,000 in
// eight, for two, three and five components alike (TestRecoveryTable).
//
// Source: [AAL21] Section 2.5 of the restatement ("better in practice"), with Section 6.3 where the
// covariance is fixed.
// Differs: boxes grow with the number of coordinates counted at once, so that a component's fullest
// box holds a third of it or more; no EM: the looks are solved together as moment equations.
package knowncov

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts/component"
)

// Parts of the total mu^2. Utility constants, guesses.
const (
	countPart  = .01
	stepCount  = "count"
	stepBoxes  = "boxes"
	stepWithin = "boxes within boxes"
	stepLooks  = "looks"
	name       = "axis-aligned"
	source     = "AAL21 Section 2.5"
)

// lookParts are the parts of what count and boxes leave that the looks take.
var lookParts = [...]float64{.14, .18, .26, .42}

// boxPart returns the part of all histograms of boxes.
func (t Tuning) boxPart(d int) float64 {
	return t.Boxes - t.FewerBoxes*math.Min(1, float64(d-1)/7)
}

// Estimator is the method "axis-aligned" where the covariance of all components is known.
type Estimator struct {
	estimate.Named
	tuning Tuning
}

// New returns the estimator.
func New() Estimator {
	return Estimator{estimate.Describe(name, source, "a mixture of components with one known covariance: boxes, then weights and means solved for"), Usual()}
}

// Plan returns the worst case that Fit may measure, or a *estimate.Refusal for rows of which no box
// can hold enough.
func (e Estimator) Plan(p estimate.Problem) (kernel.Plan, error) {
	if p.Relation == privacy.ReplaceOne && float64(p.Rows) < e.tuning.leastFor(p) {
		return kernel.Plan{}, program.Refusal(e.tuning.advice(p), "the table has %d rows, and %s seen from about %.0f rows on", p.Rows, asked(p), math.Ceil(e.tuning.leastFor(p)))
	}
	boxes, blocks := query.BoxKeys{Joint: true}.Kind(), float64(len(blocksOf(p.Columns)))
	steps := []kernel.Step{
		{Name: stepCount, Query: query.Count{}.Kind(), Share: countPart, Most: 1, Source: source},
		{Name: stepBoxes, Query: boxes, Share: e.tuning.boxPart(p.Columns) / blocks, Most: 1, Slack: 1 / blocks, Source: source},
	}
	if blocks > 1 {
		steps = append(steps, kernel.Step{Name: stepWithin, Query: query.PartsOf(boxes), Share: e.tuning.boxPart(p.Columns) * (blocks - 1) / blocks,
			Most: int(blocks) - 1, Slack: (blocks - 1) / blocks, Source: source})
	}
	looks := kernel.Step{Name: stepLooks, Query: query.ClippedMoments{}.Kind(), Share: 1 - countPart - e.tuning.boxPart(p.Columns),
		Most: len(lookParts), Source: "AAL21 Section 6.3"}
	return kernel.Plan{Method: name, Steps: append(steps, looks)}, nil
}

// fit is the state of one run: public facts and released values only.
type fit struct {
	program.Run
	tuning Tuning
	white  *whitening
	law    *law
	looks  []*look
	parts  []part
	// stray describes the rows that the last look found far from all parts, nil for none; noise is
	// that of their number.
	outliers *component.Gaussian
	noise    float64
}

// Fit follows the plan with the whole budget of the session.
func (e Estimator) Fit(_ context.Context, s *kernel.Session, p estimate.Problem) (estimate.Outcome, error) {
	white, err := whiten(p.KnownCovariance)
	if err != nil {
		return estimate.Outcome{}, err
	}
	f := &fit{Run: program.Begin(s, p, func(p estimate.Problem) string {
		return e.tuning.advice(p) + "; or check that the known covariance is that of each component, in the columns' own units"
	}), tuning: e.tuning, white: white}
	if err := f.CountRows(stepCount, countPart); err != nil {
		return estimate.Outcome{}, err
	}
	if f.Few(e.tuning.leastFor(p)) {
		return f.Refuse("about %.0f rows are too few: %s seen from about %.0f rows on", math.Max(0, f.Rows), asked(p), math.Ceil(e.tuning.leastFor(p))), nil
	}
	f.law = newLaw(p.Columns, f.Rows)
	starts, err := f.locate()
	if err != nil {
		return estimate.Outcome{}, err
	}
	if len(starts) == 0 {
		return f.Refuse("no box of %.2g standard deviations holds enough rows to be seen", e.tuning.side(p.Columns)), nil
	}
	f.parts = starts
	for i := range lookParts {
		mu := f.Mu(lookParts[i] * (1 - countPart - e.tuning.boxPart(p.Columns)))
		if i == len(lookParts)-1 {
			mu = f.LeftMu()
		}
		if err := f.look(mu); err != nil {
			return estimate.Outcome{}, err
		}
		f.improve(i)
	}
	return f.outcome(), nil
}

// thresholdSDs is what a box must hold, in sds of its noise: about, for the deltas that are in use.
const thresholdSDs = 5.8

// threshold returns about how many rows a box must hold to be seen.
func (t Tuning) threshold(p estimate.Problem) float64 {
	blocks := float64(len(blocksOf(p.Columns)))
	return 2 + thresholdSDs*program.Factor(p.Relation)*math.Sqrt(blocks/t.boxPart(p.Columns))/p.Mu
}

// rowsSeen returns about how many rows a component needs to be found; rowsGood for its mean to be
// known within twice the sampling error.
func (t Tuning) rowsSeen(p estimate.Problem) float64 {
	d := len(blocksOf(p.Columns)[0])
	return t.threshold(p) / math.Pow(1-2*edgeLoss/t.side(d), float64(d))
}

func (t Tuning) rowsGood(p estimate.Problem) float64 {
	x := t.meanNoise(p)
	return x * x / 3
}

// meanNoise returns the noise sd of a coordinate of a component's mean, times its rows, from the
// last two looks.
func (t Tuning) meanNoise(p estimate.Problem) float64 {
	share := (lookParts[len(lookParts)-1] + lookParts[len(lookParts)-2]) * (1 - countPart - t.boxPart(p.Columns))
	return math.Sqrt2 * program.Factor(p.Relation) * t.leastRadius(p.Columns) / (p.Mu * math.Sqrt(share))
}

// Expect says what to expect from public facts, for components of equal weight: as many as are
// asked for, two where that is open.
func (e Estimator) Expect(p estimate.Problem) estimate.Expectation {
	k := shown(p)
	x := estimate.Expectation{RowsNeeded: e.tuning.needed(p)}
	x.Notes = append(x.Notes, fmt.Sprintf("the covariance is known: a component is seen from about %.0f rows of its own on", math.Ceil(e.tuning.rowsSeen(p)/10)*10))
	if p.Rows > 0 && float64(p.Rows) > k*e.tuning.rowsSeen(p) {
		noise := e.tuning.meanNoise(p)
		x.RelativeError = math.Sqrt(1 + noise*noise*k/float64(p.Rows))
	}
	return x
}

// leastFor returns the number of rows below which the requested components are not tried, or one.
func (t Tuning) leastFor(p estimate.Problem) float64 {
	return float64(max(p.Components, 1)) * t.rowsSeen(p)
}

// asked says what leastFor is for.
func asked(p estimate.Problem) string {
	if p.Components > 1 {
		return fmt.Sprintf("%d components are", p.Components)
	}
	return "a component is"
}

// shown returns the requested number of components, or two.
func shown(p estimate.Problem) float64 {
	return float64(cmp.Or(p.Components, min(2, max(p.MaxComponents, 1))))
}

// needed returns about how many rows they need, if they are of equal weight.
func (t Tuning) needed(p estimate.Problem) float64 {
	return shown(p) * math.Max(t.rowsSeen(p), t.rowsGood(p))
}

func (t Tuning) advice(p estimate.Problem) string { return program.Needs(p, t.needed(p), "") }
