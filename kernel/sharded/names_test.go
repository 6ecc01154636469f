package sharded

import (
	"context"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/query"
)

// TestNamesSayNothing: what an answer is named does not follow from what it says, since names can
// be seen where the store cannot be read: the same sums have other names whenever they are asked
// for. And answers of sums are as long, whatever the sums.
//
// False-alarm rate: 2^-58.
func TestNamesSayNothing(t *testing.T) {
	const n, times = 4*engine.ChunkRows - 7, 4
	names, lengths := map[string]bool{}, map[string]int{}
	for _, value := range []float64{1, 3, 1e308} {
		m := newMemory(1)
		table := engine.NewTableIn(1, m)
		for range n {
			table.Append([]float64{value})
			if value < 2 {
				value = -value
			}
		}
		e := New(m, schedule(func(ctx context.Context, items []string) error {
			err := Here{m}.Run(ctx, items)
			for name, text := range m.texts {
				parts := strings.Split(name, ".") // answer, question, attempt, part, sum
				if parts[0] != "answer" {
					continue
				}
				if names[parts[4]] {
					t.Errorf("%s: another answer had that name too", name)
				}
				names[parts[4]] = true
				if before, ok := lengths[parts[3]]; ok && before != len(text) {
					t.Errorf("part %s: answers of %d and %d bytes", parts[3], before, len(text))
				}
				lengths[parts[3]] = len(text)
			}
			return err
		}))
		for i := range times { // the same sums, of a question that is not the one before
			engine.Sum(e, table, query.Counts{Edges: [][]float64{{0, 2 + float64(i)/times}}})
		}
	}
	if len(names) != 3*3*times { // the first chunk lies elsewhere
		t.Errorf("%d names", len(names))
	}
}
