package query

import (
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// CategoryCounts asks how often every value of every column of categories occurs among the rows of
// each of k components, at once. It is asked of a table with codes beside its numbers: its rows are
// d numbers and then c codes.
//
// Row x has posterior shares R_1..R_k >= 0 of the components, sum <= 1, and a code in each column.
// It adds the share of each group of components (the sum of their R_j) to the cell of the group and
// the code, in each column. A code that is not one of 0, 1, .., the column's number of values - 1,
// falls in no cell.
//
// With Pairs it counts pairs of columns in the place of columns: the code of a pair is that of its
// first column times the number of the second's values, plus the second's code, and is none where
// either is none.
//
// Answer: for each group, the values of the first column, then of the second, and so on.
//
// Privacy: categories_proof.md, steps 1 to 4. Only integers r_j >= 0 are summed, with sum_j r_j <=
// 2^B CHECKED in integers for every row, in one cell of each column at most: the L2 sensitivity is
// sqrt(2c) 2^B under replace-one and sqrt(c) 2^B under add-or-remove-one, for c columns or, with
// Pairs, c pairs.
//
// Caller must ensure: nothing. A row whose numbers are missing, or whose image is finite in no
// frame, takes the shares Unseen.
type CategoryCounts struct {
	// Components divide the rows by their numbers, as those of ClippedMoments do; radii are
	// ignored. Empty if all rows belong to one component.
	Components []Component
	Values     []int // number of values of each column of categories; at least 1
	// Unseen holds the shares of rows without numbers, up to a common factor: one per component,
	// not negative; nil if there are no components.
	Unseen []float64
	// Group is the group in which each component's rows are counted. Groups are numbered from 0 and
	// each number occurs. Components with few rows share a group with others. Nil gives every
	// component a group of its own.
	Group []int
	// Given holds the logarithm of each value's probability in each component, in the order of an
	// answer without groups. A row's shares are multiplied by these probabilities, then divided by
	// their sum. Nil if the numbers alone decide the shares, and with Pairs.
	Given []float64
	Pairs []CategoryPair // nil for columns
}

// A CategoryPair is two columns of categories, by their numbers from 0.
type CategoryPair struct{ A, B int }

// KindCategoryCounts is the kind of CategoryCounts.
const KindCategoryCounts = "category counts"

// categoryUnit is the integer that stands for a share of 1: a little less than 2^B, so that shares
// that sum to 1 up to rounding pass the check.
const categoryUnit = 1<<LinearBits - 4

// Kind returns "category counts".
func (CategoryCounts) Kind() string { return KindCategoryCounts }

// Validate returns an error if the components do not fit a table of d columns of numbers, or if
// Values, Unseen, Group or Given are invalid.
func (q CategoryCounts) Validate(d int) error {
	for _, c := range q.Components {
		if err := c.Map.Validate(d); err != nil {
			return err
		}
		if math.IsNaN(c.LogWeight) || math.IsInf(c.LogWeight, 1) {
			return fmt.Errorf("query: Component.LogWeight: want a number, got %v", c.LogWeight)
		}
	}
	if len(q.Values) == 0 {
		return fmt.Errorf("query: CategoryCounts.Values: want a number for each column, got none")
	}
	cells := 0
	for _, n := range q.Values {
		if n < 1 || n > MaxCells {
			return fmt.Errorf("query: CategoryCounts.Values: want from 1 to %d, got %d", MaxCells, n)
		}
	}
	for _, p := range q.Pairs {
		if min(p.A, p.B) < 0 || max(p.A, p.B) >= len(q.Values) || p.A == p.B {
			return fmt.Errorf("query: CategoryCounts.Pairs: want two of %d columns, got %d and %d", len(q.Values), p.A, p.B)
		}
		if q.Values[p.A] > MaxCells/q.Values[p.B] {
			return fmt.Errorf("query: CategoryCounts.Values: want at most %d cells, got more", MaxCells)
		}
	}
	if q.Pairs != nil && (len(q.Pairs) == 0 || q.Given != nil) {
		return fmt.Errorf("query: CategoryCounts.Pairs: want at least one, and no Given, or nil")
	}
	for _, n := range q.lists() {
		if cells += n; cells > MaxCells || cells*max(1, len(q.Components)) > MaxCells {
			return fmt.Errorf("query: CategoryCounts.Values: want at most %d cells, got more", MaxCells)
		}
	}
	if len(q.Unseen) != len(q.Components) {
		return fmt.Errorf("query: CategoryCounts.Unseen: want %d shares, got %d", len(q.Components), len(q.Unseen))
	}
	if want := cells * len(q.Components); q.Given != nil && len(q.Given) != want {
		return fmt.Errorf("query: CategoryCounts.Given: want %d logarithms or none, got %d", want, len(q.Given))
	}
	if q.Group != nil && len(q.Group) != len(q.Components) {
		return fmt.Errorf("query: CategoryCounts.Group: want %d groups or none, got %d", len(q.Components), len(q.Group))
	}
	for _, g := range q.Group {
		if g < 0 || g >= len(q.Components) {
			return fmt.Errorf("query: CategoryCounts.Group: want from 0 to %d, got %d", len(q.Components)-1, g)
		}
	}
	if err := All("CategoryCounts.Unseen", "numbers that are not negative", q.Unseen, func(v float64) bool { return v >= 0 && rowkernels.Finite(v) }); err != nil {
		return err
	}
	return AllFinite("CategoryCounts.Given", q.Given)
}

// groups returns the number of groups of components.
func (q CategoryCounts) groups() int {
	if q.Group == nil {
		return max(1, len(q.Components))
	}
	return 1 + slices.Max(append(slices.Clone(q.Group), 0))
}

// Lists returns the number of columns or pairs that are counted.
func (q CategoryCounts) Lists() int { return len(q.lists()) }

// lists returns the number of codes of each column, or of each pair.
func (q CategoryCounts) lists() []int {
	if q.Pairs == nil {
		return q.Values
	}
	out := make([]int, len(q.Pairs))
	for i, p := range q.Pairs {
		out[i] = q.Values[p.A] * q.Values[p.B]
	}
	return out
}

// cells returns the number of cells of a component.
func (q CategoryCounts) cells() (n int) {
	for _, v := range q.lists() {
		n += v
	}
	return n
}

// Size returns the number of values of all columns together, times the number of groups.
func (q CategoryCounts) Size() int { return q.groups() * q.cells() }

// Weight returns 1.
func (CategoryCounts) Weight(int) float64 { return 1 }

// Unit turns an integer of the answer into rows.
func (CategoryCounts) Unit() float64 { return 1. / categoryUnit }

// Sensitivity returns sqrt(2c) 2^B or sqrt(c) 2^B, rounded up; see the type's comment.
func (q CategoryCounts) Sensitivity(r privacy.Relation) float64 {
	c := float64(q.Lists())
	if r != privacy.AddRemoveOne {
		c *= 2
	}
	return privacy.SqrtUp(c) * (1 << LinearBits)
}

// A CategoryMap adds up the vectors of CategoryCounts over rows of d numbers and c codes. The query
// itself cannot be asked of rows without codes.
type CategoryMap struct{ Of CategoryCounts }

// Size returns the query's Size.
func (m CategoryMap) Size() int { return m.Of.Size() }

// Compile returns a row map for one worker; rows have d values, codes among them.
func (m CategoryMap) Compile(d int) RowMap {
	q, numbers := m.Of, d-len(m.Of.Values)
	k := len(q.Components)
	c := &categoryMap{
		q: q, x: make([]rowkernels.Column, d), shift: make([]float64, d), numbers: numbers, lists: q.lists(),
		norm2: make([]rowkernels.Column, k), share: make([]rowkernels.Column, k), r: make([]int64, q.groups()),
		cell: make([][rowkernels.Rows]int, q.Lists()), cells: q.cells(),
	}
	for _, part := range q.Components {
		c.z = append(c.z, make([]rowkernels.Column, part.Map.Out()))
		c.frames, c.logWeight = append(c.frames, part.Map.Compile(c.x[:numbers], false)), append(c.logWeight, part.LogWeight)
	}
	return c
}

// categoryMap is the compiled row map of CategoryCounts.
type categoryMap struct {
	q            CategoryCounts
	x            []rowkernels.Column // numbers, then codes
	shift        []float64
	numbers      int
	lists        []int // numbers of codes
	z            [][]rowkernels.Column
	frames       []*rowkernels.Map
	logWeight    []float64
	norm2, share []rowkernels.Column // of every component
	best, total  rowkernels.Column
	cell         [][rowkernels.Rows]int // of each row and column, within a component; -1: none
	cells        int                    // number of cells of a component
	r            []int64                // a row's shares in integers, by group
}

// Add maps rows panel by panel.
func (m *categoryMap) Add(sum []int64, rows []float64) {
	for d := len(m.x); len(rows) >= d; {
		n := rowkernels.Load(m.x, rows, m.shift)
		rows = rows[n*d:]
		m.locate(n)
		for j, f := range m.frames {
			f.Apply(m.z[j], &m.norm2[j], m.x[:m.numbers])
		}
		for r := range n {
			m.unseen(r)
			m.given(r)
		}
		if m.frames != nil { // whose assembly expects one at least
			rowkernels.Shares(m.share, m.norm2, m.logWeight, &m.best, &m.total, true)
		}
		for r := range n {
			m.add(sum, r)
		}
	}
}

// locate finds the cells of the panel's first n rows.
//
// Privacy: categories_proof.md, step 1: at most one cell per column.
func (m *categoryMap) locate(n int) {
	first := 0
	for a, values := range m.lists {
		for r := range n {
			m.cell[a][r] = -1
			if code := m.code(a, r); code >= 0 {
				m.cell[a][r] = first + code
			}
		}
		first += values
	}
}

// code returns the code of row r of the panel in list a, -1 for none.
func (m *categoryMap) code(a, r int) int {
	if m.q.Pairs == nil {
		return m.valid(a, r)
	}
	p := m.q.Pairs[a]
	x, y := m.valid(p.A, r), m.valid(p.B, r)
	if x < 0 || y < 0 {
		return -1
	}
	return x*m.q.Values[p.B] + y
}

// valid returns the code of row r of the panel in column a, -1 for none.
func (m *categoryMap) valid(a, r int) int {
	code := m.x[m.numbers+a][r]
	if code >= 0 && code < float64(m.q.Values[a]) && code == math.Trunc(code) { // false for NaN
		return int(code)
	}
	return -1
}

// unseen replaces the shares of a row whose image is finite in no frame by Unseen. It writes them
// as the |z|^2 that lead to these shares.
func (m *categoryMap) unseen(r int) {
	for j := range m.norm2 {
		if rowkernels.Finite(m.norm2[j][r]) {
			return
		}
	}
	for j, u := range m.q.Unseen {
		m.norm2[j][r] = 2 * (m.logWeight[j] - math.Log(u)) // +Inf for 0, which has no share
	}
}

// given multiplies the shares of a row by the probabilities of its values.
func (m *categoryMap) given(r int) {
	if m.q.Given == nil {
		return
	}
	for j := range m.norm2 {
		for a := range m.cell {
			if cell := m.cell[a][r]; cell >= 0 {
				m.norm2[j][r] -= 2 * m.q.Given[j*m.cells+cell]
			}
		}
	}
}

// add rounds the shares of a row down and adds them to its cells, unless their sum is too large.
//
// Privacy: categories_proof.md, step 1. The shares may be any numbers: the integers are checked.
func (m *categoryMap) add(sum []int64, r int) {
	clear(m.r)
	if m.frames == nil {
		m.r[0] = categoryUnit
	}
	for j := range m.share {
		group := j
		if m.q.Group != nil {
			group = m.q.Group[j]
		}
		if s := m.share[j][r]; s > 0 && s <= 1 { // false for NaN
			m.r[group] += int64(s * categoryUnit)
		}
	}
	total := int64(0)
	for _, v := range m.r {
		if v < 0 || v > 1<<LinearBits {
			return
		}
		if total += v; total > 1<<LinearBits {
			return
		}
	}
	for a := range m.cell {
		if cell := m.cell[a][r]; cell >= 0 {
			for j, v := range m.r {
				sum[j*m.cells+cell] += v
			}
		}
	}
}
