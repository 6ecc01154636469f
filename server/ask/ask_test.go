package ask

import (
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate/catalog"
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
