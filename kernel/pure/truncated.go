package pure

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// TruncatedHistogram releases the cells of stability histograms whose noisy count passes the
// support of the noise, sorted by leaf, coordinate and key: epsilon-DP but for the step's slack. No
// count released is off by more than support, surely, and every cell of more than 2 support rows is
// released.
//
// The noise of every count is Z with P(Z = z) ~ exp(-r|z|) on the integers from -A to A, r =
// epsilon/D rounded down, D the L1 sensitivity of all counts together and A the support. A cell is
// released if its noisy count exceeds A.
//
// Theorem. Let s be the slack that the step's delta buys, and A >= D such that P(Z > A-D) <= s. On
// each pair of neighbours X, X' the release is within total variation s of a mechanism M~ that is
// epsilon-DP on this pair, hence privacy.MuOfPure(epsilon)-GDP, which is what the session's filter
// adds up; s enters delta with the factor (1 + e^epsilon_total), as the slack of
// kernel.StabilityHistogram does (privacy.Calibrate).
//
// Neither the number of cells nor that of leaves matters. For a table of block estimates D is g
// times as large, g as there.
//
// Proof: truncated_proof.md, steps 1 to 4.
//
// Source: [AAL21] Lemma 4.1; Sections 1.1 and 1.2 of the restatement.
// Differs: noise and support are integers, and the support is larger by what lets the step compose
// with others in Gaussian DP.
func TruncatedHistogram(a *core.SubBudget, step string, q query.BoxKeys, epsilon float64) (released []kernel.HistogramCell, support float64, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return nil, 0, err
	}
	values, support, err := truncated(a, step, q, privacy.L1(math.MaxInt, q.Sensitivity(a.Session().Relation())), epsilon, func(d *core.Draw, beyond float64, draw func() int64) []float64 {
		return kernel.FlatHistogram(kernel.NoisyHistogram(q, kernel.HistogramCounts(d, q), beyond, draw))
	})
	return kernel.UnflatHistogram(values), support, err
}

// A Bucket is one released bucket of a spacing histogram.
type Bucket struct {
	Scale     int
	Length    float64 // 2^Scale: the gaps are at least that long, and less than twice
	Low, High float64 // the range of those gaps: of length N^2 Length, N being the query's Rows
	Count     float64 // noisy
}

// TruncatedSpacings releases the buckets of a spacing histogram whose noisy count passes the
// support of the noise, sorted by scale and place: epsilon-DP up to the step's slack. Everything,
// proof included, is as for TruncatedHistogram, with the L1 sensitivity of papers.SpacingBuckets.
//
// Source: [AMN24] Algorithm 3 (its histogram); [AAL21] Section 1.1 of the restatement.
func TruncatedSpacings(a *core.SubBudget, step string, q papers.SpacingBuckets, epsilon float64) (buckets []Bucket, support float64, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return nil, 0, err
	}
	values, support, err := truncated(a, step, q, q.L1(a.Session().Relation()), epsilon, func(d *core.Draw, beyond float64, draw func() int64) []float64 {
		return kernel.NoisySpacings(kernel.SpacingMasses(d, q), beyond, 1, draw)
	})
	for ; len(values) >= 4; values = values[4:] {
		b := Bucket{Scale: int(values[1]), Count: values[3]}
		b.Length, b.Low, b.High = q.Bucket(b.Scale, int64(values[2]))
		buckets = append(buckets, b)
	}
	return buckets, support, err
}

// truncated releases counts of L1 sensitivity l1 with truncated Laplace noise: those of at least
// beyond, which no empty one can reach.
func truncated(a *core.SubBudget, step string, q interface{ Kind() string }, l1, epsilon float64, release func(d *core.Draw, beyond float64, draw func() int64) []float64) (
	values []float64, support float64, err error) {
	l1 = core.Grouped(a, l1)
	rate, err := rateOf(step, epsilon, l1)
	if err == nil && rate < leastTruncated {
		err = fmt.Errorf("kernel: step %q: want an epsilon of at least %v, got %v; give it a larger share or ask for a larger epsilon", step, leastTruncated*l1, epsilon)
	}
	if err != nil {
		return nil, 0, err
	}
	line := core.Measurement{Sensitivity: l1, Noise: privacy.DivUp(1, rate), Mu: privacy.MuOfPure(epsilon), Law: LawTruncated}
	values, err = core.Line(a, step, q, line, true, func(d *core.Draw) ([]float64, []int64) {
		reach := supportOf(rate, l1, d.LogSlack())
		support = float64(reach)
		return release(d, support+1, func() int64 { return drawTruncated(d, rate, reach) }), nil
	})
	return values, support, err
}
