package query_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestCasesAreValid: the searches below are over queries that can be asked.
func TestCasesAreValid(t *testing.T) {
	for _, c := range sumCases() {
		if err := c.q.Validate(dims); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestTwin compares every row map, row by row and over the whole pool, with its dumb twin.
func TestTwin(t *testing.T) {
	pool := poolRows(12)
	for _, c := range sumCases() {
		total := bigs(c.q.Size())
		for _, row := range pool {
			want := twin(c.q, row)
			got := sumOf(c.q, row)
			for i := range want {
				if !want[i].IsInt64() || want[i].Int64() != got[i] {
					t.Fatalf("%s: row %v: coordinate %d is %d, the twin says %v", c.name, row, i, got[i], want[i])
				}
				total[i].Add(total[i], want[i])
			}
		}
		got := sumOf(c.q, pool...)
		for i := range total {
			if total[i].Cmp(big.NewInt(got[i])) != 0 {
				t.Fatalf("%s: coordinate %d of the sum is %d, the twin says %v", c.name, i, got[i], total[i])
			}
		}
	}
}

// TestR1: what a row adds does not depend on its position, its neighbours, the batch, or what the
// map has seen before.
func TestR1(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	pool := poolRows(12)
	for _, c := range sumCases() {
		all := sumOf(c.q, pool...)
		for range 4 {
			at := rng.IntN(len(pool))
			rest := append(slices.Clone(pool[:at]), pool[at+1:]...)
			rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
			got := sumOf(c.q, pool[at])
			m := c.q.Compile(dims)
			for len(rest) > 0 { // one map, batches of any length, rows in any order
				n := min(1+rng.IntN(70), len(rest))
				m.Add(got, flatten(rest[:n]))
				rest = rest[n:]
			}
			if !slices.Equal(got, all) {
				t.Fatalf("%s: removing row %d, shuffling and splitting changes what the others add", c.name, at)
			}
		}
	}
}

// weighted is the L2 length of the difference of two contributions after division by the weights.
func weighted(q query.Sum, weights []float64, a, b []int64) float64 {
	s := 0.0
	for i := range a {
		diff := float64(a[i])
		if b != nil {
			diff -= float64(b[i])
		}
		s += diff / weights[i] * (diff / weights[i])
	}
	return math.Sqrt(s)
}

// TestSensitivityBySearch: no pair of rows of the pool exceeds the stated sensitivity under either
// relation, and the search comes as close as the case says it must, so the bound is not loose by
// more than that.
func TestSensitivityBySearch(t *testing.T) {
	pool := poolRows(12)
	for _, c := range sumCases() {
		weights := make([]float64, c.q.Size())
		for i := range weights {
			weights[i] = c.q.Weight(i)
		}
		var vectors [][]int64
		for _, row := range pool {
			vectors = append(vectors, sumOf(c.q, row))
		}
		replace, remove := 0.0, 0.0
		for i, v := range vectors {
			remove = math.Max(remove, weighted(c.q, weights, v, nil))
			for _, w := range vectors[:i] {
				replace = math.Max(replace, weighted(c.q, weights, v, w))
			}
		}
		check := func(relation privacy.Relation, found, want float64) {
			stated := c.q.Sensitivity(relation)
			switch {
			case found > stated:
				t.Errorf("%s, %v: found %v, more than the stated %v", c.name, relation, found, stated)
			case found < want*stated*(1-1e-12):
				t.Errorf("%s, %v: found %v, want at least %v of the stated %v", c.name, relation, found, want, stated)
			}
		}
		check(privacy.ReplaceOne, replace, c.replace)
		check(privacy.AddRemoveOne, remove, c.remove)
	}
}

// TestGramInvariant: |h|^2 <= 2^(2B), seen as the sum of the traces of one row's blocks, on every
// row and frame; and ordinary rows pass the check, or the map would be private and useless.
func TestGramInvariant(t *testing.T) {
	for _, c := range sumCases() {
		diagonal := c.q.Size()
		switch q := c.q.(type) {
		case query.Directions:
		case query.ClippedMoments:
			if !isGram(q) {
				continue
			}
		default:
			continue
		}
		for _, row := range poolRows(12) {
			trace := int64(0)
			v := sumOf(c.q, row)
			for i := range diagonal {
				if c.q.Weight(i) == 1 {
					trace += v[i]
				}
			}
			if trace < 0 || trace > 1<<(2*rowkernels.GramBits) {
				t.Fatalf("%s: row %v: |h|^2 = %d", c.name, row, trace)
			}
			if _, ok := c.q.(query.Directions); ok && c.name == "directions" && !isNull(row) && trace < 65525*65525 {
				t.Fatalf("%s: row %v is finite but |h|^2 = %d", c.name, row, trace)
			}
		}
	}
}

// TestTruncate: a row beyond the radius adds zeros to the component that truncates and what it adds
// without truncation to the others; within the radius, and on it, truncation changes nothing.
func TestTruncate(t *testing.T) {
	frame := identity(dims, 1)
	for _, f := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm} {
		for _, others := range [][]query.Component{nil, {{Map: frame, Radius: 9, LogWeight: .3}}} {
			q := query.ClippedMoments{Form: f, Lift: 1, Components: append(others, query.Component{Map: frame, Radius: 2})}
			cut := query.ClippedMoments{Form: f, Lift: 1, Components: append(others, query.Component{Map: frame, Radius: 2, Truncate: true})}
			last := q.Size() - f.Size(dims)
			for _, row := range [][]float64{{0, 0, 0}, {1, 0, -1}, {0, -2, 0}, {0, 2.0000001, 0}, {3, 4, 5}, {1e150, 0, 0}, {1e200, 0, 0}} {
				want, got := sumOf(q, row), sumOf(cut, row)
				if norm := math.Hypot(math.Hypot(row[0], row[1]), row[2]); norm > 2 {
					clear(want[last:])
				}
				if !slices.Equal(got, want) {
					t.Errorf("%v, %d components, row %v: got %v, want %v", f, len(q.Components), row, got, want)
				}
			}
		}
	}
}

// TestWeights: diagonal 1, off-diagonal 1/sqrt2 rounded up, in the order of the packed upper
// triangle.
func TestWeights(t *testing.T) {
	q := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: identity(2, 1), Radius: 1},
		{Map: identity(3, 1), Radius: 1, GateOnly: true}, {Map: identity(1, 1), Radius: 1}}}
	const want = "100101" + "101" // two coordinates, then one; the gate releases nothing
	if q.Size() != len(want) {
		t.Fatalf("size %d", q.Size())
	}
	for i := range want {
		w := q.Weight(i)
		if (w == 1) != (want[i] == '1') || w != 1 && !(w*w >= .5 && w < .70710678118655) {
			t.Errorf("weight %d is %v", i, w)
		}
	}
}

// TestNonNegative: two vectors that pass have a non-negative inner product, as the sensitivity of
// the linear forms needs; those just beyond do not pass.
func TestNonNegative(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, f := range []query.Form{query.DiagonalForm, query.SphericalForm, query.ColumnForm} {
		var passed [][]int64
		for range 20_000 {
			h := make([]int64, f.Size(2))
			for i := range h {
				h[i] = rng.Int64N(41) - 20
			}
			if f.NonNegative(h) {
				passed = append(passed, h)
			}
		}
		if len(passed) < 100 {
			t.Fatalf("%v: only %d vectors pass", f, len(passed))
		}
		for i, v := range passed {
			for _, w := range passed[:min(i, 300)] {
				dot := int64(0)
				for k := range v {
					dot += v[k] * w[k]
				}
				if dot < 0 {
					t.Fatalf("%v: <%v, %v> = %d", f, v, w, dot)
				}
			}
		}
	}
	for f, h := range map[query.Form][]int64{query.DiagonalForm: {5, 3, 4, 0, 0}, query.SphericalForm: {4, 4, 4, 4}, query.ColumnForm: {4, 2, 2, 2, 4, 4}} {
		if !f.NonNegative(h) {
			t.Errorf("%v: %v is at the bound", f, h)
		}
		h[0]--
		if f.NonNegative(h) {
			t.Errorf("%v: %v is beyond the bound", f, h)
		}
	}
}

// TestLinearChecks: a vector of a linear form that is too long, or fails nonNegative, adds nothing
// to any component.
func TestLinearChecks(t *testing.T) {
	for _, f := range []query.Form{query.DiagonalForm, query.SphericalForm} {
		unit := query.Component{Map: identity(1, 1), Radius: 1}
		m := query.ClippedMoments{Form: f, Components: []query.Component{unit, unit}}.Compile(1).(*query.MomentsMap)
		m.Parts[1].Radius = .5 // no longer what scale was made for, as a bug would have it
		for _, scale := range []float64{1, 9, 1e9, 1e300, math.NaN(), -1} {
			m.Parts[1].Scale = scale * m.Parts[0].Scale
			sum := make([]int64, 2*f.Size(1))
			m.Add(sum, []float64{.1})
			if ok := scale == 1; ok == slices.Equal(sum, make([]int64, len(sum))) {
				t.Errorf("%v, scale x%v: added %v", f, scale, sum)
			}
		}
	}
}
