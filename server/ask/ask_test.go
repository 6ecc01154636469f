package ask

import (
	"fmt"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
	"github.com/gauze-dp/gauze/server/store"
	"github.com/gauze-dp/gauze/source"
)

// What people use has slots of its own size, black boxes longer ones, and what papers print, whose
// time the rows decide, the longest.
func TestSlow(t *testing.T) {
	used := map[string]bool{"black-box": false}
	for _, name := range catalog.Methods().Names() {
		used[name] = name != "black-box"
	}
	for _, name := range gauze.Methods().Names() {
		quick, known := used[name]
		if got := Slow(name); quick != (got == 1) || (known && !quick) != (got == 8) || !known && got < 64 {
			t.Errorf("%s is taken for %d times as slow", name, got)
		}
	}
}

// More groups than memory has room for are refused, whatever their number is modulo 2^64: 16
// columns of 16 categories made none, and the fit was charged as one of a single model.
func TestTooManyGroups(t *testing.T) {
	for columns, refused := range map[int]bool{3: false, 4: true, 16: true, 17: true} {
		d := store.Dataset{Name: "d", Relation: "replace-one", Rows: 20_000, Capacity: 20_000, Schema: *source.Named([]string{"x"})}
		for i := range columns {
			g := source.Grouping{Name: fmt.Sprintf("g%d", i)}
			for c := range 16 {
				g.Categories = append(g.Categories, fmt.Sprint(c))
			}
			d.Schema.By = append(d.Schema.By, g)
		}
		a := Ask{Dataset: "d", Epsilon: 1, Delta: 1e-6}
		if _, _, err := a.Plan(&d); (err != nil) != refused {
			t.Errorf("%d columns: %v", columns, err)
		}
		a.By = []string{"g0"}
		if _, _, err := a.Plan(&d); err != nil {
			t.Errorf("one of %d columns: %v", columns, err)
		}
	}
}
