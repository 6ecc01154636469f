package blocks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

func metricSeeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 61)) }

// near is I + s G, G of independent N(0, 1).
func near(g *rand.Rand, d int, s float64) []float64 {
	out := make([]float64, d*d)
	for i := range out {
		out[i] = s * g.NormFloat64()
	}
	for i := range d {
		out[i*d+i]++
	}
	return out
}

// mixture has k components whose means are about sep from the origin.
func mixture(g *rand.Rand, k, d int, sep float64) []Component {
	out := make([]Component, k)
	for c := range out {
		out[c] = Component{Weight: (.5 + g.Float64()) / float64(k) / 1.5, Mean: make([]float64, d), Root: near(g, d, .2)}
		for i := range d {
			out[c].Mean[i] = sep * g.NormFloat64()
		}
	}
	return out
}

// moved maps the data by x -> by x + shift.
func metricMoved(m []Component, by, shift []float64) []Component {
	d := len(shift)
	out := slices.Clone(m)
	for c := range out {
		out[c].Mean, out[c].Root = dense.Mul(by, m[c].Mean, d, d, 1), dense.Mul(by, m[c].Root, d, d, d)
		for i, x := range shift {
			out[c].Mean[i] += x
		}
	}
	return out
}

// perturbed is m as a block might estimate it, of scatter s, in another order and with other roots
// of the covariances.
func metricPerturbed(g *rand.Rand, m []Component, s float64) []Component {
	out := make([]Component, len(m))
	for i, to := range g.Perm(len(m)) {
		c, d := m[i], len(m[i].Mean)
		mean, root := slices.Clone(c.Mean), dense.Mul(c.Root, near(g, d, s), d, d, d)
		for j := range mean {
			mean[j] += s * g.NormFloat64()
		}
		sin, cos := math.Sincos(g.Float64())
		for j := range d { // of the first two columns
			if row := root[j*d : j*d+d]; d > 1 {
				row[0], row[1] = cos*row[0]-sin*row[1], sin*row[0]+cos*row[1]
			}
		}
		out[to] = Component{Weight: min(1, c.Weight*math.Exp(s*g.NormFloat64())), Mean: mean, Root: root}
	}
	return out
}

func metricPermutations(k int) [][]int {
	if k == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for _, p := range metricPermutations(k - 1) {
		for at := range k {
			out = append(out, slices.Insert(slices.Clone(p), at, k-1))
		}
	}
	return out
}

// componentTwin is dist_COMP by the book.
func componentTwin(x, y Component) float64 {
	most, d := math.Abs(x.Weight-y.Weight), len(x.Mean)
	for range 2 {
		root := mat.NewDense(d, d, x.Root)
		var k, c mat.Dense
		_ = k.Solve(root, mat.NewDense(d, d, y.Root))
		c.Mul(&k, k.T())
		for i := range d {
			c.Set(i, i, c.At(i, i)-1)
		}
		diff := mat.NewVecDense(d, nil)
		diff.SubVec(mat.NewVecDense(d, y.Mean), mat.NewVecDense(d, x.Mean))
		var v mat.VecDense
		_ = v.SolveVec(root, diff)
		most = max(most, mat.Norm(&c, 2), mat.Norm(&v, 2))
		x, y = y, x
	}
	return most
}

// TestDistance: of all ways to match components, the best; and what an affine map of the data does
// not change.
func TestDistance(t *testing.T) {
	g := metricSeeded(5)
	for range 200 {
		k, d := 1+g.IntN(4), 1+g.IntN(4)
		m := mixture(g, k, d, 3*g.Float64())
		x, y := metricPerturbed(g, m, .1), metricPerturbed(g, m, .1)
		want := math.Inf(1)
		for _, labels := range metricPermutations(k) {
			most := 0.0
			for a, b := range labels {
				most = max(most, componentTwin(x[a], y[b]))
			}
			want = min(want, most)
		}
		if got := Distance(x, y); math.Abs(got-want) > 1e-9*(1+want) || want == 0 {
			t.Fatalf("k = %d, d = %d: %v, want %v", k, d, got, want)
		}
		by, shift := near(g, d, .2), mixture(g, 1, d, 5)[0].Mean
		if got := Distance(metricMoved(x, by, shift), metricMoved(y, by, shift)); math.Abs(got-want) > 1e-6*(1+want) {
			t.Fatalf("k = %d, d = %d: %v after a map of the data, want %v", k, d, got, want)
		}
	}
	if x := Distance(nil, nil); !math.IsInf(x, 1) {
		t.Errorf("distance of nothing %v", x)
	}
}

// TestFriends: counts are those of the distances, on any number of processors, and no argument is
// changed.
func TestFriends(t *testing.T) {
	g := metricSeeded(6)
	m, table := mixture(g, 2, 2, 4), make([][]Component, 30)
	for i := range table {
		table[i] = metricPerturbed(g, m, .15)
	}
	table[3], table[4], table[5] = nil, table[5][:1], []Component{{Weight: 1, Mean: []float64{1}, Root: []float64{1}}}
	const radius = .9
	was, counts := fmt.Sprint(table), Friends(table, radius)
	some, all := false, true
	for i := range table {
		want := 0
		for j := range table {
			if Distance(table[i], table[j]) <= radius {
				want++
			}
		}
		if counts[i] != want {
			t.Errorf("estimate %d: %d, want %d", i, counts[i], want)
		}
		some, all = some || want > 1, all && want > 26
	}
	if !some || all {
		t.Errorf("counts %v: this test is too easy", counts)
	}
	for _, processors := range []int{1, 3, 16} {
		old := runtime.GOMAXPROCS(processors)
		again := Friends(table, radius)
		runtime.GOMAXPROCS(old)
		if !slices.Equal(counts, again) {
			t.Errorf("other counts with %d processors", processors)
		}
	}
	if fmt.Sprint(table) != was {
		t.Error("the estimates have been changed")
	}
}

// TestNasty: what is not valid is near nothing, itself included, and changes nothing for others;
// package stable tests what is valid.
func TestNasty(t *testing.T) {
	good := func() []Component {
		return []Component{{Weight: .5, Mean: []float64{0, 0}, Root: []float64{1, 0, 0, 1}}, {Weight: .5, Mean: []float64{4, 0}, Root: []float64{1, 0, 0, 1}}}
	}
	with := func(change func(m []Component)) []Component { m := good(); change(m); return m }
	tables := map[string][]Component{
		"nothing": nil, "empty": {}, "no slices": {{Weight: .5}, {Weight: .5}},
		"too many":      slices.Repeat(good(), 33),
		"singular root": with(func(m []Component) { m[0].Root = []float64{1, 1, 1, 1} }),
		"zero root":     with(func(m []Component) { m[0].Root = make([]float64, 4) }),
		"short mean":    with(func(m []Component) { m[1].Mean = []float64{0} }),
		"long root":     with(func(m []Component) { m[0].Root = make([]float64, 9) }),
		"zero weight":   with(func(m []Component) { m[0].Weight = 0 }),
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 1e200} {
		tables[fmt.Sprint(bad, " weight")] = with(func(m []Component) { m[1].Weight = bad })
		tables[fmt.Sprint(bad, " mean")] = with(func(m []Component) { m[1].Mean = []float64{0, bad} })
		tables[fmt.Sprint(bad, " root")] = with(func(m []Component) { m[1].Root = []float64{1, 0, bad, 1} })
	}
	for name, bad := range tables {
		if x := Distance(bad, good()); !math.IsInf(x, 1) {
			t.Errorf("%s: a distance of %v", name, x)
		}
		if counts := Friends([][]Component{bad, good(), good()}, 1); !slices.Equal(counts, []int{0, 2, 2}) {
			t.Errorf("%s: counts %v", name, counts)
		}
	}
	// valid, but squares overflow
	far := with(func(m []Component) {
		m[0].Root, m[0].Mean = []float64{1e-140, 0, 0, 1e-140}, []float64{1e140, 0}
	})
	if x := Distance(far, good()); !math.IsInf(x, 1) {
		t.Errorf("far: a distance of %v", x)
	}
}

func BenchmarkFriends(b *testing.B) {
	g := metricSeeded(1)
	m, table := mixture(g, 2, 5, 6), make([][]Component, 600)
	for i := range table {
		table[i] = metricPerturbed(g, m, .1)
	}
	for b.Loop() {
		Friends(table, .5)
	}
}
