package rows

import "sync"

// A memo holds what has been derived from the columns of a table.
type memo struct {
	mu     sync.Mutex
	sorted map[int][]float64
}

// Sorted returns the values of a column in the order of sort, without those of null rows. It is
// made once and kept, so that a table costs its size and that of these columns. Nobody may change
// it.
func (t *Table) Sorted(column int, sort func([]float64)) []float64 {
	t.memo.mu.Lock()
	defer t.memo.mu.Unlock()
	values, made := t.memo.sorted[column]
	if made {
		return values
	}
	values = make([]float64, 0, t.n)
	for _, c := range t.chunks {
		for at := column; at < len(c); at += t.d {
			if v := c[at]; v == v {
				values = append(values, v)
			}
		}
	}
	sort(values)
	if t.memo.sorted == nil {
		t.memo.sorted = map[int][]float64{}
	}
	t.memo.sorted[column] = values
	return values
}

// IfSorted is Sorted if that has been asked before, and nil if not.
func (t *Table) IfSorted(column int) []float64 {
	t.memo.mu.Lock()
	defer t.memo.mu.Unlock()
	return t.memo.sorted[column]
}
