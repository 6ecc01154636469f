package rowkernels

import (
	"math"
	"math/bits"
)

// The loops over the rows of a panel exist twice: here, in Go, which says what they compute, and in
// assembly, which takes as many rows at a time as a register holds. Every row passes through the
// same operations in the same order in both, each rounded by itself (no fused multiply-add but
// where all values are exact integers), so both give the same bits; NaN is NaN in both, whatever
// its payload. TestForms holds this for every form that the machine has.
//
// load, apply, products, Weigh, Unit, round, Shares, Live, Keep, Closest, Bins and Places run the
// form that path names: 0 for Go, others for the machine's. The build tag purego leaves only Go.
var path uint8

// loadGo: x_j = the n row-major rows' column j less shift_j, then null.
func loadGo(x []Column, rows, shift []float64, n int) {
	for j := range x {
		for r := range x[j] {
			if x[j][r] = math.NaN(); r < n {
				x[j][r] = rows[r*len(x)+j] - shift[j]
			}
		}
	}
}

// applyGo: norm2 = 0, or NaN where x_0 is NaN; diff_j = x_columns(j) - center_j; z_i = sum_j w_ij
// diff_(first_i+j) in the order of j; norm2 += z_i^2 in the order of i.
func applyGo(z []Column, norm2 *Column, x []Column, m *Map) {
	for r, v := range &x[0] {
		if norm2[r] = 0; v != v {
			norm2[r] = v
		}
	}
	for j, c := range m.center {
		for r, v := range &x[m.columns[j]] {
			m.diff[j][r] = v - c
		}
	}
	for i, w := range m.w {
		var sum Column
		for j, v := range w {
			for r, x := range &m.diff[m.first[i]+j] {
				sum[r] += float64(v * x)
			}
		}
		for r, s := range &sum {
			norm2[r] += float64(s * s)
		}
		z[i] = sum
	}
}

// A tile holds the sums of the products of three columns with three: of columns 3i.. with 3k.. in
// entry 3l+m what 3i+l and 3k+m give, as up to eight parts.
type tile [9][8]float64

// productsGo adds to the tiles i <= k, row by row of them, the products of the columns of h, whose
// number is a multiple of three. All sums are exact.
func productsGo(tiles []tile, h []Column) {
	for i := 0; i < len(h); i += 3 {
		for k := i; k < len(h); k += 3 {
			var s0, s1, s2, s3, s4, s5, s6, s7, s8 float64 // what fits the registers
			for r, u := range &h[k] {
				a, b, c, v, w := h[i][r], h[i+1][r], h[i+2][r], h[k+1][r], h[k+2][r]
				s0, s1, s2 = s0+float64(a*u), s1+float64(a*v), s2+float64(a*w)
				s3, s4, s5 = s3+float64(b*u), s4+float64(b*v), s5+float64(b*w)
				s6, s7, s8 = s6+float64(c*u), s7+float64(c*v), s8+float64(c*w)
			}
			for l, s := range [...]float64{s0, s1, s2, s3, s4, s5, s6, s7, s8} {
				tiles[0][l][0] += s
			}
			tiles = tiles[1:]
		}
	}
}

// weighGo: where share >= least, f = scale sqrt(share), h_0 = round(lift f), and factor = f times
// what brings norm2 to at most radius^2; else both are 0.
func weighGo(h0, factor, share, norm2 *Column, scale, lift, radius, least float64) {
	for r, s := range share {
		h0[r], factor[r] = 0, 0
		if s >= least {
			f := float64(scale * math.Sqrt(s))
			h0[r], factor[r] = Nearest(float64(lift*f)), f
			if n2 := norm2[r]; n2 > float64(radius*radius) {
				factor[r] = float64(radius / math.Sqrt(n2) * f)
			}
		}
	}
}

// unitGo: n = norm2 + lift^2, factor = scale/sqrt(n), h_0 = round(lift factor). The bits of odd are
// the rows where n may have overflowed, lost digits, or is NaN.
func unitGo(h0, factor, norm2 *Column, lift, scale float64) (odd uint64) {
	for r, n := range norm2 {
		n += float64(lift * lift)
		factor[r] = scale / math.Sqrt(n)
		h0[r] = Nearest(float64(lift * factor[r]))
		if !(n < math.MaxFloat64) || n < 1e-280 {
			odd |= 1 << r
		}
	}
	return odd
}

// roundGo replaces columns 1.. of h by round(h_i factor), 0 where factor is, adds the squares of
// all to total, and makes the rows 0 where that is not at most GramBound.
func roundGo(h []Column, factor, total *Column) {
	for i := range h {
		for r, v := range &h[i] {
			if i > 0 {
				if v = Nearest(float64(v * factor[r])); factor[r] == 0 {
					v = 0
				}
				h[i][r] = v
			}
			total[r] += float64(v * v)
		}
	}
	for r, t := range total {
		for i := range h {
			if !(t <= GramBound) {
				h[i][r] = 0
			}
		}
	}
}

// sharesGo: share_j = exp(s_j - best), s_j = logWeight_j - norm2_j/2, best = max_j s_j; 0 where
// that is exp(LeastExponent) or less, or norm2_j not finite. total is their sum, by which they are
// divided if wanted: to NaN where all are 0.
func sharesGo(share, norm2 []Column, logWeight []float64, best, total *Column, divided bool) {
	for r := range best {
		best[r], total[r] = math.Inf(-1), 0
	}
	for j, w := range logWeight {
		for r, n2 := range &norm2[j] {
			share[j][r] = w - float64(n2/2)
			if s := share[j][r]; s > best[r] { // false for NaN
				best[r] = s
			}
		}
	}
	for j := range logWeight {
		for r, s := range &share[j] {
			share[j][r] = 0
			if s -= best[r]; s > LeastExponent { // false for NaN
				share[j][r] = ExpNegative(s)
				total[r] += share[j][r]
			}
		}
	}
	for j := range logWeight {
		for r, t := range total {
			if divided {
				share[j][r] /= t
			}
		}
	}
}

// liveGo: less = GramBound - most, most = round(slope share + base), which is added to the total
// where share is at least least. The bits of live are the rows where it is and where the total is
// now at most GramBound.
func liveGo(share, total, less *Column, slope, base, least float64) (live uint64) {
	for r, s := range share {
		most := Nearest(float64(slope*s) + base)
		if less[r] = GramBound - most; s >= least { // false for NaN
			if total[r] += most; total[r] <= GramBound {
				live |= 1 << r
			}
		}
	}
	return live
}

// keepGo copies the rows of from whose bits are set, below Rows, to those of to from number at on,
// as many as there is room for, and returns the bits of the rest.
func keepGo(to, from []*Column, at int, rows uint64) (rest uint64) {
	for rest = rows; rest != 0 && at < Rows; at, rest = at+1, rest&(rest-1) {
		for i, c := range from {
			to[i][at] = c[bits.TrailingZeros64(rest)]
		}
	}
	return rest
}

// closestGo keeps the largest score logWeight - norm2/2 of every row, and the component that has
// it: own, or -1 where norm2 is beyond radius2.
func closestGo(cell *[Rows]int, score, norm2 *Column, logWeight, radius2 float64, own int) {
	for r, n2 := range norm2 {
		if s := logWeight - float64(n2/2); s > score[r] { // false for NaN and -Inf
			score[r], cell[r] = s, -1
			if n2 <= radius2 {
				cell[r] = own
			}
		}
	}
}
