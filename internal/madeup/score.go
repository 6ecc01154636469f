package madeup

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// A Score says how far a fitted model is from the truth.
type Score struct {
	// WorstMean is the largest Mahalanobis distance, over the true components and under their
	// covariances, of a component's mean from its partner's; where it has none, from the nearest
	// mean.
	WorstMean float64
	// MedianBound is the median over the true components of a bound on the total variation from the
	// partner: Pinsker's sqrt(KL/2), the better of both directions, at most 1; 1 without a partner.
	MedianBound float64
	// MedianTV is the same of a Monte-Carlo estimate of the total variation itself; 0 if no rows
	// were allowed for it.
	MedianTV float64
	// WorstWeight is the largest absolute error of a weight; a missing component has weight 0.
	WorstWeight float64
	Found       int // components of the fitted model
	Missed      int // true components without a partner
	// SurplusWeight is the weight of all fitted components without a partner.
	SurplusWeight float64
	// Partner is, for each true component, its partner in the fitted model, or -1.
	Partner []int
}

// monteCarloStream keeps the rows of the Monte-Carlo estimate apart from those of a table.
const monteCarloStream = 3

// Compare measures fitted, which carries no background, against truth. Components become partners
// one to one, the closest first, by the Mahalanobis distance of their means under the true
// covariance. rows > 0 asks for Monte-Carlo total variations of so many rows.
//
// The greedy pairing finds a pairing of all true components within a distance t whenever there is
// one and no mean is within t of two true components, which is so for every separation of interest.
func Compare(truth, fitted *model.Mixture, rows int) (Score, error) {
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
	s := Score{Found: len(fitted.Components), Partner: make([]int, len(truth.Components))}
	for i := range s.Partner {
		s.Partner[i] = -1
	}
	taken := make([]bool, len(fitted.Components))
	for _, p := range pairs {
		if s.Partner[p.i] < 0 && !taken[p.j] {
			s.Partner[p.i], taken[p.j] = p.j, true
			nearest[p.i] = p.distance
		}
	}
	s.WorstMean = slices.Max(nearest)
	return s, s.measure(truth, fitted, taken, rows)
}

// measure fills in what follows from the partners.
func (s *Score) measure(truth, fitted *model.Mixture, taken []bool, rows int) error {
	rng := rand.New(rand.NewPCG(1, monteCarloStream))
	var bounds, tvs []float64
	for i, t := range truth.Components {
		j := s.Partner[i]
		if j < 0 {
			s.Missed++
			bounds, tvs = append(bounds, 1), append(tvs, 1)
			s.WorstWeight = max(s.WorstWeight, truth.Weights[i])
			continue
		}
		f := fitted.Components[j]
		s.WorstWeight = max(s.WorstWeight, math.Abs(fitted.Weights[j]-truth.Weights[i]))
		kl := min(model.GaussianKL(t, f), model.GaussianKL(f, t))
		bounds = append(bounds, min(1, math.Sqrt(kl/2)))
		if rows > 0 {
			tv, err := componentTV(t, f, rows, rng)
			if err != nil {
				return err
			}
			tvs = append(tvs, min(tv, bounds[len(bounds)-1]))
		}
	}
	for j, w := range fitted.Weights {
		if !taken[j] {
			s.SurplusWeight += w
		}
	}
	s.MedianBound = median(bounds)
	if rows > 0 {
		s.MedianTV = median(tvs)
	}
	return nil
}

func componentTV(a, b model.Gaussian, rows int, rng *rand.Rand) (float64, error) {
	ma, err := model.New(nil, nil, []model.Gaussian{a})
	if err != nil {
		return 0, err
	}
	mb, err := model.New(nil, nil, []model.Gaussian{b})
	if err != nil {
		return 0, err
	}
	c, err := model.Compare(context.Background(), ma, mb, rows, rng)
	return float64(c.TV), err
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
