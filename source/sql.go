package source

import (
	"database/sql"
	"fmt"
	"io"
	"time"
)

// sqlAnswer reads the rows of a query.
type sqlAnswer struct {
	rows   *sql.Rows
	names  []string
	cells  []any // one per column: *cell, or skip where it is not asked for
	values []*cell
	labels []*cell
}

// SQL returns a reader of the rows of a query, which it closes in the end: integers, floats,
// decimals and numbers as text are numbers, NULL is a missing cell, and anything else is no number.
func SQL(rows *sql.Rows) (Reader, error) {
	names, err := rows.Columns()
	if err != nil {
		rows.Close()
		return nil, fmt.Errorf("source: the query's columns: %w", err)
	}
	a := &sqlAnswer{rows: rows, names: names}
	all := make([]int, len(names))
	for j := range all {
		all[j] = j
	}
	a.Select(all, nil)
	return a, nil
}

// Header returns the names of the query's columns.
func (a *sqlAnswer) Header() []string { return a.names }

// Select selects columns; the others are not read.
func (a *sqlAnswer) Select(columns, labels []int) {
	a.cells, a.values, a.labels = make([]any, len(a.names)), nil, nil
	at := func(j int) *cell {
		if c, ok := a.cells[j].(*cell); ok {
			return c
		}
		c := &cell{}
		a.cells[j] = c
		return c
	}
	for _, j := range columns {
		a.values = append(a.values, at(j))
	}
	for _, j := range labels {
		c := at(j)
		c.label = true
		a.labels = append(a.labels, c)
	}
	for j, c := range a.cells {
		if c == nil {
			a.cells[j] = skip{}
		}
	}
}

// Next reads one row.
func (a *sqlAnswer) Next(values []float64, kinds []Kind, labels []string) error {
	if !a.rows.Next() {
		if err := a.rows.Err(); err != nil {
			return fmt.Errorf("source: reading the query's rows: %w", err)
		}
		return io.EOF
	}
	if err := a.rows.Scan(a.cells...); err != nil {
		return fmt.Errorf("source: reading the query's rows: %w", err)
	}
	for i, c := range a.values {
		values[i], kinds[i] = c.value, c.kind
	}
	for i, c := range a.labels {
		labels[i] = c.text
	}
	return nil
}

// Text implements source.Texts.
func (a *sqlAnswer) Text(i int) string { return a.values[i].text }

// Close ends the query.
func (a *sqlAnswer) Close() error { return a.rows.Close() }

// A skip receives cells that are not asked for.
type skip struct{}

// Scan forgets the cell.
func (skip) Scan(any) error { return nil }

// A cell is the value of a column in the row that was read last.
type cell struct {
	value float64
	kind  Kind
	label bool // its text is asked for
	text  string
}

// Scan takes the driver's value. It never fails: a value that is no number makes a bad cell, as in
// CSV.
func (c *cell) Scan(found any) error {
	switch v := found.(type) {
	case nil:
		c.value, c.kind, c.text = 0, Missing, ""
		return nil
	case float64:
		c.value, c.kind = Cell(v)
	case int64:
		c.value, c.kind = float64(v), Number
	case bool, time.Time:
		c.value, c.kind = 0, NotNumber
	case []byte:
		c.value, c.kind = ParseCell(string(v))
	case string:
		c.value, c.kind = ParseCell(v)
	default:
		c.value, c.kind = ParseCell(fmt.Sprint(v))
	}
	told := c.label || c.kind == NotNumber
	if text, ok := found.([]byte); ok && told {
		c.text = string(text)
	} else if told {
		c.text = fmt.Sprint(found)
	}
	return nil
}
