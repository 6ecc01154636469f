package rowkernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFormsOfBins: whatever is in a column, and among however many edges, every number's bin is
// that of a loop over the edges.
func TestFormsOfBins(t *testing.T) {
	forms(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		for size := range 200 {
			edges := make([]float64, size)
			for i := range edges {
				for edges[i] = pick(rng); !Finite(edges[i]); {
					edges[i] = pick(rng)
				}
			}
			slices.Sort(edges)
			for range 20 {
				x := columns(1, func() float64 { return pick(rng) })
				for r := range rng.IntN(Rows) {
					if size > 0 { // at edges, and at zeros of the other sign
						x[0][r] = edges[rng.IntN(size)] * float64(1-2*rng.IntN(2))
					}
				}
				var at, form [Rows]int
				Bins(&at, edges, &x[0])
				if binsGo(&form, edges, &x[0]); at != form {
					t.Fatalf("bins %v, in Go %v", at, form)
				}
				for r, v := range x[0] {
					want := 0
					for _, e := range edges {
						if v >= e {
							want++
						}
					}
					if at[r] != want {
						t.Fatalf("%v is in bin %d of %v, want %d", v, at[r], edges, want)
					}
				}
			}
		}
	})
}

// TestFormsOfPlaces: whatever is in a column, and whatever the bins of places, every number's is
// that of a search among the numbers in their order.
func TestFormsOfPlaces(t *testing.T) {
	forms(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		for range 20000 {
			x, distance := columns(1, func() float64 { return pick(rng) }), rng.IntN(2) == 0
			shift, bins := rng.IntN(53), 1<<rng.IntN(13)
			first := Place(pick(rng), distance)>>shift - rng.Uint64N(uint64(bins)+2)
			if rng.IntN(8) == 0 {
				first = rng.Uint64()
			}
			var at, form [Rows]int
			Places(&at, &x[0], first, shift, bins, distance)
			if placesGo(&form, &x[0], first, shift, bins, distance); at != form {
				t.Fatalf("places %v, in Go %v", at, form)
			}
			for r, v := range x[0] {
				if want := placed(v, first, shift, bins, distance); at[r] != want && v == v || at[r] < 0 || at[r] > bins+2 {
					t.Fatalf("%v (%x) is at %d of %d bins from %x << %d, distance %v; want %d", v, math.Float64bits(v), at[r], bins, first, shift, distance, want)
				}
			}
		}
	})
}

// placed is Places of one number.
func placed(v float64, first uint64, shift, bins int, distance bool) int {
	if distance {
		v = math.Abs(v)
	}
	switch place := Place(v, distance) >> shift; {
	case v == 0:
		return 0
	case place < first:
		return 1
	case place-first >= uint64(bins):
		return bins + 2
	default:
		return int(place-first) + 2
	}
}

// TestPlace: the order of places is that of numbers, and zeros have one.
func TestPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for range 1 << 17 {
		a, b := pick(rng), pick(rng)
		for _, distance := range []bool{false, true} {
			if a == a && b == b && (a < b) != (Place(a, distance) < Place(b, distance)) {
				t.Fatalf("%v and %v have the places %x and %x", a, b, Place(a, distance), Place(b, distance))
			}
		}
	}
	for k := -1022; k < 1024; k++ {
		v := math.Ldexp(1, k)
		if end := Place(v, false) + 1; end<<12 != 0 {
			t.Errorf("2^%d does not end a bin: %x", k, end)
		}
		if first := Place(v, true); first<<12 != 0 {
			t.Errorf("2^%d does not begin a bin of distances: %x", k, first)
		}
	}
}

// BenchmarkCounts times a panel's column among a hundred edges, among two thousand, and on places.
func BenchmarkCounts(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := columns(64, rng.NormFloat64)
	var at [Rows]int
	k := 0
	for name, size := range map[string]int{"98": 98, "2046": 2046} {
		edges := make([]float64, size)
		for i := range edges {
			edges[i] = rng.NormFloat64()
		}
		slices.Sort(edges)
		b.Run("bins/"+name, func(b *testing.B) {
			forms(b, func(b *testing.B) {
				for b.Loop() {
					k++
					Bins(&at, edges, &x[k%64])
				}
			})
		})
	}
	counts := make([]int64, 4099)
	for name, run := range map[string]func(){
		"places": func() { Places(&at, &x[k%64], 1<<11, 52, 4096, false) },
		"tally":  func() { Tally(counts, &at, &x[k%64]) },
	} {
		b.Run(name, func(b *testing.B) {
			forms(b, func(b *testing.B) {
				for b.Loop() {
					k++
					run()
				}
			})
		})
	}
}
