package profile

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/dense"
)

// settle makes the histogram one of a number of cells: bins beyond those that hold rows have none,
// the others add up, and atoms stand apart.
func (c *column) settle() {
	b := &c.bins
	left, right := b.ends()
	c.outside[0], c.spill[0] = b.total(0, left)
	c.outside[1], c.spill[1] = b.total(right, len(b.rows))
	total := c.cells
	for side := range c.outside {
		c.outside[side] = math.Max(0, math.Min(c.outside[side], c.cells/4))
		total -= c.outside[side]
	}
	rows := dense.Simplex(b.rows[left:right], b.sds[left:right], math.Max(total, 1))
	var out, counted []bin
	first, last := b.span(left, right)
	for i, n := range b.rows {
		low, high := b.span(i, i+1)
		if i >= left && i < right {
			out = append(out, bin{low, high, rows[i-left], b.sds[i]})
		}
		if high/2 > first-last/2 && low/2 < last-first/2 { // rows that noise hides are near the others
			counted = append(counted, bin{low, high, n, b.sds[i]})
		}
	}
	slices.SortFunc(c.atoms, func(a, b atom) int { return cmp.Compare(a.value, b.value) })
	c.atoms = slices.DeleteFunc(c.atoms, func(a atom) bool { return a.rows < atomPart/2*c.cells })
	for i := range c.atoms { // no more than its bin has
		a := &c.atoms[i]
		for k := range out {
			if a.value >= out[k].low && a.value < out[k].high {
				a.rows = math.Min(a.rows, out[k].rows)
				out[k].rows -= a.rows
			}
		}
		for k := range counted {
			if a.value >= counted[k].low && a.value < counted[k].high {
				counted[k].rows -= a.rows
			}
		}
	}
	c.list, c.counted = c.apart(out), c.apart(counted)
}

// apart has the atoms of a histogram stand apart, and bins on the grid.
func (c *column) apart(list []bin) []bin {
	if c.grid.Unit > 0 {
		list = c.onGrid(list)
	}
	for _, a := range c.atoms {
		list = split(list, a, c.grid.Unit/2)
	}
	return list
}

// split puts an atom between the two parts of the bin that it lies in, half a unit to both sides of
// it left out.
func split(list []bin, a atom, half float64) (out []bin) {
	own, done := bin{a.value, a.value, a.rows, a.sd}, false
	for _, b := range list {
		if done || !(b.low < b.high && a.value < b.high) {
			out = append(out, b)
			continue
		}
		done = true
		left, right := math.Max(0, a.value-half-b.low), math.Max(0, b.high-a.value-half)
		part := left / (left + right)
		if !(left+right > 0) { // no other value lies there: what is left is noise
			own.rows, part = own.rows+b.rows, 0
		}
		if left > 0 {
			out = append(out, bin{b.low, a.value - half, part * b.rows, b.sd * math.Sqrt(part)})
		}
		out = append(out, own)
		if right > 0 {
			out = append(out, bin{a.value + half, b.high, (1 - part) * b.rows, b.sd * math.Sqrt(1-part)})
		}
	}
	if !done {
		out = append(out, own)
	}
	return out
}

// total returns the rows of the bins [from, to), and their noise.
func (b *bins) total(from, to int) (rows, sd float64) {
	variance, within, all := 0.0, 0.0, 0.0
	for i := from; i < to; i++ {
		rows, variance = rows+b.rows[i], variance+b.sds[i]*b.sds[i]
	}
	for i := b.apart[0]; i < b.apart[1]; i++ {
		if all += b.sds[i] * b.sds[i]; i >= from && i < to {
			within += b.sds[i] * b.sds[i]
		}
	}
	if within > 0 {
		variance -= within * within / all * (1 - b.together/all)
	}
	return rows, math.Sqrt(math.Max(variance, 0))
}

// onGrid moves the ends of bins half way between the values that there can be, and joins those that
// no value lies between.
func (c *column) onGrid(list []bin) (out []bin) {
	for _, b := range list {
		if size := math.Max(math.Abs(b.low), math.Abs(b.high)) / c.grid.Unit; size < 1e12 {
			b.low, b.high = c.grid.Above(b.low), c.grid.Above(b.high)
		}
		if n := len(out); n > 0 && b.high <= b.low {
			out[n-1].rows += b.rows
			out[n-1].sd = math.Hypot(out[n-1].sd, b.sd)
			continue
		}
		out = append(out, b)
	}
	return out
}
