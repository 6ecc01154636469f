package lines

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// TestGuard: nothing is loaded from before a text or from beyond its slack, where a page that
// cannot be read lies here.
func TestGuard(t *testing.T) {
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(memory)
	for _, guard := range [][]byte{memory[:page], memory[2*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 4))
	cells, read := make([]cell, 60), 0
	const texts = 200_000
	for range texts {
		n := 1 + rng.IntN(60)
		text := memory[page : page+n+slack]
		if rng.IntN(2) == 0 {
			text = memory[2*page-n-slack : 2*page]
		}
		for i := range text {
			text[i] = "0123456789012345678901234567.,-"[rng.IntN(31)]
		}
		text[n] = '\n'
		from := rng.IntN(n + 1)
		got, next := decimals(text, from, n, cells[:1+rng.IntN(59)])
		if read += got; next < from || next > n+1 {
			t.Fatalf("the next cell begins at %d, in %d to %d", next, from, n)
		}
	}
	if vectors && read < texts/10 {
		t.Errorf("%d cells are read", read)
	}
}
