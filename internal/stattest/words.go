package stattest

import "slices"

// Words hands out words drawn before, one after another, so that two runs can have the draws of
// their common rows in common. It panics when there are none left.
type Words []uint64

// Replay hands out a copy of words.
func Replay(words []uint64) *Words {
	w := Words(slices.Clone(words))
	return &w
}

// Uint64 returns the next word.
func (w *Words) Uint64() uint64 {
	next := (*w)[0]
	*w = (*w)[1:]
	return next
}
