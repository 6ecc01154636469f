package pearson

import "math"

// Utility constants of the pair's solver.
const (
	lineSteps  = 6  // of the matching of scores along a finalist
	triedSteps = 3  // in all columns, on screenRows rows, before finalists are compared
	spaceSteps = 15 // in all columns, in the end
	turns      = 3
)

// pair returns the mixture of two Gaussians of a table in its frame: the moments along the
// likeliest directions, lifted; the direction that the result calls the best, lifted again while
// that helps. Scores are matched on some rows only; the caller matches those of all.
//
// Source: [KMV10] the algorithm in n dimensions; [PPE] Section C3 of the restatement.
// Differs: linear algebra after one direction in place of many directions; turns, and scores, after
// it.
func pair(t table, us [][]float64) ([]gauss, bool) {
	few := t.thin(screenRows)
	var best []gauss
	value := math.Inf(-1)
	try := func(s sight) bool {
		line, _ := match(t.project(s.u), s.line, lineSteps)
		lifted, ok := lift(t, s.u, line)
		if !ok {
			return false
		}
		mixture, v := match(few, lifted, triedSteps)
		if v > value {
			best, value = mixture, v
			return true
		}
		return false
	}
	for _, s := range likeliest(t, us) {
		try(s)
	}
	for range turns {
		if s, ok := turnTo(best, t.d); !ok || !try(s) {
			break
		}
	}
	return best, best != nil && sound(best, t)
}
