package fit1d

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
)

// expected is the histogram of n rows of N(mean, sd^2), without chance or noise.
func expected(edges []float64, n, mean, sd, sigma float64) Histogram {
	h := Histogram{Edges: edges, Sigma: sigma}
	before := 0.0
	for _, e := range edges {
		cdf := math.Erfc((mean-e)/sd/math.Sqrt2) / 2
		h.Counts = append(h.Counts, n*(cdf-before))
		before = cdf
	}
	h.Counts = append(h.Counts, n*(1-before))
	return h
}

func rootsEven(low, high float64, bins int) (edges []float64) {
	for i := range bins + 1 {
		edges = append(edges, low+(high-low)*float64(i)/float64(bins))
	}
	return edges
}

func add(h, other Histogram) Histogram {
	h.Counts = slices.Clone(h.Counts)
	for b := range h.Counts {
		h.Counts[b] += other.Counts[b]
	}
	return h
}

func increasingOf(t *testing.T, edges []float64) {
	t.Helper()
	for i, e := range edges {
		if math.IsNaN(e) || math.IsInf(e, 0) || i > 0 && !(edges[i-1] < e) || e == 0 && math.Signbit(e) {
			t.Fatalf("edge %d of %d: %v", i, len(edges), e)
		}
	}
}

// A window of m gaps of length g shows a Gaussian of sd m g/2.3: the bins are one to two times
// binSDs of it wide.
func TestGrid(t *testing.T) {
	const gap, mass = 0x1p-6, 400.0
	w := kernel.Spacing{Length: gap, Low: -512, High: 2048, Mass: mass}
	edges := SpacingEdges([]kernel.Spacing{w})
	increasingOf(t, edges)
	width, want := edges[1]-edges[0], binSDs*mass*gap/gapOfSD
	if edges[0] != w.Low || edges[len(edges)-1] != w.High || width > want || width < want/2 {
		t.Errorf("bins from %v to %v of width %v, want about %v", edges[0], edges[len(edges)-1], width, want)
	}
	// A lighter window at a finer scale inside: few bins, and those of the wide one stay.
	leak := kernel.Spacing{Scale: -1, Length: gap / 64, Low: 0, High: 80, Mass: mass / 8}
	both := SpacingEdges([]kernel.Spacing{w, leak})
	increasingOf(t, both)
	if more := len(both) - len(edges); more > fewBins+1 || more < fewBins/2 {
		t.Errorf("the leak of a window has %d more edges", more)
	}
	if SpacingEdges(nil) != nil {
		t.Error("no windows, and edges")
	}
	// Windows as those of hostile rows may be.
	increasingOf(t, SpacingEdges([]kernel.Spacing{{Length: 0x1p-900, Low: -0x1p-880, High: 0x1p-880, Mass: 1e3}, {Scale: 300, Length: 0x1p900, Low: -0x1p915, High: 0x1p915, Mass: 1}}))
}

// Leaves hold most rows of both Gaussians, the body of a wide one too, though no bin of it is seen
// by itself; and noise alone is in hardly any: with the threshold as it is one histogram of noise
// in ten may have a leaf, and more than 11 of 40 have one with probability below 1e-3.
func TestLeaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	noisy := func(h Histogram) Histogram {
		h.Counts = slices.Clone(h.Counts)
		for b := range h.Counts {
			h.Counts[b] += h.Sigma * rng.NormFloat64()
		}
		return h
	}
	edges := rootsEven(-200, 200, 256)
	falsely := 0
	for range 40 {
		if len(noisy(expected(edges, 0, 0, 1, 20)).Leaves()) > 0 {
			falsely++
		}
		leaves := noisy(add(expected(edges, 500, -50, 2, 20), expected(edges, 1500, 60, 20, 20))).Leaves()
		near, total := 0.0, 0.0
		for i, l := range leaves {
			if !(l.Low < l.High) || i > 0 && l.Low < leaves[i-1].High {
				t.Fatalf("leaves %v", leaves)
			}
			if total += l.Mass; l.Low > -60 && l.High < -40 {
				near += l.Mass
			}
		}
		if near < 250 || total < 800 || total > 2600 {
			t.Errorf("%v rows near the first component, %v in all: %v", near, total, leaves)
		}
	}
	if falsely > 11 {
		t.Errorf("%d of 40 histograms of noise have leaves", falsely)
	}
	if leaves := (Histogram{Counts: []float64{9}, Sigma: 1}).Leaves(); leaves != nil {
		t.Errorf("no edges, and leaves %v", leaves)
	}
}

func TestRefine(t *testing.T) {
	leaves := []Leaf{{0, 1, 100}, {1, 2, 300}, {50, 51, 100}}
	edges := RefinedEdges(leaves, 20)
	increasingOf(t, edges)
	inside := 0
	for _, e := range edges {
		if e > 1 && e <= 2 {
			inside++
		}
	}
	if inside != 12 || edges[0] >= 0 || edges[len(edges)-1] <= 51 || !slices.Contains(edges, 1) || !slices.Contains(edges, 50) {
		t.Errorf("%d bins in the heavy leaf: %v", inside, edges)
	}
	if RefinedEdges(nil, 20) != nil {
		t.Error("no leaves, and edges")
	}
}

// Hole covers what it says with increasing finite edges.
func TestHole(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ low, high, unit, in, width float64 }{
		{-inf, inf, 0, 7, 4}, {-inf, inf, 0, -1e-300, 1e-300}, {-inf, inf, 0, 1e300, 1e300}, {0, 16, 0, 3, .11}, {5, inf, 1, 5.5, 1},
		{5, inf, .25, 1e9, 1e10}, {-inf, -1e300, 1e299, -1e303, 2e303}, {-inf, 2, 1, -1e5, 2e6}, {-1e308, 1e308, 0, 0, 1e307},
	} {
		edges := HoleEdges(c.low, c.high, c.unit)
		increasingOf(t, edges)
		i, _ := slices.BinarySearch(edges, c.in)
		if i == 0 || i == len(edges) || edges[i]-edges[i-1] > c.width || edges[0] < c.low || edges[len(edges)-1] > c.high {
			t.Errorf("hole %v: %d edges, %v at %d", c, len(edges), c.in, i)
		}
	}
}

// Around keeps the total and the bins at the leaves; Again averages by precision.
func TestAroundAgain(t *testing.T) {
	h := expected(rootsEven(0, 100, 100), 1000, 50, 3, 5)
	a := h.Around([]Leaf{{45, 55, 1}})
	sum, merged := 0.0, 0.0
	for b, c := range a.Counts {
		sum += c
		merged += a.Merged[b]
	}
	if math.Abs(sum-1000) > 1e-9 || merged != float64(len(h.Counts)) || len(a.Edges) != 31 || a.Edges[0] != 35 {
		t.Errorf("%v rows in %v bins: %v", sum, merged, a.Edges)
	}
	if v := a.Variance(0); v != 25*a.Merged[0] || a.Variance(1) != 25 || h.Variance(0) != 25 {
		t.Errorf("variance %v", v)
	}
	twice := h.Again(Histogram{Edges: h.Edges, Counts: make([]float64, len(h.Counts)), Sigma: 10})
	if math.Abs(twice.Counts[50]-.8*h.Counts[50]) > 1e-9 || math.Abs(twice.Sigma-math.Sqrt(20)) > 1e-9 {
		t.Errorf("mean %v of %v, noise %v", twice.Counts[50], h.Counts[50], twice.Sigma)
	}
}
