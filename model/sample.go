package model

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/dense"
)

// Sampler draws rows from one mixture, without allocating for a row. It is immutable and may be
// shared by goroutines, each with its own rng. It is for public models, tests and simulation: rng
// need not be cryptographic.
type Sampler struct {
	dim     int
	upTo    []float64 // cumulated weights
	parts   []samplerPart
	cells   []Cell          // values that columns can hold
	shared  [][]float64     // .. or that a component's rows share
	bends   []*bend         // .. or that were counted
	boxes   []Cell          // limits of rows before they are rounded
	values  [][][]float64   // cumulated probabilities of categories, by column and component
	order   []int           // of columns of categories, each after the one that it depends on
	parents []int           // which that is; -1 for none
	given   [][][][]float64 // as values, by its value too
	scratch sync.Pool       // of *[]float64
}

type samplerPart struct {
	mean   []float64
	sd     []float64  // for uncorrelated columns, or nil
	factor *mat.Dense // otherwise
}

// NewSampler compiles m; later changes to m have no effect. It fails if m is not valid.
func NewSampler(m *Mixture) (*Sampler, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	s := &Sampler{dim: m.Dim(), upTo: make([]float64, len(m.Components)), parts: make([]samplerPart, len(m.Components)), cells: m.Cells, shared: m.Shared, bends: m.bends(), boxes: m.Drawn(), values: cumulated(m.Categories),
		order: drawingOrder(m.Categories), parents: parents(m.Categories), given: ofGiven(m.Categories, cumulated)}
	floats.CumSum(s.upTo, m.Weights)
	for i, g := range m.Components {
		s.parts[i].mean = append([]float64(nil), g.Mean...)
		if u, ok := g.Cov.(Diagonal); ok {
			s.parts[i].sd = u.sds()
		} else {
			s.parts[i].factor = factorOf(g.Cov)
		}
	}
	s.scratch.New = func() any {
		z := make([]float64, s.dim)
		return &z
	}
	return s, nil
}

func mustSampler(m *Mixture) *Sampler {
	s, err := NewSampler(m)
	if err != nil {
		panic("model: " + err.Error())
	}
	return s
}

// Row fills dst with one row, in the units of the table, and returns the component it came from. It
// panics if dst has not d cells.
func (s *Sampler) Row(dst []float64, rng *rand.Rand) int {
	u := rng.Float64() * s.upTo[len(s.upTo)-1]
	// The first component whose cumulated weight exceeds u: never one of weight 0.
	i := sort.Search(len(s.upTo)-1, func(i int) bool { return s.upTo[i] > u })
	s.component(i, dst, rng)
	// draw again from the same component, which keeps its weight
	for try := 1; try < mostTries && !within(dst, s.boxes); try++ {
		s.component(i, dst, rng)
	}
	round(dst, s.boxes)
	for j, b := range s.bends {
		if b != nil && !b.kept[i] {
			dst[j] = b.bent(dst[j])
		}
	}
	round(dst, s.cells)
	if s.shared != nil {
		for j, v := range s.shared[i] {
			if v == v && (s.bends == nil || s.bends[j] == nil) {
				dst[j] = v
			}
		}
	}
	return i
}

// sharedOf returns the shared values of some components.
func sharedOf(of [][]float64, index []int) [][]float64 {
	if of == nil {
		return nil
	}
	return taken(of, index)
}

// component fills dst with a row of component i.
func (s *Sampler) component(i int, dst []float64, rng *rand.Rand) {
	if len(dst) != s.dim {
		panic(fmt.Sprintf("model: destination has %d cells, the model %d columns", len(dst), s.dim))
	}
	p := s.parts[i]
	if p.sd != nil {
		for j, m := range p.mean {
			dst[j] = m + p.sd[j]*rng.NormFloat64()
		}
		return
	}
	pooled := s.scratch.Get().(*[]float64)
	defer s.scratch.Put(pooled)
	z := *pooled
	for j := range z {
		z[j] = rng.NormFloat64()
	}
	for j, m := range p.mean {
		dst[j] = m + dense.Dot(p.factor.RawRowView(j), z)
	}
}
