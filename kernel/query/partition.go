package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
)

// A Partition cuts the space of rows into disjoint cells, its leaves. Which leaf a row is in
// depends on the row and on the fields alone, which are public or released: a partition of space,
// not of the data. It costs no budget.
//
// Exactly one of the two rules is set:
//   - Regions: the row is in the first region all of whose conditions it meets;
//   - Components: the row is in the component of largest LogWeight - |z|^2/2, z = Map(row) (ties:
//     the first), if |z| is at most that component's Radius. Components where this number is -Inf
//     or |z|^2 overflows do not compete.
//
// A row that no region takes, that lies beyond the radius, or for which no component competes, is
// in no leaf; so are null rows. Project, if it has rows, is applied first, and the frames of the
// rule see its image y only; rows where |y|^2 overflows are in no leaf.
//
// Below refines: the rows of cell j are cut by Below[j], unless that is the zero Partition. Below
// is nil or has one entry per cell. Leaves are numbered depth first, in the order of the cells.
//
// Source: [KSSU19] Section A.3 of the restatement.
type Partition struct {
	Project    Affine
	Regions    []Region
	Components []Component
	Below      []Partition
}

// A Region is where all conditions hold; with none, everywhere.
type Region struct{ Conditions []Condition }

// A Condition holds for rows whose image z under Map has |z| <= Radius, or, if Outside, for those
// with |z| > Radius. It holds for no row where |z|^2 overflows. Radius may be +Inf.
type Condition struct {
	Map     Affine
	Radius  float64
	Outside bool
}

// Zero reports whether the partition has no rule. In Below, such a partition is a leaf.
func (p Partition) Zero() bool { return p.Regions == nil && p.Components == nil }

// Whole reports whether p is the zero Partition, whose one leaf has all good rows.
func (p Partition) Whole() bool { return p.Zero() && p.Project.W == nil && p.Below == nil }

// OrWhole returns p, or one leaf with all good rows if p is the zero Partition.
func (p Partition) OrWhole() Partition {
	if p.Whole() {
		p.Regions = make([]Region, 1) // no condition: it holds everywhere
	}
	return p
}

// KindOf returns the kind of a query that is asked of every leaf; the zero Partition has one leaf.
func (p Partition) KindOf(kind string) string {
	if p.Zero() {
		return kind
	}
	return PartsOf(kind)
}

func (p Partition) cells() int { return max(len(p.Regions), len(p.Components)) }

// below returns the partition that cuts cell j, the zero Partition if none does.
func (p Partition) below(j int) Partition {
	if p.Below == nil || p.Below[j].Zero() {
		return Partition{}
	}
	return p.Below[j]
}

// frames returns the frames of the rule, one per condition or component.
func (p Partition) frames() (all []Affine) {
	for _, r := range p.Regions {
		for _, c := range r.Conditions {
			all = append(all, c.Map)
		}
	}
	for _, c := range p.Components {
		all = append(all, c.Map)
	}
	return all
}

// Leaves returns the number of leaves; the zero Partition has one.
func (p Partition) Leaves() int {
	if p.Zero() {
		return 1
	}
	n := 0
	for j := range p.cells() {
		n += p.below(j).Leaves()
	}
	return n
}

// maxDepth and MaxCells bound a partition before any code walks through it: a Below that contains
// itself has no end.
const maxDepth = 16

// Bounded returns an error if the partition is too deep or too large to walk through.
func (p Partition) Bounded() error {
	left := MaxCells
	if !p.within(&left, 0) {
		return fmt.Errorf("query: Partition.Below: want at most %d levels and %d cells", maxDepth, MaxCells)
	}
	return nil
}

func (p Partition) within(left *int, depth int) bool {
	*left -= max(1, p.cells())
	if *left < 0 || depth > maxDepth {
		return false
	}
	return !slices.ContainsFunc(p.Below, func(b Partition) bool { return !b.within(left, depth+1) })
}

// Validate returns an error if the partition cannot cut a table of d columns; it sees no data.
func (p Partition) Validate(d int) error {
	if err := p.Bounded(); err != nil {
		return err
	}
	return p.validate(d)
}

func (p Partition) validate(d int) error {
	if (p.Regions == nil) == (p.Components == nil) || p.cells() == 0 {
		return fmt.Errorf("query: Partition: want either Regions or Components, got %d and %d", len(p.Regions), len(p.Components))
	}
	below := d
	if p.Project.W != nil {
		if err := p.Project.Validate(d); err != nil {
			return err
		}
		below = p.Project.Out()
	}
	for _, frame := range p.frames() {
		if err := frame.Validate(below); err != nil {
			return err
		}
	}
	for _, r := range p.Regions {
		for _, c := range r.Conditions {
			if !(c.Radius >= 0) {
				return fmt.Errorf("query: Condition.Radius: want a number of at least 0, got %v", c.Radius)
			}
		}
	}
	for _, c := range p.Components {
		if !(c.Radius > 0) || !rowkernels.Finite(c.LogWeight) {
			return fmt.Errorf("query: Partition.Components: want a positive Radius and a finite LogWeight, got %v and %v", c.Radius, c.LogWeight)
		}
	}
	if p.Below != nil && len(p.Below) != p.cells() {
		return fmt.Errorf("query: Partition.Below: want one entry per cell (%d), got %d", p.cells(), len(p.Below))
	}
	for _, b := range p.Below {
		if err := b.validate(d); err != nil && !b.Zero() {
			return err
		}
	}
	return nil
}

// A Sorter finds the leaves of rows, for one worker.
//
// Invariant: a row's leaf depends on the row alone. Panels keep rows apart (see package
// rowkernels), a score is compared with scores of the same row only, and Sort hands whole rows to
// the cells below it.
type Sorter struct {
	p                Partition
	*rowkernels.View                     // of the projection, if there is one
	in               []rowkernels.Column // the input of the rule: the panel or its projection
	frames           []*rowkernels.Map   // of the rule, one per component or condition
	first            []int               // the number of cell j's first leaf
	below            []*Sorter           // of cell j; nil for a leaf
	z                []rowkernels.Column
	cell             [rowkernels.Rows]int
	// The rows of the cell above that are yet to be sorted, their origins, and their leaves.
	rows     []float64
	at, leaf []int
}

// Sorter compiles p, a valid partition of a table of d columns or the zero Partition, whose one
// leaf has all good rows.
func (p Partition) Sorter(d int) *Sorter {
	p = p.OrWhole()
	s := &Sorter{p: p, View: p.Project.View(d)}
	if s.in = s.X; p.Project.W != nil {
		s.in = s.Z
	}
	for _, frame := range p.frames() {
		s.frames = append(s.frames, frame.Compile(s.in, false))
		s.z = append(s.z, make([]rowkernels.Column, max(0, frame.Out()-len(s.z)))...)
	}
	n := 0
	for j := range p.cells() {
		s.first, s.below = append(s.first, n), append(s.below, nil)
		if b := p.below(j); !b.Zero() {
			s.below[j] = b.Sorter(d)
		}
		n += p.below(j).Leaves()
	}
	return s
}

// Sort writes the leaf of every row of the row-major slice rows to leaf, one entry per row: -1 for
// rows in none.
func (s *Sorter) Sort(leaf []int, rows []float64) {
	d, at := len(s.X), 0
	s.Each(rows, func(n int) {
		s.panel()
		at += copy(leaf[at:], s.cell[:n])
	})
	if s.p.Below == nil { // the cells are the leaves
		return
	}
	if b := s.below[0]; b != nil && len(s.below) == 1 {
		// rows in no cell are sorted in vain: usually one cell has most rows, and this avoids a
		// copy
		b.leaf = append(b.leaf[:0], leaf...) // only its length matters
		b.Sort(b.leaf, rows)
		for i, l := range b.leaf {
			if leaf[i] >= 0 {
				leaf[i] = l
			}
		}
		return
	}
	for _, b := range s.below {
		if b != nil {
			b.rows, b.at = b.rows[:0], b.at[:0]
		}
	}
	for i, c := range leaf {
		if c < 0 {
			continue
		}
		if b := s.below[c]; b != nil {
			b.rows, b.at = append(b.rows, rows[i*d:(i+1)*d]...), append(b.at, i)
		} else {
			leaf[i] = s.first[c]
		}
	}
	for j, b := range s.below {
		if b == nil {
			continue
		}
		b.leaf = append(b.leaf[:0], b.at...) // only its length matters
		b.Sort(b.leaf, b.rows)
		for i, l := range b.leaf {
			if l >= 0 {
				l += s.first[j]
			}
			leaf[b.at[i]] = l
		}
	}
}

// A Grouper collects the rows of each leaf.
type Grouper struct {
	sorter *Sorter
	leaf   []int
	rows   [][]float64
}

// Grouper returns a Grouper for rows of d columns, for one worker.
func (p Partition) Grouper(d int) *Grouper {
	return &Grouper{sorter: p.Sorter(d), rows: make([][]float64, p.Leaves())}
}

// Group returns copies of the rows of every leaf, in order; they are valid until the next call.
func (g *Grouper) Group(rows []float64) [][]float64 {
	d := len(g.sorter.X)
	g.leaf = append(g.leaf[:0], make([]int, len(rows)/d)...)
	g.sorter.Sort(g.leaf, rows)
	for l := range g.rows {
		g.rows[l] = g.rows[l][:0]
	}
	for i, l := range g.leaf {
		if l >= 0 {
			g.rows[l] = append(g.rows[l], rows[i*d:(i+1)*d]...)
		}
	}
	return g.rows
}

// A Placing scans for the leaf of every row, -1 for rows in none, and, if Column is not negative,
// for the values of that column. It writes them to Leaf and Value, which have room for all rows.
type Placing struct {
	Partition
	Column int
	Leaf   []int32
	Value  []float64
}

// Places is the accumulator of a Placing.
type Places struct {
	Read int // number of rows
	Placing
	sorter *Sorter
	leaf   []int
}

// Start returns an accumulator without rows.
func (p Placing) Start(d int) Accumulator { return &Places{0, p, p.Sorter(d), nil} }

// Add places the rows.
func (p *Places) Add(first int, rows []float64) {
	d := len(p.sorter.X)
	p.leaf = append(p.leaf[:0], make([]int, len(rows)/d)...)
	p.sorter.Sort(p.leaf, rows)
	for i, l := range p.leaf {
		p.Leaf[first+i] = int32(l)
		if p.Column >= 0 {
			p.Value[first+i] = rows[i*d+p.Column]
		}
	}
	p.Read += len(p.leaf)
}

// Merge adds the other's number of rows, whose places are written already.
func (p *Places) Merge(other Accumulator) { p.Read += other.(*Places).Read }

// panel finds the cells of the loaded rows.
func (s *Sorter) panel() {
	for r, v := range &s.Norm2 {
		// a null row, or one whose projection is not finite: null to the frames of the rule
		if s.cell[r] = -1; !rowkernels.Finite(v) {
			s.in[0][r] = math.NaN()
		}
	}
	if s.p.Components != nil {
		s.nearest(s.in, &s.Norm2)
	} else {
		s.regions(s.in, &s.Norm2)
	}
}

// nearest applies the rule of the components.
func (s *Sorter) nearest(in []rowkernels.Column, norm2 *rowkernels.Column) {
	var score rowkernels.Column
	for r := range score {
		score[r] = math.Inf(-1)
	}
	for j, c := range s.p.Components {
		s.frames[j].Apply(s.z[:c.Map.Out()], norm2, in)
		rowkernels.Closest(&s.cell, &score, norm2, c.LogWeight, float64(c.Radius*c.Radius), j)
	}
}

// regions applies the rule of the regions.
func (s *Sorter) regions(in []rowkernels.Column, norm2 *rowkernels.Column) {
	f, cell := 0, &s.cell
	for j, region := range s.p.Regions {
		var out [rowkernels.Rows]bool
		for r := range cell {
			out[r] = cell[r] >= 0 || in[0][r] != in[0][r]
		}
		for _, c := range region.Conditions {
			if a := c.Map; len(a.Columns) == 1 && len(a.W) == 1 && a.W[0][0] != 0 {
				for r, v := range &in[a.Columns[0]] { // Apply's arithmetic: a box has d such conditions
					v = float64(a.W[0][0] * float64(v-a.Center[0]))
					norm2[r] = float64(v * v)
				}
			} else {
				s.frames[f].Apply(s.z[:a.Out()], norm2, in)
			}
			f++
			radius2 := float64(c.Radius * c.Radius)
			for r, n2 := range norm2 {
				out[r] = out[r] || !rowkernels.Finite(n2) || (n2 <= radius2) == c.Outside
			}
		}
		for r := range cell {
			if !out[r] {
				cell[r] = j
			}
		}
	}
}
