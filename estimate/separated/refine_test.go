package separated

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/estimate/recursive"
	"github.com/gauze-dp/gauze/parts/component"
)

// TestMedian: on exact histograms of a known law the median is found within a bin, whatever its
// place; noise leads nowhere outside.
func TestMedian(t *testing.T) {
	rng := newRand(t)
	var edges []float64
	for e := -20; e <= 12; e++ {
		edges = append(edges, math.Exp2(float64(e)/4))
	}
	for _, scale := range []float64{.1, 1, 4} {
		counts := make([]float64, len(edges)+1)
		for range 20000 {
			x := scale * math.Exp(.2*rng.NormFloat64())
			b := 0
			for b < len(edges) && x >= edges[b] {
				b++
			}
			counts[b]++
		}
		if got := median(edges, counts); math.Abs(got/scale-1) > .03 {
			t.Errorf("median %v, want %v", got, scale)
		}
		for b := range counts { // of noise far off, too small to move it
			counts[b] += 10 * rng.NormFloat64()
		}
		if got := median(edges, counts); math.Abs(got/scale-1) > .05 {
			t.Errorf("with noise: median %v, want %v", got, scale)
		}
	}
	for range 1000 {
		counts := make([]float64, len(edges)+1)
		for b := range counts {
			counts[b] = rng.NormFloat64()
		}
		if got := median(edges, counts); !(got >= edges[0] && got <= edges[len(edges)-1]) {
			t.Fatalf("median %v of noise", got)
		}
	}
}

func total(g []component.Gaussian) (w float64) {
	for _, c := range g {
		w += c.Weight
	}
	return w
}

// TestTidy: components without rows go; those that are not apart are joined, unless their number
// was asked for; light ones go at the end.
func TestTidy(t *testing.T) {
	with := func() []component.Gaussian {
		return []component.Gaussian{gaussAt(.4, 1, 0, 0), gaussAt(.3, 1, 1, 0), gaussAt(.2, 1, 9, 0), gaussAt(.014, 1, 0, 30), gaussAt(.001, 1, 50, 50)}
	}
	f := &fit{Finder: recursive.Finder{Run: ofRows(10000)}}
	if got := f.tidy(with(), false); len(got) != 3 || math.Abs(total(got)-.914) > 1e-12 {
		t.Errorf("on the way: %+v", got)
	}
	got := f.tidy(with(), true)
	if len(got) != 2 || math.Abs(got[0].Weight-.7) > 1e-12 || math.Abs(got[0].Mean[0]-3./7) > 1e-12 {
		t.Errorf("at the end: %+v", got)
	}
	f.limit = 5
	if got := f.tidy(with(), true); len(got) != 4 {
		t.Errorf("asked for 5, %d of which hold rows: %+v", 4, got)
	}
	f.limit = 0
	if got := f.tidy([]component.Gaussian{gaussAt(.5, 1, 3), gaussAt(.5, 1, 3)}, true); len(got) != 1 {
		t.Errorf("one place twice: %+v", got)
	}
	if got := f.tidy(nil, true); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestReduce: to the number that was asked for, without the components that hold next to nothing,
// then joining those that are least apart; fewer stay as they are, and without a number all do.
func TestReduce(t *testing.T) {
	with := func() []component.Gaussian {
		return []component.Gaussian{gaussAt(.4, 1, 0, 0), gaussAt(.01, 1, 50, 50), gaussAt(.3, 1, 3, 0), gaussAt(.2, 1, 20, 0)}
	}
	f := &fit{Finder: recursive.Finder{Run: ofRows(10000)}}
	for asked, want := range map[int]int{0: 4, 9: 4, 4: 4, 3: 3, 2: 2, 1: 1} {
		f.limit = asked
		got := f.reduce(with())
		if len(got) != want {
			t.Errorf("asked for %d: %d components", asked, len(got))
		}
		if asked > 0 && asked < 4 {
			agree(t, "weight without the light one", total(got), .9)
		}
		if asked == 2 {
			agree(t, "weight of the joined", got[0].Weight, .7)
		}
	}
	if i, j, _ := leastApart(with()); i != 2 || j != 0 {
		t.Errorf("the least apart are %d and %d", i, j)
	}
	if i, _, _ := leastApart(with()[:1]); i != -1 {
		t.Error("one component has no pair")
	}
}
