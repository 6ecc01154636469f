// Package spectral learns mixtures of separated spherical Gaussians from a small sample, without
// privacy: project to the span of the leading singular vectors, tell the components apart there,
// estimate each from its rows.
//
// Source: [KSSU19] Section B.11 of the restatement (the learner of Vempala and Wang).
package spectral

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

// A Learner finds Components spherical Gaussians, a few of their diameters apart, by k-means in the
// projection. An estimate of it has d+2 coordinates: the mean, ln sigma, and the weight.
type Learner struct {
	// Components is k. Required.
	Components int
}

var _ learner.Learner = Learner{}

// Estimates returns k.
func (l Learner) Estimates() int { return l.Components }

// Coordinates returns d+2.
func (Learner) Coordinates(d int) int { return d + 2 }

// leastRows of a component: its sigma needs two.
const leastRows = 2

// Learn returns the components' means, log sigmas and weights, in no particular order of
// components. Rows that coincide have no log sigma, so a component of one point is an error, as is
// one of fewer than two rows, or fewer than 2k rows in all.
func (l Learner) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	k := l.Components
	if k < 1 || len(rows) < leastRows*k {
		return nil, learner.ErrTooFew
	}
	return refit(rows, parted(project(rows, k), k, restarts, lloydSteps, rand.New(rand.NewPCG(seed, uint64(k)))), k)
}

// refit returns the mean, ln sigma and weight of every part, in the columns of the rows; part is -1
// for rows in none.
func refit(rows [][]float64, part []int, k int) ([][]float64, error) {
	d := len(rows[0])
	counts, out := make([]float64, k), make([][]float64, k)
	for j := range out {
		out[j] = make([]float64, d+2)
	}
	total := 0.0
	for i, x := range rows {
		if j := part[i]; j >= 0 {
			counts[j]++
			total++
			for c, v := range x {
				out[j][c] += (v - out[j][c]) / counts[j]
			}
		}
	}
	squares := make([]float64, k)
	for i, x := range rows {
		if j := part[i]; j >= 0 {
			squares[j] += kmeans.Distance2(x, out[j][:d])
		}
	}
	for j, n := range counts {
		if n < leastRows {
			return nil, learner.ErrTooFew
		}
		out[j][d] = math.Log(squares[j]/(float64(d)*(n-1))) / 2
		out[j][d+1] = n / total
	}
	return out, nil
}
