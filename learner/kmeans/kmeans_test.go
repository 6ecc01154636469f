package kmeans_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// points are n about k places, with weights of 1 to 3.
func points(rng *rand.Rand, n, d, k int) (x [][]float64, weight []float64) {
	places := make([][]float64, k)
	for j := range places {
		places[j] = make([]float64, d)
		for c := range places[j] {
			places[j][c] = 5 * rng.NormFloat64()
		}
	}
	for range n {
		p := slices.Clone(places[rng.IntN(k)])
		for c := range p {
			p[c] += rng.NormFloat64()
		}
		x, weight = append(x, p), append(weight, float64(1+rng.IntN(3)))
	}
	return x, weight
}

// TestLloyd: at the end every point is with the nearest centre, every centre is the mean of its
// points, and the cost has not risen on the way; weights are as good as copies.
func TestLloyd(t *testing.T) {
	rng := newRand(t)
	for i := range 60 {
		d, k := 1+rng.IntN(4), 1+rng.IntN(5)
		x, weight := points(rng, 20+rng.IntN(100), d, k)
		s := kmeans.New(x, weight, k)
		if i%3 > 0 {
			var copies [][]float64
			for i, w := range weight {
				copies = append(copies, slices.Repeat([][]float64{x[i]}, int(w))...)
			}
			plain, first, seed := kmeans.New(copies, nil, k), rng.IntN(len(x)), rng.Uint64()
			s.Seed(first, rand.New(rand.NewPCG(seed, 1)).Float64)
			for j := range k {
				copy(plain.Centers[j], s.Centers[j])
			}
			s.Lloyd(100)
			plain.Lloyd(100)
			for j := range k {
				if v := math.Sqrt(kmeans.Distance2(s.Centers[j], plain.Centers[j])); v > 1e-9 {
					t.Fatalf("centre %d of weighted points is %v from that of copies", j, v)
				}
			}
		} else {
			s = kmeans.New(x, nil, k)
			s.Seed(rng.IntN(len(x)), rng.Float64)
			last := math.Inf(1)
			for range 100 {
				cost := s.Lloyd(2)
				if cost > last*(1+1e-12) {
					t.Fatalf("the cost rises from %v to %v", last, cost)
				}
				last = cost
			}
			weight = slices.Repeat([]float64{1}, len(x))
		}
		if _, moved := s.Assign(); moved {
			t.Fatal("a point moves after the end")
		}
		for j, center := range s.Centers {
			mass, mean := 0.0, make([]float64, d)
			for i, at := range s.Part {
				if at == j {
					mass += weight[i]
					for c, v := range x[i] {
						mean[c] += weight[i] * v
					}
				}
			}
			for c, v := range mean {
				if mass > 0 && math.Abs(v/mass-center[c]) > 1e-9 {
					t.Errorf("centre %d is %v, the mean of its points %v", j, center[c], v/mass)
				}
			}
		}
	}
}

// TestSeed: no point is drawn twice while there are others, and the second centre has the law that
// it should: 20000 draws over points at squared distances 1, 4 and 9 with weights 3, 2 and 1 from
// the first. An sd of a share is at most .0036; 6 of them are exceeded with probability 1e-8.
func TestSeed(t *testing.T) {
	rng := newRand(t)
	x := [][]float64{{0}, {1}, {2}, {3}}
	s, counts := kmeans.New(x, []float64{1, 3, 2, 1}, 2), make([]float64, 4)
	const draws = 20000
	for range draws {
		s.Seed(0, rng.Float64)
		counts[int(s.Centers[1][0])]++
	}
	for i, want := range []float64{0, 3. / 20, 8. / 20, 9. / 20} {
		if got := counts[i] / draws; math.Abs(got-want) > .022 {
			t.Errorf("point %d is drawn with share %v, want %v", i, got, want)
		}
	}
	all := kmeans.New(x, nil, 6)
	all.Seed(2, rng.Float64)
	seen := map[float64]bool{}
	for _, c := range all.Centers[:4] {
		seen[c[0]] = true
	}
	if len(seen) != 4 || all.Centers[4][0] != 3 || all.Centers[5][0] != 3 {
		t.Errorf("centres %v of 4 points", all.Centers)
	}
	if got := kmeans.Pick([]float64{0, 2, 0, 1, 0}, 1-1e-16); got != 3 {
		t.Errorf("the end falls on %d", got)
	}
}
