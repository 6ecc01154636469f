package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// SpacingMasses asks every leaf of a partition for the soft spacing histogram: a histogram of the
// gaps between consecutive values of one column of its rows, over all scales and places, without a
// bound on either.
//
// Every two consecutive values x < x+g of a leaf spread a mass of 1 over at most four buckets (s,
// l): over the two scales s next to log2(g)/H, H = 6, by hats, and over the places l of each by
// ramps in x/W, where W = 2^LogWindow 64^s is the scale's window. A bucket holds gaps at [(l-5/8)W,
// (l+5/8)W) only. Equal values have no gap between them; null rows are no values; |x| > 2^900
// counts as 2^900 and |x| < 2^-900 as 0, so that gaps and windows neither overflow nor underflow.
//
// All of it is in integers. With U = 1024, q = floor(U log2(g)/H) and P_s = floor(4U (x/W + 5/8))
// (exact, by shifts), s = floor(q/U) has the weight U - F and s+1 the weight F, F = q mod U; and
// within a scale l = floor(P_s/4U) has the part L/U and l-1 the rest, L = min(U, P_s mod 4U). So
// masses are in units of 1/U^2. As a function of q, and of P_s, the masses are continuous: a step
// by 1 moves one unit of weight from a bucket to its neighbour, an L1 change of 2/U of the gap's
// mass. The offsets of the hats (0) and of the ramps (5/8) are public constants and matter to
// utility only: these map windows to windows when the column is multiplied by 64^j, and put what is
// centred at 0 into the middle of a window.
//
// Privacy. One row less takes away the mass of one gap at most, and moves masses of b = 171/1024 to
// higher scales and of c = 5/1024 to other places at most; a = b + c. No formula reads n;
// LogWindow, which may, is public or released.
//
// Proof: spacings_proof.md, steps 1 to 5; the bounds below: steps 6 to 9.
//
// So, in gaps:
//
//	                    replace-one                                    add-or-remove-one
//	L2 sensitivity S    S^2 = 2 + 6b + 8c + (sqrt6 b + sqrt8 c)^2      S^2 = 1 + 2a + 2a^2
//	                    S = 1.795                                      S = 1.185
//	a bucket's change   1 + 2a = 1.344                                 1 + a = 1.172
//	one-sided buckets   12                                             8
//
// The last two lines bound the mass of buckets that are not empty on one side and empty on the
// other, and their number, for any number of leaves. Caller must ensure: nothing.
//
// Source: [AMN24] Section 1.4 of the restatement; Algorithm 3 (its histogram). Differs: Algorithm 3
// has hard buckets (see SpacingBuckets), with more than twice the noise; the L2 sensitivity is 6 %
// below the restatement's, by that proof; offsets are constants.
type SpacingMasses struct {
	Partition Partition // the zero Partition has one leaf with all rows
	Column    int
	// log2 of a window's length over the length of its gaps, in [15, 60]; see LogWindow
	LogWindow int
}

const (
	gapBits    = 10
	gapUnits   = 1 << gapBits // U
	gapOctaves = 6            // H: the number of octaves between neighbouring scales
	gapWhole   = gapUnits * gapUnits
	// b, c and a: spacings_proof.md, steps 4 and 5
	gapRise  = 171 * gapUnits
	gapShift = 5 * gapUnits
	gapDrift = gapRise + gapShift

	// spacings_proof.md, step 5, needs the former; windows of the latter are finite numbers
	minLogWindow, maxLogWindow = 15, 60
)

// LogWindow returns log2 of the least power of two that is at least 8 rows and 2^15. It suits
// SpacingMasses.LogWindow if there are about that many rows, a public or a released number: the
// gaps of a component's bulk then lie in one or two windows.
func LogWindow(rows float64) int {
	log := minLogWindow
	for log < maxLogWindow && math.Ldexp(1, log) < 8*rows {
		log++
	}
	return log
}

// Kind returns "gaps", with [PartsOf]'s prefix if there is a partition.
func (q SpacingMasses) Kind() string { return q.Partition.KindOf("gaps") }

// Validate reports a partition, a column or windows that cannot be used.
func (q SpacingMasses) Validate(d int) error {
	if err := q.Partition.OrWhole().Validate(d); err != nil {
		return err
	}
	if q.LogWindow < minLogWindow || q.LogWindow > maxLogWindow {
		return fmt.Errorf("query: SpacingMasses.LogWindow: want a number in [%d, %d], such as LogWindow(rows), got %d", minLogWindow, maxLogWindow, q.LogWindow)
	}
	return ValidColumn("SpacingMasses", q.Column, d)
}

// ValidColumn returns an error, for the query of that name, if a table of d columns has no such
// column.
func ValidColumn(query string, column, d int) error {
	if column < 0 || column >= d {
		return fmt.Errorf("query: %s.Column: want an index in [0, %d), got %d", query, d, column)
	}
	return nil
}

// Unit turns an integer mass into a number of gaps.
func (SpacingMasses) Unit() float64 { return 1. / gapWhole }

// Sensitivity returns the S of the type's comment, in integer units, rounded up.
func (SpacingMasses) Sensitivity(r privacy.Relation) float64 {
	const least = gapWhole * gapWhole // |p|^2
	if r == privacy.AddRemoveOne {
		return privacy.SqrtUp(least + 2*gapWhole*gapDrift + 2*gapDrift*gapDrift)
	}
	moved := privacy.AddUp(privacy.SqrtUp(6*gapRise*gapRise), privacy.SqrtUp(8*gapShift*gapShift))
	return privacy.SqrtUp(privacy.AddUp(2*least+2*gapWhole*(3*gapRise+4*gapShift), privacy.MulUp(moved, moved)))
}

// OneSided returns bounds on how many buckets are empty on one side and not on the other, and on
// the mass of each, in integer units.
func (SpacingMasses) OneSided(r privacy.Relation) (buckets, mass float64) {
	if r == privacy.AddRemoveOne {
		return 8, gapWhole + gapDrift
	}
	return 12, gapWhole + 2*gapDrift
}

// Of returns the partition and the column.
func (q SpacingMasses) Of() (Partition, int) { return q.Partition, q.Column }

// Masses returns the buckets of one leaf that are not empty.
func (q SpacingMasses) Masses(leaf int, sorted []float64) []SpacingMass {
	var all SpacingScales
	EachSpacing(sorted, func(x, g float64) {
		at := gapPosition(g)
		s, f := at>>gapBits, int64(at&(gapUnits-1))
		all.soft(s, gapUnits-f, gapPlace(x, gapOctaves*s+q.LogWindow))
		if f > 0 {
			all.soft(s+1, f, gapPlace(x, gapOctaves*(s+1)+q.LogWindow))
		}
	})
	return all.Masses(leaf)
}

// Window returns the range [low, high) that holds a bucket's gaps, and the length of gaps whose
// mass lies in that scale alone.
func (q SpacingMasses) Window(scale int, place int64) (gap, low, high float64) {
	eighth := gapOctaves*scale + q.LogWindow - 3
	return math.Ldexp(1, gapOctaves*scale), math.Ldexp(float64(8*place-5), eighth), math.Ldexp(float64(8*place+5), eighth)
}

// gapOctave holds the numbers 2^(j/U) of an octave, and gapGuess, for f in [1+i/U, 1+(i+1)/U), a j
// that is at most 2 too small.
var gapOctave, gapGuess = func() (octave [gapUnits + 1]float64, guess [gapUnits]int) {
	for j := range octave {
		octave[j] = math.Exp2(float64(j) / gapUnits)
	}
	for i, j := 0, 0; i < gapUnits; i++ {
		for octave[j+1] <= 1+float64(i)/gapUnits {
			j++
		}
		guess[i] = j
	}
	return octave, guess
}()

// gapPosition returns q of the type's comment, for 2^-1022 <= g < 2^1023. It never decreases, and
// scaling g by 64^j adds exactly j U.
func gapPosition(g float64) int {
	const mantissa = 1<<52 - 1
	bits := math.Float64bits(g)
	// g = f 2^e, 1 <= f < 2
	f, j := math.Float64frombits(bits&mantissa|1023<<52), gapGuess[bits&mantissa>>(52-gapBits)]
	for octave := gapOctave[j+1:]; octave[0] <= f; octave = octave[1:] {
		j++
	}
	const offset = 1 << 10 // octaves, so that the division rounds down
	return (gapUnits*(int(bits>>52)-1023+gapOctaves*offset)+j)/gapOctaves - gapUnits*offset
}

// gapPlace returns P_s of the type's comment for W = 2^window. Nothing overflows: |x| <= 2^53 g, as
// g is no less than the distance of neighbouring numbers there, and W >= 2^8.9 g, so |4U x/W| <
// 2^57.
func gapPlace(x float64, window int) int64 {
	f, e := math.Frexp(x)
	m, shift := int64(f*(1<<53)), e-53+gapBits+2-window
	if shift < 0 {
		m >>= -shift // rounds down
	} else {
		m <<= shift
	}
	return m + 4*gapUnits*5/8
}

// soft adds weight, split by the ramps between two places; place is in quarter units.
func (a *SpacingScales) soft(scale int, weight, place int64) {
	part := min(gapUnits, place&(4*gapUnits-1))
	a.Add(scale, place>>(gapBits+2), weight*(gapUnits-part), weight*part)
}
