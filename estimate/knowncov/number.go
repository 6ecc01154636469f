package knowncov

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/parts"
)

// forcedFrom is the look from which on components that are asked for and not seen are split off
// where they fit best. A guess.
const forcedFrom = 1

// improve solves the looks so far, of which the last has the number last, and changes the number of
// components where that pays.
func (f *fit) improve(last int) {
	for j := range f.parts {
		f.parts[j].spread = 0
	}
	s := f.solve(f.parts, hardly)
	for len(s.parts) > max(f.Problem.Components, 1) {
		fewer, ok := f.without(s)
		if !ok || len(s.parts) <= f.Most() && fewer.misfit-s.misfit > f.price() {
			break
		}
		s = fewer
	}
	if last < len(lookParts)-1 {
		s = f.split(s, last)
	}
	f.parts = s.parts
}

// price returns the penalty of a component.
func (f *fit) price() float64 {
	return f.tuning.MinGain + f.tuning.GainPerNumber*float64(1+f.Problem.Columns)
}

// without returns the best solution with one component less.
func (f *fit) without(s solution) (best solution, ok bool) {
	best.misfit = math.Inf(1)
	must := len(s.parts) > f.Most()
	order := parts.Upto(len(s.parts))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(s.parts[a].rows/s.parts[a].rowsSD, s.parts[b].rows/s.parts[b].rowsSD)
	})
	for tried := 0; tried < min(f.tuning.MostTried, len(order)); tried++ {
		j := order[tried]
		p := s.parts[j]
		at, dist := f.neighbour(s.parts, j)
		weak := p.rows < f.tuning.DroppedSDs*p.rowsSD
		fewer := slices.Delete(slices.Clone(s.parts), j, j+1)
		q := &fewer[at]
		close := dist <= f.tuning.Apart+f.tuning.ApartUncertainties*math.Sqrt(float64(f.Problem.Columns))*(p.atSD+q.atSD)
		if !must && !weak && !close {
			continue
		}
		if close { // its rows become the neighbour's
			q.at = slices.Clone(q.at)
			share := p.rows / (p.rows + q.rows)
			for c, v := range f.white.between(q.base, p.base) {
				q.at[c] += share * (v + p.at[c] - q.at[c])
			}
			q.rows += p.rows
		}
		if got := f.solve(fewer, roughly); got.misfit < best.misfit {
			best, ok = got, true
		}
	}
	if ok {
		best = f.solve(best.parts, hardly)
	}
	return best, ok
}

// neighbour returns the nearest other part of parts[j], as its index in the list without parts[j],
// and its distance.
func (f *fit) neighbour(parts []part, j int) (at int, dist float64) {
	dist = math.Inf(1)
	place := 0
	for i, p := range parts {
		if i == j {
			continue
		}
		p.at = floats.SubTo(make([]float64, len(p.at)), p.at, parts[j].at)
		if r := dense.Norm(f.white.way(parts[j].base, p)); r < dist {
			at, dist = place, r
		}
		place++
	}
	return at, dist
}

// split tries two components for every frame of the last look whose second moment is too large, the
// most striking first, and keeps what pays; where there are as many components as there may be, in
// exchange for the one that is missed least. With a number of components that is asked for it goes
// on to that number, from forcedFrom on where nothing is striking.
func (f *fit) split(s solution, last int) solution {
	tried := make([]bool, len(f.looks[last].centers))
	for swaps := 0; swaps < f.tuning.MostSwaps; {
		full := len(s.parts) >= f.Most()
		j, frame, direction, ratio := f.strangest(s, last, tried)
		forced := f.Problem.Components > 0 && last >= forcedFrom && !full
		if j < 0 || ratio < f.tuning.Striking && !forced {
			break
		}
		tried[frame] = true
		excess := math.Max(f.tuning.HalfApart, direction.length)
		two := slices.Clone(s.parts)
		two[j].rows /= 2
		two = append(two, two[j])
		a, b := &two[j], &two[len(two)-1]
		a.at, b.at = slices.Clone(a.at), slices.Clone(a.at)
		a.spread, b.spread = excess, excess
		for c, v := range direction.unit {
			a.at[c] += excess * v
			b.at[c] -= excess * v
		}
		got, price := f.solve(two, hardly), f.price()
		if full {
			price = f.tuning.MinGain
			swaps++
			var ok bool
			if got, ok = f.without(got); !ok {
				continue
			}
		}
		if s.misfit-got.misfit > price || forced {
			s = got
		}
	}
	return s
}

// along is a direction and how far from the middle two halves of a component would be.
type along struct {
	unit   []float64
	length float64
}

// strangest returns the part whose frame in the last look, not tried yet, exceeds the expected
// second moment most, relative to its doubt, and that ratio; -1 if there is none. Every part
// belongs to the nearest frame.
func (f *fit) strangest(s solution, last int, tried []bool) (part, frame int, to along, ratio float64) {
	l, part := f.looks[last], -1
	ratio = math.Inf(-1)
	expected, _ := f.law.average(f.white, l, s.parts, false)
	for i, c := range l.centers {
		if tried[i] {
			continue
		}
		value, direction, uncertainty := l.excess(i, expected, f.Problem.Columns)
		if direction == nil || value/uncertainty <= ratio {
			continue
		}
		if j := f.closest(s.parts, c); j >= 0 {
			part, frame, ratio, to = j, i, value/uncertainty, along{direction, math.Sqrt(math.Max(value, 0))}
		}
	}
	return part, frame, to, ratio
}

func (f *fit) closest(parts []part, center []float64) int {
	best, dist := -1, math.Inf(1)
	for j, p := range parts {
		if sum := dense.Norm2(f.white.way(center, p)); sum < dist {
			best, dist = j, sum
		}
	}
	return best
}
