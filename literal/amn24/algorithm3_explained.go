package amn24

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/kernel/choice"
)

// histogram is what Algorithm 3 released: buckets of gaps, what noise can add to a count, and how
// many rows there are. All that is computed of it is free.
type histogram struct {
	buckets []choice.Bucket
	support float64
	n       float64
	told    func(b choice.Bucket, rows float64) pair
}

// Constants that only utility and time depend on.
const (
	mostExplained = 60 // buckets, the fullest
	explainNodes  = 6
	farSDs        = 3 // points of a component at which its gaps are predicted
	mostOctaves   = 4 // how many octaves above a place's own its component's gaps may have. A guess.
	starts        = 6 // of the search for pairs
)

// A part is a pair and how many rows it may have.
type part struct {
	pair
	rows float64
}

// candidates are what to explain a histogram by: the middle and the lower end of every released
// place, for a component of any of the shares of the rows, and the sd that they must have to have
// gaps of an octave that was released there.
func (h histogram) candidates(shares []float64) (all []part) {
	for _, share := range shares {
		for _, b := range h.buckets {
			for _, o := range h.buckets {
				if o.Scale >= b.Scale && o.Scale <= b.Scale+mostOctaves && o.Low <= b.Low && b.High <= o.High {
					for _, mean := range []float64{b.Low, b.Low/2 + b.High/2} {
						p := h.told(o, share*h.n)
						p.Mean = []float64{mean}
						all = append(all, part{p, share * h.n})
					}
				}
			}
		}
	}
	return all
}

// explained are at most k of the candidates whose rows would have gaps like those in the histogram:
// as few as leave the counts off by no more, in all, than noise can add to one more than the best
// would.
//
// Source: [AMN24] Algorithm 3; Lemma D.3.
// Differs: the paper takes nets around all pairs, of which there are as many as places and octaves
// where some component has gaps.
func (h histogram) explained(k int) (fewest []part) {
	off, all := math.Inf(1), h.candidates(shares)
	for count := 1; count <= k; count++ {
		best, least := h.best(count)
		if best, least = h.settled(best, least, all); least < off-h.support {
			fewest, off = best, least
		}
	}
	return fewest
}

// best are so many candidates of equal shares that leave the counts off by the least, from several
// starts, the same at every run.
func (h histogram) best(count int) (best []part, off float64) {
	rng, all := rand.New(rand.NewPCG(1, uint64(count))), h.candidates([]float64{1 / float64(count)})
	off = math.Inf(1)
	for range starts {
		parts := make([]part, count)
		for i := range parts {
			parts[i] = all[rng.IntN(len(all))]
		}
		if parts, least := h.settled(parts, h.off(parts), all); least < off {
			best, off = parts, least
		}
	}
	return best, off
}

// settled are parts that no exchange of one makes better.
func (h histogram) settled(parts []part, least float64, all []part) ([]part, float64) {
	for before := math.Inf(1); least < before; {
		before = least
		for slot := range parts {
			parts, least = h.exchanged(parts, slot, all)
		}
	}
	return parts, least
}

// exchanged are the parts with the one in the slot exchanged for the best of all.
func (h histogram) exchanged(parts []part, slot int, all []part) (best []part, least float64) {
	try := append([]part(nil), parts...)
	best, least = parts, h.off(parts)
	for _, p := range all {
		try[slot] = p
		if off := h.off(try); off < least {
			best, least = append([]part(nil), try...), off
		}
	}
	return best, least
}

// off is the sum over the buckets of how far their counts are from those that the parts lead one to
// expect, and how many rows more or fewer than all they have. A row at x, where so many rows have
// density f, is followed by a gap that exceeds g with probability exp(-f g).
func (h histogram) off(parts []part) (sum float64) {
	sum = -h.n
	for _, p := range parts {
		sum += p.rows
	}
	sum = math.Abs(sum)
	for _, b := range h.buckets {
		expected := 0.0
		for _, p := range parts {
			m, s := p.Mean[0], p.L.At(0, 0)
			low, high := math.Max(b.Low, m-farSDs*s), math.Min(b.High, m+farSDs*s)
			if !(low < high) {
				continue
			}
			for i := range explainNodes {
				x := low + (high-low)*(float64(i)+.5)/explainNodes
				f := 0.0
				for _, q := range parts {
					f += q.density(x)
				}
				stays := math.Exp(-f * b.Gap)
				expected += p.density(x) * (high - low) / explainNodes * stays * (1 - stays)
			}
		}
		sum += math.Abs(b.Count - expected)
	}
	return sum
}

// density is that of the part's rows.
func (p part) density(x float64) float64 {
	s := p.L.At(0, 0)
	z := (x - p.Mean[0]) / s
	return p.rows / s * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}

// shares of the rows that a component may have.
var shares = []float64{1, .9, .75, .6, .5, .4, 1. / 3, .25, .15, .1}
