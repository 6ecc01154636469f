package sharded

import (
	"slices"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
)

// TestTwoEngines: two engines of one store never take each other's answers.
func TestTwoEngines(t *testing.T) {
	m := newMemory(2)
	q := sums()["full"]
	tables := []*engine.Table{mixedIn(3*engine.ChunkRows, m), mixedIn(4*engine.ChunkRows-9, m)}
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
					if got, want := engine.Sum(e, table, q), engine.Sum(engine.Local{}, from, q); !slices.Equal(got, want) {
						t.Errorf("table %d: another's sums", i)
					}
				}()
			}
		})
	}
	wg.Wait()
}
