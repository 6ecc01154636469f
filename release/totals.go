package release

import "math"

// totals is the joint cost of a plan's measurements.
type totals struct {
	mu2   float64 // of the Gaussian ones
	delta float64 // of the thresholds
	pure  float64 // sum of epsilons; +Inf if a measurement is not pure
	// order -> Rényi divergence of all measurements; nil if all are Gaussian
	orders map[float64]float64
}

// planTotals adds up the plan. A Rényi curve is known only at the orders at which those of all
// steps are finite; at order a the Gaussian steps add a mu^2/2.
func (c *Certificate) planTotals() totals {
	var sum totals
	stated := map[float64]int{}
	steps := 0
	for _, s := range c.Plan {
		n := float64(s.Count)
		sum.delta += n * s.Delta
		sum.mu2 += s.Cost(false)
		sum.pure += s.Cost(true)
		if !s.curved() {
			continue
		}
		if steps++; sum.orders == nil {
			sum.orders = map[float64]float64{}
		}
		curve, _ := s.implied()
		for order, divergence := range curve {
			sum.orders[order] += n * divergence
			stated[order]++
		}
	}
	for order := range sum.orders {
		if stated[order] < steps {
			delete(sum.orders, order)
			continue
		}
		sum.orders[order] += order * sum.mu2 / 2
	}
	return sum
}

// Cost returns the joint cost of a line's measurements: the sum of their mu^2, 0 where they have a
// Rényi curve; or, under a pure budget, of their epsilons, infinite for a measurement that is not
// pure.
func (s *PlanStep) Cost(pure bool) float64 {
	n := float64(s.Count)
	if !pure {
		return n * s.Mu * s.Mu
	}
	if factor := lawFactors[s.Law]; factor > 0 && s.Noise > 0 && s.Delta == 0 && !s.curved() {
		return n * factor * s.Sensitivity / s.Noise
	}
	return math.Inf(1)
}

// curved reports whether the step's loss is a Rényi curve.
func (s *PlanStep) curved() bool { return s.Renyi != nil || s.Mask != nil || s.Pure != 0 }

// deciding returns the order at which a plan with Rényi curves costs least at delta, and the
// epsilon there; +Inf where no order is left.
func (t totals) deciding(delta float64) (order, epsilon float64) {
	epsilon = math.Inf(1)
	for a, divergence := range t.orders {
		if e := epsilonOfRenyi(a, divergence, delta); e < epsilon || e == epsilon && a < order {
			order, epsilon = a, e
		}
	}
	return order, epsilon
}

// epsilonOfRenyi returns the epsilon that a Rényi divergence r of an order a implies at delta: r +
// ln(1 - 1/a) - (ln delta + ln a)/(a - 1), and at least 0.
//
// Source: [CKS20] Proposition 12.
func epsilonOfRenyi(order, divergence, delta float64) float64 {
	return math.Max(0, divergence+math.Log1p(-1/order)-(math.Log(delta)+math.Log(order))/(order-1))
}
