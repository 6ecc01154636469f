package engine

import "sort"

// Seen is a table with its partial rows, each mapped by itself, by public or released numbers. A
// null row stays null.
//   - with Fill: missing cells have Fill's values, so that a row is finite or null, as in the
//     table;
//   - otherwise missing cells are NaN: for queries that ask of every cell whether it is there.
type Seen struct {
	*Table
	Fill []float64
}

// Pieces returns a function that builds the view piece by piece.
func (s Seen) Pieces() func(i int) []float64 {
	read, piece := s.Table.Pieces(), []float64(nil)
	return func(i int) []float64 {
		first := i * PieceRows
		k := sort.SearchInts(s.at, first)
		if k == len(s.at) || s.at[k] >= first+PieceRows { // no partial row here
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

// Present is a table with its partial rows that shows 1 for a cell and 0 for a missing one. A null
// row stays null.
type Present struct{ *Table }

// Pieces returns a function that builds the view piece by piece.
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
// would be all ones, and there are Good of them; a null row would stay null.
type Marks struct{ *Table }

// Len returns the number of partial rows.
func (m Marks) Len() int { return len(m.at) }

// Pieces returns a function that builds the marks piece by piece.
func (m Marks) Pieces() func(i int) []float64 {
	return func(i int) (piece []float64) {
		for at := i * PieceRows * m.d; at < min((i+1)*PieceRows, len(m.at))*m.d; at++ {
			piece = append(piece, float64(present(m.cells[at:at+1])))
		}
		return piece
	}
}
