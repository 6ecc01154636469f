package boxes

import (
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/parts/lattice"
	"github.com/gauze-dp/gauze/parts/linefit"
	"github.com/gauze-dp/gauze/parts/roots"
)

// Utility constants of lattices that were not declared, guesses.
const (
	combPoints = 512
	combSDs    = 3.2 // of a component, on both sides of its mean
	combBins   = 4   // beside one that holds a component
)

// A stretch of the line, and how many rows it holds by what was seen before, with noise about.
type stretch struct{ low, high, rows, about float64 }

// within is the shortest stretch of whole bins of a histogram around low and high in which a
// lattice may be seen with noise sigma.
func within(seen []roots.Histogram, low, high, sigma float64) (best stretch, ok bool) {
	for _, h := range seen {
		from := sort.SearchFloat64s(h.Edges, math.Nextafter(low, math.Inf(1))) - 1
		to := sort.SearchFloat64s(h.Edges, high)
		if from < 0 || to == len(h.Edges) {
			continue
		}
		s, variance := stretch{low: h.Edges[from], high: h.Edges[to]}, 0.0
		for b := from + 1; b <= to; b++ {
			s.rows += h.Counts[b]
			variance += h.Variance(b)
		}
		s.about = math.Sqrt(variance)
		if lattice.Visible(sigma, s.rows, s.about) && (!ok || s.high-s.low < best.high-best.low) {
			best, ok = s, true
		}
	}
	return best, ok
}

// comb chooses the points that get bins of their own in the next histogram of a line, if column j
// has no lattice yet: where components are that the bins so far are too wide for, all of them if
// there are several, or the heaviest where there were no gaps. Repeated values show no gaps, and
// look like many narrow components.
func (f *finder) comb(d *linefit.Data, l *line, j int) (points []float64) {
	if j >= len(f.Lattices) || f.Lattices[j].Unit > 0 {
		return nil
	}
	var heaviest linefit.Component
	low, high, narrow := math.Inf(1), math.Inf(-1), 0
	for i, c := range l.found {
		if !d.Resolved(c) || l.atoms[i] {
			from, to := d.Bin(c)
			low, high = math.Min(low, from), math.Max(high, to)
			narrow++
		} else if !l.gaps && c.Rows > heaviest.Rows {
			heaviest = c
		}
	}
	switch narrow {
	case 0:
		low, high = heaviest.Mean()-combSDs*heaviest.SD, heaviest.Mean()+combSDs*heaviest.SD
	case 1: // perhaps one value of several
		if len(l.seen) > 1 {
			low, high = low-combBins*(high-low), high+combBins*(high-low)
		}
	}
	var ok bool
	if l.on, ok = within(l.seen, low, high, f.sigma); !ok {
		return nil
	}
	return lattice.Comb(l.on.low, l.on.high, combPoints)
}

// infer finds the lattice of column j in a histogram of a line that has bins for points, and
// returns the histogram without them if there is none.
func (f *finder) infer(l *line, h roots.Histogram, j int) roots.Histogram {
	if len(l.comb) == 0 {
		return h
	}
	comb := lattice.Edges(l.comb)
	if f.Lattices[j].Unit == 0 {
		if on, ok := lattice.Infer(l.comb, lattice.Counts(l.comb, h.Edges, h.Counts), h.Sigma, l.on.rows, l.on.about); ok {
			f.Lattices[j] = on
			return h
		}
	}
	out := roots.Histogram{Counts: h.Counts[:1:1], Sigma: h.Sigma, Merged: []float64{1}}
	for i, e := range h.Edges {
		if _, of := slices.BinarySearch(comb, e); of {
			out.Counts[len(out.Counts)-1] += h.Counts[i+1]
			out.Merged[len(out.Counts)-1]++
			continue
		}
		out.Edges, out.Counts, out.Merged = append(out.Edges, e), append(out.Counts, h.Counts[i+1]), append(out.Merged, 1)
	}
	return out
}
