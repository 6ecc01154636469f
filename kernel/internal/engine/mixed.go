package engine

import "fmt"

// NewMixed returns a table of d columns of numbers, as NewTableIn does, with c columns of codes
// beside them, which stand for a row's categories. Rows that are appended have d + c values.
//
// The codes are a table of their own, in the same room: whatever reads the table sees its d columns
// as if there were no codes, and only Mixed shows both.
func NewMixed(d, c int, room Room) *Table {
	t := NewTableIn(d, room)
	if c > 0 {
		t.codes = NewTableIn(c, room)
	}
	return t
}

// Codes returns c, which the schema makes public.
func (t *Table) Codes() int {
	if t.codes == nil {
		return 0
	}
	return t.codes.d
}

// TakeCodes gives t, a table without codes, those of the rows of o, of which it has as many.
func (t *Table) TakeCodes(o *Table) {
	if t.n != o.n {
		panic("rows: codes of another number of rows")
	}
	t.codes = o.codes
}

// appendCodes stores the codes at the end of a row of d + c values, and returns the rest of the
// row. A row whose codes are not all finite has no codes, and neither has nil.
func (t *Table) appendCodes(row []float64) []float64 {
	if row == nil {
		t.codes.Append(nil)
		return nil
	}
	if len(row) != t.d+t.codes.d {
		panic(fmt.Sprintf("rows: a row has %d values, of %d numbers and %d codes", len(row), t.d, t.codes.d))
	}
	t.codes.Append(row[t.d:])
	return row[:t.d]
}

// Mixed is a table with its codes: its rows have the d numbers, all of them NaN if one is missing,
// and then the c codes, all of them NaN if there are none. What a row shows is a function of that
// row alone.
type Mixed struct{ *Table }

// Columns returns d + c.
func (m Mixed) Columns() int { return m.d + m.Codes() }

// Pieces returns a function that joins numbers and codes piece by piece.
func (m Mixed) Pieces() func(i int) []float64 {
	if m.codes == nil {
		return m.Table.Pieces()
	}
	numbers, codes, piece := m.Table.Pieces(), m.codes.Pieces(), make([]float64, 0, PieceRows*m.Columns())
	return func(i int) []float64 {
		x, c := numbers(i), codes(i)
		piece = piece[:0]
		for len(x) > 0 {
			piece = append(append(piece, x[:m.d]...), c[:m.codes.d]...)
			x, c = x[m.d:], c[m.codes.d:]
		}
		return piece
	}
}
