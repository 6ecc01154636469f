package noise

import "testing"

// TestForget: after Forget nothing that was drawn before is used, neither words nor coins; a source
// that a test brings goes on as it was.
func TestForget(t *testing.T) {
	e := NewEntropy()
	g := NewGaussian(e)
	for i := 0; i < 3 || i < 100 && g.toss == 0; i++ { // one draw in 64 uses the last coin
		g.Round(10)
	}
	if e.left == 0 || g.toss == 0 {
		t.Fatalf("%d bytes and %d coins are buffered: the test sees nothing", e.left, g.toss)
	}
	copied, original := *e, *g // a snapshot
	g.Forget()
	if *e != (Entropy{}) || g.coins != 0 || g.toss != 0 || g.src != Source(e) {
		t.Errorf("%d bytes and %d coins are left", e.left, g.toss)
	}
	copy := &copied
	original.src = copy
	original.Forget()
	same := 0
	for range 64 {
		if g.src.Uint64() == original.src.Uint64() {
			same++
		}
	}
	if same > 0 { // 64 pairs of words are equal with probability 64/2^64
		t.Errorf("%d of 64 words are those of the copy", same)
	}
	seeded, again := NewGaussian(NewSeeded(1)), NewGaussian(NewSeeded(1))
	for range 20 {
		if seeded.Round(100) != again.Round(100) {
			t.Fatal("a seeded source was disturbed")
		}
		seeded.Forget()
	}
}
