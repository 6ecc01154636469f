package shards

import "github.com/apache/arrow-go/v18/arrow"

// blockBytes is what is mapped at a time: many large pages, of which those that nothing is written
// to take no memory. A guess.
const blockBytes = 64 << 20

// Pages hands out memory for numbers, in large pages where the system has them and outside of what
// the collector counts; it remains theirs until the process ends. The zero Pages is ready.
//
// A table of many pages of the usual size is read slower: the processor looks up where each of them
// lies, for every few rows if they are read in no order, and the system hands them out one by one.
type Pages struct {
	free []byte // the rest of the last block
}

// Numbers is room for n numbers, with length zero.
func (p *Pages) Numbers(n int) []float64 {
	size := n * arrow.Float64SizeBytes
	if len(p.free) < size {
		p.free = block(max(size, blockBytes))
	}
	if len(p.free) < size { // there is none to be had
		return make([]float64, 0, n)
	}
	taken := p.free[:size:size]
	p.free = p.free[size:]
	return arrow.Float64Traits.CastFromBytes(taken)[:0]
}
