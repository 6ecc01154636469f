package shards

// blockBytes is the size that is mapped at a time: many large pages, of which those that are never
// written take no memory. A guess.
const blockBytes = 64 << 20

// Pages hands out memory for numbers, in large pages where the system has them and outside of what
// the garbage collector counts; it stays in use until the process ends. The zero Pages is ready.
//
// A table of many pages of the usual size is read more slowly: the processor looks up the place of
// each page, for every few rows if they are read in no order, and the system hands them out one by
// one.
type Pages struct {
	free []byte // the rest of the last block
}

// Numbers returns room for n numbers, with length zero.
func (p *Pages) Numbers(n int) []float64 {
	size := n * number
	if len(p.free) < size {
		p.free = block(max(size, blockBytes))
	}
	if len(p.free) < size { // none can be had
		return make([]float64, 0, n)
	}
	taken := p.free[:size:size]
	p.free = p.free[size:]
	return Floats(taken)[:0]
}
