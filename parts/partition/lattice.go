package partition

import (
	"math"

	"github.com/gauze-dp/gauze/parts/fit1d"
)

// Utility constants of lattices that were not declared, guesses.
const (
	combPoints = 512
	combSDs    = 3.2 // of a component, on both sides of its mean
	combBins   = 4   // beside one that holds a component
)

// comb chooses the points that get bins of their own in the next histogram of a line, if column j
// has no grid yet: at components that are narrower than the bins so far, all of them if there are
// several, or the heaviest if there were no gaps. Repeated values show no gaps, and look like many
// narrow components.
func (f *finder) comb(d *fit1d.Data, l *line, j int) (points []float64) {
	if j >= len(f.Grids) || f.Grids[j].Unit > 0 {
		return nil
	}
	var heaviest fit1d.Component
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
	if l.on, ok = fit1d.StretchWithin(l.seen, low, high, f.sigma); !ok {
		return nil
	}
	return fit1d.RoundNumbers(l.on.Low, l.on.High, combPoints)
}

// infer finds the recording grid of column j in a histogram of a line that has bins for points, and
// returns the histogram without them if there is none.
func (f *finder) infer(l *line, h fit1d.Histogram, j int) fit1d.Histogram {
	if len(l.comb) == 0 {
		return h
	}
	if f.Grids[j].Unit == 0 {
		if on, ok := fit1d.InferGrid(l.comb, fit1d.PointCounts(l.comb, h.Edges, h.Counts), h.Sigma, l.on.Rows, l.on.About); ok {
			f.Grids[j] = on
			return h
		}
	}
	return h.Without(fit1d.PointEdges(l.comb))
}
