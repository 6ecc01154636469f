package categories

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// near are rows of two components that overlap: at 0 and 1.5 in one column, with values that differ
// in three columns of categories, and a fourth that says nothing.
func near(rng *rand.Rand, n int, r privacy.Relation) *kernel.Table {
	b := kernel.NewMixedBuilder(1, 4, nil)
	for range n {
		at, own := 0., .9
		if rng.IntN(4) == 0 {
			at, own = 1.5, .1
		}
		row := []float64{at + rng.NormFloat64(), 0, 0, 0, float64(rng.IntN(3))}
		for a := range 3 {
			if rng.Float64() > own {
				row[1+a] = 1
			}
		}
		if rng.IntN(50) == 0 {
			row[0] = math.NaN()
		}
		b.Append(row)
	}
	return b.Protect(r)
}

func nearOutcome(t *testing.T) estimate.Outcome {
	sd, err := model.NewDiagonal([]float64{1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.New(nil, []float64{.7, .3}, []model.Gaussian{{Mean: []float64{0}, Cov: sd}, {Mean: []float64{1.5}, Cov: sd}})
	if err != nil {
		t.Fatal(err)
	}
	return estimate.Outcome{Model: m, Diagnostics: estimate.Diagnostics{Components: make([]estimate.ComponentNote, 2)}}
}

// TestRounds: a row's values say with its number whose it is, so that components that overlap have
// their own values; their weights follow; and what is spent is the part that was planned.
func TestRounds(t *testing.T) {
	const n = 40000
	for _, r := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		p := estimate.Problem{Columns: 1, Relation: r, Categories: []int{3, 3, 3, 4}}
		if r == privacy.ReplaceOne {
			p.Rows = n
		}
		plan := Extend(kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "count", Query: "count", Share: 1, Most: 1}}}, p, Shares{All: .1})
		var heard kerneltest.Transcript
		s := kerneltest.Open(t, near(rand.New(rand.NewPCG(1, 2)), n, r), plan, kernel.Terms{Relation: r, Budget: privacy.Budget{Epsilon: 4, Delta: 1e-6}},
			kerneltest.Options{Exact: true, Record: &heard})
		out := nearOutcome(t)
		if r == privacy.AddRemoveOne {
			out.Diagnostics.Components[0].EffectiveRows = n
		}
		a := s.Part(.1).SubBudget()
		if err := Measure(a, p, Shares{All: .1}, &out); err != nil {
			t.Fatal(err)
		}
		// by numbers alone, as the second round has it, the components are far less apart
		first := heard.Sums[1]
		for c := range 3 {
			for i, want := range []float64{.9, .1} {
				at := i*13 + 3*c
				numbers, got := float64(first[at])/float64(first[at]+first[at+1]), out.Categories[c][i][0]
				if math.Abs(got-want) > .6*math.Abs(numbers-want) || math.Abs(numbers-want) < .05 {
					t.Errorf("%v: column %d, component %d: %v, by numbers %v, want %v", r, c, i, got, numbers, want)
				}
			}
		}
		if w := out.Model.Weights; math.Abs(w[1]-.25) > .04 || math.Abs(w[0]+w[1]-1) > 1e-12 {
			t.Errorf("%v: the weights are %v", r, w)
		}
		spent := 0.
		for _, mu := range heard.Mus {
			spent += mu * mu
		}
		if most := .1 * s.Mu() * s.Mu(); len(heard.Mus) != rounds || math.Abs(spent-most) > 1e-9*most {
			t.Errorf("%v: %d rounds cost %v of %v", r, len(heard.Mus), spent, most)
		}
	}
}

// TestShare: counts cost what they need at so many rows, within limits, and nothing without
// categories.
func TestShare(t *testing.T) {
	p := estimate.Problem{Relation: privacy.ReplaceOne, Categories: []int{2, 5}}
	for _, c := range []struct {
		rows int
		want float64
	}{{0, usual}, {100, most}, {1 << 30, least}} {
		p.Rows = c.rows
		if got := countShare(p, .3, false); got != c.want {
			t.Errorf("%d rows: %v, want %v", c.rows, got, c.want)
		}
	}
	p.Categories, p.Columns = slices.Repeat([]int{4}, 9), 3
	for rows, want := range map[int]float64{500: most, 2000: wide * 9 / 12, 1 << 30: least} { // where numbers have enough left, and need it less
		if p.Rows = rows; countShare(p, .3, true) != want || countShare(p, .3, false) > most {
			t.Errorf("9 of 12 columns, %d rows: %v, want %v", rows, countShare(p, .3, true), want)
		}
	}
	for rows, want := range map[int]float64{550: most, 650: wide * 9 / 12, 750: most} { // .. or are by themselves
		if p.Rows = rows; countShare(p, .3, true) != want {
			t.Errorf("9 of 12 columns, %d rows: %v, want %v", rows, countShare(p, .3, true), want)
		}
	}
	if p.Categories = nil; SharesOf(p, .3, true) != (Shares{}) {
		t.Error("without categories they cost something")
	}
}

// TestProbabilities: whatever counts are released, probabilities are some, and no declared value is
// impossible.
func TestProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		k, columns := 1+rng.IntN(4), []int{2, 1 + rng.IntN(6), 3}
		c := counts{columns: columns, rows: 1000, sigma: 30 * rng.Float64()}
		for range k {
			c.weights = append(c.weights, 1/float64(k))
		}
		for range k * c.cells() {
			c.values = append(c.values, 200*rng.NormFloat64()*float64(rng.IntN(2)))
		}
		for range c.cells() {
			c.all = append(c.all, 300*rng.NormFloat64())
		}
		c.precision = slices.Repeat([]float64{1 / (c.sigma*c.sigma + 1e-9)}, len(columns))
		for a, of := range c.probabilities() {
			for i, p := range of {
				sum := 0.
				for v, x := range p {
					if sum += x; !(x >= 0) || x == 0 && v < len(p)-1 && c.sigma > .1 {
						t.Fatalf("column %d, component %d: %v", a, i, p)
					}
				}
				if math.Abs(sum-1) > 1e-9 || len(p) != columns[a] {
					t.Fatalf("column %d, component %d sums to %v: %v", a, i, sum, p)
				}
			}
		}
	}
}

// TestRowsOfBackground: a component that has many times the rows of its weight, as a background has
// those of groups that were not found, has the probabilities of these rows' values. With rows by
// its weight alone one value had all.
func TestRowsOfBackground(t *testing.T) {
	c := counts{columns: []int{3}, rows: 5000, sigma: 20, weights: []float64{.9995, .0005}, values: []float64{1500, 1500, 0, 900, 600, 500}, precision: []float64{1. / 800}}
	c.all = []float64{2400, 2100, 500}
	if rows := c.rowsOf(1); math.Abs(rows-2000) > 100 {
		t.Errorf("%v rows, want 2000", rows)
	}
	for v, want := range []float64{.45, .3, .25} {
		if p := c.probabilities()[0][1][v]; math.Abs(p-want) > .03 {
			t.Errorf("value %d has %v, want %v", v, p, want)
		}
	}
	if c.values[3], c.values[4], c.values[5] = 30, -20, 10; math.Abs(c.rowsOf(1)-2.5) > .1 { // noise
		t.Errorf("%v rows, want 2.5", c.rowsOf(1))
	}
}

// TestRake: rare values do not grow by being projected component by component.
func TestRake(t *testing.T) {
	c := counts{columns: []int{3}, rows: 1000, weights: []float64{.5, .5}, values: []float64{490, 10, 0, 460, 40, 0}, sigma: 1}
	of, all := [][]float64{{.9, .1, 0}, {.8, .2, 0}}, []float64{.95, .05, 0}
	c.rake(of, all)
	for v, want := range all {
		if got := (of[0][v] + of[1][v]) / 2; math.Abs(got-want) > 1e-3 {
			t.Errorf("value %d has %v of all rows, want %v", v, got, want)
		}
	}
	if !(of[1][1] > of[0][1]) {
		t.Errorf("the components have %v", of)
	}
}

func TestSimplex(t *testing.T) {
	for _, c := range []struct {
		p        []float64
		complete bool
		want     []float64
	}{
		{[]float64{.2, .3, .5}, false, []float64{.2, .3, .5}}, {[]float64{2, 0, 0}, false, []float64{1, 0, 0}}, {[]float64{.6, .6, -1}, false, []float64{.5, .5, 0}},
		{[]float64{.5, .25, .25}, true, []float64{.625, .375, 0}}, {[]float64{-7}, false, []float64{1}}, {[]float64{-3, -3}, false, []float64{.5, .5}},
	} {
		got := simplex(c.p, c.complete)
		if !slices.EqualFunc(got, c.want, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 }) {
			t.Errorf("%v: got %v, want %v", c.p, got, c.want)
		}
	}
}

// TestTogether: components with few rows are counted as one.
func TestTogether(t *testing.T) {
	of, group := together([]float64{.02, .5, .03, .45}, .1)
	if !slices.Equal(group, []int{0, 1, 0, 2}) || math.Abs(of[0]-.05) > 1e-12 || len(of) != 3 {
		t.Errorf("%v, %v", of, group)
	}
	if of, group = together([]float64{.5, .5}, .1); !slices.Equal(group, []int{0, 1}) || len(of) != 2 {
		t.Errorf("%v, %v", of, group)
	}
}
