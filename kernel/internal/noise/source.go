package noise

import (
	"crypto/rand"
	"encoding/binary"
	randv2 "math/rand/v2"
)

// Source yields words that are independent and uniform on [0, 2^64).
//
// Every law stated in this package holds under this condition.
type Source interface {
	Uint64() uint64
}

// entropyChunk is the number of bytes that Entropy asks of the operating system at a time: enough
// to make the call cheap, few enough to keep few unused secrets around.
const entropyChunk = 4096

// Entropy is the cryptographic Source: crypto/rand, read in chunks.
//
// Not safe for concurrent use: give each goroutine its own. A copy would yield the
// same words again, so it must not be copied, nor survive a snapshot of the memory: see
// Gaussian.Forget.
type Entropy struct {
	buf  [entropyChunk]byte
	left int // Invariant: buf[entropyChunk-left:] is unused, the rest is zero.
}

// NewEntropy returns a cryptographic Source with an empty buffer.
func NewEntropy() *Entropy { return new(Entropy) }

// Uint64 returns the next word and wipes it from the buffer.
//
// crypto/rand ends the program if the operating system has no entropy to give, and
// so it must: noise from a worse source would break the privacy of the release.
func (e *Entropy) Uint64() uint64 {
	if e.left == 0 {
		_, _ = rand.Read(e.buf[:]) // never returns an error
		e.left = entropyChunk
	}
	b := e.buf[entropyChunk-e.left:]
	w := binary.LittleEndian.Uint64(b)
	binary.LittleEndian.PutUint64(b, 0)
	e.left -= 8
	return w
}

// NewSeeded returns a Source that is a function of seed alone (ChaCha8), the same
// on every machine. For tests and simulation only: whoever knows the seed can
// subtract the noise.
//
//go:noinline
func NewSeeded(seed uint64) Source {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return randv2.NewChaCha8(key)
}
