// Package pearson learns mixtures of Gaussians by their moments, without a first guess, as Kalai,
// Moitra and Valiant do: a mixture of two along a line solves Pearson's equation of degree nine,
// and what holds along lines gives what holds in all columns; more components are found by
// splitting. Each step has its file:
//
//	frame.go      the rows in coordinates that no change of units or axes alters
//	direction.go  lines to look along (pursuit.go: lines on which moments are extreme)
//	nonic.go      the moments of a projection, Pearson's polynomial, the mixture from a root
//	              (roots.go), mixtures with a common mean
//	literal.go    all columns from many lines, as in the source
//	lift.go       all columns from one line, by linear algebra
//	turn.go       the line along which a first result says that the components are best apart
//	scores.go     moments whose matching loses no accuracy: the scores (prior.go: what is added to
//	              them in small blocks)
//	pair.go       two components: all of these, in order
//	split.go      more components: valleys, and the hierarchy
//
// Source: [KMV10]; [PEARSON94]; [PPE] Section C3 of the restatement.
package pearson

import (
	"math"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/dense"

	"github.com/gauze-dp/gauze/learner"
)

// A Learner finds Components Gaussians by moments of projections, from blocks of some dozen rows
// per component on. It needs no starts: components that EM from the usual starts does not tell
// apart, thin ones side by side or one around another, are found like others.
//
// Its answer does not depend on the coordinate system: for rows x -> Ax+b, A invertible, it returns
// the image of what it returns for x, up to rounding. Where fewer components than asked for are
// seen, it errs.
//
// Source: [KMV10]; [PPE] Section C3 of the restatement. Differs: one line is lifted by linear
// algebra, in place of many lines (which Literal brings back); more than two components are found
// by splits at valleys, which are not the clusterings of [MV10], whose univariate learner is a
// search of a net of all parameters; the projections' likelihood chooses the line; after the
// moments of fixed functions come those of the scores, by a few of Newton's steps, with a prior
// worth ten rows per component; components that the rows do not need are an error.
type Learner struct {
	// Components is k. Required.
	Components int
	// Literal solves along many directions and assembles, as the source does, and stops there; up
	// to two components, more are an error.
	Literal bool
}

var (
	_ learner.Mixture = Learner{}
	_ learner.Learner = Learner{}
)

// errInseparable is the error of rows in which fewer components than asked for can be told apart.
const errInseparable learner.Error = "learner: the components cannot be told apart"

// Estimates returns k.
func (l Learner) Estimates() int { return l.Components }

// Coordinates returns that of a mixture's component.
func (Learner) Coordinates(d int) int { return learner.MixtureCoordinates(d) }

// Learn returns the components as estimates, weight, mean and root.
func (l Learner) Learn(rows [][]float64, seed uint64) ([][]float64, error) {
	found, err := l.LearnMixture(rows, l.Components, seed)
	return learner.Estimates(found), err
}

// LearnMixture finds k components.
func (l Learner) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	if k < 1 || len(rows) == 0 || len(rows[0]) == 0 || len(rows) < 2*k*(len(rows[0])+1) {
		return nil, learner.ErrTooFew
	}
	rng := rand.New(rand.NewPCG(seed, uint64(k)))
	n, ok := newNode(rows, rng)
	if !ok {
		return nil, errInseparable
	}
	var found []gauss
	if l.Literal && k > 2 {
		return nil, errInseparable
	}
	if l.Literal && k == 2 {
		found, ok = literal(n.t, n.us)
	} else {
		found = n.best(k, spaceSteps, rng)
	}
	if found == nil || !ok || !separable(n.t, found) {
		return nil, errInseparable
	}
	out := n.f.components(found)
	if !usable(out) {
		return nil, errInseparable
	}
	return out, nil
}

// separable says whether all components are needed: the likelihood falls by more than chance if any
// two are replaced by one.
func separable(t table, mixture []gauss) bool {
	if len(mixture) == 1 {
		return true
	}
	value := likelihood(t, mixture)
	need := chance(parameters(t.d)) / float64(t.n)
	for b := range mixture {
		for a := range b {
			merged, ok := merge(mixture, a, b, t.d)
			if !ok || value-likelihood(t, merged) < need {
				return false
			}
		}
	}
	return true
}

// chance returns an upper bound on the gain of the likelihood of all rows, in nats, by one more
// component of p parameters that is not there: a utility constant, slightly above the largest gains
// that Gaussian rows were seen to give.
func chance(p int) float64 { return 2 + float64(p) + 1.5*math.Sqrt(float64(p)) }

// merge replaces components a and b by the Gaussian with their moments.
func merge(mixture []gauss, a, b, d int) ([]gauss, bool) {
	g, h := mixture[a], mixture[b]
	one := gauss{g.weight + h.weight, make([]float64, d), make([]float64, d*d)}
	p := g.weight / one.weight
	sa, sb := dense.Gram(g.root, d), dense.Gram(h.root, d)
	for i := range d {
		one.mean[i] = p*g.mean[i] + (1-p)*h.mean[i]
		for j := range d {
			gap := (g.mean[i] - h.mean[i]) * (g.mean[j] - h.mean[j])
			one.root[i*d+j] = p*sa[i*d+j] + (1-p)*sb[i*d+j] + p*(1-p)*gap
		}
	}
	if !dense.Cholesky(one.root, d) {
		return nil, false
	}
	out := []gauss{one}
	for c, g := range mixture {
		if c != a && c != b {
			out = append(out, g)
		}
	}
	return out, true
}

// triangular returns the lower triangular root of the covariance that a root has.
func triangular(root [][]float64) []float64 {
	d := len(root)
	flat := make([]float64, 0, d*d)
	for _, r := range root {
		flat = append(flat, r...)
	}
	s := dense.Gram(flat, d)
	dense.Cholesky(s, d)
	return s
}
