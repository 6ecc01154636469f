package privacy

import (
	"errors"
	"math"
	"slices"
)

// A Cost bounds the loss of a fit, under its own relation, all of it rounded up. See
// compose_proof.md, steps 1 to 4, for what each part promises.
type Cost struct {
	// Epsilon and Delta are the budget that the fit was calibrated to, 0 if it was requested as
	// zCDP.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Mu2     float64 `json:"mu2"` // of all steps counted in Gaussian DP
	// Added is the closeness of thresholds and tests, which delta takes as it stands.
	Added float64 `json:"added,omitempty"`
	// Slack is closeness in total variation, which delta takes with a factor 1 + e^epsilon.
	Slack float64 `json:"slack,omitempty"`
	// Renyi are the divergences, at the orders of accounts, of steps that are not Gaussian at any
	// mu; nil if there are none. Most stands for infinity.
	Renyi []float64 `json:"renyi,omitempty"`
}

// Unbounded stands for an infinite divergence or epsilon, which JSON cannot write.
const Unbounded = math.MaxFloat64

// composeOrders are the orders at which accounts keep Rényi curves, 1 + 2^j for j from -2 to 10,
// and orderAt their indices in Orders. A guess: fewer would cost a mask more, and more would make
// entries long.
var composeOrders, orderAt = func() (a []float64, at []int) {
	for i, order := range Orders() {
		if j := math.Log2(order - 1); j == math.Trunc(j) && j >= -2 && j <= 10 {
			a, at = append(a, order), append(at, i)
		}
	}
	return a, at
}()

// tvOfMasks is more than the total variation that the rounding of a mask's draws adds, 2^-90, by
// which calibration raises its delta at the fit's own epsilon.
const tvOfMasks = 0x1p-89

// CostOf returns the cost of a plan with the calibration c. independent says that every threshold
// of the plan hides each key by noise of its own, as the histograms of package kernel do: then it
// adds its slack to delta as it stands (compose_proof.md, step 3).
func CostOf(c Calibration, independent bool) Cost {
	cost := Cost{Epsilon: c.Budget.Epsilon, Delta: c.Budget.Delta, Mu2: float64(c.Cap), Added: c.Needs.AddedDelta}
	if c.Budget.Pure() { // an epsilon, counted as the Gaussian that covers it
		mu := MuOfPure(c.Budget.Epsilon)
		cost.Mu2 = MulUp(mu, mu)
	}
	if c.ThresholdDelta > 0 {
		slack := DivUp(c.ThresholdDelta, 1+math.Exp(c.Budget.Epsilon)*(1-roundings))
		if independent {
			cost.Added = AddUp(cost.Added, slack)
		} else {
			cost.Slack = slack
		}
	}
	if extra := c.Needs.Extra; !extra.IsZero() {
		values := extra.Values()
		for _, i := range orderAt {
			cost.Renyi = append(cost.Renyi, math.Min(values[i], Unbounded))
		}
		cost.Slack = AddUp(cost.Slack, tvOfMasks)
	}
	return cost
}

// roundings is more than the relative errors of an exponential and a sum.
const roundings = 1e-14

// Foreseen returns the most that a fit within the budget can cost if all its steps are Gaussian, or
// have thresholds with noise of their own for every key. It is reserved while the fit's plan, which
// may need the number of rows, is not known.
func Foreseen(b Budget) (Cost, error) {
	plain, err := Calibrate(b, Needs{})
	if err != nil || b.Concentrated() || b.Pure() {
		return CostOf(plain, true), err
	}
	with, err := Calibrate(b, Needs{Thresholds: true})
	cost := CostOf(with, true)
	cost.Mu2 = math.Max(cost.Mu2, float64(plain.Cap))
	return cost, err
}

// Plus adds two costs, rounded up.
func (c Cost) Plus(o Cost) Cost {
	c.Epsilon, c.Delta = AddUp(c.Epsilon, o.Epsilon), AddUp(c.Delta, o.Delta)
	c.Mu2, c.Added, c.Slack = AddUp(c.Mu2, o.Mu2), AddUp(c.Added, o.Added), AddUp(c.Slack, o.Slack)
	if c.Renyi == nil || o.Renyi == nil {
		c.Renyi = slices.Clone(slices.Concat(c.Renyi, o.Renyi))
		return c
	}
	c.Renyi = slices.Clone(c.Renyi)
	for i, r := range o.Renyi {
		c.Renyi[i] = math.Min(AddUp(c.Renyi[i], r), Unbounded)
	}
	return c
}

// Minus subtracts a cost that was added before, rounded up. An infinite divergence stays.
func (c Cost) Minus(o Cost) Cost {
	back := func(sum, x float64) float64 {
		if sum == Unbounded {
			return sum
		}
		return math.Max(0, AddUp(sum, -x))
	}
	c.Epsilon, c.Delta = back(c.Epsilon, o.Epsilon), back(c.Delta, o.Delta)
	c.Mu2, c.Added, c.Slack = back(c.Mu2, o.Mu2), back(c.Added, o.Added), back(c.Slack, o.Slack)
	c.Renyi = slices.Clone(c.Renyi)
	for i, r := range o.Renyi {
		c.Renyi[i] = back(c.Renyi[i], r)
	}
	return c
}

// Within reports whether no part of c is more than that of o.
func (c Cost) Within(o Cost) bool {
	for i, r := range c.Renyi {
		if o.Renyi == nil || !(r <= o.Renyi[i]) {
			return false
		}
	}
	return c.Epsilon <= o.Epsilon && c.Delta <= o.Delta && c.Mu2 <= o.Mu2 && c.Added <= o.Added && c.Slack <= o.Slack
}

// Validate returns an error if no calibration gives such a cost: a wrong one could count for
// nothing.
func (c Cost) Validate() error {
	parts := append([]float64{c.Epsilon, c.Delta, c.Mu2, c.Added, c.Slack}, c.Renyi...)
	for _, x := range parts {
		if !(x >= 0) || math.IsInf(x, 1) {
			return errors.New("compose: cost: wanted finite numbers ≥ 0")
		}
	}
	if c.Renyi != nil && len(c.Renyi) != len(composeOrders) || !(c.Mu2 > 0 || c.Renyi != nil) {
		return errors.New("compose: cost: wanted a loss, and a divergence for each order of accounts")
	}
	return nil
}

// epsilonAt returns an epsilon at delta for mechanisms that compose to c, where neither costs nor
// their number depend on answers: the least for which one of the bounds of compose_proof.md, step
// 9, holds; +Inf if none does.
func (c Cost) epsilonAt(delta float64) float64 {
	// Whether a bound holds need not be monotone, as slack counts more at a larger epsilon: the
	// returned epsilon was seen to hold.
	low, high := 0.0, math.Inf(1)
	for e := MaxEpsilon; e >= MinEpsilon; e /= 1.25 {
		if c.Holds(e, delta) {
			high = e
		} else if !math.IsInf(high, 1) {
			low = e
			break
		}
	}
	for range 60 {
		if mid := (low + high) / 2; mid < high && c.Holds(mid, delta) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// slackDelta returns the part of delta that total variation takes at epsilon.
func (c Cost) slackDelta(epsilon float64) float64 {
	if c.Slack == 0 {
		return 0
	}
	return MulUp(c.Slack, 1+math.Exp(epsilon)*(1+roundings))
}

// Holds reports whether one of the bounds shows that c is (epsilon, delta)-DP.
func (c Cost) Holds(epsilon, delta float64) bool {
	delta = SubDown(SubDown(delta, c.Added), c.slackDelta(epsilon))
	if !(delta > 0) {
		return false
	}
	mu := SqrtUp(c.Mu2)
	if c.Renyi == nil {
		return DeltaOfMu(epsilon, mu) <= delta
	}
	for i := range composeOrders {
		if c.atOrder(i, delta) <= epsilon {
			return true
		}
	}
	return false
}

// atOrder returns the epsilon that the divergence of order i implies at delta.
func (c Cost) atOrder(i int, delta float64) float64 {
	r := MulUp(composeOrders[i], c.Mu2) / 2
	if c.Renyi != nil {
		r = AddUp(r, c.Renyi[i])
	}
	if r >= Unbounded {
		return math.Inf(1)
	}
	return math.Max(0, epsilonAt(composeOrders[i]-1, r, -math.Log(delta)*(1+roundings)))
}
