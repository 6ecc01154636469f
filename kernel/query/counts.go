package query

import (
	"fmt"
	"math"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Count asks for the number of good rows.
//
// Privacy: one row changes it by at most 1 under both relations (replace-one: a good row may become
// a null row).
// Source: [TYLERPRESS] Section 0.3.
type Count struct{}

// Kind is "count".
func (Count) Kind() string { return "count" }

// Validate always succeeds.
func (Count) Validate(int) error { return nil }

// Size is 1.
func (Count) Size() int { return 1 }

// Sensitivity is 1.
func (Count) Sensitivity(privacy.Relation) float64 { return 1 }

// Weight is 1.
func (Count) Weight(int) float64 { return 1 }

// Unit is 1.
func (Count) Unit() float64 { return 1 }

// Compile returns the row map.
func (Count) Compile(d int) RowMap { return countMap(d) }

type countMap int

// Add counts the rows that are not null.
func (m countMap) Add(sum []int64, rows []float64) {
	d := int(m)
	for ; len(rows) >= d; rows = rows[d:] {
		if !null(rows) {
			sum[0]++
		}
	}
}

// TailCounts asks, for each of the thresholds t_1 <= t_2 <= .., how many rows have |W(x-m)|^2 >
// t_i, rows whose image overflows included.
//
// Privacy: one row changes each of the T counts by at most 1: sensitivity sqrt T under both
// relations.
// Source: [TYLERPRESS] Section 4.5 (a).
type TailCounts struct {
	Frame      Affine
	Thresholds []float64
}

// Kind is "tail counts".
func (TailCounts) Kind() string { return "tail counts" }

// Validate reports a frame or thresholds that cannot be used.
func (q TailCounts) Validate(d int) error {
	if len(q.Thresholds) == 0 {
		return fmt.Errorf("query: TailCounts.Thresholds: want at least one, got none")
	}
	if err := allFinite("TailCounts.Thresholds", q.Thresholds); err != nil {
		return err
	}
	return q.Frame.Validate(d)
}

// Size is the number of thresholds.
func (q TailCounts) Size() int { return len(q.Thresholds) }

// Sensitivity is sqrt(number of thresholds).
func (q TailCounts) Sensitivity(privacy.Relation) float64 { return sqrtUp(float64(len(q.Thresholds))) }

// Weight is 1.
func (TailCounts) Weight(int) float64 { return 1 }

// Unit is 1.
func (TailCounts) Unit() float64 { return 1 }

// Compile returns the row map.
func (q TailCounts) Compile(d int) RowMap {
	x := make([]column, d)
	return &tailMap{thresholds: q.Thresholds, frame: q.Frame.compile(x, true), x: x, z: make([]column, q.Frame.Out())}
}

type tailMap struct {
	thresholds []float64
	frame      *affine
	x, z       []column
}

// Add counts rows beyond each threshold.
func (m *tailMap) Add(sum []int64, rows []float64) {
	var norm2 column
	for d := len(m.x); len(rows) >= d; {
		n := load(m.x, rows, m.frame.shift)
		rows = rows[n*d:]
		m.frame.apply(m.z, &norm2, m.x)
		for r := range n {
			if math.IsNaN(m.x[0][r]) { // the null row
				continue
			}
			for i, t := range m.thresholds {
				if !(norm2[r] <= t) { // NaN from overflow counts as far
					sum[i]++
				}
			}
		}
	}
}

// ColumnCounts asks one threshold question of every column at once: the query of noisy bisection
// ([TYLERPRESS] Section 1, Stage 0).
//
// The value of column j is v = x_j, or |x_j - Center_j| when Center is set; a difference that
// overflows counts as +Inf. With Signed, column j's count is #{v <= Threshold_j} - #{v >
// Threshold_j}, values v = 0 left out if SkipZero; otherwise it is #{v > Threshold_j}. A NaN
// threshold leaves its column out.
//
// Privacy: with a active columns, replacing a row changes each count by at most 2 (signed) or 1;
// adding one by at most 1: sensitivity 2 sqrt a or sqrt a under replace-one, sqrt a under
// add-or-remove-one. Which columns are active is public.
type ColumnCounts struct {
	Center     []float64
	Thresholds []float64
	Signed     bool
	SkipZero   bool
}

// Kind is "column counts".
func (ColumnCounts) Kind() string { return "column counts" }

// Validate reports lists whose length is not d.
func (q ColumnCounts) Validate(d int) error {
	if len(q.Thresholds) != d {
		return fmt.Errorf("query: ColumnCounts.Thresholds: want %d values, got %d", d, len(q.Thresholds))
	}
	if q.Center != nil && len(q.Center) != d {
		return fmt.Errorf("query: ColumnCounts.Center: want %d values, got %d", d, len(q.Center))
	}
	return allFinite("ColumnCounts.Center", q.Center)
}

// Size is the number of columns.
func (q ColumnCounts) Size() int { return len(q.Thresholds) }

// Sensitivity is stated in the type's comment; with no active column it is that of one, so that it
// is never zero.
func (q ColumnCounts) Sensitivity(r privacy.Relation) float64 {
	active := 0
	for _, t := range q.Thresholds {
		if !math.IsNaN(t) {
			active++
		}
	}
	s := sqrtUp(float64(max(active, 1)))
	if q.Signed && r == privacy.ReplaceOne {
		return 2 * s
	}
	return s
}

// Weight is 1.
func (ColumnCounts) Weight(int) float64 { return 1 }

// Unit is 1.
func (ColumnCounts) Unit() float64 { return 1 }

// Compile returns the row map.
func (q ColumnCounts) Compile(d int) RowMap {
	return &columnMap{q: q, value: make([]float64, d), above: make([]int64, d), zero: make([]int64, d)}
}

type columnMap struct {
	q     ColumnCounts
	value []float64 // distances of one row to the centre
	// Per column, how many of the good rows lie above the threshold, and how many values are zero
	// (with SkipZero).
	above, zero []int64
}

// Add counts every column of every row. Whether a value is above its threshold decides no branch:
// near a median the processor would guess wrong every other time.
func (m *columnMap) Add(sum []int64, rows []float64) {
	clear(m.above)
	clear(m.zero)
	good := int64(0)
	for d := len(m.above); len(rows) >= d; rows = rows[d:] {
		if row := rows[:d]; !null(row) {
			good++
			m.count(row)
		}
	}
	for j, t := range m.q.Thresholds {
		above, rest := m.above[j], good-m.above[j]
		if t < 0 {
			above -= m.zero[j]
		} else {
			rest -= m.zero[j]
		}
		switch {
		case t != t:
		case m.q.Signed:
			sum[j] += rest - above
		default:
			sum[j] += above
		}
	}
}

// count counts one good row.
func (m *columnMap) count(row []float64) {
	if m.q.Center != nil {
		value := m.value[:len(row)]
		for j, c := range m.q.Center[:len(row)] {
			value[j] = math.Abs(row[j] - c)
		}
		row = value
	}
	above, thresholds := m.above[:len(row)], m.q.Thresholds[:len(row)]
	for j, v := range row {
		n := above[j]
		if v > thresholds[j] {
			n++
		}
		above[j] = n
	}
	if !m.q.SkipZero {
		return
	}
	zero := m.zero[:len(row)]
	for j, v := range row {
		n := zero[j]
		if v == 0 {
			n++
		}
		zero[j] = n
	}
}
