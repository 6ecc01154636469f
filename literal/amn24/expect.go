package amn24

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/program"
	"github.com/gauze-dp/gauze/kernel/privacy"

	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/parts"
)

// literal is the first note of both methods.
const literal = "a literal algorithm, to compare with: it enumerates, where the practical methods need fewer rows and no bounds"

// Expect says how many rows the analysis asks for, with explicit constants, from public facts.
//
// A component of weight w puts at least w n/2 gaps into two places of each octave between sigma/n^2
// and sigma (Lemmas F.3 and F.4), and the fullest of those buckets is released if it holds twice
// the noise's support A; here w = alpha/(4k). Then the selection among K asks for (8/alpha^2)
// ln(|K|^2/beta) + (4/(alpha epsilon)) ln(|K|/beta).
//
// Source: [AMN24] Theorem 1.5; Section 4.
func (e Univariate) Expect(p estimate.Problem) estimate.Expectation {
	if !(p.Mu > 0) || p.Columns != 1 {
		return estimate.Expectation{}
	}
	k, support := program.MostComponents(p), e.support(p, p.Mu*p.Mu, nominalSlack(p.Mu))
	x := estimate.Expectation{Notes: []string{literal}}
	x.Notes = append(x.Notes, fmt.Sprintf(
		"a bucket is released if it holds more gaps than truncated Laplace noise can be, about %.0f at delta 1e-6", support))
	x.RowsNeeded = math.Ceil(2 * support * float64(k) / fullestBucket)
	analysis := 0.0
	for n := 100.; n < 1e15 && analysis == 0; n *= 1.1 {
		if octaves := 2*math.Log2(n) + 1; e.c.Accuracy/float64(4*k)*n/2 >= 2*support*2*octaves {
			analysis = n
		}
	}
	x.Notes = append(x.Notes, fmt.Sprintf(
		"the analysis asks for about %s rows for crude approximations of all components of weight %.2g or more, and %s",
		paper.RowsText(analysis), e.c.Accuracy/float64(4*k), e.c.selection(p.Mu*p.Mu)))
	return x
}

// fullestBucket is the part of a component's gaps that its fuller buckets hold each, about: a
// guess, set where three components of equal weight, apart or overlapping, were told within .06
// (fresh rows and noise, epsilon 20).
const fullestBucket = .15

// selection says how many rows Algorithm 1 asks for: its net is the one that the guard allows,
// around one crude pair per component.
func (c Constants) selection(mu2 float64) string {
	epsilon := paper.SelectionEpsilon((1 - c.CrudeShare) * c.FirstShare * mu2)
	rows := paper.SelectionRows
	if c.Selection == paper.Tournament {
		rows = paper.TournamentRows
	}
	return fmt.Sprintf("about %s to choose among %d mixtures", paper.RowsText(rows(c.Accuracy, c.FailureProb, epsilon, float64(c.MostHypotheses))), c.MostHypotheses)
}

// Expect says how many rows the analysis asks for, from public facts: m = w n must be more than the
// test tolerates, or it could not fail, and then those of Algorithm 1.
//
// Source: [AMN24] Theorem 1.4; Section 4.
func (e General) Expect(p estimate.Problem) estimate.Expectation {
	x, err := e.design(p)
	if !(p.Mu > 0) || err != nil {
		return estimate.Expectation{}
	}
	return x.expect(p)
}

// deficitPart is the least part of w n rows that a pair about no component lacks in its cells: a
// guess, from tables of two and three components 4.5 sds apart and more. In two columns it is half
// of that, as the net is as coarse as three quarters of an sd.
const deficitPart = .2

// enough returns how many rows suffice for components that have half of an equal share or more.
func (x design) enough(epsilon, mu float64) float64 {
	switch {
	case x.onLine():
		return math.Ceil(promised * x.c.lineRows(x.k, epsilon, nominalSlack(mu), x.c.certainly(epsilon, nominalSlack(mu))))
	case x.lattice != nil:
		return math.Ceil(2 * x.rows(epsilon))
	}
	return math.Ceil(2 * float64(x.d) * x.rows(epsilon) / deficitPart)
}

func (x design) expect(p estimate.Problem) estimate.Expectation {
	epsilon := x.epsilon(p.Mu * p.Mu)
	out := estimate.Expectation{Notes: []string{literal}, RowsNeeded: x.enough(epsilon, p.Mu)}
	options := len(x.pairs)
	score := "the tractable score, on a net of %d pairs %.2g standard deviations apart"
	if x.lattice != nil {
		options = len(x.lattice.Pairs)
		score = "score (3), on a lattice of %d pairs %.2g standard deviations apart"
	}
	w, about := x.c.leastWeight(x.k), fmt.Sprintf(score, options, x.h)
	if x.onLine() {
		about = fmt.Sprintf("the tractable score, on an infinite lattice of pairs %.2g standard deviations apart", x.h)
	}
	if x.d == 2 {
		points := float64(x.c.Points * x.c.Points)
		about += fmt.Sprintf("; score (3) would ask its estimator of %.2g multisets of %d points of a lattice of %d x %d, where %d can be listed",
			choose(int(points)+x.c.Elements-1, x.c.Elements), x.c.Elements, x.c.Points, x.c.Points, mostMultisets)
	}
	test := fmt.Sprintf("the test of the score's volumes can fail from about %s rows on; before, the choice is one among finitely many pairs",
		paper.RowsText(x.c.tolerated(options, epsilon, nominalSlack(p.Mu))/w))
	if x.onLine() {
		test = fmt.Sprintf("the test of the score's volumes passes from about %s rows of equal components on", paper.RowsText(out.RowsNeeded/promised))
	}
	out.Notes = append(out.Notes, about, test,
		"the analysis asks for "+x.c.selection(p.Mu*p.Mu)+
			fmt.Sprintf(", and, constants and logarithms left out, for %.2g in all", x.order(p)),
		x.composed(p.Mu*p.Mu))
	return out
}

// order returns the sum of Theorem 1.4, with constants and logarithms left out but for ln(1/delta),
// delta 1e-6.
//
// Source: [AMN24] Theorem 1.4.
func (x design) order(p estimate.Problem) float64 {
	k, d, alpha, logDelta := float64(program.MostComponents(p)), float64(p.Columns), x.c.Accuracy, -math.Log(nominalDelta)
	epsilon := privacy.EpsilonOfMu(nominalDelta, p.Mu)
	return k*d*d/(alpha*alpha) + k*k*d/alpha +
		(k*d*d+math.Pow(d, 1.75)*math.Pow(k, 1.5)*math.Sqrt(logDelta)+math.Pow(k*logDelta, 1.5))/(alpha*epsilon)
}

// composed compares Theorem A.1 with what the filter does: the epsilon of each of the k steps that
// either allows for the same total.
func (x design) composed(mu2 float64) string {
	total := privacy.EpsilonOfMu(nominalDelta, parts.Mu(x.c.CrudeShare*mu2))
	return fmt.Sprintf("each of %d choices may cost epsilon %.2g in the filter of Gaussian privacy, "+
		"and %.2g by basic composition or Theorem A.1, for the same total",
		x.k, paper.PureEpsilon(x.c.CrudeShare*mu2/float64(x.k)), stepEpsilon(x.k, total, nominalDelta))
}
