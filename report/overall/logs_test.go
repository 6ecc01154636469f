package overall

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/model"
)

// TestLogs: the figures of a column of logarithms are those of rows that are drawn, in its own
// units, and their noise is that of what a component may be off. False alarms: below 1e-6, at ten
// standard errors of 100,000 rows.
func TestLogs(t *testing.T) {
	for _, most := range []float64{math.Inf(1), 100} {
		r := two(t, .01)
		for i, mean := range []float64{2, 3} {
			cov, err := model.NewDiagonal([]float64{.2, .3})
			if err != nil {
				t.Fatal(err)
			}
			r.Model.Components[i] = model.Gaussian{Mean: []float64{mean, 1}, Cov: cov}
		}
		r.Model.Cells = []model.Cell{{Least: 0, Most: most, Log: dense.LogOf(0, most, 0)}, {Least: math.Inf(-1), Most: math.Inf(1)}}
		if most == 100 {
			r.Model.Components[0].Mean[0], r.Model.Components[1].Mean[0] = -1, 1
		}
		s, err := model.NewSampler(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		rows := make([][]float64, 100000)
		for i := range rows {
			rows[i] = make([]float64, 2)
			s.Row(rows[i], rng)
		}
		got, want := figures(Of(r)), ofRows(rows)
		for i := range 2 + len(Levels) { // of the column of logarithms
			if math.Abs(got[i].Value-want[i]) > .04*want[i] {
				t.Errorf("most %v, figure %d: %v, of rows %v", most, i, got[i].Value, want[i])
			}
		}
		near := *r.Model
		near.Components = append([]model.Gaussian(nil), near.Components...)
		near.Components[0].Mean = []float64{near.Components[0].Mean[0] + .01*math.Sqrt(.2), 1}
		r.Model = &near
		if moved := math.Abs(Of(r).Columns[0].Mean.Value - got[0].Value); !(moved > 0) || moved > 3*got[0].Noise || got[0].Noise > 10*moved {
			t.Errorf("most %v: the mean moves by %v, and its noise is said to be %v", most, moved, got[0].Noise)
		}
	}
}
