package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Shares are the parts of the budget that the steps cost: of mu^2 or, where delta is 0, of epsilon.
type shares struct{ count, scale, place, moments float64 }

// The second are a guess: Laplace noise is one over a part, not over its root, so that the last
// release needs more of the whole.
var (
	gaussianShares = shares{count: .01, scale: .25, place: .25, moments: .49}
	pureShares     = shares{count: .04, scale: .2, place: .16, moments: .6}
)

func sharesOf(p estimate.Problem) shares {
	if p.Budget.Pure() {
		return pureShares
	}
	return gaussianShares
}

// sum measures q at a cost: with Gaussian noise or, where delta is 0, with Laplace noise as the
// source has it.
func (r *run) sum(step string, q query.Sum, cost float64) (kernel.Answer, error) {
	if r.Problem.Budget.Pure() {
		return pure.Laplace(r.SubBudget, step, q, cost)
	}
	return r.Sum(step, q, privacy.SqrtDown(cost))
}

// pairSum returns sum for secret pairs of rows.
func (r *run) pairSum(step string, q query.Pairs, cost float64) (kernel.Answer, error) {
	if r.Problem.Budget.Pure() {
		return pure.LaplacePairs(r.SubBudget, step, q, cost)
	}
	return kernel.SumPairs(r.SubBudget, step, q, privacy.SqrtDown(cost))
}

// countNoise returns the noise sd of counts of which one row changes so many by one, for a share.
func countNoise(p estimate.Problem, share, changed float64) float64 {
	if p.Budget.Pure() {
		return math.Sqrt2 * changed / (p.Budget.Epsilon * share)
	}
	return math.Sqrt(changed) / (p.Mu * math.Sqrt(share))
}

// chance with which one of all noises of a histogram is taken for rows.
const chance = 4e-5

// seen returns how many noise sds of a histogram of so many bins the largest noise is above with
// that chance.
func seen(p estimate.Problem, bins float64) float64 {
	if p.Budget.Pure() { // P(noise > t sds) = exp(-sqrt2 t)/2
		return math.Log(bins/(2*chance)) / math.Sqrt2
	}
	return privacy.ThresholdQuantile(math.Log(chance / bins))
}

// Where n is public, all rows are good unless the count says otherwise by this many noise sds:
// which noise alone does once in two thousand times, be it Gaussian or Laplace.
const missingSDs, missingLaplaceSDs = 3.5, 5.4

func missing(p estimate.Problem) float64 {
	if p.Budget.Pure() {
		return missingLaplaceSDs
	}
	return missingSDs
}

// form of the last release: full, whose off-diagonal sum has less noise, but where delta is 0.
// There it is the spherical form, whose L1 sensitivity is the smallest.
func form(p estimate.Problem) query.Form {
	if p.Budget.Pure() {
		return query.SphericalForm
	}
	return query.FullForm
}

// squareNoise returns the noise sd of the sum of z^2 that the last release has at a cost, in units
// of the radius squared: (1+b^2/r^2) S/mu in the full form; in the spherical form, whose three
// numbers have the unit 3/2 r^2 and the L1 sensitivity sqrt3 times that in L2, Laplace noise of
// that.
func squareNoise(p estimate.Problem, cost float64) float64 {
	factor := 1.
	if p.Relation == privacy.ReplaceOne {
		factor = math.Sqrt2
	}
	if p.Budget.Pure() {
		return 1.5 * math.Sqrt2 * math.Sqrt(3) * factor / cost
	}
	return (1 + lift*lift) * factor / math.Sqrt(cost)
}

// total returns what the session's filter adds up to.
func total(p estimate.Problem) float64 {
	if p.Budget.Pure() {
		return p.Budget.Epsilon
	}
	return p.Mu * p.Mu
}
