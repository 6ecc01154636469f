// Package madeup draws made-up data whose truth is known, and measures a fitted model against it.
// It is for tests and experiments: no other code may import it.
//
//   - [Spec]: separated spheres.
//   - [Unbounded]: components of any places and scales, so that no bound is known beforehand.
//   - [BlackBox]: what a reduction to a learner is tried on, in any units.
//   - [Plain]: clusters that a glance at the right picture shows.
//   - [Population]: one distribution, Gaussian or not.
//   - [Moderate]: mixtures of ordinary scales, drawn from a test's own generator.
//
// All but the last are functions of a seed, and the mixture of a seed is the same for every number
// of rows. Nothing is centred and no column has unit spread.
package madeup

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/model"
)

// unit and offset are the standard deviation of a sphere and the place of the origin in standard
// deviations.
const unit, offset = 37, 300

// A Spec says which mixtures of spheres of equal weight are drawn, one for each seed. The means are
// drawn at random and then scaled so that the closest pair lies exactly at the distance asked for;
// all other pairs are farther apart, in a bad draw much farther. One standard deviation is 37, and
// the origin lies 300 of them away in every column.
type Spec struct {
	Columns    int `json:"d"` // Required.
	Components int `json:"k"` // Required.
	// Distance is how far the closest two means are apart, in standard deviations. Required of two
	// components or more.
	Distance float64 `json:"gap,omitempty"`
}

// Draw draws a mixture and n rows: a function of s, seed and n. The first rows of a longer table
// are those of a shorter one.
func (s Spec) Draw(seed uint64, n int) (*Instance, error) {
	truth, err := s.Truth(seed)
	if err != nil {
		return nil, err
	}
	return drawn(truth, seed, n)
}

// Truth draws the mixture of a seed.
func (s Spec) Truth(seed uint64) (*model.Mixture, error) {
	if s.Columns < 1 || s.Components < 1 || s.Components > 1 && !(s.Distance > 0) {
		return nil, fmt.Errorf("problem: wanted columns, components and a distance, got %+v", s)
	}
	rng := rand.New(rand.NewPCG(seed, truthStream))
	means, grow := make([][]float64, s.Components), 1.0
	for i := range means {
		means[i] = make([]float64, s.Columns)
		for j := range means[i] {
			means[i][j] = rng.NormFloat64()
		}
	}
	if s.Components > 1 {
		grow = s.Distance / closest(means, means)
	}
	cov, err := model.NewSpherical(s.Columns, unit*unit)
	if err != nil {
		return nil, err
	}
	gs := make([]model.Gaussian, s.Components)
	for i, m := range means {
		floats.Scale(grow, m)
		floats.AddConst(offset, m)
		floats.Scale(unit, m)
		gs[i] = model.Gaussian{Mean: m, Cov: cov}
	}
	return model.New(nil, nil, gs)
}
