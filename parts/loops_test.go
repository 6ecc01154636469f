package parts_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/parts"
)

func TestLoops(t *testing.T) {
	square := func(x int) float64 { return float64(x * x) }
	if got := parts.Map(parts.Upto(4), square); !slices.Equal(got, []float64{0, 1, 4, 9}) {
		t.Errorf("squares: %v", got)
	}
	if got := parts.Sum(parts.Upto(4), square); got != 14 {
		t.Errorf("sum of squares: %v", got)
	}
	if n := len(parts.Upto(0)); n != 0 || parts.Sum(nil, square) != 0 {
		t.Errorf("of none: %d numbers", n)
	}
}

func TestBisect(t *testing.T) {
	low, high := parts.Bisect(0, 2, 60, func(x float64) bool { return x*x < 2 })
	if low > math.Sqrt2 || high < math.Sqrt2 || high-low > 1e-15 {
		t.Errorf("the root of 2 is between %v and %v", low, high)
	}
	if low, high := parts.Bisect(-math.MaxFloat64, math.MaxFloat64, 1, func(x float64) bool { return x > 0 }); low != -math.MaxFloat64 || high != 0 {
		t.Errorf("half of all numbers: %v to %v", low, high)
	}
}
