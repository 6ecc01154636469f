package model

import (
	"math"
	"slices"
	"sort"
)

// A Bar is the share of a column's values in [Low, High), or at Low if that is High, as counted,
// and the standard deviation of that count's noise.
type Bar struct{ Low, High, Share, Noise float64 }

// Utility constants of bars, chosen on made-up columns; see TestBars.
const (
	// Of what bars and mixture say differently of two halves of a stretch, a part is taken: all but
	// so many times the noise's variance over the difference's square.
	// .. and more where the mixture has hardly any.
	barNoise, newNoise = 2.0, 9.0
	// knots are even steps within a bar, in which the distribution is taken as linear; others are
	// at every half sd of a component, up to knotSDs.
	knots, knotSDs = 16, 4.0
	// The bars of a column count for nothing unless their squared distance from the mixture exceeds
	// what noise adds up to by so many sds: the mixture was measured better than they are. A guess.
	contradictSDs = 4.0
	farSDs        = 8.0 // where a component ends, if no bar and no limit does
	farthest      = math.MaxFloat64 / 8
)

// A bend moves the values of one column of drawn rows, in the order in which they are, so that bars
// hold the shares that were counted: within a bar they are as the mixture has them, and even where
// it has too few.
type bend struct {
	kept          []bool // of components, whose rows stay where they are
	parts         []bendPart
	shares, value []float64 // of the bent column: the share of its rows below a value, increasing
}

// A bendPart is a component's normal distribution in the column, within the limits.
type bendPart struct{ weight, mean, sd, below, inside float64 }

// of returns the share of the mixture's rows below x.
func (b *bend) of(x float64) (share float64) {
	for _, p := range b.parts {
		share += p.weight * math.Max(0, math.Min((normalBelow((x-p.mean)/p.sd)-p.below)/p.inside, 1))
	}
	return share
}

// bent returns the value in the place of x.
func (b *bend) bent(x float64) float64 {
	u := b.of(x) * b.shares[len(b.shares)-1]
	i := sort.SearchFloat64s(b.shares, u)
	switch {
	case i == 0:
		return b.value[0]
	case i == len(b.shares):
		return b.value[i-1]
	}
	part := (u - b.shares[i-1]) / (b.shares[i] - b.shares[i-1])
	return b.value[i-1] + part*(b.value[i]-b.value[i-1])
}

// bends returns how the columns with bars are bent.
func (m *Mixture) bends() (out []*bend) {
	limits := m.Drawn()
	for j, bars := range m.Bars {
		out = append(out, m.bend(j, bars, limits))
	}
	return out
}

// bend returns the bend of one column; nil for none.
func (m *Mixture) bend(j int, bars []Bar, limits []Cell) *bend {
	if len(bars) == 0 {
		return nil
	}
	box := Cell{Least: math.Inf(-1), Most: math.Inf(1)}
	if limits != nil {
		box = limits[j]
	}
	b, total, stay := &bend{}, 0., map[float64]float64{}
	first, last := math.Inf(1), math.Inf(-1)
	for i, g := range m.Components {
		p := bendPart{weight: m.Weights[i], mean: g.Mean[j], sd: math.Sqrt(g.Cov.At(j, j)), inside: 1}
		kept := !(p.sd > 0)
		if b.kept = append(b.kept, kept); kept {
			stay[p.mean] += p.weight
			continue
		}
		if p.below = normalBelow((box.Least - p.mean) / p.sd); box.limited() {
			p.inside = normalBelow((box.Most-p.mean)/p.sd) - p.below
		}
		if p.inside < LeastInside {
			p.below, p.inside = 0, 1
		}
		first, last = math.Min(first, math.Max(box.Least, p.mean-farSDs*p.sd)), math.Max(last, math.Min(box.Most, p.mean+farSDs*p.sd))
		total += p.weight
		b.parts = append(b.parts, p)
	}
	if !(total > 0) || !(first < last) {
		return nil
	}
	for i := range b.parts {
		b.parts[i].weight /= total
	}
	list := b.stretches(m.cell(j), bars, first, last)
	for at, weight := range stay {
		take(list, at, weight)
	}
	if contradict(list, total) {
		b.lay(list)
	}
	if n := len(b.shares); n < 2 || !(b.shares[n-1] > 0) {
		return nil
	}
	return b
}

func (m *Mixture) cell(j int) Cell {
	if m.Cells == nil {
		return Cell{}
	}
	return m.Cells[j]
}

// A stretch is a bar, or a gap between bars, and what the mixture has there.
type stretch struct {
	Bar
	mass float64
}

// stretches returns bars and gaps from first to last, in the coordinates of the mixture. A value
// of a column with a unit stands for all that rounds to it.
func (b *bend) stretches(c Cell, bars []Bar, first, last float64) (list []stretch) {
	to := func(x float64) float64 {
		if c.Log.Maps() {
			x = c.Log.To(x)
		}
		return math.Max(-farthest, math.Min(x, farthest))
	}
	first, last = math.Max(-farthest, first), math.Min(last, farthest)
	own := make([]Bar, len(bars))
	for i, bar := range bars {
		low, high := bar.Low, bar.High
		if low == high {
			low, high = low-c.Unit/2, high+c.Unit/2
		}
		if own[i] = (Bar{to(low), to(high), bar.Share, bar.Noise}); i > 0 && own[i].Low < own[i-1].High {
			if bars[i].Low == bars[i].High { // the value's, before what lies beside it
				own[i-1].High = math.Max(own[i-1].Low, own[i].Low)
			}
			own[i].Low = math.Max(own[i].Low, own[i-1].High)
			own[i].High = math.Max(own[i].High, own[i].Low)
		}
	}
	at := math.Min(first, own[0].Low)
	add := func(bar Bar) {
		list = append(list, stretch{bar, b.of(bar.High) - b.of(bar.Low)})
		at = bar.High
	}
	for _, bar := range own {
		if bar.Low > at {
			add(Bar{at, bar.Low, 0, bar.Noise})
		}
		add(bar)
	}
	if last > at {
		add(Bar{at, last, 0, own[len(own)-1].Noise})
	}
	return list
}

// take takes the rows that stay at a value out of the stretch that holds it.
func take(list []stretch, at, weight float64) {
	best := -1
	for i, s := range list {
		if at == s.Low || at > s.Low && at < s.High {
			if best < 0 || s.Share > list[best].Share {
				best = i
			}
		}
	}
	if best >= 0 {
		list[best].Share -= weight
	}
}

// lay lays the knots of the distribution that the stretches have.
func (b *bend) lay(list []stretch) {
	total, mass := 0., 0.
	for _, s := range list {
		total, mass = total+s.Share, mass+s.mass
	}
	if !(total > 0 && mass > 0) {
		return
	}
	for i := range list {
		s := &list[i]
		s.Share, s.Noise, s.mass = s.Share/total, math.Min(s.Noise/total, 1), s.mass/mass
	}
	settle(list, 1)
	below := 0.
	for _, s := range list {
		if s.Share > 0 {
			b.within(s, below)
			below += s.Share
		}
	}
}

// contradict reports whether the mixture, whose rows that are bent have so much weight, is farther
// from the bars than their noise explains.
func contradict(list []stretch, weight float64) bool {
	chi2, n := 0., 0.
	for _, s := range list {
		if far := s.Share - weight*s.mass; s.Noise > 0 {
			chi2, n = chi2+far*far/(s.Noise*s.Noise), n+1
		}
	}
	return chi2 > n+contradictSDs*math.Sqrt(2*n)
}

// settle gives stretches, which together hold so many rows, the shares that bars and mixture agree
// on: halves of halves, each as the mixture has it but for what bars say clearly.
func settle(list []stretch, rows float64) {
	if len(list) == 1 {
		list[0].Share = rows
		return
	}
	all := 0.
	size := func(s stretch) float64 { return math.Max(0, s.Share) + s.mass }
	for _, s := range list {
		all += size(s)
	}
	at, sum := 1, size(list[0])
	for ; at < len(list)-1 && sum+size(list[at])/2 < all/2; at++ {
		sum += size(list[at])
	}
	var share, mass, noise [2]float64
	for i, s := range list {
		side := 0
		if i >= at {
			side = 1
		}
		share[side], mass[side], noise[side] = share[side]+s.Share, mass[side]+s.mass, noise[side]+s.Noise*s.Noise
	}
	part := .5
	if m := mass[0] + mass[1]; m > 0 {
		part = mass[0] / m
	}
	if s := share[0] + share[1]; s > 0 {
		far := share[0]/s - part
		variance := (noise[0]*(1-part)*(1-part) + noise[1]*part*part) / (s * s)
		clear := barNoise
		if math.Min(mass[0]*mass[0]-noise[0], mass[1]*mass[1]-noise[1]) < 0 {
			clear = newNoise
		}
		if far != 0 {
			part += far * math.Max(0, 1-clear*variance/(far*far))
		}
	}
	part = math.Max(0, math.Min(part, 1))
	settle(list[:at], part*rows)
	settle(list[at:], (1-part)*rows)
}

// within adds the knots of a stretch, of which so many rows lie below.
func (b *bend) within(s stretch, below float64) {
	own := 1.
	if s.mass < s.Share && s.High > s.Low {
		own = s.mass / s.Share
	}
	at := []float64{s.Low}
	for k := range knots {
		at = append(at, s.Low+(s.High-s.Low)*(float64(k)/knots))
	}
	for _, p := range b.parts {
		for z := -knotSDs; z <= knotSDs; z += .5 {
			if x := p.mean + z*p.sd; x > s.Low && x < s.High {
				at = append(at, x)
			}
		}
	}
	slices.Sort(at)
	from, to, most := b.of(s.Low), b.of(s.High), 0.
	for _, x := range append(at, s.High) {
		share := 0.
		if s.High > s.Low {
			share = (1 - own) * (x - s.Low) / (s.High - s.Low)
		}
		if to > from {
			share += own * (b.of(x) - from) / (to - from)
		}
		most = math.Max(most, math.Min(share, 1)) // rounding does not turn back
		b.shares, b.value = append(b.shares, below+s.Share*most), append(b.value, x)
	}
	b.shares[len(b.shares)-1] = below + s.Share
}
