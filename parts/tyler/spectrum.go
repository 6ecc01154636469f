package tyler

import "math"

// How a noisy spectrum is read: guesses.
const (
	// poolWidth: eigenvalues within this many times noise/sqrt(D), D of them in all, are averaged
	// with one another.
	poolWidth = 1.0
	// resolvedSDs: an eigenvalue this many sds of its pooled estimate above zero is distinguished
	// from zero.
	resolvedSDs = 3.0
)

// cleaned takes from the eigenvalues of M + GOE, whose noise has the spectral edge `noise`, what
// the noise did to them, and counts those that can be told from zero.
//
// The noise spreads D equal eigenvalues over a semicircle of radius `noise`, so a step that
// believed each of them would distort as much as it repairs. The rotation invariant estimate pulls
// every eigenvalue back by noise^2/2 times the mean of 1/(l_i - l_j): equal ones go to their mean,
// lonely large ones keep their place. Those that all but vanish are so pooled into one mean, which
// the noise moves by noise/sqrt(2 D k) only where k are pooled: a direction that the data do not
// fill gains by the factor of that, not of the edge. No eigenvalue is below that sd.
//
// Source: [BABP16] for additive noise. Differs: the mean is over the eigenvalues themselves,
// smoothed over poolWidth, not over a limit density.
func cleaned(lambda []float64, noise float64) (clean []float64, resolved int) {
	size := float64(len(lambda))
	// 0/0 without noise
	width2 := math.Max(noise*noise/size*poolWidth*poolWidth, math.SmallestNonzeroFloat64)
	clean = make([]float64, len(lambda))
	for i, l := range lambda {
		pull, pooled := 0.0, 0.0
		for _, other := range lambda {
			gap := l - other
			pull += gap / (gap*gap + width2)
			pooled += width2 / (gap*gap + width2)
		}
		v := l - noise*noise/2*pull/size
		sd := noise / math.Sqrt(2*size*pooled)
		if v > resolvedSDs*sd {
			resolved++
		}
		clean[i] = math.Max(v, sd)
	}
	return clean, resolved
}
