package program

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/parts/columns"
	"github.com/gauze-dp/gauze/parts/fit1d"
)

// TestRecorded: units that were not declared are found and flagged, a declared one is kept, and a
// continuous column, which would have to gather eight sds of noise, has none; nor has one of two
// values, which need not be rounded numbers. The others err in
// less than one of 1e6 runs: no lattice here is near the limit of what the noise allows.
func TestRecorded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rounded := func(x, unit, offset float64) float64 { return offset + unit*math.Round((x-offset)/unit) }
	rows := make([][]float64, 40000)
	for i := range rows {
		answer := float64(1 + rng.IntN(4))
		rows[i] = []float64{rounded(100+5*rng.NormFloat64(), 1, 0), rounded(19000+20*rng.NormFloat64(), 7, 3), rounded(.3*rng.NormFloat64(), .1, 0),
			answer, rng.NormFloat64(), rounded(50+5*rng.NormFloat64(), 1, 0), float64(rng.IntN(2))}
	}
	want := []fit1d.Grid{{Unit: 1}, {Unit: 7, Offset: 3}, {Unit: .1}, {Unit: 1}, {}, {Unit: .5}, {}}
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		p := estimate.Problem{Columns: 7, Rows: len(rows), Relation: rel, RoundedTo: []float64{0, 0, 0, 0, 0, .5, 0}}
		s := kerneltest.Open(t, kerneltest.Table(rows, 7, rel), kernel.Plan{Method: "recorded", Steps: Steps(estimate.Problem{}, "u: ", weakPart)},
			kernel.Terms{Relation: rel, Budget: privacy.Budget{Rho: .05}}, kerneltest.Options{Fresh: true})
		r := Begin(s, p, nil)
		r.Rows = float64(len(rows))
		out, done, err := r.Open(Config("u: ", .05, weakPart, r.Mu2), 1)
		if done || err != nil {
			t.Fatalf("%v: %+v, %v", rel, out, err)
		}
		if fmt.Sprint(r.Grids) != fmt.Sprint(want) || len(r.Notes.Flags) != 3 || r.Notes.Flags[0].Code != flags.RecordedUnit || !slices.Equal(r.Notes.Flags[0].Columns, []int{0, 3}) {
			t.Errorf("%v: %v, flags %q; want %v", rel, r.Grids, r.Notes.Flags, want)
		}
	}
}

// TestRecordedAtoms: values that many rows share are seen, 20 % of them with twice the noise sds
// that it takes, and continuous columns have none.
func TestRecordedAtoms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, 20000)
	for i := range rows {
		rows[i] = []float64{40 + 12*rng.NormFloat64(), rng.NormFloat64()}
		if rng.Float64() < .2 {
			rows[i][0] = 35
		}
	}
	s := kerneltest.Open(t, kerneltest.Table(rows, 2, privacy.ReplaceOne), kernel.Plan{Method: "recorded", Steps: Steps(estimate.Problem{}, "u: ", weakPart)},
		kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: .02}}, kerneltest.Options{Fresh: true})
	r := Begin(s, estimate.Problem{Columns: 2, Rows: len(rows)}, nil)
	if none := r.Use(columns.Units{Center: []float64{41, 0}, Scale: []float64{8, 1}, Constant: make([]bool, 2)}); none != nil {
		t.Fatal(none)
	}
	if err := r.Recorded("u: ", r.SubBudget, r.Rows); err != nil {
		t.Fatal(err)
	}
	if a := r.Atoms; len(a) != 2 || len(a[0]) != 1 || a[1] != nil || a[0][0].Value != 35 || math.Abs(a[0][0].Share-.2) > 6*math.Hypot(a[0][0].Noise, .003) {
		t.Errorf("atoms %+v", r.Atoms)
	}
}

// TestRecordedWouldBeNoise: nothing is asked where the noise would hide any lattice.
func TestRecordedWouldBeNoise(t *testing.T) {
	rows := tableOf(400, normal(0, 1))
	s := kerneltest.Open(t, kerneltest.Table(rows, 1, privacy.ReplaceOne), kernel.Plan{Method: "recorded", Steps: Steps(estimate.Problem{}, "u: ", weakPart)},
		kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: .02}}, kerneltest.Options{})
	r := Begin(s, estimate.Problem{Columns: 1, Rows: len(rows)}, nil)
	if none := r.Use(columns.Units{Center: []float64{0}, Scale: []float64{1}, Constant: []bool{false}}); none != nil {
		t.Fatal(none)
	}
	if err := r.Recorded("u: ", r.SubBudget, r.Rows); err != nil || len(s.Measurements()) > 0 {
		t.Errorf("%v, measured %v", err, s.Measurements())
	}
}
