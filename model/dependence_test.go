package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// dependent is a mixture whose column b depends on c, and c on a; they stand in another order.
func dependent(t *testing.T) *Mixture {
	t.Helper()
	m := &Mixture{}
	if err := json.Unmarshal([]byte(`{"kind": "gaussian-mixture", "columns": ["x"], "weights": [0.5, 0.5], "means": [[0], [9]], "covariances": [[[1]], [[1]]], "categories": {
		"b": {"values": ["u", "v", ""], "probabilities": [[0.74, 0.16, 0.1], [0.5, 0.5, 0]], "of": "c", "given": [[[0.9, 0, 0.1], [0.1, 0.8, 0.1]], [[0.5, 0.5, 0], [0.5, 0.5, 0]]]},
		"a": {"values": ["p", "q"], "probabilities": [[0.8, 0.2], [0.5, 0.5]]},
		"c": {"values": ["r", "s"], "probabilities": [[0.8, 0.2], [1, 0]], "of": "a", "given": [[[1, 0], [0, 1]], [[1, 0], [1, 0]]]}}}`), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDependence: values are drawn and scored given the component and the value that they depend
// on, in whatever order the columns stand; a column whose value is not known says nothing.
func TestDependence(t *testing.T) {
	m := dependent(t)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again Mixture
	if err := json.Unmarshal(text, &again); err != nil || again.Categories[0].Of != "c" || again.Categories[0].Given[0][1][1] != .8 {
		t.Fatalf("%v: %s", err, text)
	}
	s, err := NewSampler(&again)
	if err != nil {
		t.Fatal(err)
	}
	rng, row, values, seen := rand.New(rand.NewPCG(1, 2)), make([]float64, 1), make([]int, 3), map[[3]int]float64{}
	const n = 100000
	for range n {
		if i := s.Row(row, rng); i == 0 {
			s.Categories(values, i, rng)
			seen[[3]int(values)]++
		}
	}
	scorer, err := NewScorer(&again)
	if err != nil {
		t.Fatal(err)
	}
	for b := range 3 {
		for a := range 2 {
			for c := range 2 {
				want := []float64{.8, .2}[a] * []float64{1, 0}[(a+c)%2] * [][]float64{{.9, 0, .1}, {.1, .8, .1}}[c][b]
				if got := 2 * seen[[3]int{b, a, c}] / n; math.Abs(got-want) > .02 {
					t.Errorf("values %d, %d, %d are %v of the rows, want %v", b, a, c, got, want)
				}
				if got := math.Exp(scorer.LogDensityOf([]float64{0}, []int{b, a, c}) - scorer.LogDensity([]float64{0})); math.Abs(got-want) > 1e-9 {
					t.Errorf("values %d, %d, %d score %v, want %v", b, a, c, got, want)
				}
			}
		}
	}
	if got := math.Exp(scorer.LogDensityOf([]float64{0}, []int{0, -1, -1}) - scorer.LogDensity([]float64{0})); math.Abs(got-.74) > 1e-9 {
		t.Errorf("a value by itself scores %v", got)
	}
}

// TestDependenceMistakes: circles, columns that are not there and tables of other sizes are
// refused.
func TestDependenceMistakes(t *testing.T) {
	for want, change := range map[string]func(m *Mixture){
		"a circle": func(m *Mixture) {
			m.Categories[1].Of, m.Categories[1].Given = "b", [][][]float64{{{1, 0}, {1, 0}, {1, 0}}, {{1, 0}, {1, 0}, {1, 0}}}
		},
		"another column":         func(m *Mixture) { m.Categories[0].Of = "x" },
		"itself":                 func(m *Mixture) { m.Categories[0].Of = "b" },
		"one for each component": func(m *Mixture) { m.Categories[0].Given = m.Categories[0].Given[:1] },
		"one for each value of":  func(m *Mixture) { m.Categories[0].Given[1] = m.Categories[0].Given[1][:1] },
		"a sum of 1":             func(m *Mixture) { m.Categories[0].Given[1][0] = []float64{.5, .4, 0} },
	} {
		m := dependent(t)
		change(m)
		if err := m.Validate(); err == nil || want != "itself" && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
