package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query"
)

// A leaving is a room that notes what is left.
type leaving struct{ left map[*float64]int }

func (leaving) Chunk(n int) []float64 { return make([]float64, 0, n) }

func (l leaving) Leave(chunk []float64) {
	if cap(chunk) > 0 {
		l.left[&chunk[:1][0]]++
	}
}

func (leaving) Err() error { return nil }

// A table in a room has the sums of one in memory, and a worker leaves every chunk but the last.
func TestRoom(t *testing.T) {
	const d, n = 3, 3*ChunkRows - 5
	room := leaving{map[*float64]int{}}
	in, out := NewTable(d), NewTableIn(d, room)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		row := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		if i%1000 == 7 {
			row[1] = math.NaN()
		}
		in.Append(row)
		out.Append(row)
	}
	clear(room.left)
	beside := out.Beside(1)
	for range 2*ChunkRows + 1 {
		beside.Append([]float64{1})
	}
	if len(room.left) != 2 {
		t.Errorf("a table beside one in a room left %d chunks there, want 2", len(room.left))
	}
	clear(room.left)
	q := query.Directions{Map: lower(d, .1), Lift: 1}
	e := Local{Workers: 1}
	for scan := range 2 {
		if a, b := Sum(e, in, q), Sum(e, out, q); !slices.Equal(a, b) {
			t.Errorf("%v in memory, %v in a room", a, b)
		}
		if len(room.left) != 2 {
			t.Errorf("after scan %d %d chunks had been left", scan, len(room.left))
		}
	}
}
