package people

import (
	"fmt"
	"math"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// kept are the rows that a builder would protect, person by person.
func kept(b *Builder) (out []float64) { return append(out, b.kept...) }

// Step 1 of people_proof.md: every row of a person is kept with the same probability, whatever
// order the rows come in and whoever's stand between them, and persons are drawn independently.
// False-alarm rate: 1e-7 of each of four tests.
func TestEveryRowIsAsLikely(t *testing.T) {
	const draws, rows = 40_000, 5
	source := noise.NewSeeded(stattest.Seed(t))
	var first, second, pairs [rows]int
	for range draws {
		b := newBuilder(1, 0, source)
		for i := range rows {
			b.Append("a", 0, []float64{float64(i)})
			b.Append("", 0, []float64{-1})
			b.Append("b", 0, []float64{float64(rows - 1 - i)})
		}
		rows := kept(b)
		if len(rows) != 7 || rows[1] != -1 {
			t.Fatalf("kept %v, want one row each of two persons and of five without a name", rows)
		}
		a, c := int(rows[0]), int(rows[2])
		first[a]++
		second[c]++
		pairs[(a+c)%5]++
	}
	for _, counts := range [][rows]int{first, second, pairs} {
		stattest.GoodFit(t, counts[:], []float64{.2, .2, .2, .2, .2}, 1e-7)
	}
}

// A person of one row keeps it, and its group is that of the row that is kept. False-alarm rate:
// 1e-7.
func TestGroups(t *testing.T) {
	const draws = 2000
	source := noise.NewSeeded(stattest.Seed(t))
	in := [3]int{}
	for range draws {
		b := newBuilder(2, 0, source)
		b.Append("a", 0, []float64{1, 2})
		for g := range 3 {
			b.Append("b", g-1, []float64{float64(g), 0}) // group -1 is none
		}
		if b.group[0] != 0 || b.group[1] != int(b.kept[2])-1 {
			t.Fatalf("groups %v of rows %v", b.group, b.kept)
		}
		in[b.group[1]+1]++
		tables := b.Protect(privacy.AddRemoveOne, 2, nil)
		if len(tables) != 2 || tables[0].Columns() != 2 {
			t.Fatal("want two tables of two columns")
		}
		if _, public := tables[0].Rows(); public {
			t.Fatal("the size of a group is public")
		}
	}
	stattest.GoodFit(t, in[:], []float64{1. / 3, 1. / 3, 1. / 3}, 1e-7)
}

// n is the number of persons, where it is public.
func TestRowsArePersons(t *testing.T) {
	b := NewBuilder(1)
	for i := range 1000 {
		b.Append(fmt.Sprint(i%10), 0, []float64{float64(i)})
	}
	b.Append("", 0, []float64{math.NaN()})
	b.Append("", 0, []float64{math.NaN()})
	if n, public := b.Protect(privacy.ReplaceOne, 1, nil)[0].Rows(); n != 12 || !public {
		t.Errorf("got %d, %v, want the 12 persons", n, public)
	}
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"no columns": func() { NewBuilder(0) },
		"short row":  func() { NewBuilder(2).Append("a", 0, []float64{1}) },
		"late row":   func() { b := NewBuilder(1); b.Protect(privacy.ReplaceOne, 1, nil); b.Append("a", 0, []float64{1}) },
		"twice": func() {
			b := NewBuilder(1)
			b.Protect(privacy.ReplaceOne, 1, nil)
			b.Protect(privacy.ReplaceOne, 1, nil)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: want a panic", name)
				}
			}()
			f()
		}()
	}
	if text := fmt.Sprintf("%v %+v %#v", NewBuilder(1), NewBuilder(1), NewBuilder(1)); len(text) > 60 {
		t.Errorf("a builder prints as %s", text)
	}
}
