package query

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPairSensitivityBySearch: one row of a pair replaced, or the pair gone, moves the answer by at most PairSensitivity, attained.
func TestPairSensitivityBySearch(t *testing.T) {
	pool := poolRows(3)
	for _, q := range []PairOctaves{{dims, -5, 5}, {dims, 0, 0}, {dims, -1074, 1023}} {
		if err := q.Validate(dims); err != nil {
			t.Fatal(err)
		}
		of := func(x, y []float64) []int64 {
			sum := make([]int64, q.Size())
			q.AddPair(sum, x, y)
			return sum
		}
		ones := make([]float64, q.Size())
		for i := range ones {
			ones[i] = 1
		}
		found := 0.0
		for i := 0; i < len(pool); i += 2 {
			x := pool[i]
			for j := 0; j < len(pool); j += 3 {
				y := pool[j]
				v := of(x, y)
				if !slices.Equal(v, of(y, x)) {
					t.Fatalf("not symmetric: %v %v", x, y)
				}
				for k := 0; k < len(pool); k += 7 {
					found = math.Max(found, weighted(nil, ones, v, of(pool[k], y)))
				}
			}
		}
		if stated := q.PairSensitivity(); found > stated || found < .95*stated {
			t.Errorf("%+v: found %v of the stated %v", q, found, stated)
		}
	}
}

// TestKeys: one cell per column and row, a function of the row; zero has one key.
func TestKeys(t *testing.T) {
	q := CellKeys{Offset: []float64{0, 1e308, -1}, Cell: []float64{1, 5e-324, .1}}
	for _, row := range poolRows(5) {
		for j := range dims {
			k, ok := q.Key(j, row)
			if !ok && !isNull(row) && j == 0 {
				t.Errorf("row %v has no cell in column %d", row, j)
			}
			if ok && (k != math.Floor(k) || math.IsInf(k, 0) || math.Signbit(k) && k == 0) {
				t.Errorf("row %v: key %v", row, k)
			}
		}
	}
}

// TestQueriesRefused: what cannot be asked is an error, never a panic, and zero sensitivity cannot be had.
func TestQueriesRefused(t *testing.T) {
	id := identity(dims, 1)
	inf, nan := math.Inf(1), math.NaN()
	type validated interface{ Validate(int) error }
	bad := map[string]validated{
		"level zero":        CellCounts{Frame: id, HalfWidth: []float64{1, 1, 1}},
		"level overflowing": CellCounts{Frame: id, HalfWidth: []float64{1, 1, 1}, Level: math.MaxInt/3 + 1, Parents: []uint64{0}},
		"no coordinates":    CellCounts{Level: 0},
		"too many cells":    CellCounts{Frame: id, HalfWidth: []float64{1, 1, 1}, Level: 8},
		"width NaN":         CellCounts{Frame: id, HalfWidth: []float64{1, nan, 1}, Level: 1},
		"octaves huge":      PairOctaves{dims, math.MinInt, math.MaxInt},
		"octaves reversed":  PairOctaves{dims, 1, 0},
		"octaves d":         PairOctaves{dims + 1, 0, 1},
		"no thresholds":     TailCounts{Frame: id},
		"threshold NaN":     TailCounts{Frame: id, Thresholds: []float64{nan}},
		"frame NaN":         Directions{Frame: identity(dims, nan), Lift: 1},
		"frame d":           Directions{Frame: identity(dims+1, 1), Lift: 1},
		"frame column":      Directions{Frame: Affine{Columns: []int{3}, Center: []float64{0}, W: [][]float64{{1}}}, Lift: 1},
		"frame ragged":      Directions{Frame: Affine{Center: []float64{0, 0, 0}, W: [][]float64{{1}}}, Lift: 1},
		"lift":              Directions{Frame: id, Lift: inf},
		"no components":     ClippedMoments{Form: FullForm, Lift: 1},
		"gates only":        ClippedMoments{Form: FullForm, Lift: 1, Components: []Component{{Frame: id, Radius: 1, GateOnly: true}}},
		"lift beyond 1":     ClippedMoments{Form: FullForm, Lift: 1.01, Components: []Component{{Frame: id, Radius: 1}}},
		"radius":            ClippedMoments{Form: DiagonalForm, Components: []Component{{Frame: id, Radius: inf}}},
		"weight":            ClippedMoments{Form: DiagonalForm, Components: []Component{{Frame: id, Radius: 1, LogWeight: nan}}},
		"form":              ClippedMoments{Form: 9, Components: []Component{{Frame: id, Radius: 1}}},
		"edges":             BinCounts{Edges: [][]float64{{1, 0}, nil, nil}},
		"no edges":          BinCounts{Edges: make([][]float64, dims)},
		"cell":              CellKeys{Offset: make([]float64, dims), Cell: []float64{1, 0, 1}},
		"columns d":         ColumnCounts{Thresholds: []float64{1}},
		"center":            ColumnCounts{Thresholds: []float64{1, 1, 1}, Center: []float64{0, inf, 0}},
	}
	for name, q := range bad {
		if q.Validate(dims) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, c := range sumCases() {
		for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			if !(c.q.Sensitivity(r) >= 1) {
				t.Errorf("%s: sensitivity %v", c.name, c.q.Sensitivity(r))
			}
		}
	}
}

type impostor struct{ Count }

func (impostor) Compile(int) RowMap { panic("would have read rows") }

// TestOwn: only this package's structs pass, and what passes is a copy all the way down.
func TestOwn(t *testing.T) {
	for _, q := range []Sum{nil, &Count{}, &impostor{}} {
		if _, err := Own(q); err == nil {
			t.Errorf("%T accepted", q)
		}
	}
	q := ClippedMoments{Form: FullForm, Lift: 1, Components: []Component{{Frame: identity(2, 1), Radius: 1}}}
	own, err := Own[Sum](q)
	if err != nil {
		t.Fatal(err)
	}
	q.Components[0].Frame.W[0][0], q.Components[0].Frame.Center[1], q.Components[0].Radius = 7, 7, 7
	c := own.(ClippedMoments).Components[0]
	if c.Frame.W[0][0] != 1 || c.Frame.Center[1] != 0 || c.Radius != 1 || c.Frame.Columns != nil {
		t.Errorf("the copy shares memory: %+v", c)
	}
	ratio := ratioCase(rand.New(rand.NewPCG(1, 2)))
	mine, err := Own(ratio)
	if err != nil {
		t.Fatal(err)
	}
	kept := mine.F[1].Frame.W[0][0]
	ratio.F[1].Frame.W[0][0], ratio.G[0].LogWeight = kept+1, 9
	if mine.F[1].Frame.W[0][0] != kept || mine.G[0].LogWeight != .5 {
		t.Errorf("the copy shares memory: %+v", mine)
	}
	cells, err := Own(CellCounts{Parents: []uint64{}})
	if err != nil || cells.Parents == nil {
		t.Errorf("an empty list became nil: %v", err)
	}
}
