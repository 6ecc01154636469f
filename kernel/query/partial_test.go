package query_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// partialCases asks every query of one row map of partial rows too, in every view that it can have.
func partialCases() (cases []sumCase) {
	for _, c := range sumCases() {
		if _, nested := c.q.(query.Parts); nested {
			continue
		}
		for _, fill := range [][]float64{{0, 0, 0}, {-.5, 1e308, 5e-324}} {
			cases = append(cases, sumCase{"filled " + c.name, query.Partial{Sum: c.q, As: query.Filled, Fill: fill}, 0, 0})
		}
		cases = append(cases, sumCase{"presence " + c.name, query.Partial{Sum: c.q, As: query.Presence}, 0, 0})
		if counts, ok := c.q.(query.Counts); ok && counts.Map.W == nil {
			cases = append(cases, sumCase{"cells " + c.name, query.Partial{Sum: c.q}, c.replace, c.remove})
		}
	}
	return cases
}

// partialPool are rows as a source may hand them over: whole, with cells missing in every pattern,
// infinite, huge, denormal, null.
func partialPool(n int) (pool [][]float64) {
	rng := rand.New(rand.NewPCG(15, 6))
	for missing := range 1 << dims {
		for _, v := range []float64{1, -1, 3, 0, 1e308, -math.MaxFloat64, 5e-324, 1e154} {
			row := []float64{v, 1, v}
			for j := range row {
				if missing>>j&1 == 1 {
					row[j] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
				}
			}
			pool = append(pool, row)
		}
	}
	for range n {
		row := make([]float64, dims)
		for j := range row {
			row[j] = extremes[rng.IntN(len(extremes))]
			if rng.IntN(2) == 0 {
				row[j] = rng.NormFloat64()
			}
		}
		pool = append(pool, row)
	}
	return append(pool, nil)
}

func tableOf(pool ...[]float64) *engine.Table {
	t := engine.NewTable(dims)
	for _, row := range pool {
		t.Append(row)
	}
	return t
}

// twinOfPartial is the dumb second implementation: the Sum's own twin of the image, and for cells
// as they are that of the whole row that has the cell in every column, its column's part.
func twinOfPartial(q query.Partial, row []float64) contribution {
	image, null := make([]float64, dims), true
	for j := range image {
		missing := row == nil || math.IsNaN(row[j]) || math.IsInf(row[j], 0)
		null = null && missing
		switch {
		case q.As == query.Presence && !missing:
			image[j] = 1
		case q.As == query.Filled && missing:
			image[j] = q.Fill[j]
		case !missing:
			image[j] = row[j]
		case q.As == query.Cells:
			image[j] = math.NaN()
		}
	}
	if null {
		return bigs(q.Size())
	}
	if q.As != query.Cells {
		return twin(q.Sum, image)
	}
	counts, c, at := q.Sum.(query.Counts), bigs(q.Size()), 0
	for j, edges := range counts.Edges {
		size := len(edges)
		if counts.As == query.Bins && size > 0 {
			size++
		}
		if image[j] == image[j] {
			copy(c[at:at+size], twin(q.Sum, []float64{image[j], image[j], image[j]})[at:])
		}
		at += size
	}
	return c
}

// TestPartial: of every row the whole path from a table to a sum says what the twin says; rows add
// up whatever else is there; no two rows, whatever cells they lack, differ by more than is stated;
// and every other query takes a partial row for the null row.
func TestPartial(t *testing.T) {
	pool := partialPool(40)
	for _, c := range partialCases() {
		if err := c.q.Validate(dims); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		total, vectors := bigs(c.q.Size()), make([][]int64, len(pool))
		for i, row := range pool {
			vectors[i] = engine.PlainSum(engine.Local{Workers: 1}, tableOf(row), c.q)
			for k, want := range twinOfPartial(c.q.(query.Partial), row) {
				if want.Cmp(big.NewInt(vectors[i][k])) != 0 {
					t.Fatalf("%s: row %v: coordinate %d is %d, the twin says %v", c.name, row, k, vectors[i][k], want)
				}
				total[k].Add(total[k], want)
			}
		}
		for k, v := range engine.PlainSum(engine.Local{}, tableOf(pool...), c.q) {
			if total[k].Cmp(big.NewInt(v)) != 0 {
				t.Fatalf("%s: coordinate %d of the sum is %d, the twin says %v", c.name, k, v, total[k])
			}
		}
		searchPairs(t, c, vectors)
	}
	null := slices.Clone(pool)
	for i, row := range pool {
		if row != nil && isNull(row) {
			null[i] = nil
		}
	}
	for _, c := range sumCases() {
		if got, want := engine.PlainSum(engine.Local{}, tableOf(pool...), c.q), engine.PlainSum(engine.Local{}, tableOf(null...), c.q); !slices.Equal(got, want) {
			t.Errorf("%s: partial rows are not null: %v, want %v", c.name, got, want)
		}
	}
}

// searchPairs looks for a pair of rows, or a row, that exceeds the stated sensitivity, and for one
// that comes as close as the case says.
func searchPairs(t *testing.T, c sumCase, vectors [][]int64) {
	t.Helper()
	weights := make([]float64, c.q.Size())
	for i := range weights {
		weights[i] = c.q.Weight(i)
	}
	replace, remove := 0.0, 0.0
	for i, v := range vectors {
		remove = math.Max(remove, weighted(c.q, weights, v, nil))
		for _, w := range vectors[:i] {
			replace = math.Max(replace, weighted(c.q, weights, v, w))
		}
	}
	for relation, found := range map[privacy.Relation]float64{privacy.ReplaceOne: replace, privacy.AddRemoveOne: remove} {
		want := c.replace
		if relation == privacy.AddRemoveOne {
			want = c.remove
		}
		if stated := c.q.Sensitivity(relation); found > stated || found < want*stated*(1-1e-12) {
			t.Errorf("%s, %v: found %v of the stated %v, want at most that and at least %v of it", c.name, relation, found, stated, want)
		}
	}
}

// TestPartialSums: with the frame's centre for a fill, second moments are over the rows that have
// both cells, and moments of the presence count these; the counts of a column are over its cells.
func TestPartialSums(t *testing.T) {
	nan := math.NaN()
	table := tableOf([]float64{3, 5, 7}, []float64{2, nan, 9}, []float64{nan, 6, 8}, []float64{nan, nan, 6}, nil)
	center := []float64{1, 4, 6}
	frame := identity(dims, 1)
	frame.Center = center
	sums := func(as query.View, fill []float64, frame query.Affine, radius float64) []float64 {
		q := query.Partial{As: as, Fill: fill, Sum: query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: frame, Radius: radius}}}}
		var out []float64
		for _, v := range engine.PlainSum(engine.Local{}, table, q) {
			out = append(out, float64(v)*q.Unit()*2*radius*radius)
		}
		return out
	}
	// the upper triangle of (b, z), b = radius
	moments, pairs := sums(query.Filled, center, frame, 4), sums(query.Presence, nil, identity(dims, 1), math.Sqrt(dims))
	for i, want := range []float64{4 * 16, 4 * 3, 4 * 3, 4 * 6, 2*2 + 1*1, 2 * 1, 2*1 + 1*3, 1 + 4, 1*1 + 2*2, 1 + 9 + 4} {
		if math.Abs(moments[i]-want) > .02 {
			t.Errorf("moment %d is %v, want %v", i, moments[i], want)
		}
	}
	root3 := math.Sqrt(3)
	for i, want := range []float64{4 * 3, 2 * root3, 2 * root3, 4 * root3, 2, 1, 2, 2, 2, 4} {
		if math.Abs(pairs[i]-want) > .01 {
			t.Errorf("pair %d is %v, want %v", i, pairs[i], want)
		}
	}
	above := query.Partial{Sum: query.Counts{Edges: query.Each([]float64{2.5, 5.5, 7.5}), As: query.Balance}}
	if got := engine.PlainSum(engine.Local{}, table, above); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("balances %v, want 0 in each column", got)
	}
}

// TestPartialRefused: views that make no sense, and questions that are not of single cells asked of
// cells as they are.
func TestPartialRefused(t *testing.T) {
	id := identity(dims, 1)
	counts := query.Counts{Edges: query.Each([]float64{0, 0, 0}), As: query.Above}
	fill := []float64{0, 0, 0}
	for name, q := range map[string]query.Sum{
		"view":         query.Partial{Sum: counts, As: 3},
		"fill":         query.Partial{Sum: counts, As: query.Filled, Fill: fill[1:]},
		"no fill":      query.Partial{Sum: counts, As: query.Filled},
		"fill of none": query.Partial{Sum: counts, Fill: fill},
		"not a number": query.Partial{Sum: counts, As: query.Filled, Fill: []float64{0, math.NaN(), 0}},
		"moments":      query.Partial{Sum: query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: id, Radius: 1}}}},
		"distances":    query.Partial{Sum: query.Counts{Map: id, Edges: [][]float64{{1}}}},
		"rows":         query.Partial{Sum: query.Count{}},
		"the Sum's":    query.Partial{Sum: query.Counts{}, As: query.Presence},
	} {
		if err := q.Validate(dims); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	whole := query.Partition{Regions: make([]query.Region, 1)}
	for name, q := range map[string]query.Sum{
		"of Parts":    query.Partial{Sum: query.Parts{Partition: whole, Queries: []query.Sum{query.Count{}}}, As: query.Presence},
		"of Partial":  query.Partial{Sum: query.Partial{Sum: query.Count{}, As: query.Presence}, As: query.Presence},
		"in Parts":    query.Parts{Partition: whole, Queries: []query.Sum{query.Partial{Sum: query.Count{}, As: query.Presence}}},
		"of nothing":  query.Partial{As: query.Presence},
		"of a struct": query.Partial{Sum: struct{ query.Sum }{query.Count{}}, As: query.Presence},
	} {
		if _, err := query.Own(q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	own, err := query.Own[query.Sum](query.Partial{Sum: counts, As: query.Filled, Fill: fill})
	if fill[0] = 7; err != nil || own.(query.Partial).Fill[0] != 0 {
		t.Errorf("a copy that changes with the original: %v, %v", own, err)
	}
}
