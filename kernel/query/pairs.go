package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A PairSum is a query over secret pairs of rows (see Pairs). Its answer is a vector of integer
// sums over the pairs; a pair (x, y) adds a vector that depends on the difference x - y alone.
//
// For a pair of good rows the first difference handed to its map is never NaN (but any may be
// infinite); for a pair with a null row all are NaN.
type PairSum interface {
	Vector
	// PairSensitivity returns the largest change of the vector of one pair, in L2 norm and integer
	// units and after coordinate i is divided by Weight(i), when the pair becomes any other pair,
	// or comes or goes.
	PairSensitivity() float64
}

// Pairs asks one query per leaf of a partition, all at once, each of secret pairs of rows in its
// leaf.
//
// How pairs are drawn. With the zero Partition and replace-one: a uniformly random perfect matching
// of the rows, less one if their number is odd. Otherwise every row draws, by itself, for its leaf
// l, a bucket uniform in [0, Buckets_l) and a tag, and the two rows of smallest tag in a bucket of
// a leaf are its pair: with m rows in a leaf and m/2 buckets, about .3 m pairs. Draws are fresh for
// every measurement and never released. Their laws know no order of the rows: a neighbour may hold
// the common rows in another one (a file that is sorted, a database that moves what changed), and
// its draws are then coupled as its rows are moved.
//
// Privacy. Let P be the PairSensitivity of the queries, the same in all leaves. The draws attach to
// rows (think of a bucket for every leaf and a tag drawn for every row, of which only those of its
// leaf are looked at), so under either relation the common rows of two neighbours have the same
// draws. Given the draws:
//   - a row more, or less, or one replaced within its leaf changes which rows are in one bucket of
//     one leaf, hence at most that bucket's pair, which becomes another pair, comes or goes: at
//     most P;
//   - a row that is replaced by one of another leaf changes at most one pair in each of two leaves,
//     whose answers stand in different places: at most sqrt(P^2 + P^2) = sqrt2 P;
//   - in a matching, drawn without a look at rows, one replaced row changes one pair: at most P.
//
// Hence S = P under add-or-remove-one, with one leaf, and with all rows; S = sqrt2 P under
// replace-one with two leaves or more. A mixture over equal draws keeps GDP because trade-off
// functions are convex.
//
// Answer: the answers of the leaves one after another: in the query's unit with the zero Partition,
// else in integers (see Split). Caller must ensure: nothing.
//
// Source: [KSSU19] Sections A.3 and A.6 of the restatement. Differs: buckets are drawn under
// replace-one too, per leaf, instead of blocks of positions: small leaves get as large a share of
// pairs as large ones.
type Pairs struct {
	Partition Partition // the zero Partition: all rows
	Queries   []PairSum // one per leaf, by value, of one type
	// Buckets has one number per leaf, at least 1, public or released: half the (noisy) number of
	// rows in the leaf is right. The number is not used where pairs are a perfect matching.
	Buckets []int
}

// maxBuckets bounds the number of buckets of a pairing, however large the noisy number of rows.
const maxBuckets = 1 << 26

// Kind returns the kind of the queries, with [PartsOf]'s prefix if there is a partition.
func (q Pairs) Kind() string {
	if len(q.Queries) == 0 || q.Queries[0] == nil {
		return "pairs of nothing"
	}
	if q.Partition.Whole() {
		return q.Queries[0].Kind()
	}
	return PartsOf(q.Queries[0].Kind())
}

// Validate returns an error if the partition, the queries or the buckets cannot be used.
func (q Pairs) Validate(d int) error {
	if err := q.Partition.OrWhole().Validate(d); err != nil {
		return err
	}
	leaves, buckets := q.Partition.Leaves(), 0
	if err := validateParts("Pairs", q.Queries, leaves, d, func(p PairSum) [2]float64 { return [2]float64{p.PairSensitivity()} }); err != nil {
		return err
	}
	if len(q.Buckets) != leaves {
		return fmt.Errorf("query: Pairs.Buckets: want one number per leaf (%d), got %d", leaves, len(q.Buckets))
	}
	for _, b := range q.Buckets {
		if b < 1 || b > maxBuckets-buckets {
			return fmt.Errorf("query: Pairs.Buckets: want positive numbers of at most %d together, got %d", maxBuckets, q.Buckets)
		}
		buckets += b
	}
	return nil
}

// Sensitivity returns S of the type's comment, rounded up.
func (q Pairs) Sensitivity(r privacy.Relation) float64 {
	p := q.Queries[0].PairSensitivity()
	if r == privacy.AddRemoveOne || len(q.Queries) == 1 {
		return p
	}
	return privacy.MulUp(ReplaceFactor(r), p)
}

// Size returns the length of all answers together.
func (q Pairs) Size() int { return sizeOf(q.Queries) }

// Weight returns the weight of the leaf's query.
func (q Pairs) Weight(i int) float64 { return weightOf(q.Queries, i) }

// Unit returns the query's unit with the zero Partition, else 1.
func (q Pairs) Unit() float64 {
	if q.Partition.Whole() {
		return q.Queries[0].Unit()
	}
	return 1
}

// Split cuts an answer with noise sigma into the answers of the leaves, each in its query's own
// unit, and returns for each the noise sd of a coordinate of weight 1.
func (q Pairs) Split(values []float64, sigma float64) (answers [][]float64, sigmas []float64) {
	if q.Partition.Whole() { // the unit is that of the answer already
		return [][]float64{values}, []float64{sigma}
	}
	return splitParts(q.Queries, values, sigma)
}

// PairOctaves asks for one histogram per column of the octave floor(log2 |x_j - y_j|) of pairs,
// clamped to [Low, High]; equal values fall in a bin of their own, and differences that overflow in
// the highest.
//
// Answer: per column 1 + (High-Low+1) counts, the zero bin first. Privacy: a pair is in one bin of
// each of the d columns: one pair instead of another changes 2d counts by 1, one more or less d of
// them: PairSensitivity sqrt(2d).
//
// Source: [KSSU19] Section E (stage A') of the restatement.
type PairOctaves struct {
	Columns   int
	Low, High int
}

// Kind returns "pair octaves".
func (PairOctaves) Kind() string { return "pair octaves" }

// Validate returns an error if the range of octaves is empty or the number of columns is wrong.
func (q PairOctaves) Validate(d int) error {
	if q.Columns != d {
		return fmt.Errorf("query: PairOctaves.Columns: want %d, got %d", d, q.Columns)
	}
	const most = 1100 // beyond the exponents of float64
	if q.Low > q.High || q.Low < -most || q.High > most {
		return fmt.Errorf("query: PairOctaves: want %d <= Low <= High <= %d, got %d and %d", -most, most, q.Low, q.High)
	}
	return nil
}

// Bins returns the number of bins per column.
func (q PairOctaves) Bins() int { return q.High - q.Low + 2 }

// Size returns Columns times Bins.
func (q PairOctaves) Size() int { return q.Columns * q.Bins() }

// PairSensitivity returns sqrt(2d).
func (q PairOctaves) PairSensitivity() float64 { return privacy.SqrtUp(2 * float64(q.Columns)) }

// Weight returns 1.
func (PairOctaves) Weight(int) float64 { return 1 }

// Unit returns 1.
func (PairOctaves) Unit() float64 { return 1 }

// Compile returns the map of differences.
func (q PairOctaves) Compile(int) RowMap { return q }

// Add counts every pair in every column.
func (q PairOctaves) Add(sum []int64, rows []float64) {
	for ; len(rows) >= q.Columns; rows = rows[q.Columns:] {
		if rowkernels.Null(rows) {
			continue
		}
		for j, diff := range rows[:q.Columns] {
			octave := int(math.Float64bits(diff)>>52&2047) - 1023
			if octave == -1023 || octave == 1024 { // no normal number
				octave = math.Ilogb(diff)
			}
			bin := 1 + min(max(octave, q.Low), q.High) - q.Low
			if diff == 0 {
				bin = 0
			}
			sum[j*q.Bins()+bin]++
		}
	}
}
