package model

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// mostPairRows is the most Monte Carlo rows for the total variation of one pair of components:
// standard errors are at most .004.
const mostPairRows = 16_000

// distGMM returns dist_GMM of the components that are no background: the largest of |w - w'| and
// the total variation of the Gaussians within a pair, for the pairing for which it is least. It is
// +Inf if the numbers of components differ, and its error is ctx's.
//
// Source: [PPE] Definition of dist_PARAM (dist_GMM).
func distGMM(ctx context.Context, a, b *Mixture, rows int, rng *rand.Rand) (float64, error) {
	groupsA, _ := a.Split()
	groupsB, _ := b.Split()
	if len(groupsA) != len(groupsB) || len(groupsA) == 0 {
		return math.Inf(1), nil
	}
	sumA, sumB := floats.Sum(a.Weights), floats.Sum(b.Weights)
	cost := make([][]float64, len(groupsA))
	for at, i := range groupsA {
		for _, j := range groupsB {
			tv, err := gaussiansApart(ctx, a, i, b, j, min(rows, mostPairRows), rng)
			if err != nil {
				return 0, err
			}
			cost[at] = append(cost[at], math.Max(tv, math.Abs(a.Weights[i]/sumA-b.Weights[j]/sumB)))
		}
	}
	largest := 0.0
	for i, j := range bottleneckAssignment(cost) {
		largest = math.Max(largest, cost[i][j])
	}
	return largest, nil
}

// gaussiansApart returns the total variation of two components' Gaussians, by Monte Carlo.
func gaussiansApart(ctx context.Context, a *Mixture, i int, b *Mixture, j, rows int, rng *rand.Rand) (float64, error) {
	one := func(m *Mixture, i int) *Mixture {
		return &Mixture{Columns: m.Columns, Weights: []float64{1}, Components: m.Components[i : i+1], Cells: m.Cells}
	}
	d, err := monteCarlo(ctx, one(a, i), one(b, j), rows, rng)
	return d.tv.Value, err
}
