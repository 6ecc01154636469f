package engine

import "sort"

// Seen is a table with its partial rows: each is mapped by itself, by public or released numbers.
// A null row stays one.
//   - with Fill: cells as they are, those of Fill where they are missing, so that a row is finite
//     or null, as in the table;
//   - otherwise cells as they are, NaN where they are missing: for what asks every cell whether it
//     is there.
type Seen struct {
	*Table
	Fill []float64
}

// Pieces returns what makes the view piece by piece.
func (s Seen) Pieces() func(i int) []float64 {
	read, piece := s.Table.Pieces(), []float64(nil)
	return func(i int) []float64 {
		first := i * PieceRows
		k := sort.SearchInts(s.at, first)
		if k == len(s.at) || s.at[k] >= first+PieceRows { // all are as they are
			return read(i)
		}
		piece = append(piece[:0], read(i)...)
		for ; k < len(s.at) && s.at[k] < first+PieceRows; k++ {
			row := piece[(s.at[k]-first)*s.d:]
			for j, v := range s.cells[k*s.d : (k+1)*s.d] {
				if v != v && s.Fill != nil {
					v = s.Fill[j]
				}
				row[j] = v
			}
		}
		return piece
	}
}

// Present is a table with its partial rows, of which it shows 1 for a cell and 0 for a missing one.
// A null row stays one.
type Present struct{ *Table }

// Pieces returns what makes the view piece by piece.
func (p Present) Pieces() func(i int) []float64 {
	read, piece := Seen{Table: p.Table}.Pieces(), []float64(nil)
	return func(i int) []float64 {
		piece = append(piece[:0], read(i)...)
		for row := piece; len(row) > 0; row = row[p.d:] {
			if present(row[:p.d]) == 0 {
				continue
			}
			for j, v := range row[:p.d] {
				row[j] = float64(present([]float64{v}))
			}
		}
		return piece
	}
}

// Marks are the partial rows of a table alone, with 1 for a cell and 0 for a missing one. Good rows
// would all be ones: there are Good of them, and a null row would be one.
type Marks struct{ *Table }

// Len is the number of partial rows.
func (m Marks) Len() int { return len(m.at) }

// Pieces returns what makes the marks piece by piece.
func (m Marks) Pieces() func(i int) []float64 {
	return func(i int) (piece []float64) {
		for at := i * PieceRows * m.d; at < min((i+1)*PieceRows, len(m.at))*m.d; at++ {
			piece = append(piece, float64(present(m.cells[at:at+1])))
		}
		return piece
	}
}
