package query

import (
	"math"
	"math/rand/v2"
)

// partitions holds one of every rule, and trees of them, over tables of dims columns. No row has a
// leaf where a projection overflows by itself.
func partitions() map[string]Partition {
	rng := rand.New(rand.NewPCG(21, 4))
	id, flat := identity(dims, 1), dense(rng, dims, 1, .5)
	ball := func(f Affine, radius float64) Condition { return Condition{Frame: f, Radius: radius} }
	outside := func(f Affine, radius float64) Condition { return Condition{Frame: f, Radius: radius, Outside: true} }
	at := func(x ...float64) Component {
		f := identity(len(x), 1)
		f.Center = x
		return Component{Frame: f, Radius: 4}
	}
	regions := Partition{Regions: []Region{
		{[]Condition{ball(id, 1.2), ball(flat, .5)}}, {[]Condition{outside(id, 1e3), ball(flat, math.Inf(1))}}, {[]Condition{ball(id, 2)}}, {},
	}}
	infinite := func(x ...float64) Component {
		c := at(x...)
		c.Radius = math.Inf(1)
		return c
	}
	far := infinite(20, 0, 0)
	far.LogWeight = -5
	components := Partition{Components: []Component{at(1, 0, 0), at(-1, 0, 0), {Frame: dense(rng, dims, 2, .5), Radius: 2, LogWeight: -3}, far}}
	project := Partition{Project: dense(rng, dims, 2, .7), Components: []Component{at(0, 0), at(1, 1), {Frame: identity(2, 1e-3), Radius: 1e6, LogWeight: -9}}}
	wide := Partition{Project: project.Project, Components: []Component{infinite(0, 0), infinite(30, 0), infinite(-30, 40)}}
	columns := Partition{
		Project: Affine{Columns: []int{2, 0, 2, 2}, Center: []float64{0, 1, 1, 1e-3}, W: [][]float64{{1, 2, 0, 0}, {0, 0, 1, 1}}},
		Regions: []Region{{[]Condition{ball(identity(2, 1), 3)}}, {[]Condition{outside(identity(2, 1), 9)}}},
	}
	return map[string]Partition{
		"regions": regions, "components": components, "project": project, "columns": columns,
		"one":   {Regions: []Region{{}}},
		"below": {Regions: []Region{{[]Condition{ball(id, 1e3)}}, {[]Condition{outside(id, 1e100)}}}, Below: []Partition{project, {}}},
		"deep": {
			Regions: []Region{{[]Condition{ball(id, 30)}}, {[]Condition{outside(flat, 1e9)}}, {}},
			Below: []Partition{components, {}, {Components: []Component{infinite(200, 0, 0), infinite(0, 0, 0)},
				Below: []Partition{{Regions: []Region{{[]Condition{ball(id, 1e3)}}, {}}, Below: []Partition{wide, {}}}, {}}}},
		},
		"hostile": {Components: []Component{
			{Frame: frames()["overflowing"], Radius: 1e200, LogWeight: 1e308}, {Frame: frames()["huge"], Radius: 5e-324, LogWeight: -math.MaxFloat64},
			{Frame: frames()["nothing"], Radius: 1e-300, LogWeight: -1e308}, {Frame: frames()["denormal"], Radius: 1},
		}},
		"overflowing": {Project: frames()["overflowing"], Regions: []Region{{[]Condition{outside(id, 1e150)}}, {}}},
		"huge":        {Project: frames()["huge"], Components: []Component{{Frame: frames()["nothing"], Radius: 1}}},
		"ties":        {Components: []Component{at(0, 0, 0), at(0, 0, 0), at(1, 0, 0), at(0, 1, 0)}},
	}
}

// leafQueries names what is asked of the leaves: the query of leaf i, for dims columns. replace and
// remove are as in sumCase, for a partition whose leaves are all reached.
func leafQueries() map[string]struct {
	of              func(i int) Sum
	replace, remove float64
} {
	frame := func(i int) Affine { return dense(rand.New(rand.NewPCG(31, uint64(i))), dims, 1+i%4, .5) }
	moments := func(f Form) func(int) Sum {
		return func(i int) Sum {
			q := ClippedMoments{Form: f, Lift: .5, Components: []Component{{Frame: frame(i), Radius: 1 + float64(i)}}}
			if i%3 == 2 {
				q.Components = append(q.Components, Component{Frame: frame(1), Radius: 2, LogWeight: -1}, Component{Frame: frame(2), Radius: 2, GateOnly: true})
			}
			return q
		}
	}
	edges := func(i int) (e []float64) {
		for b := range 1 + 2*i {
			e = append(e, .3*float64(b))
		}
		return e
	}
	return map[string]struct {
		of              func(i int) Sum
		replace, remove float64
	}{
		"count": {func(int) Sum { return Count{} }, 1, 1},
		"cells": {func(i int) Sum {
			q := CellCounts{Frame: frame(1), HalfWidth: []float64{1e3, 1 + float64(i)}, Level: 1 + i%3}
			if i%4 == 1 {
				q.Parents = []uint64{} // a tree that is done
			}
			return q
		}, 1, 1},
		"distances": {func(i int) Sum { return Counts{Frame: frame(i), Edges: [][]float64{edges(i)}} }, 1, 1},
		"bins":      {func(i int) Sum { return Counts{Edges: [][]float64{edges(i), nil, edges(2)}} }, 1, 1},
		"columns":   {func(int) Sum { return Counts{Edges: Each([]float64{-.5, math.NaN(), -1}), As: Above} }, 1, 1},
		"signed": {func(i int) Sum {
			return Counts{Edges: Each([]float64{.5, .5 * float64(i), math.NaN()}), As: Balance, SkipZero: i%2 == 0}
		}, .7, 1}, // 1 within one leaf, 1/sqrt2 between two
		"tails":      {func(i int) Sum { return Counts{Frame: frame(i), As: Above, Edges: [][]float64{{0, 1e-9}}} }, 1, 1},
		"full":       {moments(FullForm), .9, .9},
		"diagonal":   {moments(DiagonalForm), .9, .9},
		"spherical":  {moments(SphericalForm), .9, .9},
		"directions": {func(i int) Sum { return Directions{frame(i), .5 + float64(i)} }, .99, .99},
		"log ratio":  {func(i int) Sum { return ratioLeaf(frame(i), .1) }, .5, 1},
		// one sensitivity, many units
		"many ratios": {func(i int) Sum { return ratioLeaf(frame(i), 1e-3*float64(1+i)) }, .5, 1},
	}
}

func ratioLeaf(f Affine, bound float64) Sum {
	return LogRatio{F: []Component{{Frame: f}}, G: []Component{{Frame: identity(dims, .5), LogWeight: -1}}, Bound: bound}
}

// partsOf asks one query per leaf.
func partsOf(p Partition, of func(i int) Sum) Parts {
	q := Parts{Partition: p}
	for i := range p.Leaves() {
		q.Queries = append(q.Queries, of(i))
	}
	return q
}

// partsCases are Parts of every kind over a tree of partitions, and of two kinds over all
// partitions.
func partsCases() (cases []sumCase) {
	kinds, all := leafQueries(), partitions()
	for kind, k := range kinds {
		cases = append(cases, sumCase{"parts deep: " + kind, partsOf(all["deep"], k.of), k.replace, k.remove},
			sumCase{"parts regions: " + kind, partsOf(all["regions"], k.of), k.replace, k.remove})
	}
	for name, p := range all {
		for _, kind := range []string{"count", "full"} {
			c := sumCase{"parts " + name + ": " + kind, partsOf(p, kinds[kind].of), 0, kinds[kind].remove}
			if name == "one" && kind == "count" {
				c.replace = c.remove
			}
			if name == "overflowing" || name == "huge" {
				c.remove = 0
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// distanceCases go to the catalogue in sumCases.
func distanceCases() []sumCase {
	id := identity(dims, 1)
	cases := []sumCase{
		{"distances", Counts{Frame: id, Edges: [][]float64{{0, .5, 1, 1, 1e154, 1e200, math.MaxFloat64}}}, 1, 1},
		{"distances one edge", Counts{Frame: id, Edges: [][]float64{{1}}}, 1, 1},
		{"distances edges tiny", Counts{Frame: id, Edges: [][]float64{{0, 0, 5e-324, 1e-200}}}, .7, 1},
	}
	for name, f := range frames() {
		cases = append(cases, sumCase{"distances " + name, Counts{Frame: f, Edges: [][]float64{{1e-9, 1, 1e150}}}, 0, 1})
	}
	return cases
}
