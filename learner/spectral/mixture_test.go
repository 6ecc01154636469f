package spectral_test

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/spectral"
)

// spheres are k components of sd 1 to cond, their means on a random simplex sep apart or more.
func spheres(rng *rand.Rand, k, d int, sep float64) (out []learner.Component) {
	for len(out) < k {
		c := learner.Component{Weight: 1 / float64(k)}
		for range d {
			c.Mean = append(c.Mean, sep*math.Sqrt(float64(k)/float64(d))*rng.NormFloat64())
		}
		for i := range d {
			c.Root = append(c.Root, make([]float64, d))
			c.Root[i][i] = 1
		}
		near := slices.ContainsFunc(out, func(o learner.Component) bool {
			s := 0.0
			for i, v := range o.Mean {
				s += (v - c.Mean[i]) * (v - c.Mean[i])
			}
			return s < sep*sep
		})
		if !near {
			out = append(out, c)
		}
	}
	return out
}

// pancakes are two components whose means are sep sds apart along the last axis, in which they are
// thin.
func pancakes(d int, sep, thin float64) []learner.Component {
	out := make([]learner.Component, 2)
	for j := range out {
		out[j] = learner.Component{Weight: .5, Mean: make([]float64, d)}
		out[j].Mean[d-1] = float64(j) * sep * thin
		for i := range d {
			out[j].Root = append(out[j].Root, make([]float64, d))
			out[j].Root[i][i] = 1
		}
		out[j].Root[d-1][d-1] = thin
	}
	return out
}

func rowsOf(rng *rand.Rand, mixture []learner.Component, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		c := mixture[rng.IntN(len(mixture))]
		rows[i] = slices.Clone(c.Mean)
		for b := range rows[i] {
			g := rng.NormFloat64()
			for a := range rows[i] {
				rows[i][a] += c.Root[a][b] * g
			}
		}
	}
	return rows
}

// apart is dist_PARAM.
func apart(a, b []learner.Component) float64 {
	d := len(b[0].Mean)
	return blocks.Distance(blocks.Decode(learner.Estimates(a), d), blocks.Decode(learner.Estimates(b), d))
}

// TestMixture: medians of dist_PARAM are within twice those of the restatement: .124 and .044 for
// three components in two columns, sep 6, 2,000 and 20,000 rows, .43 for four in twenty columns and
// 10,000 rows; parallel pancakes, which the source's form does not find (9.2), are found. Medians
// of three runs were never beyond 1.2 times.
//
// Source: [PPE] Section C2 of the restatement.
func TestMixture(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range []struct {
		name  string
		truth func() []learner.Component
		n     int
		most  float64
	}{
		{"k=3, d=2", func() []learner.Component { return spheres(rng, 3, 2, 6) }, 2000, .25},
		{"k=3, d=2, more rows", func() []learner.Component { return spheres(rng, 3, 2, 6) }, 20000, .1},
		{"k=4, d=20", func() []learner.Component { return spheres(rng, 4, 20, 8.5) }, 10000, .8},
		{"pancakes", func() []learner.Component { return pancakes(3, 6, .02) }, 2000, .2},
	} {
		runs := 9
		if os.Getenv("GAUZE_LONG") != "1" {
			runs = 3
			if c.n > 4000 {
				continue
			}
		}
		off := make([]float64, runs)
		for i := range off {
			truth := c.truth()
			got, err := spectral.Mixture{}.LearnMixture(rowsOf(rng, truth, c.n), len(truth), uint64(i))
			if off[i] = math.Inf(1); err == nil {
				off[i] = apart(got, truth)
			}
		}
		if slices.Sort(off); !(off[runs/2] <= c.most) {
			t.Errorf("%s: median dist_PARAM %v, want %v", c.name, off[runs/2], c.most)
		}
	}
}

// TestMixtureMoves: the mixture moves with the rows.
func TestMixtureMoves(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for range 5 {
		truth := spheres(rng, 3, 4, 9)
		rows := rowsOf(rng, truth, 300)
		a := [4][4]float64{}
		for i := range a {
			for j := range a {
				a[i][j] = rng.NormFloat64() * math.Pow(10, float64(i)-1)
			}
		}
		moved := make([][]float64, len(rows))
		for i, r := range rows {
			moved[i] = []float64{1e4, -1e4, 1e5, 0}
			for c := range a {
				for b, v := range r {
					moved[i][c] += a[c][b] * v
				}
			}
		}
		x, err := spectral.Mixture{}.LearnMixture(rows, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		y, err := spectral.Mixture{}.LearnMixture(moved, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		for j := range x { // the image of x
			c := learner.Component{Weight: x[j].Weight, Mean: []float64{1e4, -1e4, 1e5, 0}}
			for i := range a {
				row := make([]float64, 4)
				for b, v := range a[i] {
					c.Mean[i] += v * x[j].Mean[b]
					for h := range row {
						row[h] += v * x[j].Root[b][h]
					}
				}
				c.Root = append(c.Root, row)
			}
			x[j] = c
		}
		if v := apart(x, y); !(v < 1e-4) {
			t.Errorf("the image of the mixture and the mixture of the images are %v apart", v)
		}
	}
}

// TestMixtureNasty: an error or finite numbers, never a panic, and the same again for the same
// arguments.
func TestMixtureNasty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	good := rowsOf(rng, spheres(rng, 2, 2, 8), 60)
	change := func(do func(i int, r []float64)) (rows [][]float64) {
		for i, r := range good {
			rows = append(rows, slices.Clone(r))
			do(i, rows[i])
		}
		return rows
	}
	for name, rows := range map[string][][]float64{
		"none": nil, "no columns": {{}, {}}, "two rows": good[:2], "good": good,
		"all equal":       change(func(_ int, r []float64) { r[0], r[1] = 3, 4 }),
		"constant column": change(func(_ int, r []float64) { r[1] = .1 }),
		"a line":          change(func(_ int, r []float64) { r[1] = 3 * r[0] }),
		"two points":      change(func(i int, r []float64) { r[0], r[1] = float64(i%2), 1-float64(i%2) }),
		"huge":            change(func(_ int, r []float64) { r[0] *= 1e307 }),
		"overflow":        change(func(i int, r []float64) { r[0] = 1.7e308 * float64(i%2*2-1) }),
		"one huge row":    change(func(i int, r []float64) { r[0] += float64(1-min(i, 1)) * 1e300 }),
		"duplicates":      change(func(i int, r []float64) { copy(r, good[i%7]) }),
	} {
		for k := range 5 {
			m := spectral.Mixture{Components: k}
			got, err := m.Learn(rows, 1)
			again, _ := m.Learn(rows, 1)
			if !reflect.DeepEqual(got, again) {
				t.Errorf("%s, %+v: %v, then %v", name, m, got, again)
			}
			if name == "good" && k == 2 && err != nil {
				t.Errorf("%+v: %v", m, err)
			}
			for _, e := range got {
				if len(e) != m.Coordinates(2) || len(got) != m.Estimates() || slices.ContainsFunc(e, func(v float64) bool { return v-v != 0 }) {
					t.Errorf("%s, %+v: got %v", name, m, got)
				}
			}
		}
	}
}
