package spectral

import (
	"math"

	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/kmeans"
)

// Spheres finds mixtures of spherical Gaussians: a component's root is sigma times the identity. It
// is Learner in the form of other learners of mixtures, or, with Peel, the learner that the source
// plugs in.
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

// LearnMixture returns k components in no particular order. A component of one point, or of fewer
// than two rows, is an error.
func (l Spheres) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	if k < 1 || len(rows) < leastRows*k {
		return nil, learner.ErrTooFew
	}
	find := Learner{Components: k}.Learn
	if l.Peel {
		find = func(rows [][]float64, _ uint64) ([][]float64, error) {
			return refit(rows, peel(project(rows, k), k), k)
		}
	}
	found, err := find(rows, seed)
	if err != nil {
		return nil, err
	}
	d := len(rows[0])
	out := make([]learner.Component, k)
	for j, e := range found {
		out[j] = learner.Component{Weight: e[d+1], Mean: e[:d:d], Root: make([][]float64, d)}
		for i := range d {
			out[j].Root[i] = make([]float64, d)
			out[j].Root[i][i] = math.Exp(e[d])
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
