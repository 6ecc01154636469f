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

// Spheres finds mixtures of spherical Gaussians, a few of their diameters apart, by k-means in the
// projection or, with Peel, as the learner does that the source plugs in. A component's root is
// sigma times the identity.
//
// Source: [KSSU19] Theorem 5.2 (the learner of Vempala and Wang); Section B.11 of the restatement.
type Spheres struct {
	// Components is k of Learn. LearnMixture is told its own.
	Components int
	// Peel takes the components off one by one, as the source does. That needs components some
	// thirty of their diameters apart; k-means in the projection needs a few.
	Peel bool
}

var (
	_ learner.Learner = Spheres{}
	_ learner.Mixture = Spheres{}
)

// peelFailure is b, the probability of failure that widens the balls.
const peelFailure = .1

// Estimates returns k.
func (l Spheres) Estimates() int { return l.Components }

// Coordinates returns that of a component.
func (Spheres) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the components as learner.Estimates writes them.
func (l Spheres) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	mixture, err := l.LearnMixture(rows, l.Components, seed)
	return learner.Estimates(mixture), err
}

// leastRows of a component: its sigma needs two.
const leastRows = 2

// LearnMixture returns k components in no particular order. A component of one point, or of fewer
// than two rows, is an error, as are fewer than 2k rows in all.
func (l Spheres) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	if k < 1 || len(rows) < leastRows*k {
		return nil, learner.ErrTooFew
	}
	y := project(rows, k)
	if l.Peel {
		return refit(rows, peel(y, k), k)
	}
	return refit(rows, parted(y, k, restarts, lloydSteps, rand.New(rand.NewPCG(seed, uint64(k)))), k)
}

// refit returns the Gaussian and weight of every part, in the columns of the rows; part is -1 for
// rows in none.
func refit(rows [][]float64, part []int, k int) ([]learner.Component, error) {
	d := len(rows[0])
	counts, squares, total := make([]float64, k), make([]float64, k), 0.0
	out := make([]learner.Component, k)
	for j := range out {
		out[j].Mean = make([]float64, d)
	}
	for i, x := range rows {
		if j := part[i]; j >= 0 {
			counts[j]++
			total++
			for c, v := range x {
				out[j].Mean[c] += (v - out[j].Mean[c]) / counts[j]
			}
		}
	}
	for i, x := range rows {
		if j := part[i]; j >= 0 {
			squares[j] += kmeans.Distance2(x, out[j].Mean)
		}
	}
	for j, n := range counts {
		if n < leastRows {
			return nil, learner.ErrTooFew
		}
		out[j].Weight, out[j].Root = n/total, make([][]float64, d)
		sigma := math.Exp(math.Log(squares[j]/(float64(d)*(n-1))) / 2)
		for i := range d {
			out[j].Root[i] = make([]float64, d)
			out[j].Root[i][i] = sigma
		}
	}
	return out, nil
}

// peel takes one component after another, largest first: with R the largest distance of a row to
// the nearest other row, the rows within R(1 + 8 sqrt(6 ln(n/b)/k)) of the row that attains it. A
// row that is in no component is in part -1.
//
// Source: [KSSU19] Section B.11 of the restatement, step 2.
func peel(y [][]float64, k int) []int {
	factor := 1 + 8*math.Sqrt(6*math.Log(float64(len(y))/peelFailure)/float64(k))
	part := make([]int, len(y))
	for i := range part {
		part[i] = -1
	}
	for j := range k {
		at, r2 := -1, -1.0
		for i, x := range y {
			nearest := math.Inf(1)
			for h, z := range y {
				if h != i && part[i] < 0 && part[h] < 0 {
					nearest = math.Min(nearest, kmeans.Distance2(x, z))
				}
			}
			if !math.IsInf(nearest, 1) && nearest > r2 {
				at, r2 = i, nearest
			}
		}
		for i, x := range y {
			if at >= 0 && part[i] < 0 && kmeans.Distance2(x, y[at]) <= r2*factor*factor {
				part[i] = j
			}
		}
	}
	return part
}
