package model

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// negligibleLog is the log of a share too small to change a float64 sum.
const negligibleLog = -40

// Scorer evaluates the density of one mixture for many rows, without allocating for a row. It is
// immutable and may be shared by goroutines.
type Scorer struct {
	dim      int
	support  *support
	limits   []Cell
	cells    []Cell          // if some columns are of logarithms; else nil
	parts    []*whitener     // nil where the weight is 0
	values   [][][]float64   // log probabilities of categories, by column and component
	parents  []int           // the column of categories that each depends on; -1 for none
	given    [][][][]float64 // as values, by its value too
	constant []float64       // log w_i - r/2 log 2 pi - log|L_i|; -Inf where the weight is 0
	scratch  sync.Pool       // of *[]float64
}

// NewScorer compiles m; later changes to m have no effect. It fails if m is not valid.
func NewScorer(m *Mixture) (*Scorer, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return newScorer(m, newSupport(present(m))), nil
}

// present lists the components of positive weight.
func present(ms ...*Mixture) []Gaussian {
	var out []Gaussian
	for _, m := range ms {
		for i, g := range m.Components {
			if m.Weights[i] > 0 {
				out = append(out, g)
			}
		}
	}
	return out
}

// newScorer compiles m, a valid mixture, on a support that may be larger than its own.
func newScorer(m *Mixture, s *support) *Scorer {
	k := len(m.Components)
	out := &Scorer{dim: m.Dim(), support: s, limits: boxes(m.Cells), parts: make([]*whitener, k), constant: make([]float64, k), values: logarithms(m.Categories),
		parents: parents(m.Categories), given: ofGiven(m.Categories, logarithms)}
	r := len(s.free)
	whole := 1 / floats.Sum(m.Weights)
	for i, g := range m.Components {
		out.constant[i] = math.Inf(-1)
		if m.Weights[i] > 0 {
			out.parts[i] = newWhitener(g, s)
			out.constant[i] = math.Log(m.Weights[i]*whole/m.inside(i, out.limits)) - float64(r)/2*math.Log(2*math.Pi) - out.parts[i].logDet
		}
	}
	if logs(m.Cells) {
		out.cells = m.Cells
	}
	out.scratch.New = func() any {
		z := make([]float64, r+m.Dim())
		return &z
	}
	return out
}

// LogDensity returns log p(row) in nats, for a row in the table's own values, never NaN: -Inf for a
// row off the model's support, beyond what its cells can hold, with a cell that is not finite, or
// so far away that its squared distance overflows float64. It panics if row has not d cells.
func (s *Scorer) LogDensity(row []float64) float64 { return s.LogDensityOf(row, nil) }

// LogDensityOf returns LogDensity of a row that also has the values of its columns of categories,
// by their numbers in [Category.Values]. -1 leaves out a column whose value is unknown, and nil
// leaves out all of them: the density of the numbers alone.
func (s *Scorer) LogDensityOf(row []float64, values []int) float64 {
	if len(row) != s.dim {
		panic(fmt.Sprintf("model: row has %d cells, the model %d columns", len(row), s.dim))
	}
	pooled := s.scratch.Get().(*[]float64)
	defer s.scratch.Put(pooled)
	z, slope := (*pooled)[:len(s.support.free)], 0.
	if s.cells != nil {
		row = append((*pooled)[len(z):len(z)], row...)
		slope = mapped(row, s.cells)
	}
	if !s.support.holds(row) || !within(row, s.limits) || math.IsInf(slope, -1) {
		return math.Inf(-1)
	}
	top, sum := math.Inf(-1), 0.0
	for i, p := range s.parts {
		if p == nil {
			continue
		}
		v := s.constant[i] - p.square(z, row, s.support.free)/2 + s.ofValues(i, values)
		switch {
		case v > top:
			sum = sum*math.Exp(top-v) + 1
			top = v
		case v-top > negligibleLog:
			sum += math.Exp(v - top)
		}
	}
	return top + math.Log(sum) + slope
}

// ofValues returns the logarithm of the values' probability in component i.
func (s *Scorer) ofValues(i int, values []int) (sum float64) {
	for a, v := range values {
		if v < 0 {
			continue
		}
		if p := s.parents[a]; p >= 0 && values[p] >= 0 {
			sum += s.given[a][i][values[p]][v]
		} else {
			sum += s.values[a][i][v]
		}
	}
	return sum
}
