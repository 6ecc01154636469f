package shards

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// TestFloats: numbers and their memory are one.
func TestFloats(t *testing.T) {
	numbers := []float64{1, math.Pi, math.Inf(-1), math.NaN(), 0}
	memory := Bytes(numbers)
	for i, x := range numbers {
		if got := math.Float64frombits(binary.NativeEndian.Uint64(memory[8*i:])); got != x && !(got != got && x != x) {
			t.Errorf("number %d is %v, want %v", i, got, x)
		}
	}
	back := Floats(memory)
	if len(back) != len(numbers) || &back[0] != &numbers[0] {
		t.Error("the numbers are others than those that were taken")
	}
	back[1] = 7
	if numbers[1] != 7 || !slices.Equal(Floats(memory[8:16]), []float64{7}) {
		t.Error("what is written is not seen")
	}
	if Floats(nil) != nil || Bytes(nil) != nil || Floats(memory[:7]) != nil || len(Floats(memory[:15])) != 1 {
		t.Error("memory without room for a number has some")
	}
	defer func() {
		if recover() == nil {
			t.Error("numbers begin between two numbers")
		}
	}()
	Floats(memory[1:17])
}
