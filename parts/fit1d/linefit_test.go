package fit1d

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

func TestGaussianTable(t *testing.T) {
	for z := -reach; z <= reach; z += 1e-3 {
		cdf, pdf := gaussian(z)
		if d := cdf - math.Erfc(-z/math.Sqrt2)/2; math.Abs(d) > 4e-10 {
			t.Fatalf("cdf at %v is wrong by %v", z, d)
		}
		if d := pdf - math.Exp(-z*z/2)/math.Sqrt(2*math.Pi); math.Abs(d) > 1e-9 {
			t.Fatalf("pdf at %v is wrong by %v", z, d)
		}
	}
}

func even(low, high float64, bins int) (edges []float64) {
	for i := range bins + 1 {
		edges = append(edges, low+(high-low)*float64(i)/float64(bins))
	}
	return edges
}

// exact is a histogram of what is expected of the components.
func exact(cs []Component, edges []float64, sigma float64) Histogram {
	h := Histogram{Edges: edges, Counts: make([]float64, len(edges)+1), Sigma: sigma}
	for _, c := range cs {
		before := 0.0
		for b := range h.Counts {
			cdf := 1.0
			if b < len(edges) {
				cdf = math.Erfc(-c.z(edges[b])/math.Sqrt2) / 2
			}
			h.Counts[b] += c.Rows * (cdf - before)
			before = cdf
		}
	}
	return h
}

// noisy adds Poisson chance, as a Gaussian, and noise.
func noisy(h Histogram, rng *rand.Rand) Histogram {
	h.Counts = slices.Clone(h.Counts)
	for b, c := range h.Counts {
		h.Counts[b] += math.Sqrt(math.Max(c, 0)+h.Sigma*h.Sigma) * rng.NormFloat64()
	}
	return h
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// The gradient is that of the expected counts, by differences.
func TestGradient(t *testing.T) {
	truth := []Component{{Rows: 700, Offset: 1, SD: 2}, {Rows: 300, Origin: 5, Offset: .5, SD: .7}}
	d := NewData([]Histogram{exact(truth, even(-9, 11, 40), 5), exact(truth, even(-4, 8, 9), 9)}, Known{})
	w := d.workspace(truth, []int{0, 1})
	d.evaluate(w, truth)
	const step = 1e-5
	for i := range truth {
		for p := range 3 {
			moved := func(by float64) []float64 {
				cs := slices.Clone(truth)
				switch p {
				case 0:
					cs[i].Rows += by
				case 1:
					cs[i].Offset += by * cs[i].SD
				default:
					cs[i].SD *= math.Exp(by)
				}
				return d.Expected(cs)
			}
			up, down := moved(step), moved(-step)
			got := make([]float64, len(up))
			for _, s := range w.terms[i].spans {
				for b := s.from; b < s.to; b++ {
					var g [3]float64
					w.gradient(&g, i, s.at+b-s.from)
					got[b] = g[p]
				}
			}
			for b := range got {
				if want := (up[b] - down[b]) / (2 * step); !near(got[b], want, 1e-3) {
					t.Errorf("component %d, parameter %d, bin %d: %v, want %v", i, p, b, got[b], want)
				}
			}
		}
	}
}

// Polish finds the truth from nearby, to the digits of the table, at 1e12 with an sd of 1e-2 too.
func TestPolish(t *testing.T) {
	for _, c := range []Component{{Rows: 1000, Offset: 3, SD: 2}, {Rows: 1000, Origin: 1e12, Offset: 0, SD: 1e-2}, {Rows: 500, Origin: -3e-9, Offset: 2e-11, SD: 1e-11}} {
		edges := even(c.Mean()-4*c.SD, c.Mean()+4*c.SD, 16)
		d := NewData([]Histogram{exact([]Component{c}, edges, 3)}, Known{})
		start := Component{Rows: 300, Origin: edges[2], SD: 3 * c.SD}
		got, cost, _ := d.Polish(t.Context(), []Component{start}, 50)
		off := (got[0].Origin - c.Origin) + (got[0].Offset - c.Offset)
		if cost > 1e-6 || !near(got[0].Rows, c.Rows, 1e-3) || math.Abs(off) > 1e-5*c.SD || !near(got[0].SD/c.SD, 1, 1e-5) {
			t.Errorf("got %+v at cost %v, want %+v", got[0], cost, c)
		}
	}
}

// Search finds overlapping, nested and distant components without a start. The noise has fixed
// seeds; a component is found if mean and sd are within a third of an sd, about five times the
// error that noise and chance allow.
func TestSearch(t *testing.T) {
	fine, wide := even(-10, 30, 80), even(-3e4, 3e4, 60)
	far := even(9.9e5, 1.01e6, 60)
	for name, truth := range map[string][]Component{
		"one":         {{Rows: 2000, Offset: 3, SD: 2}},
		"overlapping": {{Rows: 2000, Offset: 0, SD: 1}, {Rows: 2000, Offset: 4, SD: 1.5}, {Rows: 2000, Offset: 12, SD: 2}},
		"one mean":    {{Rows: 2000, Offset: 8, SD: 1.5}, {Rows: 2000, Offset: 8, SD: 5e3}},
		"distant":     {{Rows: 2000, Offset: 2, SD: 2}, {Rows: 2000, Origin: 1e6, SD: 1.5e3}},
	} {
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 4))
			d := NewData([]Histogram{noisy(exact(truth, JoinEdges(fine, wide, far), 6), rng), noisy(exact(truth, JoinEdges(fine, wide), 20), rng)}, Known{})
			for _, most := range []int{len(truth), len(truth) + 2} {
				got, _, _ := d.Search(t.Context(), Options{Most: most, Extra: 1, Penalty: 20, Exchange: true})
				if len(got) != len(truth) {
					t.Errorf("%s: %d components, want %d: %+v", name, len(got), len(truth), got)
					continue
				}
				for _, c := range truth {
					if !slices.ContainsFunc(got, func(g Component) bool {
						return near(g.Mean(), c.Mean(), c.SD/3) && near(g.SD/c.SD, 1, 1./3) && near(g.Rows/c.Rows, 1, .2)
					}) {
						t.Errorf("%s: %+v is missing in %+v", name, c, got)
					}
				}
			}
		}
	}
}

// A known sd stays as it is, and a least one is kept.
func TestKnown(t *testing.T) {
	truth := []Component{{Rows: 1000, Offset: 3, SD: 2}}
	h := exact(truth, even(-9, 15, 40), 3)
	if got, _, _ := NewData([]Histogram{h}, Known{SD: 1.5}).Search(t.Context(), Options{Most: 1, Penalty: 5}); got[0].SD != 1.5 || !near(got[0].Mean(), 3, .01) {
		t.Errorf("known: %+v", got)
	}
	if got, _, _ := NewData([]Histogram{h}, Known{Least: 2.5}).Search(t.Context(), Options{Most: 1, Penalty: 5}); got[0].SD != 2.5 {
		t.Errorf("least: %+v", got)
	}
}

// Edges of what is resolved lie at the components; a component narrower than its bin is zoomed
// into, down to an atom.
func TestEdges(t *testing.T) {
	c := Component{Rows: 1000, Offset: 3, SD: 2}
	d := NewData([]Histogram{exact([]Component{c}, even(-9, 15, 24), 3)}, Known{})
	edges := d.Edges([]Component{c}, 6)
	if !slices.IsSorted(edges) || len(edges) < 8 || edges[0] < 3-4*2 || edges[len(edges)-1] > 3+4*2 {
		t.Errorf("edges %v", edges)
	}
	// between 7 and the next number
	atom := Component{Rows: 1000, Origin: 7, Offset: 4e-16, SD: 1e-17}
	edges = []float64{0, 16}
	for look := 0; ; look++ {
		d = NewData([]Histogram{exact([]Component{atom}, edges, 3)}, Known{})
		if d.Atom(atom) {
			if low, _ := d.Bin(atom); low != 7 {
				t.Errorf("the value is %v, want 7", low)
			}
			break
		}
		if look > 14 || d.Resolved(atom) || !d.Seen(atom) {
			t.Fatalf("look %d: %v", look, edges)
		}
		edges = d.Edges([]Component{atom}, 6)
	}
}

func BenchmarkSearch(b *testing.B) {
	var truth []Component
	var edges []float64
	for i := range 5 {
		c := Component{Rows: 1000, Offset: 10 * float64(i), SD: 1}
		truth = append(truth, c)
		edges = append(edges, even(c.Offset-4, c.Offset+4, 16)...)
	}
	d := NewData([]Histogram{exact(truth, JoinEdges(edges), 6)}, Known{})
	for b.Loop() {
		d.Search(b.Context(), Options{Most: 5, Extra: 1, Penalty: 5})
	}
}

// A search that would take minutes stops with its context.
func TestSearchStops(t *testing.T) {
	var truth, wide []Component
	for i := range 200 {
		c := Component{Rows: 100 + float64(i), Offset: 3 * float64(i), SD: .2 + math.Mod(float64(i)*.37, 2)}
		truth = append(truth, c)
		c.SD *= 5
		wide = append(wide, c)
	}
	d := NewData([]Histogram{exact(truth, even(-10, 610, 4000), 1)}, Known{})
	stattest.Stops(t, func(ctx context.Context) error {
		_, _, err := d.Search(ctx, Options{Most: 200, Extra: 1, Penalty: 5, Exchange: true})
		return err
	})
	stattest.Stops(t, func(ctx context.Context) error {
		_, _, err := d.Polish(ctx, wide, 1000)
		return err
	})
}
