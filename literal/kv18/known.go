package kv18

import (
	"math"

	"github.com/gauze-dp/gauze/estimate"
)

// The octaves of distances: those of all numbers.
const (
	lowestOctave  = -1074
	highestOctave = 1023
)

// mostBins bounds the bins that are looked at one by one where the mean and the variance are
// bounded; where there would be more, only those that pass a threshold are.
const mostBins = 1 << 16

// A reach is where facts let the scale and the place be: everywhere, if there are none.
//
// Source: [KV18] Section 2 of the restatement, the bounded case.
type reach struct {
	low, high int // octaves of the scale
	// bins are those of the narrowest width that hold means within the bound, one on each side
	// included; 0 where they are too many to be noised one by one, or infinitely many
	bins float64
	mean float64
}

// reach returns that of the problem: the lower end of a Gaussian's fullest octave of distances is
// narrowestOctave to widestOctave of its sds.
func (c Constants) reach(f estimate.Facts) reach {
	r := reach{low: lowestOctave, high: highestOctave, mean: f.MeanWithin}
	if !f.KnowsEigenvalues() {
		return r
	}
	octave := func(sd float64) int {
		return int(math.Max(lowestOctave, math.Min(highestOctave, math.Floor(math.Log2(sd)))))
	}
	r.low, r.high = octave(narrowestOctave*math.Sqrt(f.Eigenvalues[0])), octave(widestOctave*math.Sqrt(f.Eigenvalues[1]))
	if bins := 2*math.Ceil(f.MeanWithin/(c.Width*math.Ldexp(1, r.low))) + 2; f.KnowsMean && bins <= mostBins {
		r.bins = bins
	}
	return r
}

// octaves returns how many there are, and one on each side that takes what is beyond.
func (r reach) octaves() float64 { return float64(r.high - r.low + 3) }

// edges of the bins of the given width that hold the places within the bound.
func (r reach) edges(width float64) (edges []float64) {
	last := math.Ceil(r.mean/width) + 1
	for k := -last; k <= last; k++ {
		edges = append(edges, k*width)
	}
	return edges
}
