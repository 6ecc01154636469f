package recursive

import (
	"math"
	"testing"
)

// distances is a histogram with the bins of findRadius: counts by half-octave.
func distances(by map[int]float64) (edges, counts []float64) {
	for e := radiusLow; e <= radiusHigh; e++ {
		edges, counts = append(edges, math.Exp2(float64(e)/2)), append(counts, by[e])
	}
	return edges, counts
}

// TestRadiusBin on histograms by hand: 10000 rows, noise sd 20, so that a bin beyond the core
// counts from 100 rows on.
func TestRadiusBin(t *testing.T) {
	core := func(more map[int]float64) map[int]float64 {
		by := map[int]float64{0: 1000, 2: 3000, 3: 3000, 4: 2000}
		for e, c := range more {
			by[e] += c
		}
		return by
	}
	for _, c := range []struct {
		name string
		by   map[int]float64
		want int // half-octave of the last bin that belongs
	}{
		{"a bulk", core(map[int]float64{5: 900, 6: 99}), 5},
		{"a tail without gaps", core(map[int]float64{5: 400, 6: 300, 7: 200, 8: 101}), 8},
		{"outliers that share a distance", core(map[int]float64{60: 300}), 4},
		{"a cluster however far", core(map[int]float64{60: 1000}), 60},
		{"a light component behind a gap", core(map[int]float64{5: 500, 10: 500}), 10},
		{"few behind a wider gap", core(map[int]float64{5: 500, 12: 300}), 5},
		{"many behind a wider gap", core(map[int]float64{5: 500, 12: 500}), 12},
		{"a light component that two bins share", core(map[int]float64{5: 840, 9: 80, 10: 80}), 10},
		{"the bulk is far", map[int]float64{30: 4000, 31: 6000}, 31},
		{"two bulks, one far", map[int]float64{2: 5000, 40: 5000}, 40},
	} {
		_, counts := distances(c.by)
		if got := radiusLow + radiusBin(counts, 10000, 20); got != c.want {
			t.Errorf("%s: half-octave %d, want %d", c.name, got, c.want)
		}
	}
}

// TestRadiusOfNoise: whatever the noise, the bin is one of the histogram and the clipping radius
// positive and at most the ball's.
func TestRadiusOfNoise(t *testing.T) {
	rng := newRand(t)
	for range 2000 {
		edges, counts := distances(nil)
		sd, rows := math.Exp(4*rng.NormFloat64()), LeastRows*math.Exp(3*rng.Float64())
		for b := range counts {
			counts[b] = math.Round(sd * rng.NormFloat64())
		}
		at := radiusBin(counts, rows, sd)
		if at < 0 || at >= len(edges) {
			t.Fatalf("bin %d of %d", at, len(edges))
		}
		if r := quantile(edges[:at+1], counts[:at+1], pcaCore*rows); !(r > 0 && r <= edges[at]) {
			t.Fatalf("radius %v in a ball of %v", r, edges[at])
		}
	}
}

// TestQuantile interpolates within bins, grows with the number of rows and ends at the last edge.
func TestQuantile(t *testing.T) {
	edges := []float64{1, 2, 4}
	for _, c := range []struct{ rows, want float64 }{{5, .5}, {10, 1}, {15, 1.25}, {30, 2}, {35, 3}, {40, 4}, {1e9, 4}} {
		agree(t, "quantile", quantile(edges, []float64{10, 20, 10}, c.rows), c.want)
	}
	agree(t, "past negative counts", quantile(edges, []float64{-5, 10, 10}, 10), 3)
	last := 0.0
	for rows := .5; rows < 60; rows += .5 {
		q := quantile(edges, []float64{10, 20, 10}, rows)
		if q < last {
			t.Fatalf("%v rows are within %v, fewer within %v", rows, q, last)
		}
		last = q
	}
}
