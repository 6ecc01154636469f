package paper

import "math"

// Apart returns the total variation of rows from a mixture on disjoint cells, of noisy counts with
// the sds of their noise among so many rows and of the mixture's masses; and how much of it noise
// and sampling are expected to make, the masses being those of so many draws.
func Apart(counts, noise, masses []float64, rows, draws float64) (far, expected float64) {
	for i, p := range masses {
		far += math.Abs(counts[i]/rows-p) / 2
		expected += math.Sqrt((p*(1-p)*(1/rows+1/draws) + math.Pow(noise[i]/rows, 2)) / (2 * math.Pi)) // half of E|N(0, s^2)|
	}
	return far, expected
}
