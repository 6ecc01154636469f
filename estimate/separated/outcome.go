package separated

import (
	"fmt"
	"math"
	"sort"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parts/component"
	"github.com/gauze-dp/gauze/parts/coreset"
)

type mixture = coreset.Mixture

// Utility constants of what is told.
const (
	surplus = .25 // of an even share: a component with less may be noise, or a part of another
	noisy   = 1.0 // relative spectral noise beyond which a component's shape is flagged
	strays  = .02 // part of the rows in no component that is worth telling
)

// outcome turns the components into a model of all columns, heaviest first.
func (f *fit) outcome(g []component.Gaussian) (estimate.Outcome, error) {
	notes := f.cols.Notes
	if len(g) == 0 {
		return f.refuse("no component holds enough rows to be seen"), nil
	}
	g = append([]component.Gaussian(nil), g...)
	sort.SliceStable(g, func(i, j int) bool { return g[i].Weight > g[j].Weight })
	total := 0.0
	for _, c := range g {
		total += c.Weight
	}
	if k := f.p.Components; k > len(g) {
		notes.Flags = append(notes.Flags, fmt.Sprintf("%d of %d components hold too few rows to be seen and were left out", k-len(g), k))
	}
	if out := 1 - total; out > strays {
		notes.Flags = append(notes.Flags, fmt.Sprintf("about %.0f%% of the rows lie far from every component and are in none", 100*out))
	}
	// the front door knows the names
	m := &model.Mixture{Columns: model.DefaultColumns(f.p.Columns)}
	root := math.Sqrt(2 * float64(f.space.Dim()))
	for _, c := range g {
		mean, cov, err := f.cols.Raw(f.space, c, f.p.Covariance)
		if err != nil {
			return f.cols.Outsize(), nil
		}
		w := c.Weight / total
		m.Weights = append(m.Weights, w)
		m.Components = append(m.Components, model.Gaussian{Mean: mean, Cov: cov})
		note := estimate.ComponentNote{EffectiveRows: c.Rows, EffectiveNoise: c.Sigma * root}
		if w < surplus/float64(len(g)) {
			note.Flags = append(note.Flags, "holds few rows: it may be surplus")
		}
		if note.EffectiveNoise > noisy {
			note.Flags = append(note.Flags, "its shape is known little better than its size: mostly carried over from the coarse start")
		}
		notes.Components = append(notes.Components, note)
	}
	if m.Validate() != nil {
		return f.cols.Outsize(), nil
	}
	return estimate.Outcome{Model: m, Diagnostics: notes}, nil
}

func (f *fit) refuse(format string, args ...any) estimate.Outcome {
	notes := estimate.Diagnostics{}
	if f.cols != nil {
		notes = f.cols.Notes
	}
	return estimate.Outcome{Diagnostics: notes, NoRelease: &estimate.NoRelease{Reason: fmt.Sprintf(format, args...), Advice: advice(f.p)}}
}

// advice says what would help.
func advice(p estimate.Problem) string {
	k := max(2, p.Components)
	return fmt.Sprintf("needs about %.0f rows for %d components of about equal weight at this epsilon; or fewer columns, or fewer components; overlapping components are for --method general",
		math.Ceil(rowsFor(p, k)/100)*100, k)
}
