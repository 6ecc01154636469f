package columns

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parts"
)

// Default parts of a total mu^2: what the centres and the scales cost unless the table is short
// (see centerPart). Guesses.
const (
	centerPart  = .04
	ScalePart   = .03
	LargestPart = .2 // of the centres
)

// Narrowest is the least distance that counts: closer values have a variance of 0 in float64.
const Narrowest = 0x1p-500

const (
	maxRankNoise  = 8  // the rows over the largest rank noise
	centerQueries = 65 // halvings of the finite float64 numbers, one of them uneven below 0
	// The first queries find sign, exponent and a little more; an error there loses the column,
	// later ones only cost accuracy.
	earlyQueries = 16
	earlyWeight  = 1.75 // of an even share of the budget; the others get what is left
	// The first also tells whether the median is 0, a third answer that noise must not feign: in
	// few rows 0 was taken for the median in one of 1,000 columns at the weight of the others.
	firstWeight  = 5.0
	scaleQueries = 12 // halvings of the 2101 octaves
	// A comparison that the last doubtRun of a search for a scale all lead back to is made again,
	// and the search goes on where that contradicts it: of a scale that is right so many do by
	// chance in one of 2^(doubtRun-1) columns. With scaleAgain queries besides at most. Guesses.
	doubtRun, scaleAgain = 3, 12
	// A median that the first comparison does not separate from 0 by this many noise sds is 0: as
	// good as any other, and if half of the rows are 0, others would be nearer to them than any
	// scale.
	tieSDs        = 2.0
	VariedPart    = .25
	scaleQuantile = .6 // of the non-zero distances
	// ConstantSDs: a column in which fewer rows than this many noise sds differ from the centre is
	// called constant.
	ConstantSDs = 4
	keyOffset   = 1076 // key of an octave 2^e is e + keyOffset, in [1, lastKey]
	lastKey     = 2100 // the distance overflows
)

// UnitsConfig says how much a run may spend. All fields are public or released.
type UnitsConfig struct {
	// Prefix of the step names; the same as was given to UnitsSteps.
	Prefix string
	// CenterMu2 and ScaleMu2 are the parts of mu^2 for centres and scales. Required.
	CenterMu2, ScaleMu2 float64
	// WeakMu2 is the part of mu^2 that may be spent besides on columns for which there are too few
	// rows in the search of all scales at once. 0 leaves them in that search.
	WeakMu2 float64
	// SparseMu2 is the part that may be spent on those of them in which most rows share one value.
	SparseMu2 float64
	// VariedMu2 is the part that counts the rows that differ from the centre; 0 is VariedPart of
	// ScaleMu2, and it is ScaleMu2 at most.
	VariedMu2 float64
	// Rows is the number of rows, public or released; 0 if unknown, and then no column is sparse.
	Rows float64
	// Sample, if set, is asked for the centres: of part of the rows, and with the same budget.
	Sample *kernel.SubBudget
}

// Units are the released centre and scale of every column.
type Units struct {
	// Center is the noisy median; of a constant column, its value.
	Center []float64
	// Scale is a power of two, the octave of the .6 quantile of the non-zero distances to the
	// centre; 1 for a constant column.
	Scale []float64
	// Constant columns: too few rows differ from Center, by Narrowest or more, to be seen, or to
	// show a scale.
	Constant []bool
	// Varied is about how many rows differ from Center, with noise of VariedSD, or less where they
	// were counted again: see NoiseOf. NaN where that was not asked.
	Varied   []float64
	VariedSD float64
	again    []float64 // the noise of columns that were counted again; 0 of others; nil if none was
	// Unseen is how many rows differ from a constant column's value at most: more with a chance of
	// 3e-5.
	Unseen float64

	// Uneven columns: many rows share one value, or differences of pairs fill more octaves than
	// those of one group of rows do, as far as that is clear of the noise. By SpreadByPairs.
	Uneven []bool

	settled []bool // columns whose centre is not FindCenters' to look for
}

// perColumn returns the sensitivity of a comparison of ranks in one column.
func perColumn(r privacy.Relation) float64 {
	if r == privacy.AddRemoveOne {
		return .5
	}
	return 1
}

// rankNoise returns the noise sd, in rows, of a comparison of ranks that looks for the centre (as a
// mean over the queries): 8 sqrt(d) S/mu_a, with S = 1 under replace-one and 1/2 under
// add-or-remove-one. It should be at most an eighth of the rows.
func rankNoise(r privacy.Relation, d int, centerMu2 float64) float64 {
	return math.Sqrt(centerQueries*float64(d)/centerMu2) * perColumn(r)
}

// SharpEnough reports the public check rankNoise <= rows/8.
func SharpEnough(r privacy.Relation, d int, rows, centerMu2 float64) bool {
	return rankNoise(r, d, centerMu2) <= rows/maxRankNoise
}

// CenterShare returns the part of the total mu^2 that the centres need: centerPart, or more in a
// short table until the rank noise is a eighth of the rows, at most a fifth of the total. ok is
// false if even that is too little.
//
// Differs from the source, which has a tenth: the early comparisons, where an error loses the
// column, get more than an even share and err with probability 6e-8 far from the median; short
// tables save a third of the price.
func CenterShare(r privacy.Relation, d int, rows, mu2 float64) (share float64, ok bool) {
	need := rankNoise(r, d, mu2) * maxRankNoise / math.Max(rows, 1)
	need *= need
	return math.Min(LargestPart, math.Max(centerPart, need)), need <= LargestPart
}

// MeasureUnits measures centres and scales of all columns. Its errors are faults of the plan or an
// interruption, never facts about rows.
func MeasureUnits(a *kernel.SubBudget, cfg UnitsConfig) (Units, error) {
	return MeasureUnitsOf(a, cfg, slices.Repeat([]bool{true}, a.Session().Columns()))
}

// MeasureUnitsOf measures units as MeasureUnits does, for the columns where is is true. The others
// are not measured, and their results mean nothing.
func MeasureUnitsOf(a *kernel.SubBudget, cfg UnitsConfig, is []bool) (Units, error) {
	d := a.Session().Columns()
	u := Units{Scale: make([]float64, d), Constant: make([]bool, d)}
	if cfg.VariedMu2 == 0 {
		cfg.VariedMu2 = VariedPart * cfg.ScaleMu2
	}
	var err error
	if u.Center, err = centers(cmp.Or(cfg.Sample, a), stepCenter.Of(cfg.Prefix), is, cfg.CenterMu2); err != nil {
		return Units{}, err
	}
	answer, err := a.Sum(stepVaried.Of(cfg.Prefix), u.others(is), math.Sqrt(cfg.VariedMu2))
	if err != nil {
		return Units{}, err
	}
	u.Varied, u.VariedSD = answer.Values, answer.Sigma
	for j := range u.Varied {
		if !is[j] {
			u.Varied[j] = math.NaN()
		}
	}
	if err := u.countAgain(a, cfg); err != nil {
		return Units{}, err
	}
	for j, count := range u.Varied {
		u.Constant[j] = is[j] && count < ConstantSDs*u.NoiseOf(j)
	}
	mu := math.Sqrt(cfg.ScaleMu2 * (1 - VariedPart) / scaleQueries)
	sparse := u.sparse(a, cfg, mu)
	weak, weakMu := u.weak(a, cfg, sparse, mu)
	clear, unclear := make([]bool, d), make([]bool, d)
	for j, search := range is {
		clear[j], unclear[j] = search && !u.Constant[j] && !weak[j] && !sparse[j], weak[j]
	}
	for _, find := range []func() error{
		func() error { return u.findScales(a, stepScale.Of(cfg.Prefix), u.Varied, mu, clear) },
		func() error { return u.findScales(a, WeakStep.Of(cfg.Prefix), u.Varied, weakMu, unclear) },
		func() error { return u.findSparse(a, SparseStep.Of(cfg.Prefix), cfg.SparseMu2, sparse) },
	} {
		if err := find(); err != nil {
			return Units{}, err
		}
	}
	u.noteUnseen()
	return u, nil
}

// noteUnseen gives constant columns their scale, and says how many rows may differ in them.
func (u *Units) noteUnseen() {
	for j, is := range u.Constant {
		if is {
			u.Scale[j] = 1
			u.Unseen = math.Max(u.Unseen, math.Max(0, u.Varied[j])+ConstantSDs*u.NoiseOf(j))
		}
	}
}

// others asks how many rows differ from the centre of each of the columns.
func (u *Units) others(of []bool) query.Counts {
	tiny := slices.Repeat([]float64{math.NaN()}, len(of))
	for j, is := range of {
		if is {
			tiny[j] = math.Nextafter(Narrowest, 0) // the end of an octave, as scales are: one look tells both
		}
	}
	return query.Counts{Center: u.Center, Edges: query.Each(tiny), As: query.Above}
}

// A comparison of scales is clear if the rows behind it are compareSDs noise sds; below leastSDs it
// is not measured. Guesses.
const compareSDs, leastSDs = 5.0, 3.5

// balance returns the sensitivity of a comparison of scales in that many columns.
func balance(a *kernel.SubBudget, columns int) float64 {
	q := query.Counts{Edges: query.Each(make([]float64, columns)), As: query.Balance}
	return q.Sensitivity(a.Session().Relation())
}

// behind returns the rows on the smaller side of a clear comparison of scales.
func (u *Units) behind(j int) float64 { return 2 * (1 - scaleQuantile) * u.Varied[j] }

// sparse returns the columns in which most rows share one value, and too few differ for a search by
// halves of which each costs mu.
func (u *Units) sparse(a *kernel.SubBudget, cfg UnitsConfig, mu float64) []bool {
	sparse := make([]bool, len(u.Varied))
	for j := range sparse {
		sparse[j] = !u.Constant[j] && u.Varied[j] < sparsePart*cfg.Rows && u.behind(j) < compareSDs*balance(a, len(u.Varied))/mu
	}
	return sparse
}

// weak returns the other columns whose scale needs a search of their own, and the mu of each of its
// queries; columns that WeakMu2 cannot pay for become constant, those with the fewest differing
// rows first.
func (u *Units) weak(a *kernel.SubBudget, cfg UnitsConfig, sparse []bool, mu float64) (map[int]bool, float64) {
	weak := map[int]bool{}
	if cfg.WeakMu2 <= 0 {
		return weak, 0
	}
	for j := range u.Varied {
		if !u.Constant[j] && !sparse[j] && u.behind(j) < compareSDs*balance(a, len(u.Varied))/mu {
			weak[j] = true
		}
	}
	for len(weak) > 0 {
		fewest := slices.MinFunc(slices.Sorted(maps.Keys(weak)), func(i, j int) int { return cmp.Compare(u.Varied[i], u.Varied[j]) })
		best := compareSDs * balance(a, len(weak)) / u.behind(fewest)
		if most := math.Sqrt(cfg.WeakMu2 / scaleQueries); best*(leastSDs/compareSDs) <= most {
			return weak, math.Min(best, most*(1-1e-12))
		}
		u.Constant[fewest] = true
		delete(weak, fewest)
	}
	return weak, 0
}

// centers bisects the finite float64 numbers, in their order, for the median of every column. Each
// query halves every column's interval, so the last of the 65 leaves one number each.
func centers(a *kernel.SubBudget, step string, is []bool, mu2 float64) ([]float64, error) {
	const lateWeight = (centerQueries - firstWeight - (earlyQueries-1)*earlyWeight) / (centerQueries - earlyQueries)
	b := newBisection(is, -math.MaxInt64, math.MaxInt64, 0) // halves end at multiples of powers of two
	_, err := b.run(centerQueries, fromOrdinal, func(i int, edges []float64) ([]float64, error) {
		weight := lateWeight
		switch {
		case i == 0:
			weight = firstWeight
		case i < earlyQueries:
			weight = earlyWeight
		}
		answer, err := a.Sum(step, query.Counts{Edges: query.Each(edges), As: query.Balance}, math.Sqrt(weight*mu2/centerQueries))
		for j, signed := range answer.Values {
			if i == 0 && math.Abs(signed) < tieSDs*answer.Sigma {
				b.lo[j], b.hi[j] = 0, 0
			}
		}
		return answer.Values, err
	})
	return parts.Map(b.lo, func(o int64) float64 {
		if o > atZero && o < 0 {
			o = 0
		}
		return fromOrdinal(o)
	}), err
}

// findScales bisects the octaves of the non-zero distances to the centre, of which there are about
// varied, in the columns of which search holds.
//
// It looks for a little more than the median: where half of a column is one value and the centre
// falls between that and the next, half of the distances say nothing about the spread.
func (u *Units) findScales(a *kernel.SubBudget, step string, varied []float64, mu float64, search []bool) error {
	b := newBisection(search, 1, lastKey, keyOffset)
	ask := func(_ int, edges []float64) ([]float64, error) {
		answer, err := a.Sum(step, query.Counts{Center: u.Center, Edges: query.Each(edges), As: query.Balance, SkipZero: true}, mu)
		for j := range answer.Values {
			answer.Values[j] -= (2*scaleQuantile - 1) * varied[j]
		}
		return answer.Values, err
	}
	halfLeft := func() int {
		return int(math.Min(scaleAgain, a.Left()/(2*math.Max(mu*mu, math.SmallestNonzeroFloat64))))
	}
	err := b.runAgain(scaleQueries, halfLeft, doubtRun, lastOfKey, ask)
	for j, key := range b.lo {
		if search[j] {
			u.Scale[j] = math.Ldexp(1, min(int(key)-keyOffset, 1023))
		}
	}
	return err
}

// lastOfKey returns the largest distance with the given key: the last number below
// 2^(key+1-keyOffset).
func lastOfKey(key int64) float64 {
	e := int(key) + 1 - keyOffset
	if e > 1023 {
		return math.MaxFloat64
	}
	return math.Nextafter(math.Ldexp(1, e), 0)
}
