package rows

import (
	"reflect"
	"sync"
)

// A memo holds the values of one column, in order in every leaf of a partition: those that were put
// in order last. They cost the table one column more.
type memo struct {
	mu     sync.Mutex
	cut    any // the partition; nil for one leaf with all good rows
	column int
	sorted [][]float64 // nil: none yet
}

// Sorted returns the memo if it is of that cut and column. If not, it is what put returns, which is
// kept if it is of all rows; nil without put. Nobody may change it, nor what cut holds.
//
// So what is returned is a function of the rows, the cut and the column, whoever asked for what
// before.
func (t *Table) Sorted(cut any, column int, put func() (sorted [][]float64, all bool)) [][]float64 {
	m := &t.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sorted != nil && m.column == column && reflect.DeepEqual(m.cut, cut) {
		return m.sorted
	}
	if put == nil {
		return nil
	}
	m.sorted = nil // room for the next
	sorted, all := put()
	if all {
		m.cut, m.column, m.sorted = cut, column, sorted
	}
	return sorted
}
