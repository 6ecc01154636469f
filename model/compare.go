package model

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
)

// A Distance is not negative and may be +Inf, which JSON cannot hold: it is null there.
type Distance float64

// MarshalJSON writes a number or null.
func (d Distance) MarshalJSON() ([]byte, error) {
	if !dense.Finite(float64(d)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(d))
}

// Comparison holds the distances between two models, a and b. Its JSON is what `gauze compare`
// prints.
type Comparison struct {
	TV       Distance `json:"tv"`        // total variation, Monte Carlo
	TVStdErr Distance `json:"tv_stderr"` // its standard error
	// H with H^2 = 1 - integral of sqrt(a b); exact for two Gaussians, else Monte Carlo
	Hellinger Distance `json:"hellinger"`
	// KL(a, b) in nats; exact for two Gaussians, else Monte Carlo; may be +Inf
	KLAB       Distance         `json:"kl_ab"`
	KLBA       Distance         `json:"kl_ba"`       // KL(b, a), likewise
	DistGMM    Distance         `json:"dist_gmm"`    // see distGMM; +Inf if k_a != k_b
	Matching   [][2]int         `json:"matching"`    // pairs of components {i of a, j of b}, by i; see match
	Components []ComponentMatch `json:"components"`  // the same pairs, with their distances
	UnmatchedA []int            `json:"unmatched_a"` // components without a partner, if k_a != k_b
	UnmatchedB []int            `json:"unmatched_b"`
	// Background components: part of the densities, but not of the lists above.
	BackgroundA []int `json:"background_a"`
	BackgroundB []int `json:"background_b"`
	// For the columns of categories that both have, their shares of all rows. Densities and
	// matching use only the numbers.
	Categories []CategoryDistance `json:"categories,omitempty"`
}

// ComponentMatch holds the distances between two matched components.
type ComponentMatch struct {
	A      int      `json:"a"` // index in a
	B      int      `json:"b"`
	Weight Distance `json:"weight"` // |w_a - w_b|
	// Mahalanobis under B's covariance; +Inf outside the directions in which B has variance
	Mean Distance `json:"mean"`
	// |Sigma_b^-1/2 Sigma_a Sigma_b^-1/2 - I|_F; may be +Inf
	Covariance Distance `json:"covariance"`
	// For the columns of categories that both have.
	Categories []CategoryDistance `json:"categories,omitempty"`
}

// Compare measures b against a, with rows Monte Carlo rows drawn by rng for the distances between
// densities.
//
// Distances between densities compare whole models, background included; components are matched
// without it. Columns are matched by name, in any order; if one model has the default names x1, ..,
// xd, by place. It fails if a or b is not valid, the columns differ, or rows < 4, and stops with
// ctx.
func Compare(ctx context.Context, a, b *Mixture, rows int, rng *rand.Rand) (Comparison, error) {
	if err := checkPair(a, b, rows); err != nil {
		return Comparison{}, err
	}
	b, err := inColumnsOf(a, b)
	if err != nil {
		return Comparison{}, err
	}
	for j, name := range a.Columns {
		if la, lb := logOf(a, j), logOf(b, j); la != lb {
			return Comparison{}, fieldError("columns", strconv.Quote(name)+" as "+la.String()+" in both models", lb.String()+" in model b", "fit both with one schema")
		}
	}
	d, err := monteCarlo(ctx, a, b, rows, rng)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{TV: Distance(d.tv.Value), TVStdErr: Distance(d.tv.StdErr), Hellinger: Distance(d.hellinger.Value),
		KLAB: Distance(d.klAB.Value), KLBA: Distance(d.klBA.Value), Categories: categoriesApart(a, b, -1, -1)}
	if err := c.match(ctx, a, b); err != nil {
		return Comparison{}, err
	}
	far, err := distGMM(ctx, a, b, rows, rng)
	c.DistGMM = Distance(far)
	return c, err
}

// logOf returns the map under which the Gaussians describe column j.
func logOf(m *Mixture, j int) dense.Log {
	if m.Cells == nil {
		return dense.Log{}
	}
	return m.Cells[j].Log
}

// inColumnsOf returns b with its columns in a's order.
func inColumnsOf(a, b *Mixture) (*Mixture, error) {
	def := DefaultColumns(a.Dim())
	if slices.Equal(a.Columns, b.Columns) || slices.Equal(a.Columns, def) || slices.Equal(b.Columns, def) {
		return b, nil
	}
	out, ok := b.inOrder(a.Columns)
	if !ok {
		return nil, fieldError("columns", quoted(a.Columns), quoted(b.Columns), "compare models of the same columns")
	}
	return out, nil
}

func (c *Comparison) match(ctx context.Context, a, b *Mixture) error {
	groupsA, wideA := a.Split()
	groupsB, wideB := b.Split()
	c.BackgroundA, c.BackgroundB = append([]int{}, wideA...), append([]int{}, wideB...) // arrays and not null in JSON
	c.Matching, c.Components, c.UnmatchedA, c.UnmatchedB = [][2]int{}, []ComponentMatch{}, []int{}, []int{}
	partner, err := match(ctx, a.only(groupsA), b.only(groupsB))
	if err != nil {
		return err
	}
	sumA, sumB := floats.Sum(a.Weights), floats.Sum(b.Weights)
	taken := make([]bool, len(b.Components))
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
			Weight: Distance(math.Abs(a.Weights[i]/sumA - b.Weights[j]/sumB)), Mean: Distance(r.mean), Covariance: Distance(r.covariance()),
			Categories: categoriesApart(a, b, i, j)})
	}
	for _, j := range groupsB {
		if !taken[j] {
			c.UnmatchedB = append(c.UnmatchedB, j)
		}
	}
	return nil
}
