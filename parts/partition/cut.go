package partition

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// A cluster is one or more components of a line that cannot be distinguished row by row.
type cluster struct {
	low, high, mass, mean, sd float64
	gain                      float64 // see Box.Gain
	atom                      bool    // all rows have the value mean
}

// Utility constants of the cuts, guesses.
const (
	reach = 4.5 // sds beyond which a component has no rows
	// apart: a cut separates rows if it takes less than this part of the lighter component for the
	// other.
	apart = .1
	// a component is inside another one whose sd is this many times larger, if its mean is within
	// reach
	inner = 4
)

// cut turns a fit of a line into clusters, disjoint but for narrow ones inside wide ones.
//
// Atoms, components all of whose rows have one value, are clusters by themselves.
func cut(cs []fit1d.Component, atoms []bool) (out []cluster) {
	group := parts.Upto(len(cs))
	for i := range cs {
		for j := range i {
			if !atoms[i] && !atoms[j] && overlap(cs[i], cs[j]) > apart*math.Min(cs[i].Rows, cs[j].Rows) {
				from, to := group[i], group[j]
				for k, g := range group {
					if g == from {
						group[k] = to
					}
				}
			}
		}
	}
	for g := range cs {
		var own []fit1d.Component
		for i, c := range cs {
			if group[i] == g {
				own = append(own, c)
			}
		}
		if own != nil {
			c := clusterOf(own)
			c.atom = atoms[g] && len(own) == 1
			out = append(out, c)
		}
	}
	separate(out)
	return out
}

// clusterOf joins components.
func clusterOf(cs []fit1d.Component) cluster {
	c := cluster{low: math.Inf(1), high: math.Inf(-1)}
	origin, logs := cs[0].Mean(), 0.0
	for _, g := range cs {
		at := (g.Origin - origin) + g.Offset
		c.mass += g.Rows
		logs += g.Rows * math.Log(g.SD)
		c.low, c.high = math.Min(c.low, at-reach*g.SD), math.Max(c.high, at+reach*g.SD)
	}
	c.mean, c.sd = fit1d.MeanSD(cs)
	c.low, c.high = origin+c.low, origin+c.high
	c.gain = math.Log(c.sd) - logs/c.mass
	if len(cs) == 1 {
		c.sd, c.gain = cs[0].SD, 0
	}
	return c
}

// finite reports that the cluster can be a box: values near the ends of float64 have no spread in
// it.
func (c cluster) finite() bool {
	return c.sd > 0 && dense.Finite(c.high-c.low) && dense.Finite(c.gain)
}

// separate cuts the intervals of clusters side by side where their densities cross.
func separate(cs []cluster) {
	slices.SortStableFunc(cs, func(a, b cluster) int { return cmp.Compare(a.mean, b.mean) })
	for i := range cs {
		for j := i + 1; j < len(cs); j++ {
			a, b := &cs[i], &cs[j]
			if a.high <= b.low || a.inside(*b) || b.inside(*a) {
				continue
			}
			low, _ := parts.Bisect(a.mean, b.mean, 60, func(x float64) bool { return a.log(x) > b.log(x) })
			a.high, b.low = math.Min(a.high, low), math.Max(b.low, low)
		}
	}
}

// inside reports a narrow cluster in a wide one.
func (c cluster) inside(wide cluster) bool {
	return inner*c.sd < wide.sd && math.Abs(c.mean-wide.mean) < reach*wide.sd
}

// log returns the logarithm of the cluster's density of rows, as of one Gaussian.
func (c cluster) log(x float64) float64 {
	z := (x - c.mean) / c.sd
	return math.Log(c.mass/c.sd) - z*z/2
}

// overlap returns the rows that a and b have in common: those that the better of two guesses takes
// for the wrong one.
func overlap(a, b fit1d.Component) float64 {
	if b.SD < a.SD {
		a, b = b, a
	}
	const quantiles = 64
	sum := 0.0
	at := (a.Origin - b.Origin) + (a.Offset - b.Offset)
	logRatio := math.Log(b.Rows / a.Rows * a.SD / b.SD)
	for q := range quantiles {
		z := math.Sqrt2 * math.Erfinv(2*(float64(q)+.5)/quantiles-1)
		y := (at + a.SD*z) / b.SD
		sum += math.Min(1, math.Exp(logRatio-y*y/2+z*z/2))
	}
	return a.Rows * sum / quantiles
}
