package query_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// hostile draws a number that arithmetic could go wrong on, or an ordinary one.
func hostile(rng *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), 5e-324, 0x1p-1022, 1e-308, 1e-160, 1e-154, 1e-8, .5, 1, 65536, 46341.5, 1 << 51, 1 << 53, 1e100, 1.34e154, 1e160, 1e300, 1e308, math.MaxFloat64}
	switch v := special[rng.IntN(len(special))]; rng.IntN(5) {
	case 0:
		return v
	case 1:
		return -v
	case 2:
		for {
			if v = math.Float64frombits(rng.Uint64()); v-v == 0 {
				return v
			}
		}
	}
	return rng.NormFloat64()
}

// hostileTable draws rows that are finite or null throughout, as the kernel's tables have them.
func hostileTable(rng *rand.Rand, n, d int) (rows []float64) {
	for range n {
		null, mild := rng.IntN(9) == 0, rng.IntN(3) == 0
		for range d {
			switch v := hostile(rng); {
			case null:
				rows = append(rows, math.NaN())
			case mild:
				rows = append(rows, rng.NormFloat64())
			default:
				rows = append(rows, v)
			}
		}
	}
	return rows
}

// hostileFrame maps d columns, by anything that is finite.
func hostileFrame(rng *rand.Rand, d int) (a query.Affine) {
	draw := func() float64 {
		if rng.IntN(4) > 0 {
			return rng.NormFloat64()
		}
		return hostile(rng)
	}
	in := d
	if rng.IntN(3) == 0 {
		in = 1 + rng.IntN(d)
		for range in {
			a.Columns = append(a.Columns, rng.IntN(d))
		}
	}
	for range in {
		a.Center = append(a.Center, draw())
	}
	for range 1 + rng.IntN(d+1) {
		w := make([]float64, in)
		for j := rng.IntN(in); j < in; j++ {
			w[j] = draw()
		}
		a.W = append(a.W, w)
	}
	return a
}

// hostileSums are sums of all kinds, with frames, weights and bounds that are hostile too.
func hostileSums(rng *rand.Rand, d int) (all []query.Sum) {
	size := func() float64 { return math.Max(math.Abs(hostile(rng)), 5e-324) }
	var components []query.Component
	for j := range 1 + rng.IntN(6) {
		components = append(components, query.Component{Map: hostileFrame(rng, d), LogWeight: rng.NormFloat64(), Radius: size(), Truncate: rng.IntN(4) == 0, GateOnly: j > 0 && rng.IntN(5) == 0})
		if rng.IntN(2) == 0 {
			components[j].Radius = 1 + rng.Float64()
		}
		if rng.IntN(9) == 0 {
			components[j].LogWeight = hostile(rng)
		}
	}
	edges := make([][]float64, d)
	for j := range edges {
		for range rng.IntN(5) {
			edges[j] = append(edges[j], hostile(rng))
		}
		slices.Sort(edges[j])
	}
	edges[0] = append(edges[0], math.MaxFloat64)
	one := make([]float64, d)
	for j := range one {
		one[j] = hostile(rng)
	}
	for _, f := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm, query.CompletedForm} {
		all = append(all, query.ClippedMoments{Form: f, Lift: 1 - rng.Float64(), Components: components}, query.ClippedMoments{Form: f, Lift: 1 - rng.Float64(), Components: components[:1]})
	}
	whole := components[0]
	whole.Truncate = false
	all = append(all, query.ClippedMoments{Form: query.ColumnForm, Lift: 1 - rng.Float64(), Components: []query.Component{whole}})
	return append(all, query.Directions{Map: hostileFrame(rng, d), Lift: size()},
		query.Counts{Edges: edges}, query.Counts{Edges: query.Each(one), As: query.Above, SkipZero: rng.IntN(2) == 0}, query.Counts{Edges: query.Each(one), As: query.Balance, Center: one},
		query.Counts{Map: hostileFrame(rng, d), As: query.Above, Edges: [][]float64{{0, 1, 1e300}}}, query.Counts{Map: hostileFrame(rng, d), Edges: [][]float64{{0, 1, 1e160}}},
		query.LogRatio{F: components, G: components[:1], Bound: size()})
}

// TestAdditive: the sum over a table of hostile rows is that of its rows' own sums, wherever they
// stand and however it is cut, and each of these has at most the stated norm: no row's image
// depends on another's. The norm of a row's own sum is at most the sensitivity under
// add-or-remove-one, that of the difference of two at most the one under replace-one.
func TestAdditive(t *testing.T) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for range 40 {
		d := 1 + rng.IntN(9)
		n := 1 + rng.IntN(130)
		rows := hostileTable(rng, n, d)
		for _, q := range hostileSums(rng, d) {
			if err := q.Validate(d); err != nil {
				t.Fatal(err)
			}
			norm := func(a, b []int64) float64 {
				total := 0.0
				for i := range a {
					total += math.Pow(float64(a[i]-b[i])/q.Weight(i), 2)
				}
				return math.Sqrt(total) * (1 - 1e-12)
			}
			whole, sum := make([]int64, q.Size()), make([]int64, q.Size())
			m, zero := q.Compile(d), make([]int64, q.Size())
			cut := rng.IntN(n+1) * d
			m.Add(whole, rows[:cut])
			m.Add(whole, rows[cut:])
			before := zero
			for r := range n {
				own := make([]int64, q.Size())
				m.Add(own, rows[r*d:(r+1)*d])
				if norm(own, zero) > q.Sensitivity(privacy.AddRemoveOne) || norm(own, before) > q.Sensitivity(privacy.ReplaceOne) {
					t.Fatalf("%+v\nof %v adds %v, of another row %v", q, rows[r*d:(r+1)*d], own, before)
				}
				for i, v := range own {
					sum[i] += v
				}
				before = own
			}
			if !slices.Equal(sum, whole) {
				t.Fatalf("%+v\nof %v:\n%v, row by row %v", q, rows, whole, sum)
			}
		}
	}
}
