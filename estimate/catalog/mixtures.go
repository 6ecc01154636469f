package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze/estimate"
)

// MixtureRows returns the Data of a [Kind] for a mixture of this many components, of equal weights
// and the closest two of them gap standard deviations apart, their number left to the method. For
// such a kind the errors are total variations from the truth: Covariance is the median, Mean the
// ninth decile, the plain ones those of EM started at the truth; and Released counts the runs whose
// model has the right number of components.
func MixtureRows(components int, gap float64) string {
	return fmt.Sprintf(mixtureRows, components, gap)
}

const mixtureRows = "%d components %g apart"

// A Mixture is what to expect of a method on rows of such components.
type Mixture struct {
	Components int     `json:"components"`
	Separation float64 `json:"gap"`
	// TotalVariation is a median, High the ninth decile, and Plain that of EM started at the truth.
	TotalVariation float64 `json:"total_variation,omitempty"`
	High           float64 `json:"high,omitempty"`
	Plain          float64 `json:"without_privacy,omitempty"`
	// Right is the share of runs with the right number of components, and RowsNeeded the number of
	// rows from which on that is [often]; 0 if no measured number of rows was enough.
	Right      float64 `json:"right"`
	RowsNeeded float64 `json:"rows_needed,omitempty"`
	Note       string  `json:"note,omitempty"`
}

// often is the share of runs in which the number of components has to be right, among the few runs
// of a point.
const often = .9

// Mixtures returns the measured errors of a method on mixtures, by number of components, for these
// numbers of columns and rows and this mu. They were measured under replace-one and stand for both
// relations.
func (t *ErrorTable) Mixtures(method string, columns int, rows, mu float64) (out []Mixture) {
	for _, k := range t.Kinds(method) {
		m := Mixture{}
		if _, err := fmt.Sscanf(k.Data, mixtureRows, &m.Components, &m.Separation); err != nil {
			continue
		}
		if got, err := t.At(k, columns, rows, mu); err == nil {
			m.TotalVariation, m.High, m.Plain, m.Right, m.Note = min(1, got.Covariance), min(1, got.Mean), got.PlainCovariance, got.Released, got.Note
		} else {
			m.Note = err.Error()
		}
		m.RowsNeeded = t.fewest(k, columns, mu)
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Mixture) int {
		return cmp.Or(a.Components-b.Components, cmp.Compare(b.Separation, a.Separation))
	})
	return out
}

// fewest returns the number of rows from which on runs are often right; 0 if they never are.
func (t *ErrorTable) fewest(k Kind, columns int, mu float64) (rows float64) {
	const most, step = 1e8, .9
	for n := most; n > 1; n *= step {
		if got, err := t.At(k, columns, n, mu); err != nil || got.Released < often {
			break
		}
		rows = n
	}
	return estimate.AboutRows(rows)
}
