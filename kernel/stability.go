package kernel

import (
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A HistogramCell is one released cell of a stability histogram.
type HistogramCell struct {
	Leaf       int
	Coordinate int // of the leaf's frame; -1 if the histogram is joint
	// the integer k of query.BoxKeys: one, or one per coordinate if the histogram is joint
	Key   []float64
	Count float64 // noisy
}

// StabilityHistogram releases the cells of stability histograms whose noisy count passes the
// threshold, sorted by leaf, coordinate and key.
//
// Theorem. Let J be the number of histograms per leaf, g the number of rows of the table that one
// person can replace (1, but k for a table of block estimates), S = g sqrt(2J) (replace-one) or g
// sqrt J, sigma = S/mu, s the slack that the step's delta buys, and T = g + 1 + ceil(sigma q), P(Z
// >= q) <= s/(gJ). Releasing the cells whose noisy count reaches T is mu-GDP up to total variation
// s.
//
// Proof: stability_proof.md, steps 1 to 4.
//
// The slack enters delta with the factor (1 + e^epsilon): see privacy.Calibrate. The number of
// leaves does not matter.
//
// Source: [KSSU19] Sections A.2, A.4 and B.11 of the restatement.
func StabilityHistogram(a *core.SubBudget, step string, q query.BoxKeys, mu float64) (cells []HistogramCell, sigma float64, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return nil, 0, err
	}
	sensitivity := core.Grouped(a, q.Sensitivity(a.Session().Relation()))
	if sigma, err = core.Sigma(step, sensitivity, mu); err != nil {
		return nil, 0, err
	}
	line := core.Measurement{Sensitivity: sensitivity, Noise: sigma, Mu: mu}
	values, err := core.Line(a, step, q, line, true, func(d *core.Draw) ([]float64, []int64) {
		threshold := privacy.Threshold(core.Group(a), sigma, d.LogSlack()-math.Log(core.Group(a)*float64(q.Histograms())))
		return FlatHistogram(NoisyHistogram(q, HistogramCounts(d, q), threshold, func() int64 { return d.Gaussian(sigma) })), nil
	})
	return UnflatHistogram(values), sigma, err
}

// HistogramCounts returns the counts of the cells that are not empty.
func HistogramCounts(d *core.Draw, q query.BoxKeys) []map[query.Box]int64 {
	return d.Engine().Scan(d.Rows(), q).(*query.Boxes).Counts
}

// NoisyHistogram returns the cells whose noisy count reaches the threshold. It draws the noise in
// the order of their keys, so that neither maps nor the order of rows matter to a seeded run.
func NoisyHistogram(q query.BoxKeys, histograms []map[query.Box]int64, threshold float64, draw func() int64) (cells []HistogramCell) {
	for at, counts := range histograms {
		leaf, coordinate, length := at/q.Histograms(), at%q.Histograms(), 1
		if q.Joint {
			coordinate, length = -1, q.Grids[leaf].Map.Out()
		}
		for _, box := range slices.SortedFunc(maps.Keys(counts), func(x, y query.Box) int { return slices.Compare(x[:], y[:]) }) {
			if noisy := float64(counts[box] + draw()); noisy >= threshold {
				cells = append(cells, HistogramCell{leaf, coordinate, slices.Clone(box[:length]), noisy})
			}
		}
	}
	return cells
}

// FlatHistogram writes cells as leaf, coordinate, count, length of the key, key; UnflatHistogram
// reads them back.
func FlatHistogram(cells []HistogramCell) (values []float64) {
	for _, c := range cells {
		values = append(values, float64(c.Leaf), float64(c.Coordinate), c.Count, float64(len(c.Key)))
		values = append(values, c.Key...)
	}
	return values
}

// UnflatHistogram reads what FlatHistogram has written.
func UnflatHistogram(values []float64) (cells []HistogramCell) {
	for len(values) >= 4 {
		end := 4 + int(values[3])
		cells = append(cells, HistogramCell{int(values[0]), int(values[1]), slices.Clone(values[4:end]), values[2]})
		values = values[end:]
	}
	return cells
}
