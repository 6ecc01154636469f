// Package ppe holds the reduction of [PPE] as it is printed, with its errata fixed: any learner of
// mixtures is made private by running it on blocks of rows, testing whether the estimates agree,
// and releasing one of them behind a mask. It is a definition that runs, to compare with: what is
// masked is one block's estimate, so that the noise is as large as the estimates' scatter and not,
// as in the method black-box, a part of it; a large epsilon or very many rows are needed.
//
// What the files are named after is elsewhere in part: the test of Algorithm 1 is the kernel's
// (pure.ReleasePopular), and so is the noise of Algorithm 2 (blocks.MaskedParameters: R_W, R_MEAN,
// R_COV, B_COMP, B_GMM); the distances are blocks.Distance.
//
// Source: [PPE].
package ppe

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/learner/pearson"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// Estimator is the method "black-box:paper".
//
// Measured with Practical constants (replace-one, delta 1e-6, components eight sds apart; median
// dist_PARAM and total variation of 4 to 12 fits):
//
//	epsilon 20, k = 1, d = 1: n = 80000 1 of 12 released; 130000 10 of 12, .34 and .09;
//	                          200000 all, .33 and .10; 1000000 all, .06 and .02
//	            k = 1, d = 2: n = 400000 11 of 12, .35 and .13
//	            k = 2, d = 1: n = 1200000 all with em, .87 and .13
//	epsilon 40, k = 2, d = 1: n = 250000 all, .53 and .34 with em, .68 and .13 with pearson-lines
//	            k = 2, d = 2: n = 700000 all, .36 and .11 with em, .51 and .25 with pearson-lines
//
// At epsilon 1 one component in one column needs 3e8 rows, and with the constants as they are
// printed 4e15.
type Estimator struct {
	estimate.Named
	learners.List
	c Constants
}

// New returns the estimator.
func New(c Constants) Estimator {
	return Estimator{estimate.Describe("black-box:paper", "PPE Algorithm 1",
		"the published black-box reduction, to compare with: releases one block's estimate, for a large epsilon and very many rows"), append(learners.List{pearsonLines()}, append(learners.Ours(), spectralMixture(), moitraValiant())...), c}
}

var (
	_ estimate.LearnerUser = Estimator{}
	_ estimate.Capped      = Estimator{}
)

// MostEpsilon returns an epsilon such that the precision of a mask's draws costs no more than the
// plan may add for it beside the test's half of delta.
func (Estimator) MostEpsilon(delta float64) float64 {
	return math.Log((mostAdded-.5)*(1-1e-9)*delta/(1.01*blocks.MaskSlack)) - 1e-9
}

// Printed returns the same method with the source's constants.
func (Estimator) Printed() estimate.Estimator { return New(Printed()) }

// slowColumns: with more, learners that look along many lines are told to be slow. A guess.
const slowColumns = 10

// Learners returns those of the source and of its restatement, for black boxes to run.
func Learners() []learners.Learner {
	return []learners.Learner{spectralMixture(), pearsonLines(), moitraValiant()}
}

func spectralMixture() learners.Learner {
	return learners.Learner{Name: "spectral", For: func(k int, _ float64) kernel.Learner { return spectral.Mixture{Components: k} }}
}

// pearsonLines returns what Gauze makes of the learner that the source plugs in: Pearson's equation
// along one line, lifted to all columns, and splits for more than two components.
//
// Source: [PPE] Theorem 7.2.1. Differs: see pearson.Learner.
func pearsonLines() learners.Learner {
	return learners.Learner{Name: "pearson-lines", Slow: slowColumns,
		For: func(k int, _ float64) kernel.Learner { return pearson.Learner{Components: k} }}
}

// moitraValiant returns the learner that the source plugs in, where it is built as printed: for up
// to two components, where it is that of Kalai, Moitra and Valiant.
//
// Of two clusters 5.8 standard deviations apart it takes twice the rows that others take: in
// black-box (d = 2, epsilon 1) 0 of 6 fits released at 30,000 rows, 5 of 6 at 60,000, and 12 of 12
// at 120,000 and 240,000; with em and pearson-lines 0 of 8 did at 15,000 and 8 of 8 at 30,000.
//
// Source: [PPE] Theorem 7.2.1; [KMV10] the algorithm in n dimensions.
func moitraValiant() learners.Learner {
	return learners.Learner{Name: "moitra-valiant", Slow: slowColumns, Most: mostMoitraValiant,
		Rather: ", or --learner em or pearson-lines, whose estimates agree on half of the rows",
		For:    func(k int, _ float64) kernel.Learner { return pearson.Learner{Components: k, Literal: true} }}
}

const mostMoitraValiant = 2

// refuse says why a problem is none of this method's, whatever its rows; nil if it is not.
func (e Estimator) refuse(p estimate.Problem) error {
	refusal := func(advice, format string, args ...any) error {
		return program.Refusal(advice, "method "+e.Name()+" "+format, args...)
	}
	switch k := program.MostComponents(p); {
	case p.Components == 0 && k > 1:
		return refusal("state --components", "has to be told the number of components, and none was stated")
	case e.TooMany(p, k):
		return refusal("use another learner: --learner pearson-lines, or em", "has a learner for fewer components than the %d that were asked for: %s", k, estimate.LearnerOf(e, p))
	case k > mostComponents || p.Columns > mostColumns:
		return refusal("use fewer columns or components, or --method general",
			"takes up to %d components in up to %d columns, %d in %d were asked for", mostComponents, mostColumns, k, p.Columns)
	case p.NoDelta || !(p.Budget.Epsilon > 0):
		return refusal("state --epsilon and --delta in place of --rho",
			"needs a budget of epsilon and delta: its test may fail with probability delta")
	}
	return nil
}
