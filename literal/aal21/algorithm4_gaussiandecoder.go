package aal21

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/literal/paper"
)

// A rough Gaussian is a bin: its standard deviation is in (scale/2, scale], its mean within scale/2
// of bin scale.
type rough struct{ scale, bin float64 }

// gaussianDecoder runs Univariate-Gaussian-Decoder in every column: Algorithm 3 for half of the
// budget (ScaleShare), and Algorithm 2 with each of its scales for the rest. A column's list is
// empty if Algorithm 3 fails there, or Algorithm 2 with all of the scales.
//
// Utility: if n is large enough for both, every component of weight 1-gamma or more is listed, that
// is some rough Gaussian of the list has its scale and its bin.
//
// Source: [AAL21] Algorithm 4.
// Differs: the scales' parts of the budget add up in mu^2, where the source has basic or advanced
// composition; the net is laid over the list later, see line.
func (r *run) gaussianDecoder(mu2 float64) (columns [][]rough, err error) {
	// Step 1: Algorithm 3.
	scales, err := r.varianceDecoder(r.c.ScaleShare * mu2)
	if err != nil {
		return nil, err
	}
	// Step 2: Algorithm 2 for every scale. (Step 3, the net, is line.)
	var axes []axis
	var of []int // the column of an axis
	for column, list := range scales {
		for _, scale := range list {
			weights := make([]float64, r.d)
			weights[column] = 1
			axes, of = append(axes, axis{weights, scale}), append(of, column)
		}
	}
	columns = make([][]rough, r.d)
	if slices.ContainsFunc(scales, func(l []float64) bool { return len(l) == 0 }) {
		return columns, nil // FAIL: nothing more is asked
	}
	bins, err := r.meanDecoder(axes, (1-r.c.ScaleShare)*mu2)
	if err != nil {
		return nil, err
	}
	for i, list := range bins {
		for _, bin := range list {
			columns[of[i]] = append(columns[of[i]], rough{axes[i].scale, bin})
		}
	}
	return columns, nil
}

// A lattice is the net over one rough Gaussian, in its own unit: sds scale/(1+step)^j, j < sds, and
// means (bin + t step) scale, |t| <= reach.
type lattice struct {
	step       float64
	sds, reach int
}

// latticeOf returns the net of the given step that reaches so many bins; with one sd, scale itself,
// where the sd is known.
func latticeOf(step, reach float64, known bool) lattice {
	n := lattice{step, 1, int(math.Ceil(reach/step - .5))}
	if !known {
		n.sds += int(math.Log(2) / math.Log1p(step) * (1 + 1e-12))
	}
	return n
}

// size returns at least the number of Gaussians in the nets over the list.
func (n lattice) size(list []rough) float64 {
	return float64(len(list)) * float64(n.sds) * float64(2*n.reach+1)
}

// line returns the set of Gaussians of the nets over the list, each once.
//
// For sigma in (scale/2, scale] and mu within scale/2 of the bin's centre, some member has its sd
// within a factor 1+step of sigma and its mean within (step/2) scale of mu: TV <= max(|dmean|/sd,
// |dsd^2|/sd^2)/sqrt2 < 2 step for step <= 1/2.
//
// Source: [AAL21] Algorithm 4; Lemma 4.2.
func (n lattice) line(list []rough) (net []paper.Gaussian) {
	seen := map[[2]float64]bool{}
	for scale, place := range n.places(list) {
		for j := range n.sds {
			g := [2]float64{place * scale, n.sd(scale, j)}
			if !seen[g] {
				seen[g] = true
				net = append(net, paper.Line(g[0], g[1]))
			}
		}
	}
	return net
}

// count returns the number of Gaussians in line. A refusal asks for it often, and needs none of
// them: two are the same only if nets of different scales have an sd in common.
func (n lattice) count(list []rough) (size int) {
	of, shared, seen := map[float64]bool{}, map[float64]bool{}, map[[2]float64]bool{}
	for i, r := range list {
		for j := 0; j < n.sds && (i == 0 || r.scale != list[i-1].scale); j++ {
			sd := n.sd(r.scale, j)
			shared[sd], of[sd] = of[sd], true
		}
	}
	maps.DeleteFunc(shared, func(_ float64, is bool) bool { return !is })
	for scale, place := range n.places(list) {
		size += n.sds
		for j := 0; j < n.sds && len(shared) > 0; j++ {
			if g := [2]float64{place * scale, n.sd(scale, j)}; shared[g[1]] && seen[g] {
				size--
			} else if shared[g[1]] {
				seen[g] = true
			}
		}
	}
	return size
}

// sd returns the j-th of the standard deviations in the net of a scale.
func (n lattice) sd(scale float64, j int) float64 { return scale / math.Pow(1+n.step, float64(j)) }

// places returns the scales of the list and, in each, the means of its net in units of it.
func (n lattice) places(list []rough) iter.Seq2[float64, float64] {
	return func(yield func(scale, place float64) bool) {
		last := math.Inf(-1)
		for at, r := range list {
			if at > 0 && r.scale != list[at-1].scale {
				last = math.Inf(-1)
			}
			for t := -n.reach; t <= n.reach; t++ {
				place := r.bin + float64(t)*n.step
				if place < last+n.step/4 { // the net over the bin before has it
					continue
				}
				if last = place; !yield(r.scale, place) {
					return
				}
			}
		}
	}
}
