package model

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
)

// Comparison holds the distances between two models, a and b.
type Comparison struct {
	TV       float64 // total variation, Monte Carlo
	TVStdErr float64 // its standard error
	// H with H^2 = 1 - integral of sqrt(a b); exact for two Gaussians, else Monte Carlo
	Hellinger float64
	// KL(a, b) in nats; exact for two Gaussians, else Monte Carlo; may be +Inf
	KLAB       float64
	KLBA       float64          // KL(b, a), likewise
	Matching   [][2]int         // pairs of components {i of a, j of b}, by i; see match
	Components []ComponentMatch // the same pairs, with their distances
	UnmatchedA []int            // components without a partner, where k_a != k_b
	UnmatchedB []int
	// Components that are background: in the densities and not among those above.
	BackgroundA []int
	BackgroundB []int
}

// ComponentMatch holds the distances between two matched components.
type ComponentMatch struct {
	A, B       int     // index in a and in b
	Weight     float64 // |w_a - w_b|
	Mean       float64 // Mahalanobis under B's covariance; +Inf off the directions in which that has variance
	Covariance float64 // |Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 - I|_F; may be +Inf
}

// Compare measures b against a, with rows Monte Carlo rows drawn by rng for the distances between
// densities.
//
// Distances between densities are of whole models, their background included; components are
// matched without it. Columns are matched by name, in any order; where one model has the default
// names x1, .., xd, by place. It fails if a or b is not valid, the columns differ, or rows < 4, and
// stops with ctx.
func Compare(ctx context.Context, a, b *Mixture, rows int, rng *rand.Rand) (Comparison, error) {
	if err := checkPair(a, b, rows); err != nil {
		return Comparison{}, err
	}
	b, err := inColumnsOf(a, b)
	if err != nil {
		return Comparison{}, err
	}
	d, err := monteCarlo(ctx, a, b, rows, rng)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{TV: d.tv.Value, TVStdErr: d.tv.StdErr, Hellinger: d.hellinger.Value, KLAB: d.klAB.Value, KLBA: d.klBA.Value}
	return c, c.match(ctx, a, b)
}

// inColumnsOf returns b with its columns in a's order.
func inColumnsOf(a, b *Mixture) (*Mixture, error) {
	def := DefaultColumns(a.Dim())
	if slices.Equal(a.Columns, b.Columns) || slices.Equal(a.Columns, def) || slices.Equal(b.Columns, def) {
		return b, nil
	}
	out, err := b.MarginalByName(a.Columns)
	if err != nil {
		return nil, fieldError("columns", quoted(a.Columns), quoted(b.Columns), "compare models of the same columns")
	}
	return out, nil
}

func (c *Comparison) match(ctx context.Context, a, b *Mixture) error {
	var groupsA, groupsB []int
	groupsA, c.BackgroundA = a.Split()
	groupsB, c.BackgroundB = b.Split()
	partner, err := match(ctx, a.only(groupsA), b.only(groupsB))
	if err != nil {
		return err
	}
	sumA, sumB := floats.Sum(a.Weights), floats.Sum(b.Weights)
	taken := make([]bool, b.K())
	for at, i := range groupsA {
		if partner[at] < 0 {
			c.UnmatchedA = append(c.UnmatchedA, i)
			continue
		}
		j := groupsB[partner[at]]
		taken[j] = true
		r := relate(a.Components[i], b.Components[j])
		c.Matching = append(c.Matching, [2]int{i, j})
		c.Components = append(c.Components, ComponentMatch{A: i, B: j,
			Weight: math.Abs(a.Weights[i]/sumA - b.Weights[j]/sumB), Mean: r.mean, Covariance: r.covariance()})
	}
	for _, j := range groupsB {
		if !taken[j] {
			c.UnmatchedB = append(c.UnmatchedB, j)
		}
	}
	return nil
}

// MarshalJSON writes the object that `gauze compare` prints. A distance that is infinite, which
// JSON cannot hold, is null; arrays never are.
func (c Comparison) MarshalJSON() ([]byte, error) {
	type component struct {
		A          int      `json:"a"`
		B          int      `json:"b"`
		Weight     *float64 `json:"weight"`
		Mean       *float64 `json:"mean"`
		Covariance *float64 `json:"covariance"`
	}
	components := make([]component, len(c.Components))
	for i, m := range c.Components {
		components[i] = component{m.A, m.B, orNull(m.Weight), orNull(m.Mean), orNull(m.Covariance)}
	}
	return json.Marshal(struct {
		TV         *float64    `json:"tv"`
		TVStdErr   *float64    `json:"tv_stderr"`
		Hellinger  *float64    `json:"hellinger"`
		KLAB       *float64    `json:"kl_ab"`
		KLBA       *float64    `json:"kl_ba"`
		Matching   [][2]int    `json:"matching"`
		Components []component `json:"components"`
		UnmatchedA []int       `json:"unmatched_a"`
		UnmatchedB []int       `json:"unmatched_b"`
		// what became of them: the densities hold them, the matching does not
		BackgroundA []int `json:"background_a"`
		BackgroundB []int `json:"background_b"`
	}{
		orNull(c.TV), orNull(c.TVStdErr), orNull(c.Hellinger), orNull(c.KLAB), orNull(c.KLBA),
		notNil(c.Matching), components, notNil(c.UnmatchedA), notNil(c.UnmatchedB),
		notNil(c.BackgroundA), notNil(c.BackgroundB),
	})
}

func orNull(v float64) *float64 {
	if !dense.Finite(v) {
		return nil
	}
	return &v
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
