package papers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// oneByOne is Within without a tree.
func oneByOne(points []float64, q int, x, radii []float64) []int64 {
	counts := make([]int64, len(radii))
	for ; len(points) > 0; points = points[q:] {
		s := 0.0
		for i := range q {
			s += float64((x[i] - points[i]) * (x[i] - points[i]))
		}
		for r, radius := range radii {
			if s <= radius*radius {
				counts[r]++
			}
		}
	}
	return counts
}

// TestWithin: the tree counts as a comparison with every point does, to the last bit: on points of
// all scales, on a grid where distances tie with the squares, on duplicates, on differences that
// overflow, underflow or are lost to rounding.
func TestWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	coordinates := map[string]func() float64{
		"scales": func() float64 { return rng.NormFloat64() * math.Exp2(float64(rng.IntN(80)-40)) },
		"grid":   func() float64 { return float64(rng.IntN(5)) / 4 },
		"few":    func() float64 { return float64(rng.IntN(2)) * 1e-3 },
		"far": func() float64 {
			return [...]float64{0, 1, 1e154, -1e154, 1.7e308, -1.7e308, 5e-324, 1e-160, math.Copysign(0, -1)}[rng.IntN(9)]
		},
		"lost":  func() float64 { return 1e16 + float64(2*rng.IntN(9)) + rng.NormFloat64() },
		"apart": func() float64 { return 1e3*float64(rng.IntN(3)) + .1*rng.NormFloat64() },
	}
	for name, coordinate := range coordinates {
		pruned := 0
		for range 40 {
			q, m := 1+rng.IntN(4), rng.IntN(400)
			points := make([]float64, m*q)
			for i := range points {
				points[i] = coordinate()
			}
			radii := []float64{1}
			for range rng.IntN(12) { // and distances that occur
				radii = append(radii, math.Exp2(float64(rng.IntN(60)-30)), [...]float64{0, 1e150, 1, 3, 1e200}[rng.IntN(5)])
				if m > 0 {
					i, j := rng.IntN(m), rng.IntN(m)
					d := math.Sqrt(squared(points[i*q:(i+1)*q], points[j*q:]))
					radii = append(radii, d, math.Nextafter(d, 0), math.Nextafter(d, math.Inf(1)))
				}
			}
			tree := newTree(points, q, radii)
			for range 30 {
				x := make([]float64, q)
				for i := range x {
					x[i] = coordinate()
				}
				if m > 0 && rng.IntN(2) == 0 {
					copy(x, points[rng.IntN(m)*q:])
				}
				got := make([]int64, len(radii))
				tree.Within(x, got)
				if want := oneByOne(points, q, x, radii); !slices.Equal(got, want) {
					t.Fatalf("%s: q = %d, m = %d, x = %v: %d, one by one %d", name, q, m, x, got, want)
				}
			}
			if len(tree.boxes) > 1 {
				pruned++
			}
		}
		if pruned == 0 {
			t.Errorf("%s: no box was cut: the tree was not tried", name)
		}
	}
	newTree(nil, 3, []float64{1}).Within([]float64{0, 0, 0}, []int64{0})
}

// TestBoundsHold: the bounds of a box hold for every point of it as rounded, not only in reals.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for range 20000 {
		q := 1 + rng.IntN(3)
		row := func() []float64 {
			x := make([]float64, q)
			for i := range x {
				x[i] = rng.NormFloat64() * math.Exp2(float64([...]int{0, -30, 30, 500, -540, 511}[rng.IntN(6)]))
			}
			return x
		}
		x, y := row(), row()
		b := box{low: slices.Clone(y), high: slices.Clone(y)}
		for range 1 + rng.IntN(3) {
			z := row()
			for i, v := range z {
				b.low[i], b.high[i] = min(b.low[i], v), max(b.high[i], v)
			}
		}
		if least, most := b.squared(x); !(least <= squared(x, y) && squared(x, y) <= most) {
			t.Fatalf("x = %v, y = %v in %+v: %v is not within %v and %v", x, y, b, squared(x, y), least, most)
		}
		if one, other := squared(x, y), squared(y, x); one != other {
			t.Fatalf("%v and %v: %v one way, %v the other", x, y, one, other)
		}
	}
}

// BenchmarkWithin: three groups of 4,000 points in three dimensions, half-octaves.
func BenchmarkWithin(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 1))
	const m, q = 12000, 3
	points := make([]float64, m*q)
	for i := range points {
		points[i] = rng.NormFloat64()
		if i%q == 0 {
			points[i] += float64(60 * (i / q % 3))
		}
	}
	var radii []float64
	for e := -20; e <= 20; e++ {
		radii = append(radii, 180*math.Exp2(float64(e-20)/2), 1000*math.Exp2(float64(e-20)/2))
	}
	tree, counts := newTree(points, q, radii), make([]int64, len(radii))
	for b.Loop() {
		for i := range m {
			tree.Within(points[i*q:(i+1)*q], counts)
		}
	}
}
