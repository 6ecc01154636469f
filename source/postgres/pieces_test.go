package postgres

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gauze-dp/gauze/source"
)

// The rows of all pieces come in their order, whatever the hands, up to one that fails.
func TestOrder(t *testing.T) {
	fault := errors.New("no more")
	for hands := range 5 {
		for _, fails := range []int{-1, 0, 3, 6} {
			const pieces = 7
			read := func(piece int, into *piece) error {
				for i := range piece % 3 {
					values, kinds, labels := into.Add()
					values[0], values[1], kinds[0], labels[0] = float64(piece), float64(i), source.Number, fmt.Sprint(piece, i)
				}
				if piece == fails {
					return fault
				}
				return nil
			}
			var all []func(int, *piece) error
			for range hands + 1 {
				all = append(all, read)
			}
			table := newPieces(pieces, 2, 1, all)
			values, kinds, labels := make([]float64, 2), make([]source.Kind, 2), make([]string, 1)
			for piece := range pieces {
				for i := range piece % 3 {
					if err := table.Next(values, kinds, labels); err != nil {
						t.Fatal(err)
					}
					if values[0] != float64(piece) || values[1] != float64(i) || kinds[0] != source.Number || kinds[1] != source.Missing || labels[0] != fmt.Sprint(piece, i) {
						t.Fatalf("row %d of piece %d is %v, %v, %v", i, piece, values, kinds, labels)
					}
				}
				if piece == fails {
					break
				}
			}
			want := io.EOF
			if fails >= 0 {
				want = fault
			}
			for range 2 {
				if err := table.Next(values, kinds, labels); err != want {
					t.Fatalf("%d hands: %v, want %v", hands+1, err, want)
				}
			}
		}
	}
}

func TestEmpty(t *testing.T) {
	if err := newPieces(0, 1, 1, []func(int, *piece) error{nil}).Next(make([]float64, 1), make([]source.Kind, 1), make([]string, 1)); err != io.EOF {
		t.Error(err)
	}
}
