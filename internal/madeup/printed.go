package madeup

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gauze-dp/gauze/model"
)

// A part is an axis-aligned component of a printed mixture.
type part struct {
	weight    float64
	mean, sds []float64
}

func normal(weight, mean, sd float64) part { return part{weight, []float64{mean}, []float64{sd}} }

// printed are the mixtures of sections 7 and 7.2 of the restatement. Where it gives no numbers
// (A.., G.., M..) they are ours, after its words.
var printed = map[string][]part{
	"U1":  {normal(1, 3.7e5, 1e-2)},
	"U2":  {normal(1, 0, 1), normal(1, 1e6, 1e-3)},
	"U3":  {normal(1, 0, 1), normal(1, 1e6, 1e-3), normal(1, -1e9, 1e4)},
	"U5":  {normal(1, 0, 1), normal(1, 1e6, 1e-3), normal(1, -1e9, 1e4), normal(1, 6, 1), normal(1, 1e12, 1e-2)},
	"U2o": {normal(.5, 0, 1), normal(.5, 3, .6)},
	"U3o": {normal(.4, 0, 1), normal(.3, 3, .5), normal(.3, 7, 2)},
	"U2n": {normal(.5, 0, 1), normal(.5, 10, 1e5)},
	"F1":  {normal(.6, -5e3, 20), normal(.3, 40, 3), normal(.1, 7.2e4, .5)},
	"F2":  {normal(.5, 0, 1), normal(.25, 4, 1), normal(.15, 9, .5), normal(.1, 20, 3)},
	"F3":  {normal(.6, 0, 1), normal(.4, 0, 50)},
	"F4":  {normal(.7, 1e-8, 1e-10), normal(.3, 2e-8, 4e-9)},
	"F5":  {normal(.35, 100, 10), normal(.3, 200, 30), normal(.2, 1e5, 100), normal(.15, 1.02e5, 300)},

	// Ours: small enough for algorithms that enumerate.
	"L1":   {normal(1, 3, 1)},
	"L2":   {normal(.5, -5, 1), normal(.5, 5, 1)},
	"L2d2": {{.5, []float64{-5, 0}, []float64{1, 1}}, {.5, []float64{5, 0}, []float64{1, 1}}},

	"A2k2": {{1, []float64{0, 0}, []float64{1, 100}}, {1, []float64{1e4, 50}, []float64{1e-2, 10}}},
	"A2k3": {{1, []float64{0, 0}, []float64{1, 2}}, {1, []float64{8, 1}, []float64{1, .5}}, {1, []float64{1e6, -1e6}, []float64{10, 1e3}}},
	"A4k2": {{1, []float64{0, 10, 0, 5}, []float64{1, 100, .1, 10}}, {1, []float64{50, -80, 1, 40}, []float64{.1, 10, 1, 100}}},
	"A4k3": {{1, []float64{0, 0, 0, 0}, []float64{1, 100, .01, 1e3}}, {1, []float64{1e3, 20, .1, 0}, []float64{10, 1, .1, 100}},
		{1, []float64{1e3, 20, 1e3, 500}, []float64{1, 10, 10, 1}}},
	"M1": {{.7, []float64{0, 0, 0}, []float64{1, 10, .1}}, {.3, []float64{30, 5, 1}, []float64{2, 1, 1}}},
	"M2": {{.4, []float64{0, 0, 0}, []float64{1, 1, 1}}, {.3, []float64{1e3, 0, 0}, []float64{10, 2, .5}}, {.2, []float64{0, 500, 0}, []float64{3, 20, 5}},
		{.1, []float64{-200, 0, 1e4}, []float64{1, 4, 100}}},
	"M3": {{.6, []float64{0, 0}, []float64{1, 1}}, {.3, []float64{9, 1}, []float64{1, .7}}, {.1, []float64{1, 12}, []float64{.8, 1}}},
	"M4": {{.6, []float64{0, 0, 0, 0, 0}, []float64{1, 2, 3, .5, 10}}, {.4, []float64{40, 3, 0, 1, -5}, []float64{3, 1, 1, 1, 4}}},
	"M6": {{1, make([]float64, 8), ones(8)}, {1, []float64{12, 4, 0, 0, -3, 0, 2, 0}, ones(8)}},
}

// drawnOnce are the general ones, each the mixture of one seed.
var drawnOnce = map[string]Unbounded{
	"G2":  {Columns: 2, Components: 2, Arrangement: Rotated},
	"G2x": {Columns: 2, Components: 2, Arrangement: Crossing},
	"G2p": {Columns: 2, Components: 2, Arrangement: Parallel},
	"M5":  {Columns: 3, Components: 2, Arrangement: Rotated, Weights: []float64{.6, .4}},
}

// printedNames returns the names of the printed mixtures, sorted.
func printedNames() []string {
	names := append(slices.Collect(maps.Keys(printed)), slices.Collect(maps.Keys(drawnOnce))...)
	slices.Sort(names)
	return names
}

// printedMixture returns the printed mixture of that name.
func printedMixture(name string) (*model.Mixture, error) {
	if u, ok := drawnOnce[name]; ok {
		return u.Truth(uint64(len(name)))
	}
	parts, ok := printed[name]
	if !ok {
		return nil, fmt.Errorf("problem: printed: wanted one of %v, got %q", printedNames(), name)
	}
	var w []float64
	var gs []model.Gaussian
	total := 0.0
	for _, p := range parts {
		total += p.weight
	}
	for _, p := range parts {
		v := make([]float64, len(p.sds))
		for j, s := range p.sds {
			v[j] = s * s
		}
		cov, err := model.NewDiagonal(v)
		if err != nil {
			return nil, err
		}
		w, gs = append(w, p.weight/total), append(gs, model.Gaussian{Mean: slices.Clone(p.mean), Cov: cov})
	}
	return model.New(nil, w, gs)
}
