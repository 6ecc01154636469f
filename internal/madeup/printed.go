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

// printed are mixtures that are small enough for algorithms that enumerate.
var printed = map[string][]part{
	"L1":   {{1, []float64{3}, []float64{1}}},
	"L2":   {{.5, []float64{-5}, []float64{1}}, {.5, []float64{5}, []float64{1}}},
	"L2d2": {{.5, []float64{-5, 0}, []float64{1, 1}}, {.5, []float64{5, 0}, []float64{1, 1}}},
}

// printedMixture returns the printed mixture of that name.
func printedMixture(name string) (*model.Mixture, error) {
	parts, ok := printed[name]
	if !ok {
		return nil, fmt.Errorf("problem: printed: wanted one of %v, got %q", slices.Sorted(maps.Keys(printed)), name)
	}
	var w []float64
	var gs []model.Gaussian
	for _, p := range parts {
		v := make([]float64, len(p.sds))
		for j, s := range p.sds {
			v[j] = s * s
		}
		cov, err := model.NewDiagonal(v)
		if err != nil {
			return nil, err
		}
		w, gs = append(w, p.weight), append(gs, model.Gaussian{Mean: slices.Clone(p.mean), Cov: cov})
	}
	return model.New(nil, w, gs)
}
