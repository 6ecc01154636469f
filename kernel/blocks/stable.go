package blocks

import (
	"errors"
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Stability says which block estimates Stable counts as stable, and how it masks their mean.
type Stability struct {
	Rules Rules
	Eta   float64 // of the mask
}

// StableKind is the name of Stable in plans and certificates.
const StableKind = "of blocks: stable mean"

// LawMasked is the law of a mask, as Measurement.Law names it: instead of a mu it has the Rényi
// curve of Measurement.Mask; S is its Gamma and b its Eta (of covariances).
const LawMasked = "masked"

// An Agreement is the Extra that a plan's step needs for Stable: the cost of the mask, and the
// delta of the test as it stands, without the factor 1+e^epsilon of a threshold.
type Agreement struct {
	Mask  privacy.CovarianceMask
	Delta float64 // in (0, 1)
}

// Validate returns an error if the mask or the delta makes no sense.
func (e Agreement) Validate() error { return errors.Join(e.Mask.Validate(), agree.ValidDelta(e.Delta)) }

// Loss returns the mask's curve, and the delta of the test and of the mask's precision: see Stable.
func (e Agreement) Loss(epsilon float64) (privacy.Curve, float64) {
	return e.Mask.Curve(), AddedDelta(e.Delta, epsilon)
}

// AddedDelta returns what a test and its mask add to delta as it stands, at the budget's epsilon:
// the test's delta, and the effect of the mask's precision on both sides.
func AddedDelta(delta, epsilon float64) float64 {
	return privacy.AddUp(delta, privacy.MulUp(MaskSlack*(1+1e-12), privacy.AddUp(1, math.Exp(epsilon))))
}

// Stated returns the fields; the test has no epsilon of its own.
func (e Agreement) Stated() (mask any, delta, pure float64) { return e.Mask, e.Delta, 0 }

// Kind returns StableKind.
func (h Stability) Kind() string { return StableKind }

// Mask returns the mask that the plan's step needs: one of at least this Gamma and at most this
// Eta.
func (h Stability) Mask() privacy.CovarianceMask {
	return privacy.CovarianceMask{Dimension: h.Rules.Columns + 1, Gamma: h.Rules.Gamma(), Eta: h.Eta}
}

// Threshold returns the number that H plus its noise round(X/mu) has to reach, so that H <= Pass
// reaches it with probability at most delta: Pass + m with P(round(X/mu) >= m) <= P(X/mu >= m -
// 1/2) <= delta. mu must be positive and delta in (0, 1).
func (h Stability) Threshold(mu, delta float64) int64 {
	sigma := privacy.DivUp(1, mu)
	return int64(h.Rules.Pass) + int64(math.Ceil(privacy.AddUp(privacy.MulUp(sigma, privacy.QuantileUp(math.Log(delta))), .5)))
}

// Stable runs the learner on fresh secret blocks and tests whether their estimates agree. If they
// do, it releases the masked mean of those that agree: k components in random order, whose weights
// need not sum to 1. If not, ok is false, a released outcome like any other. Neither the agreement
// H nor its noisy value is ever shown, nor which blocks agree or have failed.
//
// Friends, the agreement H, the core and its mean are those of Rules, among the estimates of
// all blocks. The test passes if H + round(X/mu), X ~ N(0, 1), reaches Threshold(mu, d), d being
// the Delta of the plan's step. It is charged mu^2. The mask is paid by the plan: the Mask of the
// step's Agreement has to cover that of how.
//
// Theorem. For neighbours X and X', Stable can be replaced by a step whose Rényi divergence of
// every order a is at most a mu^2/2 plus the mask's, such that each side's law of its outcome is at
// least 1-d times that of the replacement's. So it is paid for by mu^2, Extra and AddedDelta in the
// sense of privacy.Calibrate, whatever the session measures before and after it, and whatever it
// does after a failure.
//
// Proof: blocks_proof.md, steps 5 to 8.
//
// The time depends on the estimates, as that of a learner depends on its rows.
//
// Source: [PPE] Sections B2 to B5 and B7 of the restatement.
// Differs: d adds to delta where B7 takes the larger of two, which needs that nothing released
// before tells its cases apart; and it adds as it stands.
func Stable(a *core.SubBudget, step string, b Blocks, how Stability, mu float64) (components []Component, ok bool, err error) {
	sigma, err := core.Sigma(step, 1, mu)
	if err != nil {
		return nil, false, err
	}
	if err := errors.Join(how.Rules.Validate(), how.Mask().Validate()); err != nil {
		return nil, false, fmt.Errorf("kernel: step %q: %w", step, err)
	}
	secret, err := Secret(a, b)
	if err != nil {
		return nil, false, err
	}
	return agree.Release(a, step, how, secret, how.test(core.Measurement{Sensitivity: 1, Noise: sigma, Mu: mu}))
}

// test returns the test of Stable, given its line of the certificate.
func (h Stability) test(line core.Measurement) agree.Test {
	r, wanted := h.Rules, h.Mask()
	return agree.Test{
		Estimates: r.Estimates, Components: r.Components, Columns: r.Columns,
		Line: line, Mask: core.Measurement{Law: LawMasked, Sensitivity: wanted.Gamma, Noise: wanted.Eta, Mask: wanted},
		Covered: func(e core.Extra) error {
			of, ok := e.(Agreement)
			if !ok || of.Mask.Dimension != wanted.Dimension || !(wanted.Gamma <= of.Mask.Gamma && wanted.Eta >= of.Mask.Eta) {
				return fmt.Errorf("want a plan with a mask that covers %+v, got %+v", wanted, e)
			}
			return nil
		},
		Run: func(d *core.Draw, estimates [][]Component) (bool, int64, func() []Component) {
			agreement := r.compare(estimates)
			reached, threshold := int64(agreement.H()), h.Threshold(line.Mu, d.Step.Extra.(Agreement).Delta)
			if d.Factor() == 0 {
				threshold = int64(r.Pass)
			}
			return reached+d.Gaussian(line.Noise) >= threshold, reached, func() []Component {
				frame, means, ok := agreement.Mean()
				if !ok {
					return nil
				}
				return Masked(frame, means, h.Eta, d.Normal)
			}
		},
	}
}
