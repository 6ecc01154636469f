package tyler

import (
	"math"
	"sort"

	"github.com/gauze-dp/gauze/parts"
)

// A RadialPoint of a law of q = |z|^2, and the share of the rows that are there.
type RadialPoint struct{ Q, Share float64 }

// A RadialLaw is a law of q in D dimensions by points of increasing Q; the shares sum to 1.
type RadialLaw struct {
	D      int
	Points []RadialPoint
}

// mix returns the mixture of l, with weight w, and other.
func (l RadialLaw) mix(w float64, other RadialLaw) RadialLaw {
	part := func(of []RadialPoint, w float64) []RadialPoint {
		return parts.Map(of, func(p RadialPoint) RadialPoint { return RadialPoint{p.Q, w * p.Share} })
	}
	m := RadialLaw{D: l.D, Points: append(part(l.Points, w), part(other.Points, 1-w)...)}
	sort.Slice(m.Points, func(i, j int) bool { return m.Points[i].Q < m.Points[j].Q })
	return m
}

// within returns the law with the rows beyond most at most.
func (l RadialLaw) within(most float64) RadialLaw {
	for i, p := range l.Points {
		l.Points[i].Q = math.Min(p.Q, most)
	}
	return l
}

// Mean returns E q.
func (l RadialLaw) Mean() float64 {
	return parts.Sum(l.Points, func(p RadialPoint) float64 { return p.Share * p.Q })
}

// A ClippedRadii is the first-order effect of clipping z = delta + (I+E/2) rho u to |z|^2 <= r2,
// rho^2 of the law, u uniform on the sphere and E without trace: with g = min(1, r2/|z|^2),
//
//	E[sqrt(g) z] = A1 delta,  E[g z z^T] = A I + B1 E;
//
// Gain is the derivative of A with the scale of the law, V and VM are the variances of an
// off-diagonal entry of g z z^T and of its trace divided by D, as in [clip.Law], which is the
// Gaussian's. Excess is E (q-r2)_+, what clipping takes from the trace.
type ClippedRadii struct{ A, A1, B1, Gain, V, VM, Excess float64 }

// Clip returns the exact result for the law by points: it sums over them.
func (l RadialLaw) Clip(r2 float64) ClippedRadii {
	var c ClippedRadii
	k := float64(l.D)
	first, second := 0.0, 0.0
	for _, p := range l.Points {
		in := math.Min(p.Q, r2)
		first += p.Share * in
		second += p.Share * in * in
		if p.Q <= r2 {
			c.B1 += p.Share * p.Q / k
			c.Gain += p.Share * p.Q / k
			c.A1 += p.Share
		} else {
			c.B1 += p.Share * r2 / (k + 2)
			c.A1 += p.Share * (1 - 1/k) * math.Sqrt(r2/p.Q)
			c.Excess += p.Share * (p.Q - r2)
		}
	}
	c.A, c.V = first/k, second/(k*(k+2))
	c.VM = math.Max(0, second-first*first) / k
	return c
}
