package madeup

import (
	"cmp"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// WorstMean returns the largest Mahalanobis distance, over the true components and under their
// covariances, of a component's mean from its partner's; where it has none, from the nearest mean.
// The fitted model carries no background. Components become partners one to one, the closest first.
//
// That finds a pairing of all true components within a distance t whenever there is one and no mean
// is within t of two true components, which is so for every separation of interest.
func WorstMean(truth, fitted *model.Mixture) float64 {
	type pair struct {
		i, j     int
		distance float64
	}
	var pairs []pair
	nearest := make([]float64, len(truth.Components))
	for i, t := range truth.Components {
		nearest[i] = math.Inf(1)
		for j, f := range fitted.Components {
			d, _ := Distances(f, t)
			pairs = append(pairs, pair{i, j, d})
			nearest[i] = min(nearest[i], d)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.distance, b.distance) })
	paired, taken := make([]bool, len(truth.Components)), make([]bool, len(fitted.Components))
	for _, p := range pairs {
		if !paired[p.i] && !taken[p.j] {
			paired[p.i], taken[p.j], nearest[p.i] = true, true, p.distance
		}
	}
	return slices.Max(nearest)
}
