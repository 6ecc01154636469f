package model

import (
	"math"
	"sort"
)

// A Followed column is one whose drawn rows follow what was counted of it, where that contradicts
// the components.
type Followed struct{ b *bend }

// Follows returns how the rows of column j follow its counts; nil if they are as the components
// say.
func (m *Mixture) Follows(j int) *Followed {
	if j >= len(m.Bars) {
		return nil
	}
	b := m.bend(j, m.Bars[j], m.Drawn())
	if b == nil {
		return nil
	}
	return &Followed{b}
}

// upTo returns the share of the rows up to x.
func (f *Followed) upTo(x float64) (share float64) {
	b := f.b
	last := len(b.value) - 1
	switch i := sort.Search(len(b.value), func(i int) bool { return b.value[i] > x }); {
	case i > last:
		share = b.total
	case i > 0:
		part := (x - b.value[i-1]) / (b.value[i] - b.value[i-1])
		share = b.total * (b.shares[i-1] + part*(b.shares[i]-b.shares[i-1])) / b.shares[last]
	}
	for at, weight := range b.stay {
		if at <= x {
			share += weight
		}
	}
	return share
}

// Quantile returns the least value, in the coordinates of the mixture, up to which at least the
// given share of the rows lies, by bisection.
func (f *Followed) Quantile(share float64) float64 {
	const halvings = 200
	low, high := f.b.value[0], f.b.value[len(f.b.value)-1]
	for at := range f.b.stay {
		low, high = math.Min(low, at), math.Max(high, at)
	}
	if f.upTo(low) >= share {
		return low
	}
	for range halvings {
		middle := low + (high-low)/2
		if f.upTo(middle) >= share {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// unevenPart is how far rows within a bar may be from where the components have them, as a part of
// its rows: that of a profile's quantiles, a guess there.
const unevenPart = .3

// RankNoise returns the standard deviation of the share of the rows up to x: of the noise of the
// bars' counts, and of how the rows of a bar lie in it.
func (f *Followed) RankNoise(x float64) float64 {
	before, all, inside := 0., 0., 0.
	for _, s := range f.b.list {
		all += s.Noise * s.Noise
		switch {
		case s.High <= x:
			before += s.Noise * s.Noise
		case s.Low < x:
			before, inside = before+s.Noise*s.Noise/2, s.Share
		}
	}
	if all == 0 {
		return f.b.total * unevenPart * inside
	}
	return f.b.total * math.Hypot(math.Sqrt(before*(all-before)/all), unevenPart*inside)
}
