package model_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// wards is a mixture of two components with two columns of categories.
func wards(t testing.TB) *model.Mixture {
	m := mixture(t, []float64{.25, .75}, normal(t, -3, 1), normal(t, 3, 2))
	m.Categories = []model.Category{
		{Name: "ward", Values: []string{"north <1>", "south", ""}, Probabilities: [][]float64{{.5, .25, .25}, {0, 1, 0}}},
		{Name: "Sex", Values: []string{"f", "m"}, Probabilities: [][]float64{{1, 0}, {.5, .5}}},
	}
	return m
}

func TestCategoriesJSON(t *testing.T) {
	text, err := json.Marshal(wards(t))
	want := `"categories":{"ward":{"values":["north <1>","south",""],"probabilities":[[0.5,0.25,0.25],[0,1,0]]},"Sex":{"values":["f","m"],"probabilities":[[1,0],[0.5,0.5]]}}}`
	if got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)); err != nil || !strings.HasSuffix(got, want) {
		t.Fatalf("%v: got %s, want it to end in %s", err, text, want)
	}
	var back model.Mixture
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(&back); err != nil || string(again) != string(text) {
		t.Errorf("%v\nwrote %s\nthen  %s", err, text, again)
	}
	if got := back.Header(); !slices.Equal(got, []string{"x1", "ward", "Sex"}) {
		t.Errorf("the header is %q", got)
	}
}

func TestCategoriesMistakes(t *testing.T) {
	for replace, want := range map[[2]string]string{
		{`[0.5,0.25,0.25]`, `[0.5,0.25,0.3]`}:  "categories.ward.probabilities[0]: wanted a sum of 1",
		{`[0.5,0.25,0.25]`, `[0.5,0.5]`}:       "categories.ward.probabilities[0]: wanted 3 numbers",
		{`[0.5,0.25,0.25]`, `[1.5,-0.25,0.5]`}: "categories.ward.probabilities[0][1]",
		{`[0,1,0]`, `null`}:                    "categories.ward.probabilities: wanted an array of numbers for each component",
		{`,[0.5,0.5]`, ``}:                     "categories.Sex.probabilities: wanted 2 rows",
		{`"south"`, `""`}:                      `categories.ward.values[2]: wanted every value once`,
		{`"south"`, `3`}:                       `categories.ward.values: wanted an array of texts`,
		{`"Sex"`, `"x1"`}:                      "categories: wanted a name of its own",
		{`"Sex"`, `"ward"`}:                    "categories: wanted a name of its own",
		{`["f","m"]`, `[]`}:                    "categories.Sex.values: wanted at least one value",
		{`{"ward"`, `[{"ward"`}:                "categories: wanted an object",
	} {
		text, err := json.Marshal(wards(t))
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Replace(string(text), replace[0], replace[1], 1)
		if strings.HasPrefix(replace[1], "[{") {
			bad = bad[:len(bad)-1] + "]}"
		}
		var back model.Mixture
		if err := json.Unmarshal([]byte(bad), &back); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", bad, err, want)
		}
	}
}

// TestCategoriesDensity: sums over all values give the density of the numbers, which LogDensity is.
func TestCategoriesDensity(t *testing.T) {
	m := wards(t)
	s := scorer(t, m)
	for _, x := range []float64{-9, -2, 0, .5, 4} {
		sum := 0.
		for ward := range 3 {
			for sex := range 2 {
				p := math.Exp(s.LogDensityOf([]float64{x}, []int{ward, sex}))
				want := 0.
				for i, w := range m.Weights {
					sd := math.Sqrt(m.Components[i].Cov.At(0, 0))
					z := (x - m.Components[i].Mean[0]) / sd
					want += w * math.Exp(-z*z/2) / sd / math.Sqrt(2*math.Pi) * m.Categories[0].Probabilities[i][ward] * m.Categories[1].Probabilities[i][sex]
				}
				if math.Abs(p-want) > 1e-12 {
					t.Errorf("at %v, %d, %d: got %v, want %v", x, ward, sex, p, want)
				}
				sum += p
			}
		}
		if want := math.Exp(s.LogDensity([]float64{x})); math.Abs(sum-want) > 1e-12 {
			t.Errorf("at %v: the values sum to %v, want %v", x, sum, want)
		}
	}
	if got, want := s.LogDensityOf([]float64{0}, []int{-1, -1}), s.LogDensity([]float64{0}); math.Abs(got-want) > 1e-12 {
		t.Errorf("without any value: got %v, want %v", got, want)
	}
	if l := s.LogDensityOf([]float64{-50}, []int{1, 1}); l > -200 {
		t.Errorf("a value that its component cannot have has log density %v", l)
	}
}

// TestCategoriesSample: drawn values have the probabilities of their component. False alarms: below
// 1e-6.
func TestCategoriesSample(t *testing.T) {
	m := wards(t)
	s, err := model.NewSampler(m)
	if err != nil {
		t.Fatal(err)
	}
	rng, row, values := seeded(7), make([]float64, 1), make([]int, 2)
	counts, n := map[[3]int]int{}, 40000
	for range n {
		i := s.Row(row, rng)
		s.Categories(values, i, rng)
		counts[[3]int{i, values[0], values[1]}]++
	}
	for i, w := range m.Weights {
		for a, p := range m.Categories[0].Probabilities[i] {
			for b, q := range m.Categories[1].Probabilities[i] {
				want := w * p * q * float64(n)
				if got := float64(counts[[3]int{i, a, b}]); math.Abs(got-want) > 6*math.Sqrt(want) {
					t.Errorf("component %d, values %d and %d: %v rows, want %v", i, a, b, got, want)
				}
			}
		}
	}
}

// TestCategoriesCompare: total variation of values, matched by their names.
func TestCategoriesCompare(t *testing.T) {
	a, b := wards(t), wards(t)
	b.Categories = []model.Category{{Name: "ward", Values: []string{"south", "west", "north <1>"}, Probabilities: [][]float64{{.25, .25, .5}, {.5, .5, 0}}}}
	c, err := model.Compare(context.Background(), a, b, 1000, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	// of all rows: a north .125, south .8125, missing .0625; b south .4375, west .4375, north .125
	if len(c.Categories) != 1 || c.Categories[0].Column != "ward" || math.Abs(float64(c.Categories[0].TV)-.4375) > 1e-12 {
		t.Errorf("of all rows: %+v", c.Categories)
	}
	for i, want := range []float64{.25, .5} {
		if of := c.Components[i].Categories; len(of) != 1 || math.Abs(float64(of[0].TV)-want) > 1e-12 {
			t.Errorf("of component %d: %+v, want %v", i, of, want)
		}
	}
	if c, err = model.Compare(context.Background(), a, mixture(t, nil, normal(t, 0, 1)), 100, seeded(1)); err != nil || c.Categories != nil {
		t.Errorf("without categories: %v, %v", c.Categories, err)
	}
}

// TestWithoutBackgroundKeepsCategories: components that are left keep their values.
func TestWithoutBackgroundKeepsCategories(t *testing.T) {
	m := wards(t)
	m.Background = []bool{true, false}
	rest, share := m.WithoutBackground()
	if err := rest.Validate(); err != nil || share != .25 || rest.Categories[1].Probabilities[0][0] != .5 || len(rest.Categories[0].Probabilities) != 1 {
		t.Errorf("%v, share %v, %+v", err, share, rest.Categories)
	}
}
