package query_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// completed asks for the completed form in d columns.
func completed(d int, lift, radius float64) query.ClippedMoments {
	return query.ClippedMoments{Form: query.CompletedForm, Lift: lift, Components: []query.Component{{Map: identity(d, 1), Radius: radius}}}
}

// nearSphere draws a row that is near the sphere of that radius, on it as far as floating point
// goes, a few ulps to either side of it, or anything.
func nearSphere(rng *rand.Rand, d int, radius float64) []float64 {
	row, n2 := make([]float64, d), 0.0
	for j := range row {
		row[j] = rng.NormFloat64()
		if rng.IntN(3) == 0 {
			row[j] = 0
		}
		n2 += row[j] * row[j]
	}
	size := radius
	switch rng.IntN(4) {
	case 0:
		size *= 1 + float64(rng.IntN(9)-4)*0x1p-53
	case 1:
		size *= rng.Float64()
	case 2:
		size *= math.Exp(20 * rng.NormFloat64())
	}
	for j := range row {
		row[j] *= size / math.Sqrt(math.Max(n2, 1e-300))
		if rng.IntN(40) == 0 {
			row[j] = hostile(rng)
		}
	}
	return nullIfBad(row)
}

// TestCompletedSearch climbs: from the worst pair of many rows near the sphere and elsewhere, it
// moves single coordinates by any number of ulps, to other magnitudes and signs, for as long as
// that takes the pair farther apart. No pair, and no row, exceeds the stated sensitivity, and the
// search comes to within 1e-3 of both where one component has all of every row.
func TestCompletedSearch(t *testing.T) { climb(t, query.CompletedForm, .999) }

// TestColumnFormSearch does so for means and variances of columns. Squares are never far below
// their public 1, so that with a large lift not quite all of what is stated is reached.
func TestColumnFormSearch(t *testing.T) { climb(t, query.ColumnForm, .7) }

// climb searches for the worst pair of rows of a form, and wants to come near what is stated.
func climb(t *testing.T, form query.Form, near float64) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	for _, d := range []int{1, 2, 3, 7} {
		for _, lift := range []float64{1e-9, .1, .17, .4472, 1} {
			radius := math.Exp(2 * rng.NormFloat64())
			q, soft := completed(d, lift, radius), form == query.CompletedForm && rng.IntN(2) == 0
			if soft {
				q.Components = append(q.Components, query.Component{Map: identity(d, .5+rng.Float64()), Radius: 2 * radius, LogWeight: rng.NormFloat64()})
			}
			if q.Form = form; form == query.ColumnForm {
				radius = math.Exp(rng.NormFloat64())
				if least := lift * math.Sqrt(float64(d)); radius < least { // s = (0, -lift, ..) is that long
					radius += least
				}
				q.Components[0].Radius = radius
			}
			if err := q.Validate(d); err != nil {
				t.Fatal(err)
			}
			m, weights := q.Compile(d), make([]float64, q.Size())
			for i := range weights {
				weights[i] = q.Weight(i)
			}
			image := func(row []float64) []int64 {
				sum := make([]int64, q.Size())
				m.Add(sum, row)
				return sum
			}
			apart := func(a, b []float64) float64 { return weighted(q, weights, image(a), image(b)) }
			alone, worst, pair := 0.0, 0.0, [2][]float64{}
			for range 3000 {
				a, b := nearSphere(rng, d, radius), nearSphere(rng, d, radius)
				alone = math.Max(alone, weighted(q, weights, image(a), nil))
				if v := apart(a, b); v > worst {
					worst, pair = v, [2][]float64{a, b}
				}
			}
			for range 4000 {
				i, j := rng.IntN(2), rng.IntN(d)
				old := pair[i][j]
				switch rng.IntN(3) {
				case 0:
					pair[i][j] = math.Float64frombits(math.Float64bits(old) + uint64(rng.IntN(65)) - 32)
				case 1:
					pair[i][j] *= 1 + math.Exp(-20*rng.Float64())*rng.NormFloat64()
				default:
					pair[i][j] += radius * math.Exp(-15*rng.Float64()) * rng.NormFloat64()
				}
				if v := apart(pair[0], pair[1]); v > worst && !isNull(pair[i]) {
					worst = v
				} else {
					pair[i][j] = old
				}
			}
			replace, remove := q.Sensitivity(privacy.ReplaceOne), q.Sensitivity(privacy.AddRemoveOne)
			if !(worst <= replace) || !(alone <= remove) {
				t.Fatalf("d = %d, lift %v, radius %v: rows %v are %v apart of %v, a row adds %v of %v", d, lift, radius, pair, worst, replace, alone, remove)
			}
			if !soft && (worst < near*replace || alone < near*remove) {
				t.Errorf("d = %d, lift %v: the search reaches %v and %v of what is stated", d, lift, worst/replace, alone/remove)
			}
		}
	}
}

// TestCompletedLength: every finite row has the same length, up to rounding, inside the radius, on
// it and beyond; beyond it the last entry is 0, and a null row adds nothing. The last diagonal
// entry is r^2 - |z|^2.
func TestCompletedLength(t *testing.T) {
	const d, radius, lift = 3, 2.0, .3
	q := completed(d, lift, radius)
	norm2 := radius * radius * (1 + lift*lift)
	for _, row := range [][]float64{{0, 0, 0}, {1, 0, -1}, {0, -2, 0}, {0, 2.0000001, 0}, {0, math.Nextafter(2, 0), 0}, {3, 4, 5}, {1e150, 0, 0}, {5e-324, 0, 0}} {
		v := sumOf(q, row)
		trace := float64(v[0]+v[5]+v[9]+v[12]+v[14]) * q.Unit()
		if math.Abs(trace-1) > 1e-4 {
			t.Errorf("row %v has the squared length %v", row, trace)
		}
		want := math.Max(0, radius*radius-row[0]*row[0]-row[1]*row[1]-row[2]*row[2])
		if got := float64(v[14]) * q.Unit() * norm2; math.Abs(got-want) > 1e-3 {
			t.Errorf("row %v has %v left, want %v", row, got, want)
		}
	}
	for _, v := range sumOf(q, nullIfBad([]float64{math.NaN(), 0, 0}), nullIfBad([]float64{math.Inf(1), 0, 0})) {
		if v != 0 {
			t.Errorf("null rows add %v", v)
		}
	}
}

// TestCompletedIsFull: the entries that the full form has too are those of the full form, but for
// rounding.
func TestCompletedIsFull(t *testing.T) {
	const d = 3
	q := completed(d, .3, 2)
	full := q
	full.Form = query.FullForm
	for _, row := range poolRows(4) {
		v, w := sumOf(q, row), sumOf(full, row)
		at := 0
		for i := range d + 1 {
			for j := i; j <= d; j++ {
				if a, b := float64(v[i*(2*d+3-i)/2+j])*q.Unit(), float64(w[at])*full.Unit(); math.Abs(a-b) > 1e-4 {
					t.Fatalf("row %v: entry (%d, %d) is %v, of the full form %v", row, i, j, a, b)
				}
				at++
			}
		}
	}
}

// completedDigest is of the integers of TestCompletedDigest, as Go's own loops make them.
const completedDigest = "016406cb6e5d5d7f77da97d864a1e73de40ea3a79b982d2eb988536456628017"

// TestCompletedDigest: the sums are the same on whatever machine this runs and whichever form of
// the loops it takes.
func TestCompletedDigest(t *testing.T) {
	all := sha256.New()
	for _, d := range []int{1, 2, 3, 4, 5, 8, 10, 13, 24, 50} {
		rng := rand.New(rand.NewPCG(23, uint64(d)))
		rows := digestRows(rng, 48*40+17, d)
		for j := range 3 {
			q := completed(d, .75/float64(1+9*j), math.Sqrt(float64(d))*(1+float64(j)/4))
			q.Components[0].Map = digestFrame(rng, d, j == 1)
			sum := make([]int64, q.Size())
			m := q.Compile(d)
			for _, n := range []int{1008, 500, 0} {
				m.Add(sum, rows[:n*d])
			}
			m.Add(sum, rows[1508*d:])
			if err := binary.Write(all, binary.LittleEndian, sum); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := hex.EncodeToString(all.Sum(nil)); got != completedDigest {
		t.Errorf("the integers' digest is %s, want %s", got, completedDigest)
	}
}
