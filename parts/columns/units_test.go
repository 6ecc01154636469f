package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

func open(t *testing.T, rows [][]float64, rel privacy.Relation, eps float64) *kernel.Session {
	plan := kernel.Plan{Method: "stagezero", Steps: UnitsSteps("", .5, .5)}
	terms := kernel.Terms{Relation: rel, Budget: privacy.Budget{Epsilon: eps, Delta: 1e-6}}
	return kerneltest.Open(t, kerneltest.Table(rows, len(rows[0]), terms.Relation), plan, terms, kerneltest.Options{Fresh: true})
}

func run(t *testing.T, rows [][]float64, rel privacy.Relation, eps float64) Units {
	t.Helper()
	s := open(t, rows, rel, eps)
	mu2 := s.Mu() * s.Mu()
	u, err := MeasureUnits(s.SubBudget(), UnitsConfig{CenterMu2: mu2 * .499, ScaleMu2: mu2 * .499})
	if err != nil {
		t.Fatal(err)
	}
	spent := 0.0
	for _, m := range s.Measurements() {
		spent += float64(m.Count) * m.Mu * m.Mu
	}
	if spent > mu2*(1+1e-9) {
		t.Errorf("spent %v of %v", spent, mu2)
	}
	return u
}

// ordinal is the place of a number in the order of all float64 numbers.
func ordinal(x float64) int64 {
	if x < 0 {
		return -int64(math.Float64bits(-x))
	}
	return int64(math.Float64bits(x) &^ (1 << 63))
}

// TestOrdinal: every threshold is finite, the order is kept, 0 has one place, and 65 halvings leave
// one number; the first looks at zero, and the i-th at a multiple of 2^(64-i) in that order, or
// where none is above zero of 2^(63-i), but beyond the finite numbers.
func TestOrdinal(t *testing.T) {
	values := []float64{-math.MaxFloat64, -1, -5e-324, 0, 5e-324, 0x1p-1022, 1, math.MaxFloat64}
	for i, v := range values {
		if got := fromOrdinal(ordinal(v)); got != v {
			t.Errorf("fromOrdinal(ordinal(%v)) = %v", v, got)
		}
		if i > 0 && ordinal(values[i-1]) >= ordinal(v) {
			t.Errorf("ordinal(%v) is not below ordinal(%v)", values[i-1], v)
		}
		b := newBisection([]bool{true}, -math.MaxInt64, math.MaxInt64, 0)
		queries := 0
		for ; b.lo[0] < b.hi[0]; queries++ {
			at, fine := b.thresholds(fromOrdinal)[0], max(0, 63-queries)
			if v <= 0 && queries > 0 {
				fine = max(0, fine-1)
			}
			if place := ordinal(at); math.IsInf(at, 0) || queries == 0 && place != 0 || place&(1<<fine-1) != 0 && math.Abs(at) < math.MaxFloat64 {
				t.Errorf("%v: look %d is at %v", v, queries, at)
			}
			if v <= at {
				b.narrow([]float64{1})
			} else {
				b.narrow([]float64{-1})
			}
		}
		if queries > centerQueries || fromOrdinal(b.lo[0]) != v {
			t.Errorf("%v: %d queries found %v", v, queries, fromOrdinal(b.lo[0]))
		}
	}
	if math.Signbit(fromOrdinal(0)) || ordinal(math.Copysign(0, -1)) != 0 {
		t.Error("zero must have one place")
	}
}

// TestConstants are found exactly, whatever their value, but for 0 in place of one as near below;
// the other columns keep their scale.
//
// Shows: [TYLERPRESS] Section 1.
func TestConstants(t *testing.T) {
	constants := []float64{0, -7.25, 0x1p1000, -0x1p-511, -0x1p-600, 5e-324, math.MaxFloat64}
	d := len(constants) + 1
	rows := make([][]float64, 6000)
	for i := range rows {
		rows[i] = append(append([]float64(nil), constants...), 1e50*rand.NormFloat64())
	}
	rows[3][0], rows[3][2] = 1e308, -1e308
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		u := run(t, rows, rel, 4)
		for j, c := range constants {
			want := c
			if c == -0x1p-600 {
				want = 0
			}
			if !u.Constant[j] || u.Center[j] != want || u.Scale[j] != 1 {
				t.Errorf("%v: column of %v: constant %v, centre %v, scale %v", rel, c, u.Constant[j], u.Center[j], u.Scale[j])
			}
		}
		if u.Constant[d-1] || !(u.Scale[d-1] > .2e50 && u.Scale[d-1] < 2e50) {
			t.Errorf("%v: scale %v, want about 1e50", rel, u.Scale[d-1])
		}
	}
}

// TestGaussianColumns: centre within an sd, scale within a factor 4, at the rank noise that
// CenterShare allows. A comparison far from the median errs with probability below 1e-6; there are
// about 3000 of them here.
//
// Shows: [TYLERPRESS] Section 1.
func TestGaussianColumns(t *testing.T) {
	const d = 3
	sd, mean := []float64{1e-100, 1, 1e100}, []float64{1e-90, -1e6, 0}
	for range 20 {
		rows := make([][]float64, 4000)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range d {
				rows[i][j] = mean[j] + sd[j]*rand.NormFloat64()
			}
		}
		u := run(t, rows, privacy.ReplaceOne, 1)
		for j := range d {
			if off := math.Abs(u.Center[j]-mean[j]) / sd[j]; off > 1 || u.Constant[j] {
				t.Errorf("column %d: centre %v sds off, constant %v", j, off, u.Constant[j])
			}
			if r := u.Scale[j] / sd[j]; r < .2 || r > 4 {
				t.Errorf("column %d: scale %v sds", j, r)
			}
		}
	}
}

// TestOverflow: differences that overflow count as far, and nothing panics.
func TestOverflow(t *testing.T) {
	rows := make([][]float64, 3000)
	for i := range rows {
		rows[i] = []float64{math.Copysign(math.MaxFloat64, float64(i%3)-.5), float64(i % 2)}
	}
	u := run(t, rows, privacy.ReplaceOne, 8)
	if u.Constant[0] || !(u.Scale[0] >= 0x1p1023) {
		t.Errorf("scale %v, constant %v; want the largest", u.Scale[0], u.Constant[0])
	}
	if u.Constant[1] || u.Scale[1] < .25 || u.Scale[1] > 2 {
		t.Errorf("two values, half each: scale %v, want about 1", u.Scale[1])
	}
}

func TestCenterShare(t *testing.T) {
	if share, ok := CenterShare(privacy.ReplaceOne, 10, 1e6, .056); share != centerPart || !ok {
		t.Errorf("a long table: share %v, %v", share, ok)
	}
	if share, ok := CenterShare(privacy.ReplaceOne, 10, 500, .056); share != LargestPart || ok {
		t.Errorf("a short table: share %v, %v", share, ok)
	}
	share, _ := CenterShare(privacy.ReplaceOne, 2, 1350, .056)
	if noise := rankNoise(privacy.ReplaceOne, 2, share*.056); math.Abs(noise-1350./8) > 1 || !SharpEnough(privacy.ReplaceOne, 2, 1351, share*.056) {
		t.Errorf("rank noise %v of 1350 rows", noise)
	}
}
