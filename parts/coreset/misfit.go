package coreset

import (
	"maps"
	"math"
	"slices"
)

// Misfit returns how far the counts are from those of one Gaussian with their mean and variances:
// the largest distance in total variation along a coordinate, less what noise explains. Slices are
// two of the smallest cells thick; of a larger cell it is not seen where in it the rows are, so
// they are taken to be as the Gaussian has them. A tree that drops cells shows up to a tenth of a
// Gaussian's rows elsewhere.
func (c *Coreset) Misfit() (most float64) {
	mean, cov := c.moments()
	for i := range c.Dim {
		side := math.Inf(1)
		for _, v := range c.Cells {
			side = math.Min(side, 2*math.Sqrt(12*v[i]))
		}
		// within is the Gaussian's share of the slices from first to last.
		within := func(first, last int) float64 {
			scale := math.Sqrt(2 * cov.At(i, i))
			return (math.Erf((float64(last+1)*side-mean[i])/scale) - math.Erf((float64(first)*side-mean[i])/scale)) / 2
		}
		counts, cells := map[int]float64{}, map[int]float64{}
		for p, at := range c.Points {
			half := math.Sqrt(3 * c.Cells[p][i])
			first := int(math.Floor((at[i]-half)/side + 1e-6))
			last := first + max(0, int(math.Round(2*half/side))-1)
			all := math.Max(within(first, last), math.SmallestNonzeroFloat64)
			for s := first; s <= last; s++ {
				counts[s] += c.Weights[p] * within(s, s) / all
				cells[s]++
			}
		}
		far := 0.0
		for _, s := range slices.Sorted(maps.Keys(counts)) {
			far += math.Max(0, math.Abs(counts[s]-c.Total*within(s, s))-missSDs*c.SD*math.Sqrt(cells[s]))
		}
		most = math.Max(most, far/2/c.Total)
	}
	return most
}

// missSDs: a difference of a slice's count within this many noise sds counts as none. A guess.
const missSDs = 2.0
