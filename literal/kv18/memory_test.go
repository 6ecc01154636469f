package kv18

import (
	"runtime"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestMemory: where the number of rows is private and mostly noise, memory follows the rows.
func TestMemory(t *testing.T) {
	const fits, most = 20, 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range fits {
		c := trial{rows: column(uint64(i), 6, 0, 1), eps: 1e-10, relation: privacy.AddRemoveOne}
		c.noise.Seed = uint64(i)
		c.fit(t)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / fits; got > most/fits {
		t.Errorf("a fit to six rows takes %d MB", got>>20)
	}
}
