package pure

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// Select chooses one option per leaf by the exponential mechanism, epsilon-DP for all leaves
// together, and nothing else is released. It is charged privacy.MuOfBoundedRange(epsilon)^2, whose
// inverse is privacy.BoundedRangeOfMu.
//
// Leaf j releases option i with probability proportional to exp(g_j score_i), g_j = epsilon/(2 S_j)
// rounded down, S_j = q.Sensitivity: exactly so, scores being integers and g_j the binary fraction
// that it is (noise.Exponential rounds nothing).
//
// Theorem. For fixed neighbours, and given the coins of q.Keep, let the scores of leaf j change by
// c_i, |c_i| <= s. Then ln(P(i)/P'(i)) = g_j c_i + (a constant) lies in an interval of length at
// most 2 g_j s <= epsilon s/S_j that contains 0 (not all probabilities can grow). Leaves draw
// independently, so the logarithms add, and so do the intervals: by the choice of S_j
// (papers.Selection.Sensitivity) to one of length at most epsilon that contains 0. Hence, given the
// coins, Select is epsilon-DP, of bounded range epsilon, and MuOfBoundedRange(epsilon)-GDP; without
// them it is epsilon-DP and MuOfBoundedRange(epsilon)-GDP (see papers.Selection: bounded range
// itself is lost in the mixture, and not used).
//
// Not protected, as for everything in this package: the time. It depends on the kept rows, on their
// number in each leaf and, through noise.Exponential, on the scores.
//
// Source: [DDR20] (bounded range); [KSSU19] Section B.1 (step 4) of the restatement.
func Select(a *core.SubBudget, step string, q papers.Selection, epsilon float64) ([]int, error) {
	q, rates, m, err := selection(a, step, q, epsilon)
	if err != nil {
		return nil, err
	}
	m.Noise, m.Mu, m.Pure, m.Law = 2*m.Noise, privacy.MuOfBoundedRange(epsilon), epsilon, LawExponential
	return options(a, step, q, m, func(d *core.Draw, leaf int, scores []int64) int { return exponential(d, rates[leaf]/2, scores) })
}

// AboveThreshold scans the options of each leaf in order and returns the first whose noisy score
// reaches the leaf's noisy threshold, or -1 if none does: epsilon-DP for all leaves together and
// any number of options. It is charged privacy.MuOfPure(epsilon)^2.
//
// thresholds has one entry per leaf, public or released, in the integer units of the score and of
// magnitude at most 2^60.
//
// In leaf j the threshold t gets discrete Laplace noise of rate 2g and every score one of rate g of
// its own, g = epsilon/(4 S_j) rounded down. If every leaf has one option only, the threshold gets
// no noise and the score one of rate epsilon/S_j: the law is Laplace.
//
// Theorem. Let the scores of leaf j be q_i and, for a neighbour (given the coins of q.Keep), q'_i
// with |q_i - q'_i| <= s. Write r for the noise of the threshold and v_i for that of the scores.
// Fix v_1, .., v_{k-1} and let M and M' be the largest of q_i + v_i and of q'_i + v_i, i < k (minus
// infinity for k = 1, with M' - M = 0). The answer is k iff M < t + r <= q_k + v_k. Put r' = r +
// (M'-M) and v'_k = v_k + (M'-M) + q_k - q'_k: integers, as all scores are, and one to one; then M'
// < t + r' <= q'_k + v'_k iff M < t + r <= q_k + v_k. As |M'-M| <= s, (r', v'_k) has at least
// exp(-2g s - g 2s) times the probability of (r, v_k). Summing over (r, v_k), then over the v_i,
// P(k) <= exp(4g s) P'(k). For -1, M over all options and r' alone: exp(2g s). So leaf j is
// (epsilon s/S_j)-DP, the leaves are independent, and by the choice of S_j
// (papers.Selection.Sensitivity) all of them together are epsilon-DP. The single option's answer is
// a function of q_1 + v_1, which is (epsilon s/S_j)-DP.
//
// (Scores, thresholds and noise below 2^60 do not overflow; that the noise goes beyond has
// probability below 2^-5900, see noise.MinRate.) The time depends on the rows, as for Select.
//
// Source: [KSSU19] Sections B.2 (step 2) and B.4 of the restatement.
func AboveThreshold(a *core.SubBudget, step string, q papers.Selection, thresholds []int64, epsilon float64) ([]int, error) {
	q, rates, m, err := selection(a, step, q, epsilon)
	if err != nil {
		return nil, err
	}
	const most = 1 << 60
	thresholds = slices.Clone(thresholds)
	if len(thresholds) != q.Leaves() || slices.ContainsFunc(thresholds, func(t int64) bool { return t < -most || t > most }) {
		return nil, fmt.Errorf("kernel: step %q: want one threshold per leaf (%d) of magnitude at most 2^60, got %d", step, q.Leaves(), thresholds)
	}
	m.Mu, m.Pure, m.Law = privacy.MuOfPure(epsilon), epsilon, LawLaplace
	if slices.ContainsFunc(q.Scores, func(s papers.Score) bool { return s.Options() > 1 }) {
		m.Noise, m.Law = 4*m.Noise, LawAboveThreshold
	}
	return options(a, step, q, m, func(d *core.Draw, leaf int, scores []int64) int {
		rate, threshold := rates[leaf], thresholds[leaf]
		if m.Law == LawAboveThreshold {
			rate /= 4
			threshold += drawLaplace(d, 2*rate)
		}
		return slices.IndexFunc(scores, func(q int64) bool { return q+drawLaplace(d, rate) >= threshold })
	})
}

// selection returns the session's own copy of q, valid; for every leaf epsilon over its
// sensitivity, rounded down; and a measurement with the largest of the sensitivities and a scale
// that is the inverse of the corresponding rate. The ratio of the two is the same for all leaves.
func selection(a *core.SubBudget, step string, q papers.Selection, epsilon float64) (_ papers.Selection, rates []float64, m core.Measurement, err error) {
	if q, err = core.Checked(a, q); err != nil {
		return q, nil, m, err
	}
	for leaf := range q.Scores {
		sensitivity := core.Grouped(a, float64(q.Sensitivity(a.Session().Relation(), leaf)))
		rate, err := rateOf(step, epsilon, sensitivity)
		if err != nil {
			return q, nil, m, err
		}
		rates = append(rates, rate)
		if sensitivity > m.Sensitivity {
			m.Sensitivity, m.Noise = sensitivity, privacy.DivUp(1, rate)
		}
	}
	return q, rates, m, nil
}

// options charges m, gathers the kept rows, and returns the option that choose picks in every leaf
// by its scores.
func options(a *core.SubBudget, step string, q papers.Selection, m core.Measurement, choose func(d *core.Draw, leaf int, scores []int64) int) ([]int, error) {
	values, err := core.Line(a, step, q, m, false, func(d *core.Draw) (values []float64, exact []int64) {
		t := d.Rows()
		for leaf, rows := range Gather(d.Engine(), t, q.Partition, coins(d, q.Keep, t.Len())) {
			scores := q.Scores[leaf].Scores(rows, t.Columns())
			values, exact = append(values, float64(choose(d, leaf, scores))), append(exact, scores...)
		}
		return values, exact
	})
	if err != nil {
		return nil, err
	}
	chosen := make([]int, len(values))
	for i, v := range values {
		chosen[i] = int(v)
	}
	return chosen, nil
}

// coins draws which of n rows are kept, each independently with probability keep; nil for all.
func coins(d *core.Draw, keep float64, n int) []bool {
	if keep == 0 || keep == 1 {
		return nil
	}
	source := d.Source()
	kept, limit := make([]bool, n), uint64(math.Ldexp(keep, 63))
	for i := range kept {
		kept[i] = source.Uint64()>>1 < limit
	}
	return kept
}

// exponential draws an option i with probability proportional to exp(rate scores[i]); if a test
// wants no noise, the first with the largest score.
func exponential(d *core.Draw, rate float64, scores []int64) int {
	factor := d.Factor()
	if factor == 0 {
		return slices.Index(scores, slices.Max(scores))
	}
	return noise.Exponential(d.Source(), rate/factor, scores)
}
