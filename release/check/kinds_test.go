package check_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
	"github.com/gauze-dp/gauze/release/check"
)

const columns = 3

// frame is a map of rows of three columns to d coordinates.
func frame(d int) (f query.Affine) {
	f.Center = make([]float64, columns)
	for range d {
		f.W = append(f.W, []float64{1, 1, 1})
	}
	return f
}

// leaves is a partition into so many leaves.
func leaves(n int) (p query.Partition) {
	p.Components = make([]query.Component, n)
	for i := range p.Components {
		p.Components[i].Map = frame(columns)
	}
	return p
}

// sums are queries of every kind whose noise is Gaussian, or Laplace, and of every shape that
// matters.
func sums() (all []query.Sum) {
	all = append(all, query.Count{}, query.Directions{Map: frame(2), Lift: 1}, query.LogRatio{Bound: 7.5},
		query.GridCounts{Map: frame(2)},
		query.Counts{Map: frame(2), Edges: [][]float64{{1, 2, 3}}, As: query.Bins},
		query.Counts{Map: frame(2), Edges: [][]float64{{1, 2, 3}}, As: query.Above})
	for d := 1; d <= columns; d++ {
		edges := make([][]float64, columns)
		balance := query.Each([]float64{math.NaN(), math.NaN(), math.NaN()})
		for j := range d {
			edges[j], balance[j] = []float64{0, 1}, []float64{5}
		}
		all = append(all, query.Counts{Edges: edges, As: query.Bins}, query.Counts{Edges: balance, As: query.Above},
			query.Counts{Edges: balance, As: query.Balance}, query.Counts{Edges: balance, As: query.Balance, SkipZero: true})
	}
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm, query.CompletedForm} {
		for k := 1; k <= 2; k++ {
			q := query.ClippedMoments{Form: form, Lift: .5}
			for range k {
				q.Components = append(q.Components, query.Component{Map: frame(columns), Radius: 3})
			}
			all = append(all, q)
		}
	}
	all = append(all, query.ClippedMoments{Form: query.ColumnForm, Lift: .5, Components: []query.Component{{Map: frame(columns), Radius: 3}}})
	return all
}

// agrees holds that a line of that query says what the query says of itself.
func agrees(t *testing.T, q interface{ Kind() string }, law string, r privacy.Relation, group int, want float64) {
	t.Helper()
	kind := q.Kind()
	if group > 1 {
		kind = kernel.OfBlocks(kind)
	}
	shape := check.Of(q, group).(check.Shape)
	if law != "laplace" {
		shape.Numbers = 0
	}
	line := check.Line{Query: kind, Law: law, Relation: r, Columns: columns, Shape: &shape, Sensitivity: want}
	if _, fixed := q.(blocks.Stability); fixed || law == "truncated laplace" || law == "local exponential" || slices.Contains([]string{"gaps", "stability histogram", "category values"}, last(kind)) {
		line.Delta = 1e-9
	}
	if faults := line.Faults(); faults != nil || !(want > 0) {
		t.Errorf("%s with law %q, %v, group %d and shape %+v: %v", kind, law, r, group, shape, faults)
	}
	for _, factor := range []float64{0, -1, .5, 1 - 1e-8, 1 + 1e-8, 2, math.NaN(), math.Inf(1)} {
		if line.Sensitivity = want * factor; line.Faults() == nil {
			t.Errorf("%s with law %q: %v times the sensitivity passes", kind, law, factor)
		}
	}
	line.Sensitivity, line.Delta = want, 1e-9-line.Delta
	if line.Faults() == nil {
		t.Errorf("%s with law %q: a delta of %v passes", kind, law, line.Delta)
	}
}

// last is a kind without what stands before its colon.
func last(kind string) string {
	if i := strings.LastIndex(kind, ": "); i >= 0 {
		return kind[i+2:]
	}
	return kind
}

// TestSensitivities: the table says what every query says of itself, under both relations, in both
// norms, in one leaf and in several, of rows and of block estimates.
func TestSensitivities(t *testing.T) {
	type summed interface {
		Kind() string
		Sensitivity(privacy.Relation) float64
		Unit() float64
	}
	laplace := func(q interface {
		summed
		Size() int
	}, r privacy.Relation) {
		agrees(t, q, "laplace", r, 1, privacy.L1(q.Size(), q.Sensitivity(r))*q.Unit())
		agrees(t, q, "laplace", r, 3, 3*privacy.L1(q.Size(), q.Sensitivity(privacy.ReplaceOne))*q.Unit())
	}
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, values := range [][]int{{2}, {1, 5, 3}} {
			q := query.CategoryCounts{Values: values}
			agrees(t, q, "", r, 1, q.Sensitivity(r)*q.Unit())
			laplace(q, r)
		}
		for _, columns := range [][]int{{0}, {1, 0, 4}} {
			q := query.CategoryValues{Columns: columns}
			agrees(t, q, "", r, 1, q.Sensitivity(r))
		}
		gauss := func(q summed) {
			agrees(t, q, "", r, 1, q.Sensitivity(r)*q.Unit())
			agrees(t, q, "", r, 4, 4*q.Sensitivity(privacy.ReplaceOne)*q.Unit())
		}
		all := sums()
		for _, q := range slices.Clone(all) {
			for _, n := range []int{1, 2, 5} {
				p := query.Parts{Partition: leaves(n)}
				for range n {
					p.Queries = append(p.Queries, q)
				}
				all = append(all, p)
			}
		}
		for _, q := range all {
			gauss(q)
			gauss(query.Partial{Sum: q, As: query.Presence})
			laplace(q, r)
		}
		for _, sum := range []query.PairSum{query.PairOctaves{Columns: columns}, papers.PairDistances{Edges: []float64{1}},
			papers.PairMoments{Map: frame(2), Radius: 1e9}, papers.PairSpread{Map: frame(2), Bound: 1e-9}} {
			gauss(query.Pairs{Queries: []query.PairSum{sum}})
			laplace(query.Pairs{Queries: []query.PairSum{sum}}, r)
			laplace(query.Pairs{Partition: leaves(2), Queries: []query.PairSum{sum, sum}}, r)
			gauss(query.Pairs{Partition: leaves(1), Queries: []query.PairSum{sum}})
			gauss(query.Pairs{Partition: leaves(2), Queries: []query.PairSum{sum, sum}})
		}
		gauss(query.SpacingMasses{LogWindow: 20})
		gauss(query.SpacingMasses{LogWindow: 20, Partition: leaves(3)})
		for d := 1; d <= columns; d++ {
			for _, joint := range []bool{false, true} {
				grid := query.Grid{Map: frame(d)}
				for _, q := range []query.BoxKeys{{Grids: []query.Grid{grid}, Joint: joint}, {Partition: leaves(2), Grids: []query.Grid{grid, grid}, Joint: joint}} {
					agrees(t, q, "", r, 1, q.Sensitivity(r))
					agrees(t, q, "truncated laplace", r, 1, privacy.L1(math.MaxInt, q.Sensitivity(r)))
				}
			}
		}
		agrees(t, papers.SpacingBuckets{Rows: 100}, "truncated laplace", r, 1, papers.SpacingBuckets{}.L1(r))
		agrees(t, pure.Line{Unit: .25, Reach: 17}, "", r, 1, 17)
		agrees(t, pure.StatedSpace{Reach: 17}, "", r, 1, 17)
		agrees(t, blocks.Stability{}, "", r, 1, 1)
		for _, points := range []int{1, 2, 50} {
			for _, s := range []papers.Score{papers.BallCounts{T: points}, papers.GoodRadius{T: points}, papers.TerrificRadius{T: points}, papers.TerrificCenters{},
				papers.MaxBoxCount{}, papers.MultisetOverlap{}, papers.MinimumDistance{}, papers.Tournament{}, papers.CellDeficits{}, papers.LineDeficits{}} {
				for _, n := range []int{1, 3} {
					q := papers.Selection{Partition: leaves(n)}
					for range n {
						q.Scores = append(q.Scores, s)
					}
					for _, law := range []string{"exponential", "above threshold", "laplace", "local exponential"} {
						agrees(t, q, law, r, 1, float64(q.Sensitivity(r, 0)))
						agrees(t, q, law, r, 3, 3*float64(q.Sensitivity(privacy.ReplaceOne, 0)))
					}
				}
			}
		}
	}
}

// TestKindsAreRegistered: what is known here is what the kernel can measure, kind for kind.
func TestKindsAreRegistered(t *testing.T) {
	types, _ := query.Registry()
	measured, chosenBy := check.Kinds()
	if here, there := slices.Sorted(slices.Values(slices.Concat(measured, chosenBy))), slices.Sorted(maps.Keys(types)); !slices.Equal(here, there) {
		t.Errorf("known here: %q\nregistered in kernel/query: %q", here, there)
	}
}

// TestUnknown: what no query of Gauze is, or says, is refused, and named.
func TestUnknown(t *testing.T) {
	type shape = check.Shape
	for _, c := range []struct {
		line  check.Line
		shape shape
		field string
	}{
		{line: check.Line{Query: "banana"}, field: "query"}, {line: check.Line{}, field: "query"}, {line: check.Line{Query: "Count"}, field: "query"},
		{line: check.Line{Query: "banana", Curve: true}, field: "query"}, {line: check.Line{Query: "count "}, field: "query"},
		{line: check.Line{Query: "count", Curve: true}, field: "renyi"}, {line: check.Line{Query: "of blocks: count", Curve: true}, field: "renyi"},
		{check.Line{Query: "directions", Sensitivity: 1}, shape{Unit: 1e300}, "sensitivity"},
		{line: check.Line{Query: "in parts: banana"}, field: "query"}, {line: check.Line{Query: "select: count"}, field: "query"},
		{line: check.Line{Query: "ball counts"}, field: "query"}, {line: check.Line{Query: "of blocks: of blocks: count"}, field: "query"},
		{line: check.Line{Query: "in parts: of blocks: stable mean"}, field: "query"}, {line: check.Line{Query: "of blocks: select: banana"}, field: "query"},
		{line: check.Line{Query: "in parts: in parts: count"}, field: "query"}, {line: check.Line{Query: "of blocks: popular estimate"}, field: "renyi"},
		{line: check.Line{Query: "count", Law: "exponential"}, field: "law"}, {line: check.Line{Query: "count", Law: "truncated laplace"}, field: "law"},
		{line: check.Line{Query: "gaps", Law: "laplace"}, field: "law"}, {line: check.Line{Query: "gap buckets"}, field: "law"},
		{line: check.Line{Query: "select: ball counts"}, field: "law"}, {line: check.Line{Query: "directions", Law: "laplace"}, field: "shape"},
		{check.Line{Query: "histogram", Law: "laplace"}, shape{Of: 3, Numbers: 2}, "shape"}, {check.Line{Query: "count"}, shape{Numbers: 1}, "shape"},
		{check.Line{Query: "count", Law: "laplace"}, shape{Numbers: -1}, "shape"}, {check.Line{Query: "select: tournament", Law: "laplace"}, shape{Parts: 1, Of: 1, Numbers: 1}, "shape"},
		{line: check.Line{Query: "count", Law: "cauchy"}, field: "law"},
		{check.Line{Query: "count"}, shape{Of: 1}, "shape"}, {check.Line{Query: "count"}, shape{Parts: 2}, "shape"}, {check.Line{Query: "count"}, shape{Estimates: 3}, "shape"},
		{check.Line{Query: "count"}, shape{Unit: -1}, "shape"}, {check.Line{Query: "count"}, shape{Unit: math.NaN()}, "shape"}, {check.Line{Query: "count"}, shape{By: 2}, "shape"},
		{check.Line{Query: "histogram"}, shape{}, "shape"}, {check.Line{Query: "histogram", Columns: 2}, shape{Of: 3}, "shape"},
		{check.Line{Query: "pair octaves", Columns: 2}, shape{Of: 1}, "shape"}, {check.Line{Query: "in parts: count"}, shape{}, "shape"},
		{check.Line{Query: "clipped moments"}, shape{Of: 6}, "shape"}, {check.Line{Query: "clipped moments", Sensitivity: 1 << 30}, shape{Of: 4}, "sensitivity"}, {check.Line{Query: "column counts"}, shape{Of: 1, By: 3}, "shape"},
		{check.Line{Query: "of blocks: count"}, shape{Estimates: 1}, "shape"}, {check.Line{Query: "select: tournament", Law: "exponential"}, shape{Parts: 1, Of: 2}, "shape"},
	} {
		c.line.Shape = &c.shape
		if faults := c.line.Faults(); len(faults) != 1 || faults[0].Field != c.field {
			t.Errorf("%+v, shape %+v: %v, want one of %s", c.line, c.shape, faults, c.field)
		}
	}
}

// TestKeys: a key that readers would not agree about is found, at any depth, and no other.
func TestKeys(t *testing.T) {
	for text, bad := range map[string]bool{
		`{"a": 1, "a": 1}`: true, `{"a": {"b": [{"c": 1, "c": 2}]}}`: true, `{"EPSILON": 5}`: true, `{"a": [{"Count": 1}]}`: true,
		`{"\u0065psilon": 1, "epsilon": 2}`: true, `{"epſilon": 1}`: true, `{"ran\u212A": 1}`: true,
		`{"by": {"City": "Aachen", "city": "b"}}`: false, `{"by": {"City": 1, "City": 2}}`: true, `{"by": {"x": {"City": 1}}}`: true,
		`{"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 1}], "1.5": 2}`: false, `[`: false, `{"a"`: false, `nonsense`: false, ``: false, `{"a": 1} {"a": 1, "a": 2}`: false,
	} {
		if fault := check.Keys([]byte(text)); (fault != nil) != bad {
			t.Errorf("%s: %v", text, fault)
		}
	}
}
