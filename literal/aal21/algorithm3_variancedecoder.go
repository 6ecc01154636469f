package aal21

import (
	"math"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

const stepScales = "scales"

// The octaves of differences: those of all numbers.
const (
	lowestOctave  = -1074
	highestOctave = 1023
)

// seenSDs: the largest noise in the 2099 bins of a column is above so many sds with probability
// 4e-5. No lower bin is listed.
const seenSDs = 5.5

// The scales whose squares and reciprocals are numbers; a scale beyond them is in no list.
const (
	narrowest = 1e-140
	widest    = 1e140
)

// scaleSteps returns the step of varianceDecoder.
func scaleSteps(share float64) []kernel.Step {
	return []kernel.Step{{Name: stepScales, Query: query.PairOctaves{}.Kind(), Share: share, Most: 1, Source: "AAL21 Algorithm 3"}}
}

// varianceDecoder runs Univariate-Variance-Decoder in every column, all columns in one measurement
// that costs mu2: the upper ends sigma~ of the octaves [sigma~/2, sigma~) in which |x-x'|/sqrt2
// lies for at least ScalePart (1-gamma)^2 of the pairs of rows. A list is empty if no octave does,
// or if more do than mostScales, which is FAIL.
//
// Utility: both rows of a pair come from a component of weight w >= 1-gamma with probability w^2,
// and |x-x'|/sqrt2 is then |N(0, sigma^2)|, which is in the octave of sigma itself with probability
// .27 or more. If that octave is found, sigma <= sigma~ < 2 sigma.
//
// Source: [AAL21] Algorithm 3.
// Differs: the octaves of float64 are finitely many, so all of them get Gaussian noise, and what is
// below seenSDs of it is not listed: the law of the stability histogram before its threshold, but
// for the noise, and no delta is spent. Pairs are secret and random, not neighbours by position:
// under add-or-remove-one one row more would move every later pair. Octaves are half a step away,
// which changes nothing, because they are as many for every unit of the column.
func (r *run) varianceDecoder(mu2 float64) (lists [][]float64, err error) {
	// Steps 1 and 2: differences of pairs, and their histogram over octaves.
	q := query.PairOctaves{Columns: r.d, Low: lowestOctave, High: highestOctave}
	buckets := int(math.Max(1, math.Min(1<<26, r.rows/2)))
	answer, err := kernel.SumPairs(r.a, stepScales, query.Pairs{Queries: []query.PairSum{q}, Buckets: []int{buckets}}, parts.Mu(mu2))
	if err != nil {
		return nil, err
	}
	// Steps 3 and 4: the octaves that hold enough, or FAIL.
	w := r.least
	least := math.Max(r.c.ScalePart*w*w*r.rows*pairsPerRow(r.relation), seenSDs*answer.Sigma)
	lists = make([][]float64, r.d)
	for column := range lists {
		counts := answer.Values[column*q.Bins() : (column+1)*q.Bins()]
		for octave := lowestOctave; octave <= highestOctave; octave++ {
			// |x-x'| is in [2^octave, 2^(octave+1)).
			scale := math.Sqrt2 * math.Ldexp(1, octave)
			if counts[1+octave-lowestOctave] >= least && scale >= narrowest && scale <= widest {
				lists[column] = append(lists[column], scale)
			}
		}
		if len(lists[column]) > r.c.mostScales(w) {
			lists[column] = nil
		}
	}
	return lists, nil
}

// pairsPerRow returns how many pairs a row makes: a perfect matching where n is public, else secret
// buckets, see query.Pairs.
func pairsPerRow(relation privacy.Relation) float64 {
	if relation == privacy.ReplaceOne {
		return .5
	}
	return (1 - 3*math.Exp(-2)) / 2
}
