package columns

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Utility constants of near pairs, guesses.
const (
	// A window of octaves counts if it holds this part of the pairs, and is this many noise sds in
	// this many columns; in more columns, so many more that noise passes in none of them as often.
	nearPart, nearSDsOfWindow, nearColumns = .01, 4.5, 8
	// .. or lowSDs, if it lies more than lowBelow octaves below the column's whole spread: there
	// are hundreds of such windows, and one that noise feigns makes the unit absurd, and the fit
	// wrong
	lowSDs, lowBelow = 5.2, 4
	// octaves in the widest window: clusters of two sizes lie four octaves apart. Chosen with
	// nearSDsOfWindow and NearShare on five clusters in 8 columns.
	nearWindows = 7
	// noise sds that a window's height is lowered by before they compare
	nearDoubt = 4
	// of the pairs: if a window needs more of them, it is too coarse, and the budget better kept
	nearHidden = .2
	// Octaves that count lie at most this far below and above the column's whole spread.
	nearBelow, nearAbove = 40, 8
	// Pairs are far if they differ by this many octaves more than near ones, in octaves of this
	// many sds, and are this part of all.
	farAbove, farSDs, farPart = 4, 5.7, .08
)

// PairsSeen reports whether this many rows can show near pairs: whether a window that counts need
// hold no more than the part nearHidden of the pairs.
func PairsSeen(r privacy.Relation, columns int, rows, mu float64) bool {
	return nearSDsOfWindow*math.Sqrt(2*float64(columns))/mu <= nearHidden*pairsOf(r, rows)
}

// PairUnitsShare returns the part of mu^2 at which the widest window shows an eighth of the pairs,
// as five clusters of two sizes leave it, within bounds.
func PairUnitsShare(r privacy.Relation, columns int, rows, mu, least, most float64) float64 {
	need := nearSDsOfWindow * math.Sqrt(2*nearWindows*float64(columns)) / (mu * nearSplit * pairsOf(r, rows))
	return math.Max(least, math.Min(need*need, most))
}

// nearSplit of the pairs are near each other: see NearShare. A guess.
const nearSplit = 1. / 8

// pairsOf returns the number of pairs of a number of rows.
func pairsOf(r privacy.Relation, rows float64) float64 {
	if r == privacy.AddRemoveOne {
		return bucketsFilled * rows / 2
	}
	return rows / 2
}

// PairUnits is, for each of the columns, the sd of a Gaussian whose pairs are as often near each
// other, whatever is far: in a column that holds a gap the whole spread is that of the gap, while
// near pairs are of one cluster. Of k equal clusters apart it is k times the sd of one. scale is
// the column's whole spread; differences below least, a unit that it is recorded in, do not count.
// 0 where no window of octaves is clear. far is by how much more than near ones pairs differ, in
// the farthest octave that is clear by itself, of the columns where many do: of heavy tails a few
// in a hundred are so far, of a cluster with the part w of the rows 2w(1-w); 0 where there is none.
//
// Source: [KSSU19] Section E of the restatement, stage A'. Differs: the height of the density of
// differences at zero in place of the fullest octave.
func PairUnits(a *kernel.SubBudget, prefix string, columns []int, scale, least []float64, rows, mu float64) (out []float64, far float64, err error) {
	octaves, sigma, m, err := pairOctaves(a, PairUnitsStep.Of(prefix), rows, mu)
	if err != nil {
		return nil, 0, err
	}
	out = make([]float64, len(columns))
	more := 2 * math.Log(max(1, float64(len(columns))/nearColumns))
	nearby, low := math.Sqrt(nearSDsOfWindow*nearSDsOfWindow+more), math.Sqrt(lowSDs*lowSDs+more)
	for i, j := range columns {
		counts := octaves[j][1:]
		whole := math.Ilogb(scale[i]) - lowOctave
		first := max(0, whole-nearBelow)
		for least[i] > 0 && first < whole && math.Ldexp(1, first+lowOctave) < least[i] {
			first++
		}
		surest := 0.0
		for width := 1; width <= nearWindows; width++ {
			for o := first + width - 1; o < min(len(counts), whole+nearAbove); o++ {
				sds := nearby
				if o < whole-lowBelow {
					sds = low
				}
				sum, sd, high := floats.Sum(counts[o-width+1:o+1]), sigma*math.Sqrt(float64(width)), math.Ldexp(1, o+lowOctave+1)
				of := m * (high - math.Ldexp(high, -width))
				if sure := (sum - nearDoubt*sd) / of; sure > surest && sum > sds*sd && sum > nearPart*m {
					surest, out[i] = sure, of/(sum*math.Sqrt(math.Pi))
				}
			}
		}
		part := 0.0
		for o := max(0, math.Ilogb(out[i])+farAbove-lowOctave); out[i] > 0 && o < len(counts); o++ {
			if counts[o] > farSDs*sigma {
				if part += counts[o] / m; part > farPart {
					far = max(far, math.Ldexp(1, o+lowOctave)/out[i])
				}
			}
		}
	}
	return out, far, nil
}
