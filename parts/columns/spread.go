package columns

import (
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// SpreadPart is the largest part of a total mu^2 that the spreads of columns cost, and
// FewSpreadPart that where rows are so few that nothing else can be measured of them: a guess.
// SpreadPart was chosen of .1 and .2 on 1,000 skewed rows of 4 and 5 columns: at .1 noise hid a
// direction in 40 of 960 fits, at .2 in 9.
const SpreadPart, FewSpreadPart = .2, .3

// When a spread is sought, and seen: guesses.
const (
	leastSpreadPart = .01
	// A column's spread is clear at clearlySDs noise sds; failing that at besideSDs within
	// nearOctaves of a column where it is, if that is likelier; failing that at seenSDs, which an
	// empty octave among all may reach now and then. It is looked for if it may be expected at
	// wantedSDs.
	clearlySDs, besideSDs, seenSDs, wantedSDs = 5.5, 3.3, 5.0, 7.0
	nearOctaves                               = 12
	bucketsFilled                             = .59 // of the buckets hold a pair: 1 - 3/e^2
	// of a pairing; a perfect matching makes no use of the number
	mostBuckets = 1 << 26
	// Pairs are drawn from a sample of this many rows, of which a share has an sd of at most 1/500,
	// and at least this many noise sds, if that is half of the rows or fewer: reading pairs costs
	// more than a pass, and more pairs would show no more. Guesses.
	leastPairs, plentySDs = 1 << 16, 300
	lowOctave             = -1074
	highOctave            = 1023
	// constantPart of the pairs must be equal before a column without a clear spread is taken for
	// constant.
	constantPart = .6
	// If equal pairs are clear, with this many noise sds, a spread is clear or there is none:
	// comparison with other columns is for columns without atoms.
	equalSDs = 4.5
)

// octaveProfile is the share of pairs of a Gaussian, .8 or so of another law, in the octaves of |x
// - x'| below, at and above the fullest.
var octaveProfile = [...]float64{.1, .19, .31, .28, .06}

// profilePeak is the place of the fullest octave in octaveProfile.
const profilePeak = 2

// profileNorm is the squared norm of octaveProfile.
var profileNorm = parts.Sum(octaveProfile[:], func(p float64) float64 { return p * p })

// SpreadShare returns the part of the total mu^2 that SpreadByPairs needs for d columns and this
// many rows, under replace-one, and at most that part; ok is false if that is too little.
func SpreadShare(d int, rows, mu2, most float64) (share float64, ok bool) {
	need := RowsOfSpread(d, math.Sqrt(mu2)) / math.Max(rows, 2)
	need *= need
	return math.Max(leastSpreadPart, math.Min(need, most)), need <= most
}

// RowsOfSpread returns the rows that SpreadByPairs needs for d columns with the loss mu.
func RowsOfSpread(d int, mu float64) float64 {
	return wantedSDs * math.Sqrt(2*float64(d)) / (math.Sqrt(profileNorm) * mu / 2)
}

// SpreadByPairs finds the spread of every column in one measurement, with the part mu2 of mu^2: the
// octave that the differences of secret pairs of rows fill. Where what follows finds the centre by
// itself, or FindCenters does, this is far cheaper than MeasureUnits, whose search for the median
// asks 64 times. Centers are 0, and scales are half the octave, as near to MeasureUnits's as two
// octaves can be. A column without a clear octave is searched by MeasureUnits's bisection with the
// config's budgets, alone with the others of its kind: that finds the value of a constant column
// exactly. rows is public or released.
//
// Source: [TYLERPRESS] Section 1; [KSSU19] Section E of the
// restatement, stage A' (its histogram).
func SpreadByPairs(a *kernel.SubBudget, cfg UnitsConfig, rows, mu2 float64) (Units, error) {
	d := a.Session().Columns()
	octaves, sigma, pairs, err := pairOctaves(a, SpreadStep.Of(cfg.Prefix), rows, math.Sqrt(mu2))
	if err != nil {
		return Units{}, err
	}
	unclear := make([]bool, d)
	u := Units{Center: make([]float64, d), Scale: make([]float64, d), Constant: make([]bool, d), settled: unclear}
	fits := make([][]float64, d)
	// noise makes one of many columns uneven as seldom as one of nearColumns
	among := math.Sqrt(1 + 2*math.Log(max(1, float64(d)/nearColumns))/(unevenSDs*unevenSDs))
	for j := range d {
		counts := octaves[j]
		fits[j] = fit(counts[1:], sigma)
		unclear[j] = counts[0] > constantPart*pairs || counts[0] > equalSDs*sigma && slices.Max(fits[j]) < clearlySDs
	}
	for j, octave := range spreads(fits, unclear) {
		u.Uneven = append(u.Uneven, uneven(octaves[j], octave, pairs, sigma*among))
		u.Scale[j] = math.Max(math.Ldexp(1, octave+lowOctave-1), math.SmallestNonzeroFloat64)
	}
	count := 0
	for _, b := range unclear {
		if b {
			count++
		}
	}
	if count == 0 {
		return u, nil
	}
	cfg.CenterMu2 *= float64(count) / float64(d) // the same rank noise
	// most of these columns have an atom: the values next to it matter
	cfg.VariedMu2 = cfg.ScaleMu2
	rest, err := MeasureUnitsOf(a, cfg, unclear)
	if err != nil {
		return Units{}, err
	}
	u.Unseen, u.Varied, u.VariedSD, u.again = rest.Unseen, rest.Varied, rest.VariedSD, rest.again
	for j, b := range unclear {
		if b {
			u.Center[j], u.Scale[j], u.Constant[j] = rest.Center[j], rest.Scale[j], rest.Constant[j]
		}
	}
	return u, nil
}

// pairOctaves returns a histogram of the octaves of pairs' differences for every column, equal
// pairs first, with the noise of a count, and about how many pairs there are. rows is public or
// released. Of more rows than it takes the pairs are those of a secret sample.
func pairOctaves(a *kernel.SubBudget, step string, rows, mu float64) (counts [][]float64, sigma, m float64, err error) {
	q := query.PairOctaves{Columns: a.Session().Columns(), Low: lowOctave, High: highOctave}
	of := pairsOf(a.Session().Relation(), rows)
	if odds := math.Floor(of / math.Max(leastPairs, plentySDs*q.PairSensitivity()/mu)); odds >= 2 {
		rows, of = rows/odds, of/odds
		if a, err = kernel.Subsample(a, uint64(odds)); err != nil {
			return nil, 0, 0, err
		}
	}
	buckets := int(math.Max(1, math.Min(rows/2, mostBuckets)))
	answer, err := kernel.SumPairs(a, step, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, mu)
	return slices.Collect(slices.Chunk(answer.Values, q.Bins())), answer.Sigma, of, err
}

// Of uneven columns: shares of the pairs that are equal, or octaves away from the fullest on either
// side, within this many octaves, and how clear of the noise they must be. A Gaussian has .1 that
// far below, and none above, and twice and .06 if the fullest octave is taken for the next.
// Guesses.
const (
	equalPairs, abovePairs, belowPairs = .2, .08, .22
	unevenOctaves                      = 8
	unevenSDs                          = 3.5
)

// uneven judges the counts of a column, equal pairs first.
func uneven(counts []float64, octave int, pairs, sigma float64) bool {
	if counts[0] > equalPairs*pairs+unevenSDs*sigma {
		return true
	}
	above, below, clear := 0.0, 0.0, unevenSDs*sigma*math.Sqrt(unevenOctaves)
	for k := 3; k < 3+unevenOctaves; k++ {
		if at := 1 + octave + k; at < len(counts) {
			above += counts[at]
		}
		if at := 1 + octave - k; at > 0 {
			below += counts[at]
		}
	}
	return above > abovePairs*pairs+clear || below > belowPairs*pairs+clear
}

// UnevenPairs judges a column of which so many values, in order, stand for all, the share of a part
// of them having that noise: as SpreadByPairs does by the differences of pairs, of which twice that
// share has one value in the part.
func UnevenPairs(values []float64, noise float64) bool {
	counts, pairs := make([]float64, highOctave-lowOctave+2), 0.0
	for i, x := range values {
		for _, y := range values[:i] {
			pairs++
			if x == y {
				counts[0]++
			} else {
				counts[1+math.Ilogb(math.Min(x-y, math.MaxFloat64))-lowOctave]++
			}
		}
	}
	return uneven(counts, fullest(fit(counts[1:], 1), nil), pairs, 2*noise*pairs/math.Sqrt(unevenOctaves))
}

// spreads returns the octave of each column's spread, by how well the profile fits at all octaves;
// it marks as unclear the columns that show none. Those that are unclear already tell nothing about
// the others.
func spreads(fits [][]float64, unclear []bool) []int {
	near := make([]bool, highOctave-lowOctave+1)
	windows := 0
	for j, f := range fits {
		if octave := fullest(f, nil); f[octave] >= clearlySDs && !unclear[j] {
			for o := max(0, octave-nearOctaves); o <= min(octave+nearOctaves, len(near)-1); o++ {
				if !near[o] {
					windows++
				}
				near[o] = true
			}
		}
	}
	out := make([]int, len(fits))
	for j, f := range fits {
		octave, beside := fullest(f, nil), fullest(f, near)
		switch {
		case f[octave] >= clearlySDs:
		case near[beside] && f[beside] >= besideSDs && odds(f[beside], windows) > odds(f[octave], len(f)):
			octave = beside
		case f[octave] < seenSDs:
			unclear[j] = true
		}
		out[j] = octave
	}
	return out
}

// fit returns how well the profile fits the counts at every octave, in noise sds.
func fit(counts []float64, sigma float64) []float64 {
	out := make([]float64, len(counts))
	for at := range counts {
		for k, p := range octaveProfile {
			if i := at + k - profilePeak; i >= 0 && i < len(counts) {
				out[at] += p * counts[i] / (sigma * math.Sqrt(profileNorm))
			}
		}
	}
	return out
}

// odds returns the logarithm of the odds, up to a constant, that the best of the octaves is more
// than noise.
func odds(sds float64, octaves int) float64 { return sds*sds/2 - math.Log(float64(octaves)) }

// fullest returns the octave of the best fit, of those in among unless that is nil.
func fullest(fits []float64, among []bool) int {
	best := 0
	for at, f := range fits {
		switch {
		case among != nil && !among[at]:
		case f > fits[best] || among != nil && !among[best]:
			best = at
		}
	}
	return best
}
