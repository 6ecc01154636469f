package pure

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// Local sets how SelectLocal chooses among options of S = max(0, -score).
type Local struct {
	Eta int // only options with S <= Eta are ever chosen; even, 2 to 2^20
	// Unlisted: the options that the query does not list are infinitely many and count from this S
	// on; 0 says that there are none. Privacy does not rest on its truth (see SelectLocal); the
	// step always fails unless it exceeds Eta+2.
	Unlisted int64
	Test     float64 // the part of epsilon that the test of locality takes, in (0, 1)
}

// SelectLocal chooses an option with small S = max(0, -score) by the exponential mechanism cut at
// Eta, if a noisy test says that few options come close to Eta compared with those that are good:
// so infinitely many bad options cost nothing. One leaf, and a score of sensitivity 1. ok is false
// if the test failed: a released outcome like any other.
//
// It is charged privacy.MuOfPure(epsilon)^2 and the step's delta. With e1 = Test e, e0 = (1-Test)
// e/2 for e = epsilon less the session's threshold delta, d0 = d1 = half of the slack s that the
// step's delta buys, V_t the number of options with S <= t, and a table K_0 >= K_1 >= .., K_t at
// most d0 exp(e0 (Eta/2 - 2t - 1)):
//
//	C_t: V_(Eta/2-t) > 0, V_(Eta+1+t) is finite and at most K_t V_(Eta/2-t);
//	g = the largest t >= 0 with C_t, or -1;
//	if g + Z <= A, fail;
//	else release option i with probability ~ exp(-e0 S_i) among those with S_i <= Eta.
//
// Z is discrete Laplace of rate e1, cut to [-A, A], A >= 1 such that P(Z = A) <= d1: the test
// surely passes if g > 2A.
//
// Theorem: SelectLocal is (epsilon, s)-DP. The options are those listed and, if Unlisted is set,
// infinitely many more of constant S = Unlisted. (This is a public domain with a score of
// sensitivity 1; that the unlisted options of some real domain are as bad is what makes it stand
// for that domain, and of no concern here.)
//
// Proof: selectlocal_proof.md, steps 1 to 7.
//
// Exact: Z and the choice are drawn without rounding, see noise.Exponential; the time depends on
// the rows, as for Select.
//
// Source: [AMN24] Theorem C.3 (HKMN23).
// Differs: the ratio of volumes, which the theorem assumes for all data, is tested here, so that
// every score of sensitivity 1 may be used.
func SelectLocal(a *core.SubBudget, step string, q papers.Selection, l Local, epsilon float64) (option int, ok bool, err error) {
	values, err := selectLocal(a, step, q, l, epsilon, func(s papers.Score, rows []float64, d int) ([]int64, func(i int) []float64) {
		return s.Scores(rows, d), func(i int) []float64 { return []float64{float64(i)} }
	})
	if err != nil {
		return -1, false, err
	}
	option = int(values[0])
	return option, option >= 0, nil
}

// selectLocal releases what name says of the chosen option, or -1 if the test failed; list returns
// the scores of the options that it names.
func selectLocal(a *core.SubBudget, step string, q papers.Selection, l Local, epsilon float64,
	list func(s papers.Score, rows []float64, d int) (scores []int64, name func(i int) []float64)) (released []float64, err error) {
	q, rates, m, err := selection(a, step, q, epsilon)
	if err != nil {
		return nil, err
	}
	if q.Leaves() != 1 || m.Sensitivity != 1 {
		return nil, fmt.Errorf("kernel: step %q: want one leaf and a score of sensitivity 1, got %d leaves and %v", step, q.Leaves(), m.Sensitivity)
	}
	if l.Eta < 2 || l.Eta > 1<<20 || l.Eta%2 != 0 || l.Unlisted < 0 || !(l.Test > 0 && l.Test < 1) {
		return nil, fmt.Errorf("kernel: step %q: want an even Eta in [2, 2^20], Unlisted of at least 0 and Test in (0, 1), got %+v", step, l)
	}
	left := privacy.SubDown(rates[0], core.ThresholdDelta(a))
	e1, e0 := privacy.MulDown(l.Test, left), privacy.MulDown(privacy.SubDown(1, l.Test), left)/2
	if !(min(e0, e1) >= leastLocal) {
		return nil, fmt.Errorf("kernel: step %q: want an epsilon that leaves the test and the choice %v each, got %v and %v", step, leastLocal, e1, e0)
	}
	m.Mu, m.Law = privacy.MuOfPure(epsilon), LawLocal
	return core.Line(a, step, q, m, true, func(d *core.Draw) ([]float64, []int64) {
		t := d.Rows()
		rows := Gather(d.Engine(), t, q.Partition, coins(d, q.Keep, t.Len()))[0]
		scores, name := list(q.Scores[0], rows, t.Columns())
		if i := local(d, l, e0, e1, d.LogSlack()-math.Ln2, scores); i >= 0 {
			return name(i), nil
		}
		return []float64{-1}, nil
	})
}

// leastLocal bounds e0 and e1: with less, the test never passes.
const leastLocal = 1e-4

// local draws the choice, or -1 if the test fails, with d0 = d1 = exp(logSlack).
func local(d *core.Draw, l Local, e0, e1, logSlack float64, scores []int64) int {
	most := supportOf(e1, 1, logSlack)
	if locality(l, e0, logSlack, scores)+drawTruncated(d, e1, most) <= most {
		return -1
	}
	var at []int
	var good []int64
	for i, q := range scores {
		if q = min(q, 0); -q <= int64(l.Eta) {
			at, good = append(at, i), append(good, q)
		}
	}
	return at[exponential(d, e0, good)]
}

// locality returns g.
func locality(l Local, e0, logSlack float64, scores []int64) int64 {
	half := l.Eta / 2
	volume := make([]float64, 3*half+2) // V_0, .., V_(Eta+1+Eta/2): counts, exact in float64
	for _, q := range scores {
		if t := -min(q, 0); t < int64(len(volume)) {
			volume[t]++
		}
	}
	for t := 1; t < len(volume); t++ {
		volume[t] += volume[t-1]
	}
	g, factor := int64(-1), math.Inf(1)
	for t := 0; t <= half; t++ {
		factor = min(factor, volumeRatio(e0*float64(half-2*t-1), logSlack))
		finite := l.Unlisted == 0 || int64(l.Eta+1+t) < l.Unlisted
		if low := volume[half-t]; low > 0 && finite && volume[l.Eta+1+t] <= factor*low {
			g = int64(t)
		}
	}
	return g
}

// volumeRatio returns at most exp(x + logSlack) (1 - 1e-10), and less than 2^1024. The margin is
// far above the rounding of its arguments, of their sum and of exp, and later of one
// multiplication.
func volumeRatio(x, logSlack float64) float64 {
	margin := 1e-9 + 1e-12*(math.Abs(x)+math.Abs(logSlack))
	return math.Exp(min(x+logSlack-margin, 600))
}
