package rows

import "sort"

// Seen is a table with its partial rows, in one of three views: each row is mapped by itself, by
// public or released numbers. A null row stays one.
//   - Present: a cell is 1 where there is one and 0 where it is missing;
//   - otherwise with Fill: cells as they are, those of Fill where they are missing;
//   - otherwise cells as they are, NaN where they are missing: for what asks every cell whether it
//     is there.
//
// In the first two views a row is finite or null, as in the table.
type Seen struct {
	*Table
	Present bool
	Fill    []float64
}

// Pieces returns what makes the view piece by piece.
func (s Seen) Pieces() func(i int) []float64 {
	read, piece := s.Table.Pieces(), []float64(nil)
	return func(i int) []float64 {
		first := i * PieceRows
		k := sort.SearchInts(s.at, first)
		if !s.Present && (k == len(s.at) || s.at[k] >= first+PieceRows) { // all are as they are
			return read(i)
		}
		piece = append(piece[:0], read(i)...)
		for j, v := range piece {
			if s.Present && v == v {
				piece[j] = 1
			}
		}
		for ; k < len(s.at) && s.at[k] < first+PieceRows; k++ {
			row := piece[(s.at[k]-first)*s.d:]
			for j, v := range s.cells[k*s.d : (k+1)*s.d] {
				switch missing := v != v; {
				case s.Present && missing:
					v = 0
				case s.Present:
					v = 1
				case missing && s.Fill != nil:
					v = s.Fill[j]
				}
				row[j] = v
			}
		}
		return piece
	}
}
