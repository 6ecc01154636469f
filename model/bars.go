package model

import (
	"math"
	"slices"
	"sort"

	"github.com/gauze-dp/gauze/dense"
)

// A Bar is the share of a column's values in [Low, High), or at Low if that is High, as counted,
// and the standard deviation of that count's noise.
type Bar struct{ Low, High, Share, Noise float64 }

// Utility constants of bars. The first two were chosen of 1 to 3 and 0 to 4, on 12 made-up columns,
// 4 public tables of 700 to 2,400 rows and 72 tables of clusters; the others are guesses.
const (
	// A bar by itself says something if the mixture has as many rows in it as its noise, or if it
	// has clearSDs times its noise; others are joined with their neighbours.
	clearSDs = 1.5
	// Bars count for nothing unless their squared distance from the mixture exceeds what noise adds
	// up to by so many sds: the components of clusters were measured better than they are.
	contradictSDs = 2.0
	// Where the mixture has hardlyAny of the noise or less it stays, unless bars have emptySDs of
	// it: many are empty, and some of these far from all rows.
	hardlyAny, emptySDs = .1, 4.0
	// knots are even steps within a bar, in which the distribution is taken as linear; others are
	// at every half sd of a component, up to knotSDs.
	knots, knotSDs = 16, 4.0
	farSDs         = 8.0 // where a component ends, if no bar and no limit does
	farthest       = math.MaxFloat64 / 8
	// Shares of rows that are as good as none.
	leastBent, leastNoise = 1e-9, 1e-12
)

// A bend moves the values of one column of drawn rows, in the order in which they are, so that bars
// hold the shares that were counted: within a bar they are as the mixture has them, and even where
// it has too few.
type bend struct {
	kept          []bool // of components, whose rows stay where they are
	parts         []bendPart
	shares, value []float64 // of the bent column: the share of its rows below a value, increasing
	list          []stretch // that it was laid from, in shares of its rows
	total         float64   // the weight of the components that are bent
	stay          map[float64]float64
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
	b, total := &bend{stay: map[float64]float64{}}, 0.
	first, last := math.Inf(1), math.Inf(-1)
	for i, g := range m.Components {
		p := bendPart{weight: m.Weights[i], mean: g.Mean[j], sd: math.Sqrt(g.Cov.At(j, j)), inside: 1}
		kept := !(p.sd > 0)
		if b.kept = append(b.kept, kept); kept {
			b.stay[p.mean] += p.weight
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
	if !(total > leastBent) || !(first < last) {
		return nil
	}
	for i := range b.parts {
		b.parts[i].weight /= total
	}
	list := b.stretches(m.cell(j), bars, first, last)
	for at, weight := range b.stay {
		take(list, at, weight)
	}
	b.list, b.total = list, total
	b.lay(list, total)
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

// lay lays the knots of the distribution that the stretches have, whose rows have so much weight;
// none if bars say nothing that noise does not explain.
func (b *bend) lay(list []stretch, weight float64) {
	mass := 0.
	for _, s := range list {
		mass += s.mass
	}
	if !(mass > 0) {
		return
	}
	for i := range list {
		s := &list[i]
		s.Share, s.Noise, s.mass = s.Share/weight, math.Min(s.Noise/weight, 1), s.mass/mass
	}
	if !settle(list) {
		return
	}
	below := 0.
	for _, s := range list {
		if s.Share > 0 {
			b.within(s, below)
			below += s.Share
		}
	}
}

// clear reports whether a stretch says something about the rows in it.
func (s stretch) clear() bool { return s.mass >= s.Noise || s.Share > clearSDs*s.Noise }

// settle gives stretches, of one row in all, the shares that bars and mixture agree on: those that
// bars would have as a distribution, drawn towards the mixture's as far as noise would explain the
// squared distance between the two (James and Stein). Of neighbours that are not clear, as many are
// taken together as are. It returns false if nothing moves.
func settle(list []stretch) bool {
	var groups [][]stretch // of neighbours, slices of the list
	for rest := list; len(rest) > 0; {
		n, sum := 1, rest[0]
		for !sum.clear() && n < len(rest) && !rest[n].clear() {
			sum = stretch{Bar{Share: sum.Share + rest[n].Share, Noise: math.Hypot(sum.Noise, rest[n].Noise)}, sum.mass + rest[n].mass}
			n++
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	var of [][]stretch
	var rows, noise, masses []float64
	total, far := 0., 0.
	for _, g := range groups {
		sum := stretch{}
		for _, s := range g {
			sum = stretch{Bar{Share: sum.Share + s.Share, Noise: math.Hypot(sum.Noise, s.Noise)}, sum.mass + s.mass}
		}
		if sum.mass < hardlyAny*sum.Noise && sum.Share < emptySDs*sum.Noise {
			for i := range g {
				g[i].Share, g[i].Noise = g[i].mass, 0
			}
			continue
		}
		sd := math.Max(sum.Noise, leastNoise)
		of, rows, noise, masses = append(of, g), append(rows, sum.Share), append(noise, sd), append(masses, sum.mass)
		total += sum.mass
		far += (sum.Share - sum.mass) / sd * ((sum.Share - sum.mass) / sd)
	}
	free := float64(len(of) - 1)
	if free < 1 || !(far > free+contradictSDs*math.Sqrt(2*free)) {
		return false
	}
	fitted := dense.Simplex(rows, noise, total)
	for i, g := range of {
		share := masses[i] + (1-free/far)*(fitted[i]-masses[i])
		for k := range g {
			if g[k].Share = share / float64(len(g)); masses[i] > 0 {
				g[k].Share = share * g[k].mass / masses[i]
			}
		}
	}
	return true
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
