package query_test

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/kernel/query"
)

// partitions holds one of every rule, and trees of them, over tables of dims columns. No row has a
// leaf where a projection overflows by itself.
func partitions() map[string]query.Partition {
	rng := rand.New(rand.NewPCG(21, 4))
	id, flat := identity(dims, 1), dense(rng, dims, 1, .5)
	ball := func(f query.Affine, radius float64) query.Condition { return query.Condition{Map: f, Radius: radius} }
	outside := func(f query.Affine, radius float64) query.Condition {
		return query.Condition{Map: f, Radius: radius, Outside: true}
	}
	at := func(x ...float64) query.Component {
		f := identity(len(x), 1)
		f.Center = x
		return query.Component{Map: f, Radius: 4}
	}
	regions := query.Partition{Regions: []query.Region{
		{[]query.Condition{ball(id, 1.2), ball(flat, .5)}}, {[]query.Condition{outside(id, 1e3), ball(flat, math.Inf(1))}}, {[]query.Condition{ball(id, 2)}}, {},
	}}
	infinite := func(x ...float64) query.Component {
		c := at(x...)
		c.Radius = math.Inf(1)
		return c
	}
	far := infinite(20, 0, 0)
	far.LogWeight = -5
	components := query.Partition{Components: []query.Component{at(1, 0, 0), at(-1, 0, 0), {Map: dense(rng, dims, 2, .5), Radius: 2, LogWeight: -3}, far}}
	project := query.Partition{Project: dense(rng, dims, 2, .7), Components: []query.Component{at(0, 0), at(1, 1), {Map: identity(2, 1e-3), Radius: 1e6, LogWeight: -9}}}
	wide := query.Partition{Project: project.Project, Components: []query.Component{infinite(0, 0), infinite(30, 0), infinite(-30, 40)}}
	columns := query.Partition{
		Project: query.Affine{Columns: []int{2, 0, 2, 2}, Center: []float64{0, 1, 1, 1e-3}, W: [][]float64{{1, 2, 0, 0}, {0, 0, 1, 1}}},
		Regions: []query.Region{{[]query.Condition{ball(identity(2, 1), 3)}}, {[]query.Condition{outside(identity(2, 1), 9)}}},
	}
	return map[string]query.Partition{
		"regions": regions, "components": components, "project": project, "columns": columns,
		"one":   {Regions: []query.Region{{}}},
		"ball":  {Regions: []query.Region{{[]query.Condition{ball(id, 3)}}}, Below: []query.Partition{{Regions: []query.Region{{[]query.Condition{ball(id, 20)}}}, Below: []query.Partition{project}}}},
		"below": {Regions: []query.Region{{[]query.Condition{ball(id, 1e3)}}, {[]query.Condition{outside(id, 1e100)}}}, Below: []query.Partition{project, {}}},
		"deep": {
			Regions: []query.Region{{[]query.Condition{ball(id, 30)}}, {[]query.Condition{outside(flat, 1e9)}}, {}},
			Below: []query.Partition{components, {}, {Components: []query.Component{infinite(200, 0, 0), infinite(0, 0, 0)},
				Below: []query.Partition{{Regions: []query.Region{{[]query.Condition{ball(id, 1e3)}}, {}}, Below: []query.Partition{wide, {}}}, {}}}},
		},
		"hostile": {Components: []query.Component{
			{Map: frames()["overflowing"], Radius: 1e200, LogWeight: 1e308}, {Map: frames()["huge"], Radius: 5e-324, LogWeight: -math.MaxFloat64},
			{Map: frames()["nothing"], Radius: 1e-300, LogWeight: -1e308}, {Map: frames()["denormal"], Radius: 1},
		}},
		"overflowing": {Project: frames()["overflowing"], Regions: []query.Region{{[]query.Condition{outside(id, 1e150)}}, {}}},
		"huge":        {Project: frames()["huge"], Components: []query.Component{{Map: frames()["nothing"], Radius: 1}}},
		"ties":        {Components: []query.Component{at(0, 0, 0), at(0, 0, 0), at(1, 0, 0), at(0, 1, 0)}},
	}
}

// leafQueries names what is asked of the leaves: the query of leaf i, for dims columns. replace and
// remove are as in sumCase, for a partition whose leaves are all reached.
func leafQueries() map[string]struct {
	of              func(i int) query.Sum
	replace, remove float64
} {
	frame := func(i int) query.Affine { return dense(rand.New(rand.NewPCG(31, uint64(i))), dims, 1+i%4, .5) }
	moments := func(f query.Form) func(int) query.Sum {
		return func(i int) query.Sum {
			q := query.ClippedMoments{Form: f, Lift: .5, Components: []query.Component{{Map: frame(i), Radius: 1 + float64(i)}}}
			if i%3 == 2 {
				q.Components = append(q.Components, query.Component{Map: frame(1), Radius: 2, LogWeight: -1}, query.Component{Map: frame(2), Radius: 2, GateOnly: true})
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
		of              func(i int) query.Sum
		replace, remove float64
	}{
		"count": {func(int) query.Sum { return query.Count{} }, 1, 1},
		"cells": {func(i int) query.Sum {
			q := query.GridCounts{Map: frame(1), HalfWidth: []float64{1e3, 1 + float64(i)}, Level: 1 + i%3}
			if i%4 == 1 {
				q.Parents = []uint64{} // a tree that is done
			}
			return q
		}, 1, 1},
		"distances": {func(i int) query.Sum { return query.Counts{Map: frame(i), Edges: [][]float64{edges(i)}} }, 1, 1},
		"bins":      {func(i int) query.Sum { return query.Counts{Edges: [][]float64{edges(i), nil, edges(2)}} }, 1, 1},
		"columns": {func(int) query.Sum {
			return query.Counts{Edges: query.Each([]float64{-.5, math.NaN(), -1}), As: query.Above}
		}, 1, 1},
		"signed": {func(i int) query.Sum {
			return query.Counts{Edges: query.Each([]float64{.5, .5 * float64(i), math.NaN()}), As: query.Balance, SkipZero: i%2 == 0}
		}, .7, 1}, // 1 within one leaf, 1/sqrt2 between two
		"tails": {func(i int) query.Sum {
			return query.Counts{Map: frame(i), As: query.Above, Edges: [][]float64{{0, 1e-9}}}
		}, 1, 1},
		"full":      {moments(query.FullForm), .9, .9},
		"diagonal":  {moments(query.DiagonalForm), .9, .9},
		"spherical": {moments(query.SphericalForm), .9, .9},
		"completed": {func(i int) query.Sum {
			return query.ClippedMoments{Form: query.CompletedForm, Lift: .6, Components: []query.Component{{Map: frame(i), Radius: 1 + float64(i)}}}
		}, .9, .9},
		"directions": {func(i int) query.Sum { return query.Directions{Map: frame(i), Lift: .5 + float64(i)} }, .99, .99},
		"log ratio":  {func(i int) query.Sum { return ratioLeaf(frame(i), .1) }, .5, 1},
		// one sensitivity, many units
		"many ratios": {func(i int) query.Sum { return ratioLeaf(frame(i), 1e-3*float64(1+i)) }, .5, 1},
	}
}

func ratioLeaf(f query.Affine, bound float64) query.Sum {
	return query.LogRatio{F: []query.Component{{Map: f}}, G: []query.Component{{Map: identity(dims, .5), LogWeight: -1}}, Bound: bound}
}

// partsOf asks one query per leaf.
func partsOf(p query.Partition, of func(i int) query.Sum) query.Parts {
	q := query.Parts{Partition: p}
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
		{"distances", query.Counts{Map: id, Edges: [][]float64{{0, .5, 1, 1, 1e154, 1e200, math.MaxFloat64}}}, 1, 1},
		{"distances one edge", query.Counts{Map: id, Edges: [][]float64{{1}}}, 1, 1},
		{"distances edges tiny", query.Counts{Map: id, Edges: [][]float64{{0, 0, 5e-324, 1e-200}}}, .7, 1},
	}
	for name, f := range frames() {
		cases = append(cases, sumCase{"distances " + name, query.Counts{Map: f, Edges: [][]float64{{1e-9, 1, 1e150}}}, 0, 1})
	}
	return cases
}
