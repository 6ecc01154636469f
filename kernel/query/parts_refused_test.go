package query_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestPartitionRefused: partitions that cannot be cut are errors.
func TestPartitionRefused(t *testing.T) {
	id := identity(dims, 1)
	nan, inf := math.NaN(), math.Inf(1)
	everywhere := []query.Region{{}}
	component := func(f query.Affine, radius, weight float64) []query.Component {
		return []query.Component{{Map: f, Radius: radius, LogWeight: weight}}
	}
	condition := func(f query.Affine, radius float64) []query.Region {
		return []query.Region{{[]query.Condition{{Map: f, Radius: radius}}}}
	}
	endless := []query.Partition{{Regions: everywhere}}
	endless[0].Below = endless
	ruleless := []query.Partition{{}}
	ruleless[0].Below = ruleless
	wide := make([]query.Partition, 8)
	for i := range wide {
		wide[i] = query.Partition{Regions: make([]query.Region, len(wide)), Below: wide}
	}
	deep := query.Partition{Regions: everywhere}
	for range query.MaxDepth + 1 {
		deep = query.Partition{Regions: everywhere, Below: []query.Partition{deep}}
	}
	for name, p := range map[string]query.Partition{
		"no rule":              {},
		"both rules":           {Regions: everywhere, Components: component(id, 1, 0)},
		"both rules, one none": {Regions: []query.Region{}, Components: component(id, 1, 0)},
		"no cells":             {Regions: []query.Region{}},
		"radius NaN":           {Regions: condition(id, nan)},
		"radius negative":      {Regions: condition(id, -1)},
		"radius zero":          {Components: component(id, 0, 0)},
		"component NaN":        {Components: component(id, nan, 0)},
		"weight NaN":           {Components: component(id, 1, nan)},
		"weight Inf":           {Components: component(id, 1, inf)},
		"weight -Inf":          {Components: component(id, 1, -inf)},
		"frame d":              {Components: component(identity(dims+1, 1), 1, 0)},
		"frame NaN":            {Regions: condition(identity(dims, nan), 1)},
		"frame of the table":   {Project: query.Affine{Center: make([]float64, dims), W: [][]float64{{1, 0, 0}}}, Regions: condition(id, 1)},
		"projection":           {Project: identity(dims+1, 1), Regions: everywhere},
		"projection to none":   {Project: query.Affine{Center: make([]float64, dims), W: [][]float64{}}, Regions: everywhere},
		"below short":          {Regions: make([]query.Region, 2), Below: []query.Partition{{}}},
		"below empty":          {Regions: everywhere, Below: []query.Partition{}},
		"below bad":            {Regions: everywhere, Below: []query.Partition{{Regions: condition(id, nan)}}},
		"endless":              {Regions: everywhere, Below: endless},
		"endless without rule": {Regions: everywhere, Below: ruleless},
		"endless and wide":     {Regions: make([]query.Region, len(wide)), Below: wide},
		"deep":                 deep,
	} {
		if p.Validate(dims) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := deep.Below[0].Validate(dims); err != nil {
		t.Errorf("%d levels: %v", query.MaxDepth, err)
	}
	// before Validate, so that copying ends
	for _, below := range [][]query.Partition{endless, ruleless, wide} {
		if _, err := query.Own[query.Sum](query.Parts{Partition: query.Partition{Regions: make([]query.Region, len(below)), Below: below}}); err == nil {
			t.Error("Own: endless partition accepted")
		}
	}
}

// TestPartsRefused: one query per leaf, of one kind, of one sensitivity under both relations, and
// not too many numbers.
func TestPartsRefused(t *testing.T) {
	id := identity(dims, 1)
	two := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: id, Radius: 1}}}, {}}}
	tails := func(n int) query.Sum {
		return query.Counts{Map: id, As: query.Above, Edges: [][]float64{make([]float64, n)}}
	}
	columns := func(as query.Report, edges ...float64) query.Sum {
		return query.Counts{Edges: query.Each(edges), As: as}
	}
	moments := func(f query.Form) query.Sum {
		return query.ClippedMoments{Form: f, Lift: 1, Components: []query.Component{{Map: id, Radius: 1}}}
	}
	big := query.GridCounts{Map: identity(1, 1), HalfWidth: []float64{1}, Level: 22}
	big.Map.Columns = []int{0}
	nan := math.NaN()
	for name, c := range map[string]struct {
		q    []query.Sum
		want string
	}{
		"none":             {nil, "one query per leaf"},
		"one":              {[]query.Sum{query.Count{}}, "one query per leaf"},
		"three":            {[]query.Sum{query.Count{}, query.Count{}, query.Count{}}, "one query per leaf"},
		"nil first":        {[]query.Sum{nil, query.Count{}}, "got none"},
		"nil":              {[]query.Sum{query.Count{}, nil}, "got none"},
		"nested":           {[]query.Sum{query.Count{}, query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, query.Count{}}}}, "nest"},
		"nested first":     {[]query.Sum{query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, query.Count{}}}, query.Count{}}, "nest"},
		"kinds":            {[]query.Sum{query.Count{}, query.Counts{Map: id, Edges: [][]float64{{1}}}}, "one kind"},
		"pointer":          {[]query.Sum{query.Count{}, &query.Count{}}, "one kind"},
		"invalid":          {[]query.Sum{tails(1), tails(0)}, "Edges"},
		"thresholds":       {[]query.Sum{tails(1), tails(2)}, "equal sensitivities"},
		"signed":           {[]query.Sum{columns(query.Balance, 0, nan, nan), columns(query.Above, 0, nan, nan)}, "equal sensitivities"},
		"forms":            {[]query.Sum{moments(query.DiagonalForm), moments(query.FullForm)}, "equal sensitivities"},
		"too many numbers": {[]query.Sum{big, big}, "at most"},
	} {
		if err := (query.Parts{Partition: two, Queries: c.q}).Validate(dims); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.want)
		}
	}
	// 2 sqrt 1 = sqrt 4 under replace-one, but 1 and sqrt 4 under add-or-remove-one.
	half := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: identity(4, 1), Radius: 1}}}, {}}}
	one, four := columns(query.Balance, 0, nan, nan, nan), columns(query.Above, 0, 0, 0, 0)
	if err := (query.Parts{Partition: half, Queries: []query.Sum{one, four}}).Validate(4); one.Sensitivity(privacy.ReplaceOne) != four.Sensitivity(privacy.ReplaceOne) || err == nil {
		t.Errorf("equal under replace-one only: %v", err)
	}
	if err := (query.Parts{Partition: two, Queries: []query.Sum{moments(query.DiagonalForm), moments(query.SphericalForm)}}).Validate(dims); err != nil {
		t.Errorf("equal sensitivities: %v", err)
	}
	if err := (query.Parts{Partition: query.Partition{}, Queries: nil}).Validate(dims); err == nil {
		t.Error("no partition: accepted")
	}
	for name, edges := range map[string][][]float64{"no list": nil, "no edges": {nil}, "negative": {{-1, 1}}, "decreasing": {{1, .5}}, "NaN": {{nan}},
		"Inf": {{math.Inf(1)}}, "many": {make([]float64, query.MaxCells)}, "two lists": {{1}, {1}}} {
		if (query.Counts{Map: id, Edges: edges}).Validate(dims) == nil {
			t.Errorf("distances, %s: accepted", name)
		}
	}
}

// TestOwnParts: what stands in Parts is this package's own, by value, and copied all the way down.
func TestOwnParts(t *testing.T) {
	id := identity(dims, 1)
	two := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: id, Radius: 1}}}, {}}}
	loop := make([]query.Sum, 2)
	loop[0], loop[1] = query.Parts{Partition: two, Queries: loop}, query.Count{}
	for name, q := range map[string]query.Sum{
		"pointer":        &query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, query.Count{}}},
		"inner pointer":  query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, &query.Count{}}},
		"inner impostor": query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, &impostor{}}},
		"unnamed struct": query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, struct{ query.Count }{}}},
		"embedded":       struct{ query.Parts }{query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, query.Count{}}}},
		"nested":         query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, &impostor{}}}}},
		"in itself":      query.Parts{Partition: two, Queries: loop},
		"nil":            query.Parts{Partition: two, Queries: []query.Sum{query.Count{}, nil}},
	} {
		if _, err := query.Own(q); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}

	frame := func() query.Affine { return query.Affine{Columns: []int{0}, Center: []float64{0}, W: [][]float64{{1}}} }
	p := query.Partition{
		Project:    identity(dims, 1),
		Components: []query.Component{{Map: identity(dims, 1), Radius: 1}},
		Below:      []query.Partition{{Regions: []query.Region{{[]query.Condition{{Map: frame(), Radius: 1}}}}}},
	}
	edges, queries := []float64{1}, make([]query.Sum, 1)
	queries[0] = query.Counts{Map: frame(), Edges: [][]float64{edges}}
	mine, err := query.Own[query.Sum](query.Parts{Partition: p, Queries: queries})
	if err != nil {
		t.Fatal(err)
	}
	edges[0], p.Project.W[0][0], p.Components[0].Radius, p.Components[0].Map.Center[0] = 9, 9, 9, 9
	c := &p.Below[0].Regions[0].Conditions[0]
	c.Map.W[0][0], c.Map.Columns[0], c.Radius = 9, 2, 9
	queries[0].(query.Counts).Map.W[0][0] = 9
	queries[0] = &impostor{}
	got := mine.(query.Parts)
	inner := got.Queries[0].(query.Counts)
	below := got.Partition.Below[0].Regions[0].Conditions[0]
	if inner.Edges[0][0] != 1 || inner.Map.W[0][0] != 1 || got.Partition.Project.W[0][0] != 1 || got.Partition.Components[0].Radius != 1 ||
		got.Partition.Components[0].Map.Center[0] != 0 || below.Map.W[0][0] != 1 || below.Map.Columns[0] != 0 || below.Radius != 1 {
		t.Errorf("the copy shares memory: %+v", got)
	}
}
