package kernel

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Spacing is one released bucket of a soft spacing histogram.
type Spacing struct {
	Leaf, Scale int
	Length      float64 // 64^Scale: the length of the bucket's gaps
	// the range of those gaps: a little more than 2^LogWindow gaps of that length; neighbours
	// overlap by a fifth
	Low, High float64
	Mass      float64 // noisy number of gaps, at least the threshold
}

// SpacingHistogram releases the buckets of soft spacing histograms whose noisy mass passes the
// threshold, sorted by leaf, scale and place. Sigma is the noise sd of a Mass.
//
// Theorem. With query.SpacingMasses' bounds S on the L2 sensitivity, M on the mass of a one-sided
// bucket and J on their number, and g the number of rows of the table that one person can replace
// (1, but k for a table of block estimates), let sigma = gS/mu, s the slack that the step's delta
// buys, and T = gM + 1 + ceil(sigma q), P(Z >= q) <= s/(gJ). Releasing the buckets whose noisy mass
// reaches T is mu-GDP up to total variation s.
//
// Proof: kernel/stability_proof.md, steps 1 to 3 and 5.
//
// A bucket of mass 0 is empty: it gets no noise and is never released.
//
// Source: [AMN24] Sections 1.3 and 1.4 of the restatement.
func SpacingHistogram(a *core.SubBudget, step string, q query.SpacingMasses, mu float64) (windows []Spacing, sigma float64, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return nil, 0, err
	}
	unit, sensitivity := q.Unit(), core.Grouped(a, q.Sensitivity(a.Session().Relation()))
	if sigma, err = core.Sigma(step, sensitivity, mu); err != nil {
		return nil, 0, err
	}
	line := core.Measurement{Sensitivity: sensitivity * unit, Noise: sigma * unit, Mu: mu}
	values, err := core.Line(a, step, q, line, true, func(d *core.Draw) ([]float64, []int64) {
		buckets, mass := q.OneSided(d.Relation())
		group := core.Group(a)
		threshold := privacy.Threshold(group*mass, sigma, d.LogSlack()-math.Log(group*buckets))
		return NoisySpacings(SpacingMasses(d, q), threshold, unit, func() int64 { return d.Gaussian(sigma) }), nil
	})
	for ; len(values) >= 4; values = values[4:] {
		w := Spacing{Leaf: int(values[0]), Scale: int(values[1]), Mass: values[3]}
		w.Length, w.Low, w.High = q.Window(w.Scale, int64(values[2]))
		windows = append(windows, w)
	}
	return windows, sigma * unit, err
}

// SpacingMasses returns the buckets of every leaf that are not empty, by leaf, scale and place.
func SpacingMasses(d *core.Draw, q query.SpacingQuery) []query.SpacingMass {
	p, column := q.Of()
	own := make([][]query.SpacingMass, p.Leaves())
	engine.EachSorted(d.Engine(), d.Rows(), p, column, func(leaf int, sorted []float64) { own[leaf] = q.Masses(leaf, sorted) })
	return slices.Concat(own...)
}

// NoisySpacings returns leaf, scale, place and noisy mass of every bucket whose noisy mass reaches
// the threshold.
func NoisySpacings(masses []query.SpacingMass, threshold, unit float64, draw func() int64) (values []float64) {
	for _, b := range masses {
		if noisy := float64(b.Mass + draw()); noisy >= threshold {
			values = append(values, float64(b.Leaf), float64(b.Scale), float64(b.Place), noisy*unit)
		}
	}
	return values
}
