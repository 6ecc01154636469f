package model

import (
	"context"
	"math"
	"slices"
	"sort"
)

// match pairs the components of a and b, min(k_a, k_b) of them, so that the largest
// ComponentDistance within a pair is as small as possible (dist_PARAM if k_a = k_b), and among such
// pairings the sum of the distances. It returns, for each component of a, its partner's index in b
// or -1; its error is ctx's.
//
// Infinite distances are ordered by how far apart the means are, so that degenerate components are
// still paired with their nearest. The answer is deterministic.
//
// Source: [PPE] Definition of dist_PARAM.
func match(ctx context.Context, a, b *Mixture) (partner []int, err error) {
	cost := make([][]float64, len(a.Components))
	for i, ga := range a.Components {
		cost[i] = make([]float64, len(b.Components))
		for j, gb := range b.Components {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			cost[i][j] = ComponentDistance(a.Weights[i], ga, b.Weights[j], gb)
		}
	}
	return bottleneckAssignment(orderedInfinities(cost, a, b)), nil
}

// orderedInfinities returns cost with every infinite entry replaced by a number above all finite
// ones that grows with the distance of the means, columns scaled by their spread over both models.
func orderedInfinities(cost [][]float64, a, b *Mixture) [][]float64 {
	above := 1.0
	for _, row := range cost {
		for _, c := range row {
			if !math.IsInf(c, 1) {
				above = max(above, c)
			}
		}
	}
	spread := measured(append(slices.Clone(a.Components), b.Components...)).spread
	out := make([][]float64, len(cost))
	for i, row := range cost {
		out[i] = slices.Clone(row)
		for j, c := range row {
			if !math.IsInf(c, 1) {
				continue
			}
			far := 0.0
			for x, s := range spread {
				if s > 0 {
					far += math.Abs(a.Components[i].Mean[x]-b.Components[j].Mean[x]) / s / float64(len(spread))
				}
			}
			out[i][j] = above * (1e3 + far) // far <= 2
		}
	}
	return out
}

// bottleneckAssignment assigns rows to columns of a matrix of finite costs, one to one, as many as
// the smaller side has, minimising the largest cost and then the sum. It returns each row's column,
// or -1.
func bottleneckAssignment(cost [][]float64) []int {
	if len(cost) <= len(cost[0]) {
		return bottleneck(cost)
	}
	turned := make([][]float64, len(cost[0]))
	for j := range turned {
		for i := range cost {
			turned[j] = append(turned[j], cost[i][j])
		}
	}
	row := slices.Repeat([]int{-1}, len(cost))
	for j, i := range bottleneck(turned) {
		row[i] = j
	}
	return row
}

// bottleneck returns cheapestWithin the smallest limit at which every row can have a column of its
// own. There are at least as many columns as rows.
func bottleneck(cost [][]float64) []int {
	values := slices.Concat(cost...)
	slices.Sort(values)
	least := sort.Search(len(values)-1, func(i int) bool { return cheapestWithin(cost, values[i]) != nil })
	return cheapestWithin(cost, values[least]) // the largest value always suffices
}

// cheapestWithin returns each row's column in the assignment of smallest sum among those whose
// costs are all <= limit, by shortest augmenting paths with potentials (the Hungarian method); nil
// if there is none. There are at least as many columns as rows.
func cheapestWithin(cost [][]float64, limit float64) []int {
	n, m := len(cost), len(cost[0])
	// Rows and columns count from 1; column 0 holds the row to be placed.
	holder := make([]int, m+1)
	u, v := make([]float64, n+1), make([]float64, m+1) // potentials of rows and columns
	for i := 1; i <= n; i++ {
		holder[0] = i
		before, done := make([]int, m+1), make([]bool, m+1) // the column before each on the path to it
		reach := slices.Repeat([]float64{math.Inf(1)}, m+1)
		end := 0
		for holder[end] != 0 {
			done[end] = true
			at, next, step := holder[end], -1, math.Inf(1)
			for j := 1; j <= m; j++ {
				if c := cost[at-1][j-1]; !done[j] && c <= limit && c-u[at]-v[j] < reach[j] {
					reach[j], before[j] = c-u[at]-v[j], end
				}
				if !done[j] && reach[j] < step {
					next, step = j, reach[j]
				}
			}
			if next < 0 {
				return nil
			}
			for j := range done {
				if reach[j] -= step; done[j] {
					u[holder[j]] += step
					v[j] -= step
				}
			}
			end = next
		}
		for ; end != 0; end = before[end] {
			holder[end] = holder[before[end]]
		}
	}
	out := make([]int, n)
	for j, i := range holder[1:] {
		if i > 0 {
			out[i-1] = j
		}
	}
	return out
}
