package moments

import (
	"math"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestUnpack: without noise the sums are those of the clipped rows, to the grid's accuracy, in every form.
func TestUnpack(t *testing.T) {
	rows := [][]float64{{1, 2}, {-3, .5}, {0, 0}, {30, 40}, {math.NaN(), 1}}
	const radius = 5.0
	frame := query.Affine{Center: []float64{0, 0}, W: [][]float64{{1, 0}, {0, 1}}}
	clipped := [][]float64{{1, 2}, {-3, .5}, {0, 0}, {3, 4}}
	for _, form := range []query.Form{query.FullForm, query.DiagonalForm, query.SphericalForm} {
		q := query.ClippedMoments{Form: form, Lift: .5, Components: []query.Component{{Frame: frame, Radius: radius}}}
		plan := kernel.Plan{Method: "m", Steps: []kernel.Step{{Name: "m", Query: q.Kind(), Share: 1, Most: 1}}}
		s := kerneltest.Open(t, kerneltest.Table(rows, 2), plan, kernel.Terms{Relation: privacy.ReplaceOne,
			Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}, kerneltest.Options{Exact: true})
		mu := s.Allotment().LeftMu()
		answer, err := s.Allotment().Sum("m", q, mu)
		if err != nil {
			t.Fatal(err)
		}
		got := Unpack(q, answer)[0]
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
		if form == query.FullForm {
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
