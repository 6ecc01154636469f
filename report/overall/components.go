package overall

import (
	"math"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
)

// A Component describes the rows of one component.
type Component struct {
	Table
	Weight     Amount // of all rows
	Background bool   // it describes rows in no group
}

// Components returns the table of each component by itself, in the order of the model. Its Rows are
// the noisy number behind it, and the noise is the component's own.
func Components(r *release.Release) (out []Component) {
	noise, n := noiseOf(r), rowsOf(r)
	for i, g := range r.Model.Components {
		alone := &release.Release{Columns: r.Columns, Model: &model.Mixture{Columns: r.Model.Columns, Weights: []float64{1}, Components: []model.Gaussian{g}, Cells: r.Model.Cells}}
		if i < len(r.Diagnostics.Components) {
			alone.Diagnostics.Components = r.Diagnostics.Components[i : i+1]
		}
		w := r.Model.Weights[i]
		out = append(out, Component{
			Table:      Of(alone),
			Weight:     Amount{w, w * noise[i] * countNoise(r.Model.Dim()), math.Sqrt(w * (1 - w) / n)},
			Background: r.Model.Background != nil && r.Model.Background[i],
		})
	}
	return out
}
