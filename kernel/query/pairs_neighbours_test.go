package query_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// halfOctaves are 2^(low/2), .., 2^(high/2).
func halfOctaves(low, high int) (edges []float64) {
	for e := low; e <= high; e++ {
		edge := math.Ldexp(1, e>>1)
		if e&1 == 1 {
			edge *= math.Sqrt2
		}
		edges = append(edges, edge)
	}
	return edges
}

// pairCases are pair queries with the part of the stated PairSensitivity that a search must reach,
// for two pairs and for one that comes or goes.
func pairCases() map[string]struct {
	q              query.PairSum
	replace, alone float64
} {
	type c = struct {
		q              query.PairSum
		replace, alone float64
	}
	id, rng := identity(dims, 1), rand.New(rand.NewPCG(6, 1))
	id.Center = []float64{1e308, 5, -7} // does not matter
	edges := halfOctaves(-299, 300)
	moments := func(f query.Affine, r float64) papers.PairMoments { return papers.PairMoments{Map: f, Radius: r} }
	return map[string]c{
		"octaves": {query.PairOctaves{Columns: dims, Low: -5, High: 5}, .99, .7}, "octaves one": {query.PairOctaves{Columns: dims, Low: 0, High: 0}, .9, .7}, "octaves all": {query.PairOctaves{Columns: dims, Low: -1074, High: 1023}, .99, .7},
		"distances": {papers.PairDistances{Map: id, Edges: edges}, .99, .7}, "distances huge": {papers.PairDistances{Map: frames()["huge"], Edges: edges}, .99, .7},
		"distances columns": {papers.PairDistances{Map: frames()["columns"], Edges: []float64{1}}, .99, .7},
		"moments":           {moments(id, 1), .99, .99}, "moments wide": {moments(id, 1e3), .99, .99}, "moments tiny": {moments(id, 1e-140), .7, .7},
		"moments huge": {moments(id, 1e140), .7, .7}, "moments dense": {moments(dense(rng, dims, 2, 1), 1), .95, .99},
		"moments tall": {moments(frames()["tall"], .5), .7, .99}, "moments overflowing": {moments(frames()["overflowing"], 1), 0, 0},
		"moments truncated": {papers.PairMoments{Map: id, Radius: 1, Truncate: true}, .7, .99},
		"spread":            {papers.PairSpread{Map: id, Bound: 1}, 1, .99}, "spread tiny": {papers.PairSpread{Map: id, Bound: 1e-280}, 1, .99}, "spread huge": {papers.PairSpread{Map: id, Bound: 1e280}, 1, .99},
		"spread overflowing": {papers.PairSpread{Map: frames()["overflowing"], Bound: 1}, 0, .99}, "spread nothing": {papers.PairSpread{Map: frames()["nothing"], Bound: 1}, 0, .6},
	}
}

// difference is what a pair query sees of a pair.
func difference(x, y []float64) []float64 {
	diff := slices.Clone(x)
	for j := range diff {
		diff[j] -= y[j]
	}
	return diff
}

func pairSum(q query.PairSum, differences ...[]float64) []int64 {
	sum := make([]int64, q.Size())
	q.Compile(dims).Add(sum, flatten(differences))
	return sum
}

// TestPairSensitivityOfAny: the vectors of any two pairs, and of one pair and none, differ by at
// most PairSensitivity, which is what a row that enters or leaves a bucket can do; and the bound is
// attained. Which row of a pair comes first does not matter.
func TestPairSensitivityOfAny(t *testing.T) {
	t.Parallel()
	pool := poolRows(3)
	for name, c := range pairCases() {
		q := c.q
		if err := q.Validate(dims); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		weights := make([]float64, q.Size())
		for i := range weights {
			weights[i] = q.Weight(i)
		}
		var vectors [][]int64
		seen := map[string]bool{}
		for i, x := range pool {
			for j := i % 9; j < len(pool); j += 9 {
				v := pairSum(q, difference(x, pool[j]))
				if !slices.Equal(v, pairSum(q, difference(pool[j], x))) {
					t.Fatalf("%s: not symmetric: %v %v", name, x, pool[j])
				}
				if key := string(floatBytes(v)); !seen[key] && len(vectors) < 600 {
					seen[key] = true
					vectors = append(vectors, v)
				}
			}
		}
		two, alone, stated := 0.0, 0.0, q.PairSensitivity()
		for i, v := range vectors {
			alone = math.Max(alone, weighted(nil, weights, v, nil))
			for _, w := range vectors[:i] {
				two = math.Max(two, weighted(nil, weights, v, w))
			}
		}
		if math.Max(two, alone) > stated || two < c.replace*stated || alone < c.alone*stated {
			t.Errorf("%s: found %v and %v of the stated %v", name, two/stated, alone/stated, stated)
		}
	}
}

func floatBytes(v []int64) (b []byte) {
	for _, n := range v {
		for range 8 {
			b = append(b, byte(n))
			n >>= 8
		}
	}
	return b
}

// TestPairTwins compares the answers with sums taken in the plain way, for pairs at ordinary
// distances, with null pairs among them.
func TestPairTwins(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	frame := dense(rng, dims, 2, .7)
	moments, spread, distances := papers.PairMoments{Map: frame, Radius: 1.3}, papers.PairSpread{Map: frame, Bound: 1.1}, papers.PairDistances{Map: frame, Edges: halfOctaves(-4, 3)}
	cut := papers.PairMoments{Map: frame, Radius: 1.3, Truncate: true}
	var diffs [][]float64
	var second [3]float64
	var sum, pairs, near2, nearPairs float64
	bins := make([]int64, distances.Size())
	for i := range 500 {
		diff := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		if i%7 == 0 {
			diff = []float64{math.NaN(), math.NaN(), math.NaN()}
		}
		diffs = append(diffs, diff)
		if i%7 == 0 {
			continue
		}
		var y [2]float64
		for k, w := range frame.W {
			for j, v := range w {
				y[k] += v * diff[j] / math.Sqrt2
			}
		}
		n := math.Hypot(y[0], y[1])
		clip := math.Min(1, moments.Radius/n)
		if n <= cut.Radius {
			near2 += y[0] * y[0]
			nearPairs++
		}
		second[0] += y[0] * y[0] * clip * clip
		second[1] += y[0] * y[1] * clip * clip
		second[2] += y[1] * y[1] * clip * clip
		sum += math.Min(n*n, spread.Bound)
		pairs++
		bin := 0
		for bin < len(distances.Edges) && n*math.Sqrt2 >= distances.Edges[bin] {
			bin++
		}
		bins[bin]++
	}
	in := func(q query.PairSum) (values []float64) {
		for _, v := range pairSum(q, diffs...) {
			values = append(values, float64(v)*q.Unit())
		}
		return values
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	n, got := moments.Read(in(moments))
	near("pairs of moments", n, pairs)
	for i, v := range second {
		near("second moment", got[i], v)
	}
	n, got = cut.Read(in(cut))
	near("pairs within", n, nearPairs)
	near("second moment within", got[0], near2)
	total, n := spread.Read(in(spread))
	near("spread", total, sum)
	near("pairs of spread", n, pairs)
	if c := pairSum(distances, diffs...); !slices.Equal(c, bins) {
		t.Errorf("distances: got %v, want %v", c, bins)
	}
	for e, v := range halfOctaves(-299, 300) {
		near("half-octave", 2*math.Log2(v), float64(e-299))
	}
}

// TestPairsInLeaves: what a row may do to pairs in leaves is within the stated sensitivity: one
// pair of one leaf changes, or one in each of two leaves, each to any other; sqrt2 of one leaf's
// bound is attained under replace-one and not needed otherwise.
func TestPairsInLeaves(t *testing.T) {
	two := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: identity(dims, 1), Radius: 2}}}, {}}}
	id := identity(dims, 1)
	for _, leaf := range []query.PairSum{papers.PairMoments{Map: id, Radius: 1}, papers.PairSpread{Map: id, Bound: 1}, papers.PairDistances{Map: id, Edges: []float64{1}}} {
		q := query.Pairs{Partition: two, Queries: []query.PairSum{leaf, leaf}, Buckets: []int{1, 1}}
		whole := query.Pairs{Queries: []query.PairSum{leaf}, Buckets: []int{1}}
		for _, q := range []query.Pairs{q, whole} {
			if err := q.Validate(dims); err != nil {
				t.Fatal(err)
			}
		}
		p := leaf.PairSensitivity()
		if s := q.Sensitivity(privacy.ReplaceOne); s < math.Sqrt2*p || s > math.Sqrt2*p*(1+1e-12) {
			t.Errorf("%s: two leaves, replace-one: %v", leaf.Kind(), s/p)
		}
		if a, b, c := q.Sensitivity(privacy.AddRemoveOne), whole.Sensitivity(privacy.ReplaceOne), whole.Sensitivity(privacy.AddRemoveOne); a < p || a > p*(1+1e-12) || b != p || c != p {
			t.Errorf("%s: %v, %v, %v of %v", leaf.Kind(), a, b, c, p)
		}
		if q.Kind() != query.PartsOf(leaf.Kind()) || whole.Kind() != leaf.Kind() || whole.Unit() != leaf.Unit() || q.Unit() != 1 || q.Size() != 2*leaf.Size() {
			t.Errorf("%s: %+v", leaf.Kind(), q)
		}
		values := make([]float64, q.Size())
		for i := range values {
			values[i] = float64(i)
			if q.Weight(i) != leaf.Weight(i%leaf.Size()) {
				t.Errorf("%s: weight %d", leaf.Kind(), i)
			}
		}
		answers, sigmas := q.Split(values, 3)
		if len(answers) != 2 || answers[1][0] != float64(leaf.Size())*leaf.Unit() || sigmas[1] != 3*leaf.Unit() {
			t.Errorf("%s: split %v %v", leaf.Kind(), answers, sigmas)
		}
		if own, s := whole.Split(values[:leaf.Size()], 3); s[0] != 3 || !slices.Equal(own[0], values[:leaf.Size()]) {
			t.Errorf("%s: split of the whole %v %v", leaf.Kind(), own, s)
		}
	}
}

// TestOctaves: octaves are math.Ilogb's, of numbers of every size and class, clamped wherever the
// range ends.
func TestOctaves(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}
	for e := -1074; e <= 1023; e++ {
		v := math.Ldexp(1, e)
		values = append(values, v, -v, math.Nextafter(v, 0), math.Nextafter(v, 3*v))
	}
	for _, ends := range [][2]int{{-1100, 1100}, {-1074, 1023}, {-1023, 1024}, {-1022, 1030}, {-5, 7}, {3, 3}} {
		q := query.PairOctaves{Columns: 1, Low: ends[0], High: ends[1]}
		for _, v := range values {
			got, want := make([]int64, q.Size()), make([]int64, q.Size())
			if q.Add(got, []float64{v}); v == 0 {
				want[0] = 1
			} else {
				want[1+min(max(math.Ilogb(v), q.Low), q.High)-q.Low] = 1
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v in [%d, %d] is in bin %d, want %d", v, q.Low, q.High, slices.Index(got, 1), slices.Index(want, 1))
			}
		}
	}
}
