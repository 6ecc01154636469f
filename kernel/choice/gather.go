package choice

import (
	"github.com/gauze-dp/gauze/kernel/engine"
	"github.com/gauze-dp/gauze/kernel/internal/leaves"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/query/rings"
)

// Gather returns, for every leaf, copies of the rows in it whose number is in kept (nil: all),
// row-major and in the order of the table.
func Gather(e engine.Engine, t *rows.Table, p rings.Partition, kept []bool) [][]float64 {
	gathered := make([][]float64, p.Leaves())
	for i, leaf := range leaves.Leaves(e, t, p) {
		if leaf >= 0 && (kept == nil || kept[i]) {
			gathered[leaf] = append(gathered[leaf], t.Row(i)...)
		}
	}
	return gathered
}
