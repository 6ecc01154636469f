package pure

import (
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// Gather returns, for every leaf, copies of the rows in it whose number is in kept (nil: all),
// row-major and in the order of the table.
func Gather(e engine.Engine, t *engine.Table, p query.Partition, kept []bool) [][]float64 {
	gathered := make([][]float64, p.Leaves())
	for i, leaf := range engine.Leaves(e, t, p) {
		if leaf >= 0 && (kept == nil || kept[i]) {
			gathered[leaf] = append(gathered[leaf], t.Row(i)...)
		}
	}
	return gathered
}
