package amn24

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/literal/paper"
)

// histogram is what Algorithm 3 released: buckets of gaps, what noise can add to a count, and how
// many rows there are. All that is computed of it is free.
type histogram struct {
	buckets []pure.Bucket
	support float64
	n       float64
	told    func(b pure.Bucket, rows float64) pair
}

// Constants that only utility and time depend on.
const (
	mostExplained = 60 // buckets, the fullest
	explainNodes  = 6
	farSDs        = 3  // points of a component at which its gaps are predicted
	nowhere       = 80 // z^2 of no density, for time
	mostOctaves   = 4  // how many octaves above a place's own its component's gaps may have. A guess.
	starts        = 2  // of the search for pairs, from each of likeAndUnlike
)

// What the shares of a search are: parts of the one before, and of the odd one. Guesses.
var (
	ratios = []float64{1, 2, 3}
	odd    = []float64{.1, .65, .8}
)

// A part is a pair and how many rows it may have.
type part struct {
	pair
	rows float64
}

// candidates returns what to explain a histogram by: the middle and the lower end of every released
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

// explained returns at most k of the candidates whose rows would have gaps like those in the
// histogram: as few as leave the counts off by no more, in all, than noise can add to one more than
// the best would.
//
// Source: [AMN24] Algorithm 3; Lemma D.3.
// Differs: the paper takes nets around all pairs, of which there are as many as places and octaves
// where some component has gaps.
func (h histogram) explained(k int) (fewest []part) {
	off, all := math.Inf(1), h.candidates(shares)
	for count := 1; count <= k; count++ {
		best, least := h.best(count)
		if best, least = h.settled(best, least, func(int) []part { return all }); least < off-h.support {
			fewest, off = best, least
		}
	}
	return fewest
}

// best returns so many candidates that leave the counts off by the least, from several starts at
// shares like and unlike, the same at every run.
func (h histogram) best(count int) (best []part, off float64) {
	rng := rand.New(rand.NewPCG(1, uint64(count)))
	off = math.Inf(1)
	for _, each := range likeAndUnlike(count) {
		var slots [][]part
		for _, share := range each {
			slots = append(slots, h.candidates([]float64{share}))
		}
		for start := range starts {
			var parts []part
			for i, all := range slots {
				parts = append(parts, all[rng.IntN(len(all))])
				if start == 0 { // one after another, each the best beside those before it
					parts, _ = h.exchanged(parts, i, all)
				}
			}
			if parts, least := h.settled(parts, h.off(parts, math.Inf(1)), func(slot int) []part { return slots[slot] }); least < off {
				best, off = parts, least
			}
		}
	}
	return best, off
}

// likeAndUnlike returns shares of the rows that a search starts from: like ones, each a part of the
// one before, and one odd among like ones. Single exchanges do not get from like shares to unlike
// ones, as the rows have to add up.
func likeAndUnlike(count int) (all [][]float64) {
	if count == 1 {
		return [][]float64{{1}}
	}
	for _, ratio := range ratios {
		each, next, total := make([]float64, count), 1., 0.
		for i := range each {
			each[i] = next
			total += next
			next /= ratio
		}
		for i := range each {
			each[i] /= total
		}
		all = append(all, each)
	}
	for _, share := range odd {
		each := []float64{share}
		for range count - 1 {
			each = append(each, (1-share)/float64(count-1))
		}
		all = append(all, each)
	}
	return all
}

// settled returns parts that no exchange of one for a candidate of its slot makes better.
func (h histogram) settled(parts []part, least float64, of func(slot int) []part) ([]part, float64) {
	for before := math.Inf(1); least < before; {
		before = least
		for slot := range parts {
			parts, least = h.exchanged(parts, slot, of(slot))
		}
	}
	return parts, least
}

// exchanged returns the parts with the one in the slot exchanged for the best of all.
func (h histogram) exchanged(parts []part, slot int, all []part) (best []part, least float64) {
	try := append([]part(nil), parts...)
	best, least = parts, h.off(parts, math.Inf(1))
	for _, p := range append(parts[slot].near(), all...) {
		try[slot] = p
		if off := h.off(try, least); off < least {
			best, least = append([]part(nil), try...), off
		}
	}
	return best, least
}

// near returns parts like p, of which places and octaves have too few: one that is an octave too
// wide or too narrow leaves more rows than a light component has, and a second takes its place.
func (p part) near() (all []part) {
	for _, wider := range []float64{math.Sqrt2, math.Sqrt(math.Sqrt2), 1, 1 / math.Sqrt(math.Sqrt2), 1 / math.Sqrt2} {
		for _, moved := range []float64{-.5, 0, .5} {
			s := p.L.At(0, 0)
			all = append(all, part{paper.Line(p.Mean[0]+moved*s, wider*s), p.rows})
		}
	}
	return all
}

// off returns the sum over the buckets of how far their counts are from those that the parts lead
// one to expect, and how many rows more or fewer than all they have. A row at x, where so many rows
// have density f, is followed by a gap that exceeds g with probability exp(-f g). For time it stops
// at a sum of most or more.
func (h histogram) off(parts []part, most float64) (sum float64) {
	sum = -h.n
	for _, p := range parts {
		sum += p.rows
	}
	sum = math.Abs(sum)
	for _, b := range h.buckets {
		if sum >= most {
			break
		}
		expected := 0.0
		for own, p := range parts {
			m, s := p.Mean[0], p.L.At(0, 0)
			low, high := math.Max(b.Low, m-farSDs*s), math.Min(b.High, m+farSDs*s)
			if !(low < high) {
				continue
			}
			for i := range explainNodes {
				x := low + (high-low)*(float64(i)+.5)/explainNodes
				f, ownDensity := 0.0, 0.0
				for j, q := range parts {
					density := q.density(x)
					if f += density; j == own {
						ownDensity = density
					}
				}
				stays := math.Exp(-f * b.Length)
				expected += ownDensity * (high - low) / explainNodes * stays * (1 - stays)
			}
		}
		sum += math.Abs(b.Count - expected)
	}
	return sum
}

// density returns that of the part's rows.
func (p part) density(x float64) float64 {
	s := p.L.At(0, 0)
	z := (x - p.Mean[0]) / s
	if z*z > nowhere {
		return 0
	}
	return p.rows / s * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}

// shares of the rows that a component may have.
var shares = []float64{1, .9, .75, .6, .5, .4, 1. / 3, .25, .15, .1}
