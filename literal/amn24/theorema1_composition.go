package amn24

import (
	"fmt"
	"math"
)

// advancedComposition returns the total privacy of k adaptive steps, each (epsilon, delta)-DP: for
// any slack > 0 they are together (epsilon sqrt(2k ln(1/slack)) + k epsilon (e^epsilon - 1), k
// delta + slack)-DP.
//
// Source: [AMN24] Theorem A.1.
// Differs: nothing is charged by it. The session's filter adds up what each step costs in Gaussian
// privacy, which holds for these steps and all others together, chosen adaptively. A pure step is
// dear there if it is one of few: k = 2 steps may cost about a fourth of what basic composition
// allows for the same total; for a hundred steps the filter and the theorem are within some
// percent.
func advancedComposition(k int, epsilon, delta, slack float64) (totalEpsilon, totalDelta float64) {
	if k < 0 || !(epsilon >= 0) || !(delta >= 0) || !(slack > 0 && slack < 1) {
		panic(fmt.Sprintf("amn24: AdvancedComposition: want k, epsilon, delta of at least 0 and a slack in (0, 1), got %d, %v, %v, %v",
			k, epsilon, delta, slack))
	}
	steps := float64(k)
	return epsilon*math.Sqrt(2*steps*math.Log(1/slack)) + steps*epsilon*math.Expm1(epsilon), steps*delta + slack
}

// stepEpsilon returns the largest epsilon of each of k steps for which advancedComposition with the
// slack stays within total, and so does basic composition if that allows more.
//
// Source: [AMN24] Theorem A.1.
func stepEpsilon(k int, total, slack float64) float64 {
	low, high := total/float64(k), total
	if e, _ := advancedComposition(k, low, 0, slack); e >= total {
		return low
	}
	for range 60 {
		middle := (low + high) / 2
		if e, _ := advancedComposition(k, middle, 0, slack); e <= total {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
