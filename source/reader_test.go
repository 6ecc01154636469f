package source

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// cells is a reader of rows in memory as somebody else may write one, typed or not.
type cells struct {
	header []string
	rows   [][]any // float64, or text
	pick   []int
	labels []int
	closed int
}

func (c *cells) Header() []string             { return c.header }
func (c *cells) Select(columns, labels []int) { c.pick, c.labels = columns, labels }
func (c *cells) Close() error                 { c.closed++; return nil }

func (c *cells) Next(values []float64, kinds []Kind, labels []string) error {
	if len(c.rows) == 0 {
		return io.EOF
	}
	row := c.rows[0]
	c.rows = c.rows[1:]
	if len(row) != len(c.header) {
		return fmt.Errorf("a row of %d cells", len(row))
	}
	for i, j := range c.pick {
		if v, ok := row[j].(float64); ok {
			values[i], kinds[i] = v, Number // whatever it is
		} else {
			values[i], kinds[i] = ParseCell(row[j].(string))
		}
	}
	for i, j := range c.labels {
		labels[i] = fmt.Sprint(row[j])
	}
	return nil
}

type typedCells struct {
	cells
	types []Type
}

func (c *typedCells) Types() []Type { return c.types }

// TestOf: rows of any reader are read as those of a file, whatever it calls a number.
func TestOf(t *testing.T) {
	reader := &cells{header: []string{"a", "b"}, rows: [][]any{{1., 2.}, {math.NaN(), math.Inf(-1)}, {"NA", "3"}}}
	table, err := Of(reader, Named([]string{"b", "a"}))
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	if got := show(rows); got != "[2 1] bad [3 -]" {
		t.Errorf("got %s", got)
	}
	if r := table.Report(); r.BadRows != 2 || r.Columns[0].NotFinite != 1 || r.Columns[1].Missing != 2 {
		t.Errorf("counted %d bad rows, %+v", r.BadRows, r.Columns)
	}
	table.Close()
	if reader.closed != 1 {
		t.Errorf("closed %d times", reader.closed)
	}
	for name, reader := range map[string]*cells{
		"at least one number in each": {header: []string{"a"}, rows: [][]any{{"x"}}},
		"a row of 2 cells":            {header: []string{"a"}, rows: [][]any{{1.}, {1., 2.}}},
		"got a header alone":          {header: []string{"a"}},
	} {
		table, err := Of(reader, Named([]string{"a"}))
		if err == nil {
			err = table.Read(&rows)
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	for _, header := range [][]string{{"a", "a"}, {"a", ""}, {"b"}} {
		reader := &cells{header: header}
		var mistake *Error
		if _, err := Of(reader, Named([]string{"a"})); !errors.As(err, &mistake) || reader.closed != 1 {
			t.Errorf("a header %q: got %v, closed %d times", header, err, reader.closed)
		}
	}
}

// again is a reader that begins anew behind its last row, as a statement of SQLite does.
type again struct {
	cells
	all [][]any
}

func (a *again) Next(values []float64, kinds []Kind, labels []string) error {
	err := a.cells.Next(values, kinds, labels)
	if err == io.EOF {
		a.rows = a.all
	}
	return err
}

// TestRowsOnce: a table whose rows were all looked at has each of them once.
func TestRowsOnce(t *testing.T) {
	for _, schema := range []*Schema{inferred, Named([]string{"a"})} {
		all := [][]any{{1.5}, {2.}, {4.}}
		table, err := Of(&again{cells{header: []string{"a"}, rows: all}, all}, schema)
		if err != nil {
			t.Fatal(err)
		}
		var rows kept
		if err := table.Read(&rows); err != nil || len(rows) != 3 {
			t.Errorf("%d rows of 3, %v", len(rows), err)
		}
	}
}

// TestTypes: where a format has types an inferred schema looks at no cell, and what is no
// number is refused before a row is read.
func TestTypes(t *testing.T) {
	numbers, texts, dates := Type{Numbers: true, Name: "whole numbers"}, Type{Name: "texts"}, Type{Name: "dates", Hint: "store days since 1970"}
	open := func(schema *Schema, types ...Type) (*Table, error) {
		return Of(&typedCells{types: types, cells: cells{header: []string{"person_id", "a", "b", "c"}, rows: [][]any{{1., "5", "6", "7"}, {1., "x", "8", "9"}}}}, lenient(schema))
	}
	for _, c := range []struct {
		types []Type
		want  string
		cells bool
		left  string
	}{
		{[]Type{numbers, numbers, numbers, texts}, "a,b", false, "[{person_id a row identifier, by its name} {c its type: texts}]"},
		{[]Type{texts, dates, texts, numbers}, "c", false, "[{person_id its type: texts} {a its type: dates} {b its type: texts}]"},
		{[]Type{numbers, {}, {}, numbers}, "b,c", true, "[{person_id a row identifier, by its name} {a text: 1 of its first 2 cells that are there are numbers}]"},
	} {
		table, err := open(inferred, c.types...)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(table.Columns(), ","); got != c.want || !table.Inferred() {
			t.Errorf("%v: chose %s, inferred %v", c.types, got, table.Inferred())
		}
		r := table.Report()
		if got := fmt.Sprint(r.LeftOut); got != c.left || r.LookedAt > 0 != c.cells || strings.Contains(r.Text(), "from the types of the columns") == c.cells {
			t.Errorf("%v: left out %s; %s", c.types, got, r.Text())
		}
		var rows kept
		if err := table.Read(&rows); err != nil || len(rows) != 2 {
			t.Errorf("%v: %d rows, %v", c.types, len(rows), err)
		}
	}
	if _, err := open(Named([]string{"b"}), numbers, numbers, texts, dates); err != nil {
		t.Errorf("declared text: %v", err)
	}
	want := `source: column "c": want numbers, got dates; store days since 1970`
	if _, err := open(Named([]string{"b", "c"}), numbers, numbers, texts, dates); err == nil || err.Error() != want {
		t.Errorf("declared dates: got %v", err)
	}
	if _, err := open(inferred, texts, texts, dates, dates); err == nil || !strings.Contains(err.Error(), "at least one column of numbers") {
		t.Errorf("no numbers: got %v", err)
	}
}
