package coreset

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
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

// TestForms: whatever the coordinates, densities and their absence, every form writes the bits of
// the Go form.
func TestForms(t *testing.T) {
	forms(t, func(t *testing.T) {
		rng := newRand(t)
		for trial := range 3000 {
			q, scale := 1+trial%mostCoordinates, math.Ldexp(1, rng.IntN(80)-40)
			x, parts := make([]block, 1+rng.IntN(panel)), make([]part, 1+rng.IntN(6))
			for b := range x {
				for r := range width {
					for l := range q {
						x[b].at[l][r], x[b].cell[l][r] = scale*rng.NormFloat64(), rng.ExpFloat64()
					}
					x[b].weight[r] = math.Ldexp(rng.Float64(), rng.IntN(60)-30)
				}
			}
			for j := range parts {
				p, narrow := &parts[j], math.Ldexp(1, rng.IntN(12)-4)
				p.log = rng.NormFloat64() * 10
				if rng.IntN(8) == 0 {
					*p = part{log: math.Inf(-1)} // as prepare leaves what has no density
				}
				for a := range q {
					p.mean[a] = scale * rng.NormFloat64()
					for b := range a + 1 {
						p.inverse[a][b] = narrow * rng.NormFloat64() / scale
					}
				}
				if rng.IntN(20) == 0 {
					p.inverse[rng.IntN(q)][0] = []float64{math.NaN(), math.Inf(1), math.MaxFloat64}[rng.IntN(3)]
				}
			}
			share, want := make([][panel]lanes, len(parts)), make([][panel]lanes, len(parts))
			var factor, wantFactor [panel]lanes
			var loglik, wantLoglik lanes
			score := rng.IntN(2) == 0
			shares(share, &factor, x, parts, &loglik, q > 2, score)
			sharesGo(want, &wantFactor, x, parts, &wantLoglik, q > 2, score)
			for b := range x {
				for j := range parts {
					same(t, "share", share[j][b][:], want[j][b][:])
				}
				same(t, "factor", factor[b][:], wantFactor[b][:])
			}
			same(t, "log-likelihood", loglik[:], wantLoglik[:])
			for j := range parts {
				var to, want [len(sums{})]lanes
				for c := range to {
					to[c][rng.IntN(width)] = rng.Float64()
				}
				want = to
				gather(&to, &share[j], &factor, x, &parts[j])
				gatherGo(&want, &share[j], &factor, x, &parts[j])
				for c := range to {
					same(t, fmt.Sprint("sum ", c), to[c][:], want[c][:])
				}
			}
		}
	})
}

// TestFormsDigest: the sums of given points are the same bits on every machine.
func TestFormsDigest(t *testing.T) {
	const want = uint64(0x686c9a2b7c52a4ca)
	forms(t, func(t *testing.T) {
		rng, digest := rand.New(rand.NewPCG(1, 2)), fnv.New64a()
		draw := func() float64 { return 8 * (rng.Float64() - .5) }
		for q := 1; q <= mostCoordinates; q++ {
			x, parts := make([]block, panel), make([]part, 5)
			for b := range x {
				for r := range width {
					for l := range q {
						x[b].at[l][r], x[b].cell[l][r] = draw(), rng.Float64()
					}
					x[b].weight[r] = rng.Float64()
				}
			}
			for j := range parts {
				p := &parts[j]
				p.log = draw()
				for a := range q {
					p.mean[a] = draw()
					for b := range a + 1 {
						p.inverse[a][b] = draw() / 4
					}
				}
			}
			share, to := make([][panel]lanes, len(parts)), make([][len(sums{})]lanes, len(parts))
			var factor [panel]lanes
			var loglik lanes
			shares(share, &factor, x, parts, &loglik, q > 2, true)
			for j := range parts {
				gather(&to[j], &share[j], &factor, x, &parts[j])
			}
			for _, part := range []any{factor, loglik, share, to} {
				if err := binary.Write(digest, binary.LittleEndian, part); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := digest.Sum64(); got != want {
			t.Errorf("digest %#x, want %#x", got, want)
		}
	})
}

// same reports numbers that differ in any bit, NaN being NaN.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	}) {
		t.Fatalf("%s: got %v, the Go form %v", what, got, want)
	}
}

// TestFormsFit: a fit's bits are those of the Go form.
func TestFormsFit(t *testing.T) {
	seed := rand.Uint64()
	var want []float64
	forms(t, func(t *testing.T) {
		var got []float64
		for q := 1; q <= mostCoordinates; q++ {
			c := clusteredCoreset(rand.New(rand.NewPCG(seed, uint64(q))), 77*q, q, 3)
			m, _ := Fit(t.Context(), c, 4, 4, uniform)
			got = append(append(got, m.LogLik), m.Weights...)
			for j := range m.Weights {
				got = slices.Concat(got, m.Means[j], m.Cells[j], m.Covs[j].RawSymmetric().Data)
			}
		}
		if want == nil {
			want = got
		}
		same(t, "fits", got, want)
	})
}

// TestExpLog: both to a relative 1e-12, at the ends, between, and where the reductions change; the
// largest share is 1.
func TestExpLog(t *testing.T) {
	rng := newRand(t)
	for i := range 200000 {
		x := negligible * rng.Float64()
		if i < 1000 {
			x = math.Ln2 / 32 * -float64(i)
		}
		if got, want := exp(x), math.Exp(x); x >= negligible && !(math.Abs(got/want-1) < 1e-12) {
			t.Fatalf("exp(%v): got %v, want %v", x, got, want)
		}
		x = 1 + math.Ldexp(rng.Float64(), rng.IntN(60)-52)
		if got, want := log(x), math.Log(x); !(math.Abs(got-want) <= 1e-12*want) {
			t.Fatalf("log(%v): got %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 || log(1) != 0 {
		t.Errorf("exp(0) = %v, log(1) = %v", exp(0), log(1))
	}
}

// BenchmarkExpect is a step of EM on 2000 points.
func BenchmarkExpect(b *testing.B) {
	forms(b, func(b *testing.B) {
		c := clusteredCoreset(rand.New(rand.NewPCG(1, 1)), 2000, 4, 6)
		p := pointsOf(c)
		e := newEM(p, c.Parts(b.Context(), 6, 1, uniform)[0])
		for b.Loop() {
			e.expect(true)
		}
	})
}
