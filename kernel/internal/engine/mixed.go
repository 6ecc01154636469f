package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gauze-dp/gauze/kernel/query"
)

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
	t.codes, t.texts = o.codes, o.texts
}

// SetCodes gives t the rows of codes, of which there are as many, as its codes.
func (t *Table) SetCodes(codes *Table) {
	if t.n != codes.n {
		panic("rows: codes of another number of rows")
	}
	t.codes, t.texts = codes, nil
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

// NameCodes says for which texts the codes of each column stand: code i for the text of number i,
// any other code for none. A column without a list has codes that stand for themselves. Two codes
// may stand for one text: whatever reads texts sees only these.
func (t *Table) NameCodes(texts [][]string) {
	if len(texts) != t.Codes() {
		panic("rows: texts of another number of columns")
	}
	t.texts = texts
}

// Texts returns the numbers of the columns of categories whose codes stand for texts, which the
// schema makes public.
func (t *Table) Texts() (columns []int) {
	for a, of := range t.texts {
		if of != nil {
			columns = append(columns, a)
		}
	}
	return columns
}

// text returns the text for which a code of column a stands, if there is one.
func (t *Table) text(a int, code float64) (string, bool) {
	if of := t.texts[a]; code >= 0 && code < float64(len(of)) && code == math.Trunc(code) { // false for NaN
		return of[int(code)], true
	}
	return "", false
}

// Values returns how many rows have each text, for the columns that q asks. If the context ends it
// stops early, and the counts must be discarded.
func Values(ctx context.Context, t *Table, q query.CategoryValues) []map[string]int64 {
	counts := make([]map[string]int64, len(q.Columns))
	for i := range counts {
		counts[i] = map[string]int64{}
	}
	for row := range t.codeRows(ctx) {
		q.Count(counts, func(a int) (string, bool) { return t.text(a, row[a]) })
	}
	return counts
}

// codeRows iterates over the codes of the rows, until the context ends. A row is valid until the
// next one.
func (t *Table) codeRows(ctx context.Context) func(yield func([]float64) bool) {
	return func(yield func([]float64) bool) {
		read := t.codes.Pieces()
		for first := 0; first < t.n && ctx.Err() == nil; first += PieceRows {
			for piece := read(first / PieceRows); len(piece) > 0; piece = piece[t.codes.d:] {
				if !yield(piece[:t.codes.d]) {
					return
				}
			}
		}
	}
}

// Recoded returns a table with the numbers of t and with other codes: in column a the number of a
// row's text among values[a], the number after the last for any other text, and the next one for
// none. Columns whose values are nil keep their codes. If the context ends, rows are missing.
func (t *Table) Recoded(ctx context.Context, values [][]string) *Table {
	codes, at := t.Beside(t.codes.d), make([]map[string]int, len(values))
	for a, of := range values {
		if of == nil {
			continue
		}
		at[a] = map[string]int{}
		for code, text := range of {
			at[a][text] = code
		}
	}
	own := make([]float64, t.codes.d)
	for row := range t.codeRows(ctx) {
		copy(own, row)
		for a, of := range at {
			if of == nil || math.IsNaN(row[a]) { // a row without codes
				continue
			}
			code := len(of) + 1
			if text, ok := t.text(a, row[a]); ok {
				if code, ok = of[text]; !ok {
					code = len(of)
				}
			}
			own[a] = float64(code)
		}
		codes.Append(own)
	}
	texts := slices.Clone(t.texts)
	for a, of := range values {
		if of != nil {
			texts[a] = nil
		}
	}
	return &Table{d: t.d, n: t.n, good: t.good, room: t.room, chunks: t.chunks, at: t.at, cells: t.cells, codes: codes, texts: texts}
}

// Counted returns a table without the columns of these numbers, whose cells are codes instead:
// column columns[i] is that of the codes with the number places[i], 0 for 0, 1 for 1, and 2 for any
// other cell. A row without codes, or without a cell where t has none, has no codes. If the context
// ends, rows are missing.
func (t *Table) Counted(ctx context.Context, columns, places []int) *Table {
	var numbers, kept []int // of t, its columns and its codes
	for j := range t.d {
		if !slices.Contains(columns, j) {
			numbers = append(numbers, j)
		}
	}
	c := t.Codes() + len(columns)
	for a := range c {
		if !slices.Contains(places, a) {
			kept = append(kept, a)
		}
	}
	out, row := t.Beside(len(numbers)), make([]float64, len(numbers)+c)
	out.codes = t.Beside(c)
	if out.texts = nil; t.texts != nil {
		out.texts = make([][]string, c)
		for old, a := range kept {
			out.texts[a] = t.texts[old]
		}
	}
	read, codes := Seen{Table: t}.Pieces(), func(int) []float64 { return nil }
	if t.codes != nil {
		codes = t.codes.Pieces()
	}
	for first := 0; first < t.n && ctx.Err() == nil; first += PieceRows {
		own := codes(first / PieceRows)
		for piece := read(first / PieceRows); len(piece) > 0; piece = piece[t.d:] {
			for i, j := range numbers {
				row[i] = piece[j]
			}
			code := row[len(numbers):]
			for i, j := range columns {
				if code[places[i]] = 2; piece[j] == 0 || piece[j] == 1 {
					code[places[i]] = piece[j] + 0 // no negative zero
				} else if t.codes == nil && present(piece[:t.d]) == 0 {
					code[places[i]] = math.NaN()
				}
			}
			for old, a := range kept {
				code[a] = own[old]
			}
			if t.codes != nil {
				own = own[t.codes.d:]
			}
			out.Append(row)
		}
	}
	return out
}
