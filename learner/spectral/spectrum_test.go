package spectral_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// TestSpectrum: eigenvalues of ratio 2^40 and a zero come out on their scale, whatever the mean. A
// variance of 2000 rows has a relative sd of .032, .18 units: 2 units are 11 of these.
func TestSpectrum(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	var rows [][]float64
	for range 2000 {
		a, b := 0x1p20*rng.NormFloat64(), rng.NormFloat64()
		rows = append(rows, []float64{a + b, a - b, 7}) // sds 2^20 sqrt2 and sqrt2
	}
	var l spectral.Spectrum
	got, err := l.Learn(rows, 1)
	if err != nil || len(got) != l.Estimates() || len(got[0]) != l.Coordinates(3) {
		t.Fatal(got, err)
	}
	for i, want := range []float64{4 * 41, 4, spectral.OfZero} {
		if math.Abs(got[0][i]-want) > 2 {
			t.Errorf("eigenvalue %d: %v, want about %v", i, got[0][i], want)
		}
	}
	again, _ := l.Learn(rows, 2)
	if !reflect.DeepEqual(got, again) {
		t.Error("not a function of the rows")
	}
	if _, err := l.Learn(rows[:1], 1); err == nil {
		t.Error("one row: want an error")
	}
}
