package shards

import (
	"testing"
)

// TestNumbers: each room is of zeros, has its length and none of another's numbers, in one block,
// at the end of it and beyond, and where no block can be had.
func TestNumbers(t *testing.T) {
	const whole = blockBytes / 8
	var p Pages
	var all [][]float64
	sizes := []int{1, 3, whole / 2, whole / 4, whole / 4, 5, 2*whole + 1, 7}
	for i, n := range sizes {
		room := p.Numbers(n)
		if len(room) != 0 || cap(room) != n {
			t.Fatalf("room for %d of %d numbers, want %d", len(room), cap(room), n)
		}
		room = room[:n]
		for _, at := range []int{0, n / 2, n - 1} {
			if room[at] != 0 {
				t.Fatalf("number %d of room %d is %v", at, i, room[at])
			}
		}
		room[0], room[n-1] = float64(i+1), float64(i+1)
		all = append(all, room)
	}
	for i, room := range all {
		if first, last := room[0], room[len(room)-1]; first != float64(i+1) || last != first {
			t.Errorf("room %d has %v and %v at its ends", i, first, last)
		}
	}
	if b := block(1 << 60); b != nil {
		t.Errorf("%d bytes were had", len(b))
	}
}
