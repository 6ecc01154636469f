package rowkernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// hostile are the numbers at which a form could go another way than Go: of both signs, what
// underflows, overflows or is halfway when it is rounded, clipped or squared, and NaNs of all
// kinds.
var hostile = func() (all []float64) {
	for _, v := range []float64{0, 5e-324, 0x1.8p-1073, 0x1p-1022, 1e-308, 1e-300, 1e-160, 1e-154, .25, .5, 1, 1.5, 2.5, 1e-4, 12.5, 25, 50, 65535.5, 65536, 65536.5, 46341, 1 << 32,
		1<<51 - .5, 1 << 51, 1<<51 + .5, 1 << 52, 3 << 51, 1<<53 + 2, 1e154, 1.34e154, 1e160, 1e300, 1e308, math.MaxFloat64, math.Inf(1)} {
		all = append(all, v, -v, math.Nextafter(v, 0), math.Nextafter(v, math.Inf(1)))
	}
	for _, b := range []uint64{0x7ff8000000000001, 0x7ff0000000000001, 0xfff8000000000001, 0xfff0000000000001, 0x7fffffffffffffff, 0xffffffffffffffff} {
		all = append(all, math.Float64frombits(b))
	}
	return all
}()

// pick draws one of them, or anything.
func pick(rng *rand.Rand) float64 {
	if rng.IntN(3) == 0 {
		return anything(rng)
	}
	return hostile[rng.IntN(len(hostile))]
}

// TestHostilePairs: every pair of hostile numbers goes the same way in every form, in whatever lane
// it is and whatever its neighbours are.
func TestHostilePairs(t *testing.T) {
	forms(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		c, lane := make([]Column, 5), rng.IntN(Rows)
		for _, a := range hostile {
			for _, b := range hostile {
				c[0][lane], c[1][lane], c[2][lane], c[3][lane], c[4][lane] = a, b, b, a, pick(rng)
				if lane++; lane == Rows {
					lane = 0
					hostilePanel(t, rng, c, pick)
					hostilePanel(t, rng, c, func(rng *rand.Rand) float64 { return 4 * rng.Float64() })
				}
			}
		}
	})
}

// hostilePanel compares the forms of what takes single columns on those of c, with parameters as
// draw draws them.
func hostilePanel(t *testing.T, rng *rand.Rand, c []Column, draw func(*rand.Rand) float64) {
	t.Helper()
	scale, lift, radius, least := draw(rng), draw(rng), draw(rng), draw(rng)
	got, want := make([]Column, 7), make([]Column, 7)
	Weigh(&got[0], &got[1], &c[0], &c[1], scale, lift, radius, least)
	weighGo(&want[0], &want[1], &c[0], &c[1], scale, lift, radius, least)
	copy(got[2:], c[2:5])
	copy(want[2:], c[2:5])
	round(got[2:4], &c[0], &got[4])
	roundGo(want[2:4], &c[0], &want[4])
	if !same(got, want) {
		t.Fatalf("%v, %v, %v, %v of %v: %v, in Go %v", scale, lift, radius, least, c, got, want)
	}
	odd, wantOdd := Unit(&got[2], &got[3], &c[0], scale, lift), unitGo(&want[2], &want[3], &c[0], scale, lift)
	if odd != wantOdd || odd>>Rows != 0 {
		t.Fatalf("%v, %v of %v: odd rows %x, in Go %x", scale, lift, c[0], odd, wantOdd)
	}
	for r, v := range c[4] { // a score is no NaN
		if got[5][r], want[5][r] = v, v; v != v {
			got[5][r], want[5][r] = math.Inf(-1), math.Inf(-1)
		}
	}
	var cell, wanted [Rows]int
	Closest(&cell, &got[5], &c[1], lift, radius, 7)
	closestGo(&wanted, &want[5], &c[1], lift, radius, 7)
	if !same(got, want) || cell != wanted {
		t.Fatalf("%v, %v, %v, %v of %v: %v and %v, in Go %v and %v", scale, lift, radius, least, c, got, cell, want, wanted)
	}
	weight := []float64{scale, lift, radius}
	for j, w := range weight {
		if !(w <= math.MaxFloat64) {
			weight[j] = math.Inf(-1)
		}
	}
	Shares(got, c[:3], weight, &got[3], &got[4], true)
	sharesGo(want, c[:3], weight, &want[3], &want[4], true)
	if !same(got, want) {
		t.Fatalf("shares %v of %v: %v, in Go %v", weight, c, got, want)
	}
}

// TestHostileGram: whatever is rounded, a row that is kept has whole numbers within the bound, and
// what is summed is what arithmetic on integers sums.
func TestHostileGram(t *testing.T) {
	forms(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		for range 200 {
			dim := 1 + rng.IntN(20)
			g, factor, kept := NewGram(dim), Column{}, 0
			for r := range factor {
				factor[r] = pick(rng)
				for i := range dim {
					g.H[i][r] = pick(rng)
				}
				if i := rng.IntN(dim); rng.IntN(2) == 0 { // at the bound
					for k := range dim {
						g.H[k][r] = 0
					}
					g.H[i][r], factor[r] = [...]float64{65536, -65536, 65536.5, 65535.5, 65537, -65536.5}[rng.IntN(6)], 1
				}
				g.H[0][r] = Nearest(g.H[0][r]) // as callers do
			}
			g.RoundAll(&factor, &Column{})
			got, want := make([]int64, dim*(dim+1)/2), []int64(nil)
			for r := range factor {
				total := int64(0)
				for i := range g.H {
					v := g.H[i][r]
					if v != math.Trunc(v) || math.Abs(v) > 1<<GramBits {
						t.Fatalf("%v is kept", v)
					}
					total += int64(v) * int64(v)
				}
				if kept += int(min(total, 1)); total > GramBound {
					t.Fatalf("a row of squared norm %d is kept", total)
				}
			}
			for i := range dim {
				for k := i; k < dim; k++ {
					sum := int64(0)
					for r := range factor {
						sum += int64(g.H[i][r]) * int64(g.H[k][r])
					}
					want = append(want, sum)
				}
			}
			g.Add(got)
			g.Flush(got)
			if !slices.Equal(got, want) || kept == 0 {
				t.Fatalf("%d rows: %v, want %v", kept, got, want)
			}
		}
	})
}
