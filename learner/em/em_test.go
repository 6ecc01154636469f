package em

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/blocks"
	"github.com/gauze-dp/gauze/learner"
)

// lessons are k, d and n of tables that most tests use.
var lessons = []struct{ k, d, n int }{{1, 1, 40}, {1, 3, 60}, {2, 1, 80}, {2, 2, 93}, {3, 2, 113}, {2, 5, 170}, {4, 3, 300}}

// An affine map is x -> A x + b.
type affine struct {
	a [][]float64
	b []float64
}

// wild is an invertible map: rotations, scales between 1/sqrt(cond) and sqrt(cond), and an offset.
func wild(rng *rand.Rand, d int, cond, offset float64) affine {
	left, right := axes(rng, d), axes(rng, d)
	m := affine{make([][]float64, d), make([]float64, d)}
	for i := range d {
		m.a[i] = make([]float64, d)
		m.b[i] = offset * rng.NormFloat64()
	}
	for c := range d {
		s := 1.0
		if d > 1 {
			s = math.Pow(cond, float64(c)/float64(d-1)-.5)
		}
		for i := range d {
			for j := range d {
				m.a[i][j] += s * left[c][i] * right[c][j]
			}
		}
	}
	return m
}

func (m affine) of(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, row := range m.a {
		out[i] = m.b[i] + dense.Dot(row, x)
	}
	return out
}

func (m affine) rows(rows [][]float64) (out [][]float64) {
	for _, r := range rows {
		out = append(out, m.of(r))
	}
	return out
}

func (m affine) mixture(mixture []learner.Component) (out []learner.Component) {
	for _, c := range mixture {
		moved := learner.Component{Weight: c.Weight, Mean: m.of(c.Mean)}
		for _, row := range m.a {
			r := make([]float64, len(row))
			for i, v := range row {
				for j := range r {
					r[j] += v * c.Root[i][j]
				}
			}
			moved.Root = append(moved.Root, r)
		}
		out = append(out, moved)
	}
	return out
}

// apart is dist_PARAM.
func apart(a, b []learner.Component) float64 {
	d := len(b[0].Mean)
	return blocks.Distance(blocks.Decode(learner.Estimates(a), d), blocks.Decode(learner.Estimates(b), d))
}

// TestEquivariance: the mixture of affine images of rows is the image of the mixture, at condition
// 1e3 and offsets of 1e6. Rounding of the images alone moves rows by 1e6 * 1e-16 against a scale of
// 1/sqrt(1e3): 3e-9, and EM's stopping rule and ties may make more of it.
func TestEquivariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	for _, c := range lessons {
		for i := range 6 {
			l := Learner{Components: c.k, Trim: []float64{0, .03}[i%2], Prior: []float64{0, 0, -1}[i%3]}
			truth := random(rng, c.k, c.d, 8, 3, 2)
			rows := drawn(rng, truth, c.n)
			m := wild(rng, c.d, 1e3, 1e6)
			plain, err := l.LearnMixture(rows, c.k, 5)
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			moved, err := l.LearnMixture(m.rows(rows), c.k, 5)
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			if got := apart(m.mixture(plain), moved); !(got < 1e-5) {
				t.Errorf("%+v %+v: the image of the mixture and the mixture of the images are %v apart", c, l, got)
			}
		}
	}
}

// TestScales: columns of very different units and places.
func TestScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	truth := random(rng, 2, 3, 8, 3, 2)
	rows := drawn(rng, truth, 150)
	plain, err := Learner{}.LearnMixture(rows, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := affine{[][]float64{{1e-9, 0, 0}, {0, 1e12, 0}, {0, 0, -1}}, []float64{1e-7, -1e13, 0}}
	moved, err := Learner{}.LearnMixture(m.rows(rows), 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	if got := apart(m.mixture(plain), moved); !(got < 1e-6) {
		t.Errorf("the image of the mixture and the mixture of the images are %v apart", got)
	}
}

// TestDeterministic: the same arguments, the same bits; the rows stay as they are.
func TestDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	rows := drawn(rng, random(rng, 3, 2, 5, 3, 2), 113)
	kept := affine{[][]float64{{1, 0}, {0, 1}}, []float64{0, 0}}.rows(rows)
	l := Learner{Components: 3}
	a, _ := l.Learn(rows, 7)
	b, _ := l.Learn(rows, 7)
	if len(a) != l.Estimates() || len(a[0]) != l.Coordinates(2) || !reflect.DeepEqual(a, b) || !reflect.DeepEqual(rows, kept) {
		t.Errorf("Learn twice: %v, %v", a, b)
	}
}

// TestNasty: tables that hold no mixture are an error, not a panic, nor numbers that are not
// finite.
func TestNasty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	good := drawn(rng, random(rng, 2, 2, 6, 3, 2), 60)
	change := func(do func(i int, r []float64)) (rows [][]float64) {
		for i, r := range good {
			rows = append(rows, []float64{r[0], r[1]})
			do(i, rows[i])
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows [][]float64
		may  bool // whether there may be a mixture
	}{
		"none":               {nil, false},
		"no columns":         {[][]float64{{}, {}, {}}, false},
		"two rows":           {good[:2], false},
		"all equal":          {change(func(_ int, r []float64) { r[0], r[1] = 3, 4 }), false},
		"constant column":    {change(func(_ int, r []float64) { r[1] = .1 }), false},
		"a line":             {change(func(_ int, r []float64) { r[1] = 3*r[0] + 1 }), false},
		"two points":         {change(func(i int, r []float64) { r[0], r[1] = float64(i%2), float64(i%2) }), false},
		"three points":       {change(func(i int, r []float64) { r[0], r[1] = float64(i%3), float64(i%3/2) }), true},
		"huge":               {change(func(i int, r []float64) { r[0] *= 1e307 }), true},
		"overflow":           {change(func(i int, r []float64) { r[0] = math.Copysign(1.7e308, r[0]+float64(i%2)-.5) }), false},
		"one huge row":       {change(func(i int, r []float64) { r[0] += float64(1-min(i, 1)) * 1e300 }), true},
		"tiny":               {change(func(_ int, r []float64) { r[0] *= 1e-310 }), false},
		"duplicates":         {change(func(i int, r []float64) { copy(r, good[i%7]) }), true},
		"one row many times": {change(func(i int, r []float64) { copy(r, good[max(i-50, 0)]) }), true},
	} {
		for _, l := range []Learner{{}, {Trim: .04}, {Prior: -1}, {Trim: 7, Starts: 1}} {
			for k := 1; k <= 5; k++ {
				mixture, err := l.LearnMixture(c.rows, k, 1)
				if err == nil && !c.may {
					t.Errorf("%s, %+v, k = %d: got %v", name, l, k, mixture)
				}
				if err == nil {
					wantFinite(t, fmt.Sprintf("%s, %+v, k = %d", name, l, k), mixture, k)
				}
			}
		}
	}
	if _, err := (Learner{}).LearnMixture(good, 0, 1); err == nil {
		t.Error("no components: want an error")
	}
}

func wantFinite(t *testing.T, name string, mixture []learner.Component, k int) {
	t.Helper()
	if len(mixture) != k {
		t.Fatalf("%s: %d components", name, len(mixture))
	}
	total := 0.0
	for _, e := range learner.Estimates(mixture) {
		total += e[0]
		for _, v := range e {
			if v-v != 0 {
				t.Errorf("%s: got %v", name, e)
			}
		}
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("%s: the weights sum to %v", name, total)
	}
}
