package component

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestUnpack: without noise the sums are those of the clipped rows, to the grid's accuracy, in
// every form.
func TestUnpack(t *testing.T) {
	rows := [][]float64{{1, 2}, {-3, .5}, {0, 0}, {30, 40}, {math.NaN(), 1}}
	const radius = 5.0
	frame := query.Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}, {0, 1}}}
	clipped := [][]float64{{1, 2}, {-3, .5}, {0, 0}, {3, 4}}
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm, query.CompletedForm} {
		q := query.ClippedMoments{Form: form, Lift: .5, Components: []query.Component{{Map: frame, Radius: radius}}}
		plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: 1}}}
		s := kerneltest.Open(t, kerneltest.Table(rows, 2, privacy.ReplaceOne), plan, kernel.Terms{Relation: privacy.ReplaceOne,
			Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Exact: true})
		mu := s.SubBudget().LeftMu()
		answer, err := s.SubBudget().Sum("m", q, mu)
		if err != nil {
			t.Fatal(err)
		}
		got := UnpackSums(q, answer)[0]
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > .02 {
				t.Errorf("%v %s: got %v, want %v", form, what, got, want)
			}
		}
		near("count", got.Count, 4)
		want := [2][2]float64{}
		sum := [2]float64{}
		for _, z := range clipped {
			for i := range 2 {
				sum[i] += z[i]
				for j := range 2 {
					want[i][j] += z[i] * z[j]
				}
			}
		}
		near("sum", got.Sum[0], sum[0])
		near("sum", got.Sum[1], sum[1])
		near("trace", got.Trace, want[0][0]+want[1][1])
		if form != query.SphericalForm {
			near("second", got.Second.At(0, 0), want[0][0])
			near("second", got.Second.At(1, 1), want[1][1])
		}
		if form == query.CompletedForm { // the last row is beyond the radius
			rest, cross := 0.0, [2]float64{}
			for _, z := range clipped[:3] {
				left := radius*radius - z[0]*z[0] - z[1]*z[1]
				rest += left
				for i := range cross {
					cross[i] += z[i] * math.Sqrt(left)
				}
			}
			near("rest", got.Rest, rest)
			near("cross", got.Cross[0], cross[0])
			near("cross", got.Cross[1], cross[1])
		}
		if form == query.FullForm || form == query.CompletedForm {
			near("second", got.Second.At(0, 1), want[0][1])
			// sqrt2 (r^2 + b^2)/mu, up to the headroom of the grid
			if sd := math.Sqrt2 * radius * radius * 1.25 / mu; math.Abs(got.SecondSD/sd-1) > 1e-3 {
				t.Errorf("SecondSD %v, want %v", got.SecondSD, sd)
			}
		}
	}
}

func TestUnpackPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("want a panic for a wrong number of values")
		}
	}()
	Symmetric([]float64{1, 2}, 2)
}

// TestSDs: the sds that Unpack states are those of the noise, in every form and in the unit of each
// sum. The table holds null rows only, so that the answers are noise.
//
// Each sd is from 4000 draws, its relative error 1.2 %; the tolerance is 6.5 of these: false-alarm
// rate below 1e-9 for the test.
func TestSDs(t *testing.T) {
	const draws, d = 4000, 3
	frame := query.Affine{Center: make([]float64, d), W: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm, query.CompletedForm} {
		q := query.ClippedMoments{Form: form, Lift: .3, Components: []query.Component{{Map: frame, Radius: 2}, {Map: frame, Radius: 5}}}
		if form == query.CompletedForm {
			q.Components = q.Components[1:]
		}
		plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: draws}}}
		s := kerneltest.Open(t, kerneltest.Table([][]float64{{math.NaN(), 0, 0}}, d, privacy.AddRemoveOne), plan, kernel.Terms{Relation: privacy.AddRemoveOne,
			Budget: privacy.Budget{Rho: 1}}, kerneltest.Options{Fresh: true})
		mu := s.Mu() / math.Sqrt(draws) * (1 - 1e-9)
		var ratio [2]map[string]float64
		for i := range ratio {
			ratio[i] = map[string]float64{}
		}
		for range draws {
			answer, err := s.SubBudget().Sum("m", q, mu)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range UnpackSums(q, answer) {
				add := func(what string, value, sd float64) { ratio[i][what] += value * value / (sd * sd) / draws }
				add("count", got.Count, got.CountSD)
				add("sum", got.Sum[1], got.SumSD)
				add("trace", got.Trace, got.TraceSD)
				if got.Second != nil {
					add("second", got.Second.At(2, 2), got.SecondSD)
				}
				if form == query.CompletedForm {
					add("rest", got.Rest, got.SecondSD)
					add("cross", got.Cross[2], got.CrossSD)
				}
				if form == query.FullForm || form == query.CompletedForm {
					add("off the diagonal", got.Second.At(0, 2), got.SecondSD/math.Sqrt2)
				}
			}
		}
		for i := range ratio {
			for what, r := range ratio[i] {
				if math.Abs(math.Sqrt(r)-1) > .075 {
					t.Errorf("%v, component %d: the %s has %.3f of the stated noise", form, i, what, math.Sqrt(r))
				}
			}
		}
	}
}
