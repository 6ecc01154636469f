package aal21

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/literal/paper"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
)

// The choice releases the number of a mixture and no score, so that a wrong one would be silent.
// The bins that the lists were made of are released anyway, and are held against it: for free.

// bins are those of an axis that were released, disjoint, with the rows that they hold.
type bins struct {
	axis
	places, counts []float64
	noise          float64
}

// binsOf sorts the cells of a histogram by their axes.
func binsOf(axes []axis, cells []kernel.HistogramCell, noise float64) []bins {
	all := make([]bins, len(axes))
	for i, x := range axes {
		all[i] = bins{axis: x, noise: noise}
	}
	for _, c := range cells {
		b := &all[c.Coordinate]
		b.places, b.counts = append(b.places, c.Key[0]), append(b.counts, c.Count)
	}
	return all
}

// wrongFrom is the total variation, measured, from which on a mixture is flagged. A guess: the bins
// are some sds wide and miss some of a distance.
const wrongFrom = .1

// misfit says how far a mixture is from the rows, as far as released bins tell, which is one column
// at a time.
//
// Source: [AAL21] Algorithm 1. Differs: the source trusts that there are the rows that its theorem
// asks for.
func misfit(l List, m *model.Mixture, rows float64) estimate.Flag {
	of, ok := l.(interface {
		apart(m *model.Mixture, rows float64) (far float64, cells int)
	})
	far, cells := 0., 0
	if ok {
		far, cells = of.apart(m, rows)
	}
	switch {
	case cells == 0:
		return flags.New(flags.Method, "nothing that was measured says how far the chosen mixture is from the rows: of too few rows it can be any of the list")
	case far >= wrongFrom:
		return flags.New(flags.NotGaussian, "the chosen mixture is not the rows': their total variation is at least about %.2g, measured on the %d bins of its lists: do not use this model", far, cells)
	}
	return flags.New(flags.Method, "of the chosen mixture's total variation from the rows the %d bins of its lists, one column at a time, show %.2g beyond noise", cells, far)
}

// apart returns the largest distance of a mixture from the rows that the bins of an axis show
// beyond what noise and sampling are expected to make, and the number of bins of all axes. Of n
// rows some may have no value: what remains is taken as what is nearest.
func (l decoded) apart(m *model.Mixture, n float64) (far float64, cells int) {
	for _, b := range l.seen {
		if len(b.places) == 0 {
			continue
		}
		cells += len(b.places)
		inside := 0.
		var masses, noise []float64
		left := 1.
		for i, place := range b.places {
			masses, noise = append(masses, b.mass(m, place)), append(noise, b.noise)
			left, inside = left-masses[i], inside+b.counts[i]
		}
		masses, noise = append(masses, math.Max(0, left)), append(noise, b.noise*math.Sqrt(float64(len(b.places))))
		least, low := math.Inf(1), math.Max(1, math.Min(inside, n))
		const steps = 32
		for i := range steps + 1 {
			total := low + math.Max(0, n-low)*float64(i)/steps
			counts := append(b.counts[:len(b.counts):len(b.counts)], total-inside)
			off, expected := paper.Apart(counts, noise, masses, total, math.Inf(1))
			least = math.Min(least, off-expected)
		}
		far = math.Max(far, least)
	}
	return far, cells
}

// mass returns the part of a mixture in a bin.
func (b bins) mass(m *model.Mixture, place float64) (part float64) {
	w := mat.NewVecDense(len(b.weights), b.weights)
	for j, g := range m.Components {
		law := distuv.Normal{Mu: mat.Dot(w, mat.NewVecDense(len(g.Mean), g.Mean)), Sigma: math.Sqrt(mat.Inner(w, g.Cov.Dense(), w))}
		part += m.Weights[j] * (law.CDF((place+.5)*b.scale) - law.CDF((place-.5)*b.scale))
	}
	return part
}
