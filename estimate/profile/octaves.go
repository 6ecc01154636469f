package profile

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

// A bin is a noisy count of the rows in [low, high).
type bin struct{ low, high, rows, sd float64 }

// The powers of two that bound octaves: all that a float64 can be, and those of a float32, where
// people's numbers are.
const (
	leastExponent, mostExponent = -1074, 1023
	fineExponent                = 128
)

// octaveEdges returns powers of two, negative and positive: every so many of them where people's
// numbers are, and every far of them, if that is more, elsewhere. Around 0 there is a bin of 0
// alone, at the index zero.
func octaveEdges(every, far int) (edges []float64, zero int) {
	far = max(every, far)
	var powers []float64
	for k := leastExponent; k <= mostExponent; {
		powers = append(powers, math.Ldexp(1, k))
		switch {
		case k < -fineExponent:
			k = min(k+far, -fineExponent)
		case k < fineExponent:
			k += every
		default:
			k += far
		}
	}
	for _, x := range slices.Backward(powers) {
		edges = append(edges, -x)
	}
	return append(append(edges, 0), powers...), len(powers) + 1
}

// Utility constants, guesses, tried on made-up columns.
const (
	besideOctaves, besideSDs = 2, 1.5 // octaves beside one that is clear count from less on
	zeroSDs                  = 3.0
	lonely, lonelyPart       = 24, 1.4 // what is hardly clear is noise, if no octave so near is clear
	mostWindow               = 16
)

// findOctaves finds where values lie: sign and power of two.
func (f *fit) findOctaves() error {
	edges, zero := octaveEdges(1, f.farOctaves)
	for every := 2; (len(edges)+1)*len(f.live) > query.MaxCells; every++ {
		edges, zero = octaveEdges(every, f.farOctaves)
	}
	counts, sigma, err := f.histogram(stepOctaves, f.live, func(*column) []float64 { return edges }, f.octaves.of(f, float64(len(f.live))))
	if err != nil {
		return err
	}
	clear := math.Sqrt(2*math.Log(float64(len(edges)*len(f.live)))) * sigma
	for i, c := range f.live {
		c.readOctaves(edges, counts[i], zero, sigma, clear)
		if c.seen == nil && c.zero == 0 {
			c.reason = scattered
		}
	}
	f.hold()
	return nil
}

// readOctaves finds the octaves that hold rows: those that are clear of the noise, and neighbours.
func (c *column) readOctaves(edges, counts []float64, zero int, sigma, clear float64) {
	if n := counts[zero]; n > math.Max(zeroSDs*sigma, 1) {
		c.zero = n
	}
	counts = slices.Clone(counts)
	counts[zero] = math.Inf(-1)
	keep := make([]bool, len(counts))
	for i, n := range counts {
		if !(n > clear) || n < lonelyPart*clear && alone(counts, i, clear) {
			continue
		}
		for k := max(0, i-besideOctaves); k <= min(i+besideOctaves, len(counts)-1); k++ {
			keep[k] = keep[k] || counts[k] > besideSDs*sigma
		}
	}
	for w := 2; w <= mostWindow && !slices.Contains(keep, true); w *= 2 { // several together
		best, at := lonelyPart*clear*math.Sqrt(float64(w)), -1
		for i := 0; i+w <= len(counts); i++ {
			sum := 0.0
			for k := i; k < i+w; k++ {
				if k != zero {
					sum += counts[k]
				}
			}
			if sum > best {
				best, at = sum, i
			}
		}
		for k := at; at >= 0 && k < at+w; k++ {
			keep[k] = counts[k] > 0
		}
	}
	for i, n := range counts {
		if !keep[i] {
			continue
		}
		b := bin{-math.MaxFloat64, math.MaxFloat64, n, sigma}
		if i > 0 {
			b.low = edges[i-1]
		}
		if i < len(edges) {
			b.high = edges[i]
		}
		c.seen = append(c.seen, b)
	}
}

// alone reports that no octave near one is clear.
func alone(counts []float64, at int, clear float64) bool {
	for k := max(0, at-lonely); k <= min(at+lonely, len(counts)-1); k++ {
		if k != at && counts[k] > clear {
			return false
		}
	}
	return true
}

// quantileOf returns the value below which the part p of all rows lies, rows spread evenly over
// each bin.
func quantileOf(list []bin, p float64) float64 {
	total := 0.0
	for _, b := range list {
		total += math.Max(b.rows, 0)
	}
	at, below := p*total, 0.0
	last := 0.0
	for _, b := range list {
		n := math.Max(b.rows, 0)
		if n == 0 {
			continue
		}
		if below+n >= at {
			return b.low + (b.high-b.low)*math.Max(0, math.Min((at-below)/n, 1))
		}
		below, last = below+n, b.high
	}
	return last
}

// halfWindow returns the shortest interval with half of the rows.
func halfWindow(list []bin) (low, high float64) {
	const steps = 100
	low, high = -math.MaxFloat64, math.MaxFloat64
	best := math.Inf(1)
	for i := range steps + 1 {
		p := .5 * float64(i) / steps
		a, b := quantileOf(list, p), quantileOf(list, p+.5)
		if width := b/2 - a/2; width < best {
			best, low, high = width, a, b
		}
	}
	return low, high
}
