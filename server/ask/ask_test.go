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

// Groups beside values that are to be found are refused before anything is reserved: such a fit
// fails, and its cost stayed spent. Without groups it is planned, if there is a delta.
func TestFoundValuesInGroups(t *testing.T) {
	d := store.Dataset{Name: "d", Relation: "replace-one", Rows: 20_000, Capacity: 20_000, Schema: *source.Named([]string{"x", "ward"})}
	d.Schema.Columns[1] = source.Column{Name: "ward", Kind: source.Categories, Find: true}
	d.Schema.By = []source.Grouping{{Name: "sex", Categories: []string{"f", "m"}}}
	for _, c := range []struct {
		a  Ask
		ok bool
	}{
		{Ask{Epsilon: 1, Delta: 1e-6}, false}, {Ask{Epsilon: 1, Delta: 1e-6, By: []string{"sex"}}, false}, {Ask{Epsilon: 1, Delta: 1e-6, By: []string{"sex"}, Columns: []string{"x"}}, true},
		{Ask{Epsilon: 1, Delta: 1e-6, By: []string{source.NoGroups}}, true}, {Ask{Rho: .1, By: []string{source.NoGroups}}, false},
	} {
		c.a.Dataset = "d"
		if _, _, err := c.a.Plan(&d); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.a, err)
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
