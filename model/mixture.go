package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/dense"
)

// weightTolerance is how far from 1 the weights of a mixture may sum; they are divided by their sum
// where used.
const weightTolerance = 1e-6

// Mixture is sum_i Weights[i] * Components[i], k Gaussians over d named columns.
//
// Its JSON is the "model" object of a release; see MarshalJSON and UnmarshalJSON.
type Mixture struct {
	Columns    []string   // d distinct names, none empty. Required.
	Weights    []float64  // k numbers >= 0 that sum to 1 within 1e-6. Required.
	Components []Gaussian // k Gaussians of dimension d. Required, k >= 1.
	// Background marks the components that stand for no group of rows: they describe rows anywhere
	// else. Densities, samples and moments are of all components; see Split. Nil for none.
	Background []bool
	// Cells are the values that each column can hold: drawn rows and densities keep to them, each
	// component with its share. Nil for any value. A release states them beside the model's JSON.
	Cells []Cell
	// Shared holds, by component and column, the value that the component's rows are known to share
	// there, whose spread in the model is noise: drawn rows have it. NaN for none; nil for none at
	// all. A release derives it: see its Keep.
	Shared [][]float64
	// Bars holds, by column, what was counted of the column by itself, in its own values, in
	// increasing order: where it contradicts the mixture, drawn rows keep to it; densities and
	// moments do not. Nil for a column of which nothing was. A release derives it: see its Keep.
	Bars [][]Bar
	// Categories are the columns of categories, independent of all others within a component. Nil
	// for none.
	Categories []Category
	// Order holds the names of all columns in the order of the table; nil for those of numbers and
	// then those of categories. A release states it beside the model's JSON.
	Order []string
}

// New returns the mixture of the given parts, checked. Nil columns stand for x1, .., xd, nil
// weights for equal ones. The slices are kept, not copied.
func New(columns []string, weights []float64, components []Gaussian) (*Mixture, error) {
	if columns == nil && len(components) > 0 {
		columns = DefaultColumns(components[0].Dim())
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1 / float64(len(components))}, len(components))
	}
	m := &Mixture{Columns: columns, Weights: weights, Components: components}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// DefaultColumns returns the names x1, .., xd.
func DefaultColumns(d int) []string {
	out := make([]string, d)
	for j := range out {
		out[j] = "x" + strconv.Itoa(j+1)
	}
	return out
}

// Dim returns d, the number of columns.
func (m *Mixture) Dim() int { return len(m.Columns) }

// K returns the number of components that are no background, as [Mixture.Split] has them.
func (m *Mixture) K() int {
	groups, _ := m.Split()
	return len(groups)
}

// Validate reports every fault of m at once, each as a FieldError, or nil.
func (m *Mixture) Validate() error {
	var faults []error
	if len(m.Components) == 0 {
		faults = append(faults, fieldError("components", "at least 1", 0, "one Gaussian is a mixture of one"))
	}
	faults = append(faults, checkColumns(m.Columns), checkWeights(m.Weights, len(m.Components)))
	if n := len(m.Background); n != 0 && n != len(m.Components) {
		faults = append(faults, fieldError("background", countOf(len(m.Components), "value")+", one for each component", countOf(n, "value"), "leave it out if no component is background"))
	}
	if n := len(m.Cells); n != 0 && n != len(m.Columns) {
		faults = append(faults, fieldError("cells", countOf(len(m.Columns), "value")+", one for each column", countOf(n, "value"), "leave them out"))
	}
	faults = append(faults, m.checkCategories())
	for i, g := range m.Components {
		faults = append(faults, g.validate(fmt.Sprintf("means[%d]", i), fmt.Sprintf("covariances[%d]", i), len(m.Columns)))
	}
	return errors.Join(faults...)
}

func checkColumns(columns []string) error {
	if len(columns) == 0 {
		return fieldError("columns", "at least one name", "none", "name every column")
	}
	var faults []error
	seen := make(map[string]int, len(columns))
	for j, name := range columns {
		field := fmt.Sprintf("columns[%d]", j)
		if name == "" {
			faults = append(faults, fieldError(field, "a name", `""`, "name every column"))
		} else if i, ok := seen[name]; ok {
			faults = append(faults, fieldError(field, "a name of its own", strconv.Quote(name),
				fmt.Sprintf("columns[%d] has it already; rename one", i)))
		}
		seen[name] = j
	}
	return errors.Join(faults...)
}

func checkWeights(weights []float64, k int) error {
	if len(weights) != k {
		return fieldError("weights", countOf(k, "number")+", one for each component", countOf(len(weights), "number"), "give one weight for each component")
	}
	var faults []error
	for i, w := range weights {
		if !dense.Finite(w) || w < 0 {
			faults = append(faults, fieldError(fmt.Sprintf("weights[%d]", i), "a finite number >= 0", w, "drop the component or give it its share of the rows"))
		}
	}
	if sum := floats.Sum(weights); len(faults) == 0 && k > 0 && !(math.Abs(sum-1) <= weightTolerance) {
		faults = append(faults, fieldError("weights", "a sum of 1 (within 1e-6)", fmt.Sprintf("a sum of %v", sum), "divide every weight by the sum"))
	}
	return errors.Join(faults...)
}

// Split returns which components stand for groups of rows, and which are background. All stand for
// groups if no component with a weight would otherwise.
func (m *Mixture) Split() (groups, background []int) {
	weight := 0.0
	for i, w := range m.Weights {
		if i < len(m.Background) && m.Background[i] {
			background = append(background, i)
			continue
		}
		groups = append(groups, i)
		weight += w
	}
	if weight > 0 || background == nil {
		return groups, background
	}
	return (&Mixture{Weights: m.Weights}).Split()
}

// WithoutBackground returns the mixture of the components that stand for groups of rows, with their
// weights divided by their sum, and the share of m that is left out.
func (m *Mixture) WithoutBackground() (rest *Mixture, share float64) {
	groups, _ := m.Split()
	if rest = m.only(groups); rest == m {
		return m, 0
	}
	weight := floats.Sum(rest.Weights)
	floats.Scale(1/weight, rest.Weights)
	return rest, max(0, 1-weight/floats.Sum(m.Weights))
}

// only returns the components index of m with their weights in m; m itself if these are all.
func (m *Mixture) only(index []int) *Mixture {
	if len(index) == len(m.Components) {
		return m
	}
	return &Mixture{Columns: m.Columns, Cells: m.Cells, Weights: taken(m.Weights, index), Components: taken(m.Components, index), Shared: sharedOf(m.Shared, index),
		Categories: onlyOf(m.Categories, index), Order: m.Order}
}

// Mean returns sum_i w_i m_i, d numbers.
func (m *Mixture) Mean() []float64 {
	total := floats.Sum(m.Weights)
	out := make([]float64, m.Dim())
	for i, g := range m.Components {
		floats.AddScaled(out, m.Weights[i]/total, g.Mean)
	}
	return out
}

// CovarianceType returns the most special name that fits every component: "spherical", "diagonal"
// or "full".
func (m *Mixture) CovarianceType() string {
	names, most := []string{typeSpherical, typeDiagonal, typeFull}, 0
	for _, g := range m.Components {
		most = max(most, slices.Index(names, g.Cov.TypeName()))
	}
	return names[most]
}

// inOrder returns m with its columns in another order; false if one is missing.
func (m *Mixture) inOrder(columns []string) (*Mixture, bool) {
	index := make([]int, len(columns))
	for a, name := range columns {
		if index[a] = slices.Index(m.Columns, name); index[a] < 0 {
			return nil, false
		}
	}
	out := &Mixture{Columns: columns, Weights: m.Weights, Background: m.Background, Categories: m.Categories, Order: m.Order}
	for _, g := range m.Components {
		out.Components = append(out.Components, Gaussian{Mean: taken(g.Mean, index), Cov: inOrder(g.Cov, index)})
	}
	out.Cells = taken(m.Cells, index[:len(m.Cells)]) // all or none have some
	return out, true
}
