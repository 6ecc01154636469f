package sharded

import (
	"slices"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/kernel/engine/fast"
	"github.com/gauze-dp/gauze/kernel/engine/local"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
)

// TestTwoEngines: two engines of one store never take each other's answers.
func TestTwoEngines(t *testing.T) {
	m := newMemory(2)
	q := sums()["full"]
	tables := []*rows.Table{mixedIn(3*rows.ChunkRows, m), mixedIn(4*rows.ChunkRows-9, m)}
	var wg sync.WaitGroup
	for i, table := range tables {
		e := New(m, Here{m})
		from := mixed(table.Len())
		wg.Go(func() {
			for range 30 {
				func() {
					defer func() {
						if p := recover(); p != nil {
							t.Errorf("table %d: %v", i, p)
						}
					}()
					if got, want := fast.Sum(e, table, q), fast.Sum(local.Engine{}, from, q); !slices.Equal(got, want) {
						t.Errorf("table %d: another's sums", i)
					}
				}()
			}
		})
	}
	wg.Wait()
}
