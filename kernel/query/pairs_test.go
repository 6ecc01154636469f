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

// TestQueriesRefused: what cannot be asked is an error, never a panic, and zero sensitivity cannot
// be had.
func TestQueriesRefused(t *testing.T) {
	id := identity(dims, 1)
	inf, nan := math.Inf(1), math.NaN()
	halves := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: id, Radius: 1}}}, {}}}
	grid := func(f query.Affine, side float64) query.Grid {
		g := query.Grid{Map: f, Offset: make([]float64, f.Out())}
		for range f.Out() {
			g.Side = append(g.Side, side)
		}
		return g
	}
	octaves := query.PairOctaves{Columns: dims, Low: 0, High: 1}
	type validated interface{ Validate(int) error }
	bad := map[string]validated{
		"level zero":             query.GridCounts{Map: id, HalfWidth: []float64{1, 1, 1}},
		"level overflowing":      query.GridCounts{Map: id, HalfWidth: []float64{1, 1, 1}, Level: math.MaxInt/3 + 1, Parents: []uint64{0}},
		"no coordinates":         query.GridCounts{Level: 0},
		"too many cells":         query.GridCounts{Map: id, HalfWidth: []float64{1, 1, 1}, Level: 8},
		"width NaN":              query.GridCounts{Map: id, HalfWidth: []float64{1, nan, 1}, Level: 1},
		"octaves huge":           query.PairOctaves{Columns: dims, Low: math.MinInt, High: math.MaxInt},
		"octaves reversed":       query.PairOctaves{Columns: dims, Low: 1, High: 0},
		"octaves d":              query.PairOctaves{Columns: dims + 1, Low: 0, High: 1},
		"no thresholds":          query.Counts{Map: id, As: query.Above},
		"threshold NaN":          query.Counts{Map: id, As: query.Above, Edges: [][]float64{{nan}}},
		"frame NaN":              query.Directions{Map: identity(dims, nan), Lift: 1},
		"frame d":                query.Directions{Map: identity(dims+1, 1), Lift: 1},
		"frame column":           query.Directions{Map: query.Affine{Columns: []int{3}, Center: []float64{0}, W: [][]float64{{1}}}, Lift: 1},
		"frame ragged":           query.Directions{Map: query.Affine{Center: []float64{0, 0, 0}, W: [][]float64{{1}}}, Lift: 1},
		"lift":                   query.Directions{Map: id, Lift: inf},
		"no components":          query.ClippedMoments{Form: query.FullForm, Lift: 1},
		"gates only":             query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: id, Radius: 1, GateOnly: true}}},
		"completed without lift": query.ClippedMoments{Form: query.CompletedForm, Components: []query.Component{{Map: id, Radius: 1}}},
		"marginal without lift":  query.ClippedMoments{Form: query.ColumnForm, Components: []query.Component{{Map: id, Radius: 1}}},
		"marginal, two":          query.ClippedMoments{Form: query.ColumnForm, Lift: 1, Components: []query.Component{{Map: id, Radius: 1}, {Map: id, Radius: 1}}},
		"completed, none":        query.ClippedMoments{Form: query.CompletedForm, Lift: 1},
		"completed, gates only":  query.ClippedMoments{Form: query.CompletedForm, Lift: 1, Components: []query.Component{{Map: id, Radius: 1, GateOnly: true}}},
		"form beyond the last":   query.ClippedMoments{Form: query.ColumnForm + 1, Lift: 1, Components: []query.Component{{Map: id, Radius: 1}}},
		"lift beyond 1":          query.ClippedMoments{Form: query.FullForm, Lift: 1.01, Components: []query.Component{{Map: id, Radius: 1}}},
		"radius":                 query.ClippedMoments{Form: query.DiagonalForm, Components: []query.Component{{Map: id, Radius: inf}}},
		"weight":                 query.ClippedMoments{Form: query.DiagonalForm, Components: []query.Component{{Map: id, Radius: 1, LogWeight: nan}}},
		"form":                   query.ClippedMoments{Form: 9, Components: []query.Component{{Map: id, Radius: 1}}},
		"edges":                  query.Counts{Edges: [][]float64{{1, 0}, nil, nil}},
		"no edges":               query.Counts{Edges: make([][]float64, dims)},
		"no grids":               query.BoxKeys{},
		"no grid for a leaf":     query.BoxKeys{Partition: halves, Grids: []query.Grid{grid(id, 1)}},
		"side zero":              query.BoxKeys{Grids: []query.Grid{{Map: id, Side: []float64{1, 0, 1}, Offset: make([]float64, dims)}}},
		"side infinite":          query.BoxKeys{Grids: []query.Grid{grid(id, inf)}},
		"side NaN":               query.BoxKeys{Grids: []query.Grid{grid(id, nan)}, Joint: true},
		"offset infinite":        query.BoxKeys{Grids: []query.Grid{{Map: id, Side: []float64{1, 1, 1}, Offset: []float64{0, inf, 0}}}},
		"sides missing":          query.BoxKeys{Grids: []query.Grid{{Map: id, Side: []float64{1}, Offset: make([]float64, dims)}}},
		"grid of nothing":        query.BoxKeys{Grids: []query.Grid{{}}},
		"grid d":                 query.BoxKeys{Grids: []query.Grid{grid(identity(dims+1, 1), 1)}},
		"nine coordinates":       query.BoxKeys{Grids: []query.Grid{grid(frames()["tall"], 1)}, Joint: true},
		"unequal grids":          query.BoxKeys{Partition: halves, Grids: []query.Grid{grid(id, 1), grid(frames()["flat"], 1)}},
		"half a partition":       query.BoxKeys{Partition: query.Partition{Project: id}, Grids: []query.Grid{grid(id, 1)}},
		"no pairs":               query.Pairs{},
		"no pair query":          query.Pairs{Queries: []query.PairSum{nil}, Buckets: []int{1}},
		"no buckets":             query.Pairs{Queries: []query.PairSum{octaves}},
		"zero buckets":           query.Pairs{Queries: []query.PairSum{octaves}, Buckets: []int{0}},
		"too many buckets":       query.Pairs{Partition: halves, Queries: []query.PairSum{octaves, octaves}, Buckets: []int{query.MaxBuckets, 1}},
		"buckets overflow":       query.Pairs{Partition: halves, Queries: []query.PairSum{octaves, octaves}, Buckets: []int{math.MaxInt, math.MaxInt}},
		"pairs of a leaf":        query.Pairs{Partition: halves, Queries: []query.PairSum{octaves}, Buckets: []int{1}},
		"mixed pairs":            query.Pairs{Partition: halves, Queries: []query.PairSum{octaves, papers.PairSpread{Map: id, Bound: 1}}, Buckets: []int{1, 1}},
		"pairs d":                query.Pairs{Queries: []query.PairSum{query.PairOctaves{Columns: dims + 1, Low: 0, High: 1}}, Buckets: []int{1}},
		"pair edges":             papers.PairDistances{Map: id, Edges: []float64{1, 0}},
		"pair edges none":        papers.PairDistances{Map: id, Edges: nil},
		"pair frame":             papers.PairDistances{Map: identity(dims, nan), Edges: []float64{1}},
		"pair radius zero":       papers.PairMoments{Map: id, Radius: 0},
		"pair radius NaN":        papers.PairMoments{Map: id, Radius: nan},
		"pair radius huge":       papers.PairMoments{Map: id, Radius: 1e141},
		"pair frame d":           papers.PairMoments{Map: identity(dims+1, 1), Radius: 1},
		"pair bound":             papers.PairSpread{Map: id, Bound: -1},
		"pair bound inf":         papers.PairSpread{Map: id, Bound: inf},
		"pair no frame":          papers.PairSpread{Map: query.Affine{}, Bound: 1},
		"columns d":              query.Counts{Edges: query.Each([]float64{1}), As: query.Above},
		"columns of two":         query.Counts{Edges: [][]float64{{1}, {1, 2}, {1}}, As: query.Above},
		"balance of bins":        query.Counts{Map: id, Edges: [][]float64{{1}}, As: query.Balance},
		"centred bins":           query.Counts{Center: []float64{0, 0, 0}, Edges: query.Each([]float64{1, 1, 1})},
		"bins not zero":          query.Counts{Edges: query.Each([]float64{1, 1, 1}), SkipZero: true},
		"no report":              query.Counts{Edges: query.Each([]float64{1, 1, 1}), As: 3},
		"distances d":            query.Counts{Map: identity(2, 1), Edges: [][]float64{{1}}},
		"center":                 query.Counts{Center: []float64{0, inf, 0}, Edges: query.Each([]float64{1, 1, 1}), As: query.Above},
	}
	for name, q := range bad {
		if q.Validate(dims) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if (papers.PairDistances{Edges: []float64{1}}).Validate(1) == nil {
		t.Error("distances without a frame are accepted: of one column they would be differences")
	}
	for _, c := range sumCases() {
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			if !(c.q.Sensitivity(r) >= 1) {
				t.Errorf("%s: sensitivity %v", c.name, c.q.Sensitivity(r))
			}
		}
	}
}

type impostor struct{ query.Count }

func (impostor) Compile(int) query.RowMap { panic("would have read rows") }

// TestOwn: only this package's structs pass, and what passes is a copy all the way down.
func TestOwn(t *testing.T) {
	for _, q := range []query.Sum{nil, &query.Count{}, &impostor{}} {
		if _, err := query.Own(q); err == nil {
			t.Errorf("%T accepted", q)
		}
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: identity(2, 1), Radius: 1}}}
	own, err := query.Own[query.Sum](q)
	if err != nil {
		t.Fatal(err)
	}
	q.Components[0].Map.W[0][0], q.Components[0].Map.Center[1], q.Components[0].Radius = 7, 7, 7
	c := own.(query.ClippedMoments).Components[0]
	if c.Map.W[0][0] != 1 || c.Map.Center[1] != 0 || c.Radius != 1 || c.Map.Columns != nil {
		t.Errorf("the copy shares memory: %+v", c)
	}
	ratio := ratioCase(rand.New(rand.NewPCG(1, 2)))
	mine, err := query.Own(ratio)
	if err != nil {
		t.Fatal(err)
	}
	kept := mine.F[1].Map.W[0][0]
	ratio.F[1].Map.W[0][0], ratio.G[0].LogWeight = kept+1, 9
	if mine.F[1].Map.W[0][0] != kept || mine.G[0].LogWeight != .5 {
		t.Errorf("the copy shares memory: %+v", mine)
	}
	cells, err := query.Own(query.GridCounts{Parents: []uint64{}})
	if err != nil || cells.Parents == nil {
		t.Errorf("an empty list became nil: %v", err)
	}
}

// TestPairBatches: what pairs add does not depend on the batches they come in.
func TestPairBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	pool := poolRows(4)
	for name, c := range pairCases() {
		var diffs [][]float64
		want := make([]int64, c.q.Size())
		for range 150 {
			diff := difference(pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))])
			diffs = append(diffs, diff)
			for i, v := range pairSum(c.q, diff) {
				want[i] += v
			}
		}
		got, m := make([]int64, c.q.Size()), c.q.Compile(dims)
		for len(diffs) > 0 {
			n := min(1+rng.IntN(60), len(diffs))
			m.Add(got, flatten(diffs[:n]))
			diffs = diffs[n:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v in batches, %v one by one", name, got, want)
		}
	}
}
