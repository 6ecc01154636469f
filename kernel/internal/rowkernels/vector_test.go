package rowkernels

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// forms runs a test or a benchmark for the Go form and for every form that the machine has.
func forms[T interface{ Run(string, func(T)) bool }](t T, run func(T)) {
	defer func(best uint8) { path = best }(path)
	for p := range path + 1 {
		t.Run(fmt.Sprint("path ", p), func(t T) {
			path = p
			run(t)
		})
	}
}

// anything draws a number of any class: all bits random, subnormal, halves, where rounding to an
// integer ends, integers, ordinary, and the special ones.
func anything(rng *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0x1p-1022,
		math.Float64frombits(0x7ff0000000000001), math.Float64frombits(0xfff8000000000001), .5, 1, 65536, 65536.5, 1 << 32}
	switch rng.IntN(12) {
	case 0:
		return math.Float64frombits(rng.Uint64())
	case 1:
		return special[rng.IntN(len(special))]
	case 2:
		return math.Float64frombits(rng.Uint64() & 0x800fffffffffffff)
	case 3:
		return float64(rng.IntN(1<<18)-1<<17) + .5
	case 4:
		return math.Ldexp(rng.Float64()-.5, 49+rng.IntN(6))
	case 5:
		return float64(rng.IntN(1<<18) - 1<<17)
	default:
		return rng.NormFloat64() * 8
	}
}

func columns(n int, draw func() float64) []Column {
	c := make([]Column, n)
	for i := range c {
		for r := range c[i] {
			c[i][r] = draw()
		}
	}
	return c
}

// same reports that two lists of columns have the same bits, NaN being NaN.
func same(a, b []Column) bool {
	for i := range a {
		for r, v := range &a[i] {
			if math.Float64bits(v) != math.Float64bits(b[i][r]) && !(v != v && b[i][r] != b[i][r]) {
				return false
			}
		}
	}
	return len(a) == len(b)
}

// vary calls check with generators, of ordinary numbers and of any, and sizes 1..60.
func vary(t *testing.T, check func(rng *rand.Rand, draw func() float64, size int) bool) {
	forms(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		for size := 1; size <= 60; size++ {
			for trial := range 16 {
				draw := func() float64 { return anything(rng) }
				if trial%2 == 0 {
					draw = rng.NormFloat64
				}
				if !check(rng, draw, size) {
					t.Fatalf("size %d: the form for this path differs from the Go form", size)
				}
			}
		}
	})
}

// TestFormsOfLoad: up to a panel's rows of any width, and rows that follow.
func TestFormsOfLoad(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		rows := make([]float64, size*rng.IntN(Rows+9))
		for i := range rows {
			rows[i] = draw()
		}
		shift := make([]float64, size)
		for j := range shift {
			shift[j] = draw()
		}
		x, want := columns(size, draw), columns(size, draw)
		n := Load(x, rows, shift)
		loadGo(want, rows, shift, n)
		return same(x, want) && n == min(len(rows)/size, Rows)
	})
}

// TestFormsOfApply: triangles, diagonals, full matrices and maps of any shape, with columns chosen
// or not, the centre subtracted or on the way in, and any zeros cut away.
func TestFormsOfApply(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		x, center, of := columns(1+rng.IntN(60), draw), make([]float64, size), make([]int, size)
		for j := range center {
			center[j], of[j] = draw(), rng.IntN(len(x))
		}
		alone := rng.IntN(2) == 0
		if alone {
			x, of = columns(size, draw), nil
		}
		w, shape := make([][]float64, 1+rng.IntN(60)), rng.IntN(5)
		if shape == 4 {
			w = make([][]float64, size)
		}
		for i := range w {
			w[i] = make([]float64, size)
			first, last := 0, size // all entries
			switch shape {
			case 0: // of a lower triangle
				last = min(i+1, size)
			case 1: // of an upper one
				first = min(i, size)
			case 2: // any
				first, last = rng.IntN(size+1), rng.IntN(size+1)
			case 4: // of a diagonal
				first, last = i, i+1
			}
			for j := first; j < last; j++ {
				w[i][j] = draw()
			}
		}
		m := Compile(of, center, w, x, alone)
		z, want := columns(len(w)+1, draw), columns(len(w)+1, draw)
		copy(z[len(w):], want[len(w):]) // the last stand for norm2
		m.Apply(z, &z[len(w)], x)
		applyGo(want, &want[len(w)], x, m)
		return same(z, want)
	})
}

// TestFormsOfProducts: sums of products of integers of up to 17 bits, as far as they are exact.
func TestFormsOfProducts(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		g, want := NewGram(size), NewGram(size)
		a, b := make([]int64, size*(size+1)/2), make([]int64, size*(size+1)/2)
		for range 3 {
			copy(g.H, columns(size, func() float64 { return float64(rng.IntN(1<<17+1) - 1<<16) }))
			g.Add(a)
			productsGo(want.tiles, g.H)
			want.panels++
		}
		g.Flush(a)
		want.Flush(b)
		return slices.Equal(a, b)
	})
}

// TestFormsOfRound: any numbers, also those that break the bound.
func TestFormsOfRound(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		h := columns(size+2, draw)
		for r := range rng.IntN(Rows) {
			h[0][r] = float64(rng.IntN(2))
		}
		for r := range rng.IntN(Rows) { // ends at the bound, or beside it
			for i := range size {
				h[2+i][r] = 0
			}
			v := float64(rng.IntN(1<<16 + 1))
			h[2+rng.IntN(size)][r], h[0][r], h[1][r] = v, 1, GramBound-v*v+float64(rng.IntN(3)-1)
		}
		before, want := slices.Clone(h), slices.Clone(h)
		round(h[2:], &h[0], &h[1])
		roundGo(want[2:], &want[0], &want[1])
		for r, t := range h[1] { // a row is whole or 0
			for i, c := range h[2:] {
				if whole := Nearest(float64(before[2+i][r] * before[0][r])); !(t <= GramBound) && c[r] != 0 || t <= GramBound && i > 0 && before[0][r] != 0 && c[r] != whole {
					return false
				}
			}
		}
		return same(h, want)
	})
}

// TestFormsOfWeigh: any shares and lengths.
func TestFormsOfWeigh(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		c := columns(4, draw)
		for r := range c[0] {
			c[0][r], c[1][r] = c[0][r]/8, math.Abs(c[1][r])
		}
		want := slices.Clone(c)
		scale, lift, radius, least := draw(), draw(), draw(), rng.Float64()/8
		Weigh(&c[2], &c[3], &c[0], &c[1], scale, lift, radius, least)
		weighGo(&want[2], &want[3], &want[0], &want[1], scale, lift, radius, least)
		return same(c, want)
	})
}

// TestFormsOfUnit: any lengths, and such that the sum ends where rows are odd, or beside it.
func TestFormsOfUnit(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		c := columns(3, draw)
		lift, scale := draw(), 60000*rng.Float64()
		for r := range rng.IntN(Rows) {
			edge := [...]float64{1e-280, math.MaxFloat64, 0, 1, math.Inf(1)}[rng.IntN(5)]
			c[2][r] = math.Float64frombits(math.Float64bits(edge) + uint64(rng.IntN(3)) - 1)
		}
		if rng.IntN(2) == 0 {
			lift = 1e-200
		}
		want := slices.Clone(c)
		odd, wanted := Unit(&c[0], &c[1], &c[2], lift, scale), unitGo(&want[0], &want[1], &want[2], lift, scale)
		for r, n := range c[2] {
			if n += float64(lift * lift); (n >= 1e-280 && n < math.MaxFloat64) != (odd>>r&1 == 0) {
				t.Fatalf("|z|^2 + lift^2 = %v: odd %v", n, odd>>r&1)
			}
		}
		return same(c, want) && odd == wanted && odd>>Rows == 0
	})
}

// TestFormsOfLive: any shares, totals that are full or hostile, and whatever becomes of them; what
// is kept of any rows; and that a row is live only where its share is and its total is not too
// large.
func TestFormsOfLive(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		c := columns(3, draw)
		slope, base, least := 1e9*rng.Float64(), float64(rng.IntN(1<<20)), rng.Float64()/8
		if rng.IntN(4) == 0 {
			slope, base, least = draw(), draw(), draw()
		}
		for r := range rng.IntN(Rows) {
			c[0][r], c[1][r] = 4*rng.Float64(), float64(rng.IntN(1<<33))
		}
		for r := range rng.IntN(8) { // ends where the bound is, or beyond it
			c[0][r], c[1][r] = 1, GramBound-Nearest(slope+base)+float64(rng.IntN(3)-1)
		}
		want, before := slices.Clone(c), c[1]
		live, wanted := Live(&c[0], &c[1], &c[2], slope, base, least), liveGo(&want[0], &want[1], &want[2], slope, base, least)
		for r, s := range c[0] {
			most := Nearest(float64(slope*s) + base)
			if in := s >= least && before[r]+most <= GramBound; in != (live>>r&1 == 1) || in && (c[1][r] != before[r]+most || c[2][r] != GramBound-most) {
				t.Fatalf("share %v, total %v before: live %v", s, before[r], live>>r&1)
			}
		}
		return same(c, want) && live == wanted && live>>Rows == 0
	})
}

// TestFormsOfKeep: any rows behind any others: those before stay, none is written beyond the last,
// and what has no room is left.
func TestFormsOfKeep(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		from, to := columns(size, draw), columns(size+1, draw)
		want := slices.Clone(to)
		var a, b, c []*Column
		for i := range from {
			a, b, c = append(a, &from[i]), append(b, &to[i]), append(c, &want[i])
		}
		at, rows := rng.IntN(Rows+1), rng.Uint64()>>(64-Rows)
		switch rng.IntN(4) {
		case 0:
			rows &= rng.Uint64() & rng.Uint64() & rng.Uint64()
		case 1:
			rows = 1<<Rows - 1
		}
		rest, wanted := Keep(b, a, at, rows), keepGo(c, a, at, rows)
		moved := rows ^ rest
		for k := at; moved != 0; k, moved = k+1, moved&(moved-1) {
			if v := from[size-1][bits.TrailingZeros64(moved)]; math.Float64bits(to[size-1][k]) != math.Float64bits(v) {
				t.Fatalf("row %d is %v, want %v", k, to[size-1][k], v)
			}
		}
		return same(to, want) && rest == wanted && bits.OnesCount64(rest) == max(0, bits.OnesCount64(rows)-Rows+at)
	})
}

// TestFormsOfShares: any scores, and such that the shares are not clear.
func TestFormsOfShares(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		share, norm2, weight := columns(size+2, draw), columns(size, draw), make([]float64, size)
		if rng.IntN(2) == 0 {
			norm2 = columns(size, func() float64 { return 100 * rng.Float64() })
		}
		for j := range weight {
			if weight[j] = draw(); weight[j] > math.MaxFloat64 {
				weight[j] = math.Inf(-1)
			}
		}
		want := slices.Clone(share)
		divided := rng.IntN(2) == 0
		Shares(share, norm2, weight, &share[size], &share[size+1], divided)
		sharesGo(want, norm2, weight, &want[size], &want[size+1], divided)
		return same(share, want)
	})
}

// TestFormsOfClosest: any scores.
func TestFormsOfClosest(t *testing.T) {
	vary(t, func(rng *rand.Rand, draw func() float64, size int) bool {
		c := columns(size+1, draw)
		want := slices.Clone(c)
		var cell, wanted [Rows]int
		for j := range size {
			weight, radius := draw(), draw()
			Closest(&cell, &c[size], &c[j], weight, radius, j)
			closestGo(&wanted, &want[size], &want[j], weight, radius, j)
		}
		return same(c, want) && cell == wanted
	})
}

// BenchmarkForms times what a panel of ten columns costs.
func BenchmarkForms(b *testing.B) {
	const d = 10
	rng := rand.New(rand.NewPCG(1, 2))
	x, w := columns(d, rng.NormFloat64), make([][]float64, d)
	for i := range w {
		w[i] = append(make([]float64, i), slices.Repeat([]float64{1}, d-i)...)
	}
	m, z := Compile(nil, make([]float64, d), w, x, false), columns(d+2, rng.NormFloat64)
	g, rows := NewGram(d+1), make([]float64, d*Rows)
	for name, run := range map[string]func(){
		"load":     func() { Load(x, rows, make([]float64, d)) },
		"apply":    func() { m.Apply(z, &z[d], x) },
		"products": func() { products(g.tiles, g.H) },
		"weigh":    func() { Weigh(&z[0], &z[1], &x[0], &x[1], 1, 1, .5, 1e-4) },
		"round":    func() { round(g.H[:d+1], &z[0], &z[1]) },
		"unit":     func() { Unit(&z[0], &z[1], &x[0], 1, 1) },
		"shares":   func() { Shares(z[:d], x, make([]float64, d), &z[d], &z[d+1], true) },
		"live":     func() { z[1] = Column{}; Live(&z[0], &z[1], &z[2], 1, 1, .5) },
		"keep":     func() { Keep([]*Column{&z[0]}, []*Column{&x[0]}, 8, 0x111111111111) },
		"closest":  func() { Closest(new([Rows]int), &z[0], &z[1], 0, 9, 1) },
	} {
		b.Run(name, func(b *testing.B) {
			forms(b, func(b *testing.B) {
				for b.Loop() {
					run()
				}
			})
		})
	}
}
