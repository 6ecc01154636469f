package rowkernels

import (
	"math"
	"slices"
	"testing"
)

// TestFailedCheckAddsNothing feeds roundAll with vectors at and beyond the bound.
func TestFailedCheckAddsNothing(t *testing.T) {
	for _, v := range []float64{65537, -65537, 46342, 1 << 20, 1 << 40, 1 << 52, 1e300, math.Inf(1), math.Inf(-1), math.NaN()} {
		g := NewGram(3)
		var factor Column
		for r := range factor {
			factor[r] = 1
			g.H[0][r], g.H[1][r], g.H[2][r] = 1, v, v
		}
		factor[5] = math.NaN()
		g.RoundAll(&factor, &Column{})
		sum := make([]int64, 6)
		g.Add(sum)
		g.Flush(sum)
		if slices.ContainsFunc(sum, func(s int64) bool { return s != 0 }) {
			t.Errorf("a row of %v broke the bound and added %v", v, sum)
		}
	}
	g := NewGram(2)
	var factor Column
	g.H[0][7], g.H[1][7], factor[7] = 0, 1<<16, 1 // at the bound
	g.RoundAll(&factor, &Column{})
	sum := make([]int64, 3)
	g.Add(sum)
	g.Flush(sum)
	if sum[2] != 1<<32 {
		t.Errorf("a row at the bound added %v", sum)
	}
}

// TestExpNegative compares the portable exponential with math.Exp.
func TestExpNegative(t *testing.T) {
	for x := float64(LeastExponent); x <= 0; x += 1e-3 {
		if got, want := ExpNegative(x), math.Exp(x); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("ExpNegative(%v) = %v, want %v", x, got, want)
		}
	}
	if ExpNegative(0) != 1 {
		t.Error("ExpNegative(0) is not 1")
	}
}

// TestLongBatch: a batch of any length adds up exactly; without a flush in time float64 would drop
// the last bits.
func TestLongBatch(t *testing.T) {
	g := NewGram(1)
	for r := range Rows {
		g.H[0][r] = 1<<GramBits - 2
	}
	g.H[0][0]++ // so that a panel's sum is odd
	sum := []int64{0}
	const panels = 3*maxPanels + 1
	for range panels {
		g.Add(sum)
	}
	g.Flush(sum)
	const even, odd = 1<<GramBits - 2, 1<<GramBits - 1
	if want := int64(panels) * ((Rows-1)*even*even + odd*odd); sum[0] != want {
		t.Errorf("got %d, want %d", sum[0], want)
	}
}
