package source

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// How an inferred schema is chosen. numberShare is of the cells that are neither missing nor
// infinite, so gaps do not count against a column.
const (
	lookAheadRows  = 10_000    // rows that are looked at, at most
	lookAheadCells = 1_000_000 // and cells, which bounds the memory at 9 MB
	numberShare    = 0.95      // a column is fitted if this share of its cells are numbers
)

// lookAhead holds the first rows until the columns are chosen. Rows are row-major, all columns of
// the header.
type lookAhead struct {
	d, l   int
	values []float64
	kinds  []kind
	labels []string // row-major, of the roles
	rows   int
	pick   []int
	at     int // the next row to hand over
}

// infer reads the first rows and chooses the columns from them.
func (t *Table) infer() error {
	header := t.reader.Header()
	if err := checkNames(header); err != nil {
		return err
	}
	a := &lookAhead{d: len(header), l: len(t.roles.labels)}
	all := make([]int, a.d)
	for i := range all {
		all[i] = i
	}
	t.reader.Select(all, t.roles.labels)
	if err := a.fill(t.reader); err != nil {
		return err
	}
	t.report.Inferred, t.report.LookedAt = true, a.rows
	for j, name := range header {
		why := a.leaveOut(name, j)
		if name == t.schema.Unit || slices.ContainsFunc(t.schema.By, func(g Grouping) bool { return g.Name == name }) {
			continue
		}
		if why != "" {
			t.report.LeftOut = append(t.report.LeftOut, LeftOut{Name: name, Why: why})
			continue
		}
		a.pick = append(a.pick, j)
		t.columns = append(t.columns, Column{Name: name})
	}
	switch {
	case a.rows == 0:
		return &Error{Field: "input", Wanted: "rows", Got: "a header alone", Hint: "check that the right file was named"}
	case t.columns == nil:
		return &Error{Field: "input", Wanted: "at least one column of numbers", Got: "none in " + quoteNames(header),
			Hint: "numbers are written with a decimal point and no thousands separator; a row identifier counts only if --columns names it"}
	}
	t.ahead = a
	t.reader.Select(a.pick, t.roles.labels)
	return nil
}

// fill reads rows until the look-ahead is full or the input ends.
func (a *lookAhead) fill(r Reader) error {
	values, kinds, labels := make([]float64, a.d), make([]kind, a.d), make([]string, a.l)
	for a.rows < lookAheadRows && (a.rows+1)*a.d <= max(lookAheadCells, a.d) {
		err := r.Next(values, kinds, labels)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		a.values = append(a.values, values...)
		a.kinds = append(a.kinds, kinds...)
		a.labels = append(a.labels, labels...)
		a.rows++
	}
	return nil
}

// next copies the chosen cells of the next held row; a nil look-ahead holds none.
func (a *lookAhead) next(values []float64, kinds []kind, labels []string) bool {
	if a == nil || a.at == a.rows {
		return false
	}
	from := a.at * a.d
	for i, j := range a.pick {
		values[i], kinds[i] = a.values[from+j], a.kinds[from+j]
	}
	copy(labels, a.labels[a.at*a.l:])
	a.at++
	return true
}

// leaveOut says why column j is not to be fitted, or "".
func (a *lookAhead) leaveOut(name string, j int) string {
	var counts [notNumber + 1]int
	for i := range a.rows {
		counts[a.kinds[i*a.d+j]]++
	}
	numbers, text := counts[number], counts[notNumber]
	switch {
	case numbers == 0 && text == 0:
		return "no numbers"
	case float64(numbers) < numberShare*float64(numbers+text):
		return fmt.Sprintf("text: %d of its first %d cells that are there are numbers", numbers, numbers+text)
	case rowIdentifier(name) && a.increasing(j):
		return "a row identifier: increasing whole numbers"
	}
	return ""
}

// rowIdentifier reports a name that tables give to a number of the row.
func rowIdentifier(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "id", "index":
		return true
	}
	// "patient_id", "row-id", "case id", "visit.id"; "humid" is none.
	const separators = "_- ."
	stem, isID := strings.CutSuffix(name, "id")
	return isID && stem != "" && strings.ContainsAny(stem[len(stem)-1:], separators)
}

// increasing reports that column j holds whole numbers, each larger than the one before, and
// nothing else.
func (a *lookAhead) increasing(j int) bool {
	for i := range a.rows {
		at := i*a.d + j
		v := a.values[at]
		if a.kinds[at] != number || v != math.Trunc(v) || i > 0 && v <= a.values[at-a.d] {
			return false
		}
	}
	return true
}
