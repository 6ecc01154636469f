package fit1d

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// Utility constants of the edges, guesses.
const (
	stretch   = 1.3 // quantiles of a Gaussian this much wider: its tails determine the sd
	leastBins = 6.0
	mostBins  = 24.0
	// of the spacing that the nearer component asks for: edges closer than that are one
	crowded    = .35
	marginSDs  = 3.2 // bins end there
	binsOfRoot = 1.2
	refineBins = 40
)

// Edges returns those of a histogram that tells most of the components, for noise sigma of a count.
func (d *Data) Edges(cs []Component, sigma float64) []float64 {
	type edge struct {
		at, spacing float64
	}
	var all []edge
	for _, c := range cs {
		if !d.Resolved(c) {
			for _, e := range d.refine(c) {
				all = append(all, edge{e, 0})
			}
			continue
		}
		bins := int(math.Min(mostBins, leastBins+binsOfRoot*math.Sqrt(math.Max(c.Rows, 0))/sigma))
		var zs []float64
		for i := 1; i < bins; i++ {
			zs = append(zs, stretch*quantile(float64(i)/float64(bins)))
		}
		zs = append([]float64{-marginSDs}, append(zs, marginSDs)...)
		for i, z := range zs {
			near := math.Inf(1)
			if i > 0 {
				near = z - zs[i-1]
			}
			if i < len(zs)-1 {
				near = math.Min(near, zs[i+1]-z)
			}
			all = append(all, edge{c.Origin + (c.Offset + z*c.SD), near * c.SD})
		}
	}
	slices.SortFunc(all, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var edges []float64
	last := edge{at: math.Inf(-1)}
	for _, e := range all {
		if !dense.Finite(e.at) || !(e.at > last.at) || e.at-last.at < crowded*math.Min(e.spacing, last.spacing) {
			continue
		}
		edges, last = append(edges, e.at+0), e
	}
	return edges
}

// refine returns the edges of many bins where a component is that no bin so far was narrow enough
// for.
func (d *Data) refine(c Component) (edges []float64) {
	low, high := d.Bin(c)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return nil
	}
	// The component may reach into the neighbouring bins.
	width := high - low
	low, high = low-width/4, high+width/4
	for i := range refineBins + 1 {
		edges = append(edges, low+(high-low)*float64(i)/refineBins)
	}
	return edges
}

// quantile of the standard Gaussian.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
