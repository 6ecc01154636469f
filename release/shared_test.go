package release

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// TestShared: rows of a component about a value that the profile shows many cells to have are drawn
// with that value; elsewhere, where the profile has as many other values near, and where no profile
// and no unit is known, they are drawn as the model has them.
func TestShared(t *testing.T) {
	zero := ColumnProfile{Name: "money", Cells: 1, Atoms: []Atom{{Value: 0, Share: .5, Noise: .01}}, Histogram: []Bar{{Share: .5}, {High: 1000, Share: .1}, {Low: 1000, High: 60000, Share: .4}}}
	dense, faint, unseen, whole := zero, zero, zero, zero
	dense.Histogram = []Bar{{Share: .5}, {High: 1, Share: .1}, {Low: 1, High: 60000, Share: .4}}
	whole.Atoms, whole.Histogram = nil, []Bar{{Low: -8, High: -4.5, Share: .01}, {Low: 3.5, High: 60000, Share: .1}}
	for v := -4.; v <= 3; v++ { // whole numbers, of which each is seen
		whole.Atoms, whole.Histogram = append(whole.Atoms, Atom{Value: v, Share: .1, Noise: .01}), append(whole.Histogram, Bar{Low: v, High: v, Share: .1})
	}
	faint.Atoms = []Atom{{Value: 0, Share: .03, Noise: .01}}
	unseen.Atoms, unseen.Histogram = nil, nil
	for name, c := range map[string]struct {
		profile    ColumnProfile
		unit       float64
		mean, sd   float64
		background bool
		want       float64
	}{
		"zeros":             {profile: zero, mean: -.3, sd: .4, want: 0},
		"far from it":       {profile: zero, mean: 5, sd: .4, want: math.NaN()},
		"wide":              {profile: zero, mean: 50, sd: 3000, want: math.NaN()},
		"others are near":   {profile: dense, mean: -.3, sd: .4, want: math.NaN()},
		"others have atoms": {profile: whole, mean: 0, sd: 3, want: math.NaN()},
		"may be none":       {profile: faint, mean: -.3, sd: .4, want: math.NaN()},
		"no profile":        {profile: unseen, mean: -.3, sd: .4, want: math.NaN()},
		"a unit":            {profile: unseen, unit: 1, mean: 2.2, sd: .9, want: 2},
		"a limit":           {profile: unseen, unit: 1, mean: -.8, sd: .9, want: 0},
		"as wide as units":  {profile: unseen, unit: 1, mean: 2.2, sd: 30, want: math.NaN()},
		"a background":      {profile: zero, mean: -.3, sd: .4, background: true, want: math.NaN()},
	} {
		var parts []model.Gaussian
		for _, g := range [][2]float64{{c.mean, c.sd}, {20000, 9000}} {
			cov, err := model.NewDiagonal([]float64{g[1] * g[1], 1})
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, model.Gaussian{Mean: []float64{g[0], 0}, Cov: cov})
		}
		m, err := model.New([]string{"money", "age"}, []float64{.5, .5}, parts)
		if err != nil {
			t.Fatal(err)
		}
		least := 0.
		m.Background = []bool{c.background, false}
		r := &Release{Model: m, Columns: []Column{{Name: "money", RoundedTo: c.unit}, {Name: "age"}}, Profile: []ColumnProfile{c.profile}}
		if c.unit > 0 {
			r.Columns[0].AtLeast = &least
		}
		r.Keep()
		got := math.NaN()
		if m.Shared != nil {
			if got = m.Shared[0][0]; m.Shared[1][0] == m.Shared[1][0] || m.Shared[0][1] == m.Shared[0][1] {
				t.Errorf("%s: another component or column has %v", name, m.Shared)
			}
		}
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		s, err := model.NewSampler(m)
		if err != nil {
			t.Fatal(err)
		}
		row, rng := make([]float64, 2), rand.New(rand.NewPCG(1, 1))
		for range 100 {
			if of := s.Row(row, rng); of == 0 && c.want == c.want && row[0] != c.want {
				t.Fatalf("%s: drew %v", name, row)
			}
		}
		if rest, share := m.WithoutBackground(); share > 0 && len(rest.Shared) != 0 && len(rest.Shared) != len(rest.Components) {
			t.Errorf("%s: without background it has %v", name, rest.Shared)
		}
	}
}
