package source

import (
	"math"
	"slices"
	"strconv"
)

// A Reader reads rows, once, from front to back: a format of ours, or one of your own for [Of]. A
// reader whose format knows the types of its columns is also a [Typed] one.
type Reader interface {
	// Header returns the names of all columns, distinct and not empty.
	Header() []string
	// Select restricts the cells that Next returns to these columns of the header, in this order,
	// and says which it returns as text. Until it is called, all and none. Between two rows it may
	// be called again with fewer.
	Select(columns, labels []int)
	// Next reads one row. It sets all of values and kinds, one for each selected column, and all
	// of labels, "" where a cell is empty. io.EOF follows the last row. Any other error ends the
	// reading, and no row before it is used; a row of too few cells or too many is such an error,
	// never a row.
	Next(values []float64, kinds []Kind, labels []string) error
	// Close releases what the reader holds.
	Close() error
}

// Texts is a reader that knows the text of a cell that is no number. It serves to find codes of
// text that mean missing, and to describe cells that cannot be read.
type Texts interface {
	Reader
	// Text returns the text of the i-th selected cell of the row that Next returned last. It is
	// called for cells of the kind NotNumber only.
	Text(i int) string
}

// TextOf returns the text of the i-th selected cell of the row that a reader returned last, of the
// kind NotNumber; "" where the reader does not know.
func TextOf(r Reader, i int) string {
	if t, ok := r.(Texts); ok {
		return t.Text(i)
	}
	return ""
}

// A Kind says what a cell holds. Every kind but Number makes its row bad.
type Kind uint8

const (
	Number    Kind = iota // a finite float64
	Missing               // empty, or a word for "not there"
	NotFinite             // an infinity, or a number beyond the range of float64
	NotNumber             // anything else
)

// Cell returns the cell of a reader that has numbers: NaN is a missing one. The value is 0 unless
// the kind is Number.
func Cell(v float64) (float64, Kind) {
	switch {
	case v-v == 0:
		return v, Number
	case math.IsNaN(v):
		return 0, Missing
	}
	return 0, NotFinite
}

// Widen returns the number that a float32 stands for: the float64 of the shortest decimal that
// names it, as CSV of the same table has it.
func Widen(v float32) float64 {
	const exact = 1 << 24 // whole numbers up to it are float32, and their own decimals
	w := float64(v)
	if w == math.Trunc(w) && math.Abs(w) <= exact || math.IsNaN(w) {
		return w
	}
	w, _ = strconv.ParseFloat(strconv.FormatFloat(w, 'g', -1, 32), 64)
	return w
}

// checked returns a cell of a reader, which may be anybody's, made valid.
func checked(v float64, kind Kind) (float64, Kind) {
	if kind == Number {
		return Cell(v)
	}
	return 0, min(kind, NotNumber)
}

// Typed is a reader whose format states the types of its columns. An inferred schema is then chosen
// by types, without a look at cells.
type Typed interface {
	Reader
	// Types returns the type of every column of the header.
	Types() []Type
}

// A Type describes all cells of a column, by its format. The zero Type says nothing: then cells
// decide, as in CSV.
type Type struct {
	Numbers bool   // or missing cells
	Truth   bool   // true and false: a column of YesNo where no other kind is declared
	Name    string // in the plural: "whole numbers", "dates"; "" for the zero Type
	// Hint says how to make a column of this type numeric, if it cannot be fitted as it is. Text
	// without a hint is read as cells of CSV are.
	Hint string
}

// Of returns the table of a reader's rows. The table owns the reader: it is closed with the table,
// or here if there is an error.
//
// The schema says which columns are fitted, and no row is read before [Table.Read]. With
// Schema.Infer they are chosen by types, or from the first rows where columns have none (see the
// package's doc for what that gives away). With neither the error is an *Undeclared, which names
// those that could be fitted. Mistakes in the input or the schema are of type *Error.
func Of(reader Reader, schema *Schema) (*Table, error) {
	t, err := begin(reader, schema)
	switch {
	case err != nil:
	case len(t.schema.Columns) > 0:
		err = t.declare()
	case t.schema.Infer:
		err = t.infer()
	default:
		err = t.undeclared()
	}
	if err != nil {
		reader.Close()
		return nil, err
	}
	for i, c := range t.columns { // each code once
		t.columns[i].Missing, _ = tidyCodes("", slices.Concat(c.Missing, t.schema.CSV.Missing))
	}
	t.rules, t.odd = rulesOf(t.columns), make([]unreadable, len(t.columns))
	t.report.Columns = make([]ColumnReport, len(t.columns))
	for i, c := range t.columns {
		t.report.Columns[i].Name = c.Name
	}
	return t, nil
}

// begin checks the header, and finds the schema's unit and groups in it.
func begin(reader Reader, schema *Schema) (*Table, error) {
	if err := checkHeader(reader.Header()); err != nil {
		return nil, err
	}
	t := &Table{reader: reader, types: TypesOf(reader)}
	return t, t.take(schema)
}

// TypesOf returns the types of a reader's columns, zero where it has none.
func TypesOf(reader Reader) []Type {
	if typed, ok := reader.(Typed); ok {
		return typed.Types()
	}
	return make([]Type, len(reader.Header()))
}

// Foresee returns the columns that Of would fit, and closes the reader; it reads no row. With
// Schema.Infer it goes by names and types, and known is false if cells will decide. With neither
// columns nor Infer the error is an *Undeclared.
func Foresee(reader Reader, schema *Schema) (columns []Column, known bool, err error) {
	defer reader.Close()
	t, err := begin(reader, schema)
	switch {
	case err != nil:
		return nil, false, err
	case len(t.schema.Columns) > 0:
		return t.schema.Columns, true, t.declare()
	}
	if err := checkNames(reader.Header()); err != nil {
		return nil, false, err
	}
	known = true
	var left []LeftOut
	for j, why := range t.byType() {
		name := reader.Header()[j]
		if why == "" && (t.types[j] == Type{}) && rowIdentifier(name) {
			why = byItsName
		}
		if why != "" {
			left = append(left, LeftOut{name, why})
			continue
		}
		columns, known = append(columns, t.typed(j)), known && t.types[j] != Type{}
	}
	switch {
	case columns == nil:
		return nil, known, errNoNumbers(reader.Header())
	case !t.schema.Infer:
		return nil, known, &Undeclared{Columns: (&Schema{Columns: columns}).Names(), LeftOut: left, Unread: !known}
	}
	return columns, known, nil
}
