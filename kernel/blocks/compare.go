package blocks

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/parallel"
)

// The room that friends leave for rounding (rules_proof.md, step 15): in Radius, and in the sum of
// squares per component where the surplus stands for it.
const (
	roundRadius  = 1e-5
	roundSurplus = 1e-5
)

// An agreement says which estimates of blocks are friends.
type agreement struct {
	rules     Rules
	limits    limits
	estimates []estimate
	friends   []bool // t x t, symmetric
	popular   []int  // q_i
}

// compare finds the friends among r.Estimates mixtures, nil where a block has none. r must be
// valid; a mixture may be anything.
//
// Source: [PPE] Sections B1 and B2 of the restatement.
func (r Rules) compare(mixtures [][]Component) *agreement {
	return r.compareWithin(mixtures, r.limits())
}

func (r Rules) compareWithin(mixtures [][]Component, l limits) *agreement {
	t := r.Estimates
	if len(mixtures) != t {
		panic(fmt.Sprintf("kernel: want %d estimates, got %d", t, len(mixtures)))
	}
	a := &agreement{rules: r, limits: l, estimates: make([]estimate, t)}
	parallel.Run(t, func(i int) { a.estimates[i] = r.estimate(mixtures[i]) })
	a.friends, a.popular = pairs(t, r.Components, r.Columns, func(i, j int, p *pair) bool {
		return l.friends(&a.estimates[i], &a.estimates[j], p)
	})
	return a
}

// pairs calls near for all i <= j and returns the symmetric matrix of its answers and, per row, the
// count of those that are true.
func pairs(t, k, d int, near func(i, j int, p *pair) bool) (are []bool, counts []int) {
	are, counts = make([]bool, t*t), make([]int, t)
	parallel.Run(t, func(i int) {
		p := newPair(k, d)
		for j := i; j < t; j++ {
			are[i*t+j] = near(i, j, p)
		}
	})
	for i := range t {
		for j := range t {
			if are[i*t+j] = are[min(i, j)*t+max(i, j)]; are[i*t+j] {
				counts[i]++
			}
		}
	}
	return are, counts
}

// estimate returns the mixture in the form of an estimate: without parts unless Rules call it
// valid.
func (r Rules) estimate(mixture []Component) estimate {
	e := estimate{parts: Factors(mixture, r.Components, r.Columns), apart: math.Inf(1)}
	if len(e.parts) < 2 {
		return e
	}
	var ok bool
	if e.scale, ok = newScale(e.parts, r.Columns); !ok {
		return estimate{}
	}
	p := newPair(0, r.Columns)
	for a := range e.parts {
		e.levels = append(e.levels, e.parts[a].level(r.Columns))
		for b := range a {
			e.apart = min(e.apart, e.separation(a, b, p))
		}
	}
	// infinite if squares overflow: no share of that would tell components apart
	if !(e.apart >= leastApart) || math.IsInf(e.apart, 1) {
		return estimate{}
	}
	return e
}

// limits are the conditions on friends; surplus follows from radius and only saves time.
type limits struct {
	share, inner, alike float64
	radius              float64
	surplus             float64 // the largest surplus of friends, see within
}

func (r Rules) limits() limits {
	l := limits{share: Share, inner: Inner, alike: SameScale, radius: r.Radius - roundRadius}
	l.surplus = 4 * square(math.Sinh(l.radius/2))
	return l
}

func square(x float64) float64 { return x * x }

// friends reports whether two estimates are friends. If so, it leaves in p.labels the component of
// y that belongs to each component of x.
func (l *limits) friends(x, y *estimate, p *pair) bool {
	if x.parts == nil || y.parts == nil {
		return false
	}
	if x == y {
		for a := range p.labels {
			p.labels[a] = a
		}
		return true
	}
	if len(x.parts) > 1 && !p.alike(&x.scale.triangle, &y.scale.triangle, l.alike) {
		return false
	}
	upper, lower := 0.0, 0.0
	var taken uint64
	for a := range x.parts {
		b := 0
		for ; b < len(y.parts) && !(taken>>b&1 == 0 && l.near(x, y, a, b, p)); b++ {
		}
		if b == len(y.parts) || !l.within(&x.parts[a], &y.parts[b], p) {
			return false
		}
		taken |= 1 << b
		p.labels[a] = b
		upper += p.surplus + roundSurplus
		lower += square(2 * math.Asinh(math.Sqrt(p.surplus)/2))
	}
	if most := l.radius * l.radius; upper <= most || lower > most {
		return upper <= most
	}
	total := 0.0
	for a := range x.parts {
		Relative(p.d, p.forth, &x.parts[a], &y.parts[p.labels[a]])
		total += p.distance2()
	}
	return total <= l.radius*l.radius
}

// within reports false if two components are surely too far apart for friends; otherwise it sets
// p.surplus.
//
// The surplus of C = L_x^-1 L_y is |C|^2 + |C^-1|^2 - 2D = sum of 4 sinh^2(v/2) over v = log of the
// eigenvalues of CC'. It needs no eigenvalues, and it bounds d^2 = sum of v^2 on both sides: v^2 <=
// 4 sinh^2(v/2), which is a convex function of v^2 that is 0 at 0, so that d^2 <= surplus and 4
// sinh^2(d/2) >= surplus. The computed surplus is too small by less than roundSurplus; where it is
// too large, within may refuse.
func (l *limits) within(x, y *Factor, p *pair) bool {
	p.surplus = Relative(p.d, p.forth, x, y) - 2*float64(p.d+1)
	if !(p.surplus <= l.surplus) { // |C^-1|^2 is positive
		return false
	}
	p.surplus = max(0, p.surplus+Relative(p.d, p.back, y, x))
	return p.surplus <= l.surplus
}

// H returns the h-index: the largest h such that at least h estimates have at least h friends.
func (a *agreement) H() int {
	having := make([]int, a.rules.Estimates+2) // number of estimates with each count of friends
	for _, q := range a.popular {
		having[q]++
	}
	for h, many := a.rules.Estimates, 0; ; h-- {
		if many += having[h]; many >= h {
			return h
		}
	}
}
