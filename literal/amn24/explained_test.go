package amn24

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/pure"
)

// exactGaps is the histogram of Algorithm 3 without noise: what is released of so many rows if the
// noise's support is as it is.
func exactGaps(rows [][]float64, support float64, c Constants) (h histogram) {
	var x []float64
	for _, r := range rows {
		x = append(x, r[0])
	}
	slices.Sort(x)
	n := float64(len(x))
	counts := map[[2]int]float64{}
	places := math.Pow(float64(c.bucketRows(n)), 2)
	for i, v := range x[1:] {
		if gap := v - x[i]; gap > 0 {
			scale := math.Ilogb(gap)
			counts[[2]int{scale, int(math.Floor(x[i] / math.Ldexp(places, scale)))}]++
		}
	}
	for key, count := range counts {
		if width := math.Ldexp(places, key[0]); count > support {
			low := float64(key[1]) * width
			h.buckets = append(h.buckets, pure.Bucket{Scale: key[0], Length: math.Ldexp(1, key[0]), Low: low, High: low + width, Count: count})
		}
	}
	slices.SortFunc(h.buckets, func(a, b pure.Bucket) int {
		return slices.Compare([]float64{-a.Count, a.Length, a.Low}, []float64{-b.Count, b.Length, b.Low})
	})
	h.buckets, h.support, h.n, h.told = h.buckets[:min(len(h.buckets), mostExplained)], support, n, c.told
	return h
}

// The pairs that explain the released gaps are near all components, however far apart in place and
// scale: each component has one whose mean is within two sds, and whose sd within a factor of 2.
func TestExplained(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, parts := range [][][3]float64{
		{{1, 5, 2}},
		{{.4, 0, 1}, {.3, 1e6, 1e-3}, {.3, -50, 4}},
		{{.4, 0, 1}, {.3, 10, 1e4}, {.3, 1e8, 1}},
	} {
		h := exactGaps(estimatetest.Draw(t, line(t, parts...), 6000, rng), 95, Practical())
		found := h.explained(len(parts))
		for _, p := range parts {
			if !slices.ContainsFunc(found, func(q part) bool {
				return math.Abs(q.Mean[0]-p[1]) <= 2*p[2] && math.Abs(math.Log2(q.L.At(0, 0)/p[2])) <= 1
			}) {
				t.Errorf("%v: nothing near %v in %v", parts, p, found)
			}
		}
	}
}

// off is what the law of the gaps says: of the rows that made a histogram it expects the counts
// there are, up to their own chance, and of others it does not.
func TestOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	c := Practical()
	h := exactGaps(estimatetest.Draw(t, line(t, [3]float64{1, 1, 2}), 20000, rng), 95, c)
	at := func(mean, sd, rows float64) float64 {
		p := c.told(pure.Bucket{}, 1)
		p.Mean, p.L = []float64{mean}, diagonal(sd)
		return h.off([]part{{p, rows}}, math.Inf(1))
	}
	// about 50 buckets of some hundreds, each with a chance of its root
	if own := at(1, 2, 20000); own > .12*20000 {
		t.Errorf("the rows' own Gaussian leaves the counts off by %v", own)
	} else if other := math.Min(at(3, 2, 20000), math.Min(at(1, 4, 20000), at(1, 2, 10000))); other < 2*own {
		t.Errorf("others by %v, their own by %v", other, own)
	}
}

// Three components are found though all released pairs are too many to list the mixtures around
// them, and it is said that some were left out.
func TestLeftOutIsSaid(t *testing.T) {
	t.Parallel()
	truth := line(t, [3]float64{1. / 3, 0, 1}, [3]float64{1. / 3, 20, 2}, [3]float64{1. / 3, -20, 1})
	c := Practical()
	c.Refinements = 1
	e := NewUnivariate(c)
	tr := trial{rows: estimatetest.Draw(t, truth, 5000, rand.New(rand.NewPCG(5, 3))), d: 1, k: 3, eps: 20, noise: kerneltest.Options{Seed: 1}}
	if need := e.Expect(tr.problem()).RowsNeeded; need > 5000 {
		t.Errorf("three components need %v rows", need)
	}
	f := tr.fit(t, e)
	if f.Model == nil || !slices.ContainsFunc(f.Diagnostics.Flags, func(s estimate.Flag) bool { return strings.Contains(s.Text, "explain the released gaps") }) {
		t.Fatalf("%+v %+v", f.NoRelease, f.Diagnostics)
	}
	if tv := distance(t, truth, f); tv > .15 {
		t.Errorf("a total variation of %v", tv)
	}
}
