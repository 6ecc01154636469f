package rows

import (
	"math"
	"slices"
	"sync"
)

// A memo holds what has been derived from the columns of a table.
type memo struct {
	mu     sync.Mutex
	sorted map[int][]float64
}

// Sorted returns the values of a column in order, without those of null rows. It is made once and
// kept, so that a table costs its size and that of these columns. Nobody may change it.
func (t *Table) Sorted(column int) []float64 {
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
	Sort(values)
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

const (
	digitBits = 11
	digits    = 6 // 66 bits
	fewValues = 1 << 12
)

// Sort sorts values, none of them NaN: by digits of 11 bits, the last first, if they are many.
func Sort(values []float64) {
	if len(values) < fewValues {
		slices.Sort(values)
		return
	}
	keys, other := make([]uint64, len(values)), make([]uint64, len(values))
	var counts [digits][1 << digitBits]int
	for i, v := range values {
		// in the order of the numbers once those of negative ones are turned round
		key := math.Float64bits(v)
		key ^= uint64(int64(key)>>63) | 1<<63
		keys[i] = key
		for d := range counts {
			counts[d][key>>(digitBits*d)&(1<<digitBits-1)]++
		}
	}
	for d := range counts {
		from := &counts[d]
		if from[keys[0]>>(digitBits*d)&(1<<digitBits-1)] == len(keys) { // all have the same digit
			continue
		}
		at := 0
		for i, n := range from {
			from[i], at = at, at+n
		}
		for _, key := range keys {
			slot := &from[key>>(digitBits*d)&(1<<digitBits-1)]
			other[*slot] = key
			*slot++
		}
		keys, other = other, keys
	}
	for i, key := range keys {
		values[i] = math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
	}
}
