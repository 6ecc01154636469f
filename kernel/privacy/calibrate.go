package privacy

import (
	"errors"
	"fmt"
	"math"
)

// ThresholdShare is the share of delta set aside for stability thresholds in a plan that holds any.
const ThresholdShare = 0.05

// Needs are the losses of a plan besides the steps counted in mu^2. The zero value is a plan of
// mu^2 steps only.
type Needs struct {
	// Thresholds says that the plan holds stability thresholds, which hide rare keys with a
	// probability of failure.
	Thresholds bool
	// Impure says that not every step has a pure loss.
	Impure bool
	// AddedDelta is the sum of the deltas that some steps, each measured once at most, add as they
	// stand, without the factor 1+e^epsilon (see [Calibrate]), in [0, delta). Default 0.
	AddedDelta float64
	// Extra is the composed loss of the steps that are not Gaussian at any mu, each measured once
	// at most. Zero if there are none.
	Extra Curve
}

// Calibration is what a budget buys, fixed before the first row is read.
type Calibration struct {
	Budget Budget
	Needs  Needs
	// Mu is the total mu of all steps counted in mu^2, rounded down; 0 if the budget is pure.
	Mu float64
	// Cap is the cap of the [Filter]: at most Mu^2; 0 if the budget is pure.
	Cap Mu2
	// PureCap is the cap of the [Filter] for a pure budget, its epsilon; 0 for all others.
	PureCap Epsilon

	// ThresholdDelta is the delta set aside for stability thresholds, 0 if there are none. A
	// threshold that takes the part D of it may fail with probability s = D/(1+e^epsilon), ln s
	// = LogSlackOf(epsilon, D).
	ThresholdDelta float64
	LogSlack       float64 // ln of the total slack s, rounded down; -Inf if there are no thresholds
}

// Calibrate returns the largest mu and slack s with which a plan stays within the budget:
//
//	delta_GDP(epsilon; mu) + (1+e^epsilon) s + AddedDelta <= delta,
//	(1+e^epsilon) s = ThresholdShare delta if the plan has thresholds and 0 if not,
//
// where delta_GDP is [DeltaOfMu], or, if there is an Extra curve, its conversion together with
// alpha mu^2/2. A rho budget gives mu = sqrt(2 rho); it has no delta, so Thresholds and AddedDelta
// are refused, and so is Extra (a curve on finitely many orders is no proof of zCDP). A pure budget
// refuses these too, and steps that are not pure; its epsilons add up in the [Filter]. All faults
// are returned at once, as *[FieldError] joined.
//
// Why thresholds add (1+e^epsilon) s: calibrate_proof.md, step 1. Why Extra adds at every order,
// however the program chooses its steps: steps 2 and 3 there.
//
// AddedDelta adds d as it stands for a step, asked once at most, that can be replaced, for
// neighbours X, X', by another one such that, after all answers before, each side's law of its
// answer is at least 1-d times that of its replacement (as measures).
//
// Proof: calibrate_proof.md, steps 4 and 5.
//
// Source: [MIR17] Proposition 1; [FZ21] (curves, adaptively).
func Calibrate(b Budget, needs Needs) (Calibration, error) {
	if err := errors.Join(b.Validate(), needs.validate(b)); err != nil {
		return Calibration{}, err
	}
	c := Calibration{Budget: b, Needs: needs, LogSlack: math.Inf(-1)}
	if needs.Thresholds {
		c.ThresholdDelta = MulDown(ThresholdShare, b.Delta)
		c.LogSlack = LogSlackOf(b.Epsilon, c.ThresholdDelta)
	}
	delta := c.smoothDelta(c.ThresholdDelta)
	switch {
	case b.Pure():
		c.PureCap = Epsilon(b.Epsilon)
		return c, nil
	case b.Concentrated():
		c.Mu = MuOfRho(b.Rho)
	case needs.Extra.IsZero():
		c.Mu = MuOf(b.Epsilon, delta)
	default:
		if e := needs.Extra.Epsilon(delta); e > b.Epsilon {
			return Calibration{}, &FieldError{"epsilon", fmt.Sprintf("at least %g, the loss of the non-Gaussian steps", e),
				fmt.Sprintf("%g", b.Epsilon), "give those steps more noise, or raise epsilon or delta"}
		}
		c.Mu = LargestWhere(func(mu float64) bool {
			return needs.Extra.Compose(GaussianCurve(mu)).Epsilon(delta) <= b.Epsilon
		})
	}
	c.Cap = Mu2(MulDown(c.Mu, c.Mu))
	return c, nil
}

func (n Needs) validate(b Budget) error {
	field, wanted := "rho", "a plan of Gaussian steps only"
	if b.Pure() {
		field, wanted = "delta", "a number above 0, or a plan of pure steps only"
	} else if !b.Concentrated() {
		const most = 1 - 2*ThresholdShare
		if !(n.AddedDelta >= 0) || b.Delta > 0 && n.AddedDelta > most*b.Delta {
			return &FieldError{"added delta", fmt.Sprintf("from 0 to %g of delta", most), fmt.Sprintf("%g", n.AddedDelta),
				"lower it or raise delta: the rest pays for the noise"}
		}
		return nil
	}
	var faults []error
	fault := func(bad bool, got string) {
		if bad {
			faults = append(faults, &FieldError{field, wanted, "a plan with " + got,
				"there is no delta to pay with: give epsilon and delta, or choose a method without this step"})
		}
	}
	fault(b.Pure() && n.Impure, "steps whose loss is not pure")
	fault(n.Thresholds, "stability thresholds")
	fault(n.AddedDelta != 0, "an added delta")
	fault(!n.Extra.IsZero(), "a Rényi curve")
	return errors.Join(faults...)
}

// smoothDelta returns the rest of delta, rounded down, after thresholds have taken their part and
// the added delta is subtracted.
func (c Calibration) smoothDelta(thresholdDelta float64) float64 {
	return SubDown(SubDown(c.Budget.Delta, thresholdDelta), c.Needs.AddedDelta)
}

// LogSlackOf returns ln s, rounded down, for the s that adds the given delta through a threshold:
// (1+e^epsilon) s <= delta. It panics unless epsilon >= 0 and 0 < delta < 1.
func LogSlackOf(eps, thresholdDelta float64) float64 {
	notNegative("epsilon", eps)
	checkDelta(thresholdDelta)
	l := math.Log(thresholdDelta) - softplus(eps)
	return l - Safety(l)
}

// Loss is a loss in every unit that is reported. A part that does not apply is 0.
type Loss struct{ Epsilon, Delta, Mu, Rho float64 }

// Loss converts what a run has spent, sum mu_i^2 and the delta of its thresholds, or under a pure
// budget the sum of epsilons, to a Loss: epsilon at the delta of the budget.
//
// The guarantee is always the budget. The Loss of a part of it is a guarantee by itself only if the
// amount to spend was fixed before the run; for a run that stopped early because of an answer, it
// is a meter reading. It panics if more was spent than c allows.
func (c Calibration) Loss(mu2 Mu2, pure Epsilon, thresholdDelta float64) Loss {
	if !(mu2 >= 0 && mu2 <= c.Cap && pure >= 0 && pure <= c.PureCap && thresholdDelta >= 0 && thresholdDelta <= c.ThresholdDelta) {
		panic("privacy: Loss: more was spent than the calibration allows")
	}
	if c.Budget.Pure() {
		return Loss{Epsilon: float64(pure)}
	}
	mu := SqrtUp(float64(mu2))
	l := Loss{Mu: mu}
	if c.Needs.Extra.IsZero() {
		l.Rho = float64(mu2) / 2
	}
	if c.Budget.Concentrated() {
		return l
	}
	l.Delta = c.Budget.Delta
	delta := c.smoothDelta(thresholdDelta)
	if c.Needs.Extra.IsZero() {
		l.Epsilon = EpsilonOfMu(delta, mu)
	} else {
		l.Epsilon = c.Needs.Extra.Compose(GaussianCurve(mu)).Epsilon(delta)
	}
	// Within the caps Calibrate has seen that epsilon suffices; a solver's last bits must not
	// report more.
	l.Epsilon = math.Min(l.Epsilon, c.Budget.Epsilon)
	return l
}
