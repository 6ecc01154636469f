package engine

import (
	"math"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
)

// routine are the codes of flags of models that are as they should be: how precisely constant
// columns are known, what was missing, which units were inferred.
var routine = []flags.Code{flags.ConstantColumn, flags.IncompleteRows, flags.MissingCells, flags.RecordedUnit, flags.Singular, flags.Narrow}

// oneFound begins the text of a choice that was made; other flags of one component are warnings.
const oneFound = "One group found"

// Warnings returns the texts of the flags of a release that ask a reader to take care, those of all
// flags, and whether it has a background.
func Warnings(r *release.Release) (warnings, all []string, background bool) {
	told := slices.Clone(r.Diagnostics.Flags)
	groups, others := r.Model.Split()
	for _, i := range groups {
		if notes := r.Diagnostics.Components; i < len(notes) {
			told = append(told, notes[i].Flags...)
		}
	}
	for _, f := range told {
		if !slices.Contains(routine, f.Code) && !strings.HasPrefix(f.Text, oneFound) {
			warnings = append(warnings, f.Text)
		}
	}
	return warnings, flags.Texts(told), others != nil
}

// Moments are those of columns.
type Moments struct {
	Mean, SD []float64
	scaled   [][]float64 // to mean 0 and standard deviation 1; nil of a constant one
}

// MomentsOf scales columns first, so that no value is too large or too small for a square.
func MomentsOf(cols [][]float64) (s Moments) {
	for _, c := range cols {
		origin, reach := c[0], 0.0
		for _, x := range c {
			reach = math.Max(reach, math.Abs(x-origin))
		}
		if reach == 0 {
			s.Mean, s.SD, s.scaled = append(s.Mean, origin), append(s.SD, 0), append(s.scaled, nil)
			continue
		}
		z, sum, square := make([]float64, len(c)), 0.0, 0.0
		for i, x := range c {
			z[i] = (x - origin) / reach
			sum += z[i]
		}
		mean := sum / float64(len(c))
		for i := range z {
			z[i] -= mean
			square += z[i] * z[i]
		}
		sd := math.Sqrt(square / float64(len(c)))
		for i := range z {
			z[i] /= sd
		}
		s.Mean, s.SD, s.scaled = append(s.Mean, origin+reach*mean), append(s.SD, reach*sd), append(s.scaled, z)
	}
	return s
}

// Correlation returns the correlation of two columns that vary.
func (s Moments) Correlation(a, b int) float64 {
	sum := 0.0
	for i, x := range s.scaled[a] {
		sum += x * s.scaled[b][i]
	}
	return sum / float64(len(s.scaled[a]))
}

// Without returns the moments of a column without that many of the rows, those farthest from its
// median.
func Without(sorted []float64, rows int) Moments {
	left, middle := sorted, sorted[len(sorted)/2]
	for range min(len(sorted)-1, rows) {
		if middle-left[0] > left[len(left)-1]-middle {
			left = left[1:]
		} else {
			left = left[:len(left)-1]
		}
	}
	return MomentsOf([][]float64{left})
}

// Overall returns a model's moments as a whole; numbers that float64 cannot hold are infinite or
// NaN.
func Overall(m *model.Mixture) (mean, sd []float64, correlation func(a, b int) float64) {
	d := m.Dim()
	mean, sd = m.Mean(), make([]float64, d)
	for i, g := range m.Components {
		for a := range d {
			part := math.Hypot(math.Sqrt(g.Cov.At(a, a)), g.Mean[a]-mean[a])
			sd[a] = math.Hypot(sd[a], math.Sqrt(m.Weights[i])*part)
		}
	}
	return mean, sd, func(a, b int) float64 {
		sum := 0.0
		for i, g := range m.Components {
			sum += m.Weights[i] * (g.Cov.At(a, b)/sd[a]/sd[b] + (g.Mean[a]-mean[a])/sd[a]*((g.Mean[b]-mean[b])/sd[b]))
		}
		return sum
	}
}
