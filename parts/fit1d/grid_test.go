package fit1d

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestCombHoldsWhatPeopleWrite(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		most      int
		hold      []float64
	}{
		{-4, 4, 256, []float64{-3, -.1, 0, .1, .3, .25, 1, 2.5}},
		{90, 190, 256, []float64{90, 91, 105, 119.5, 190}},
		{17897.3, 17961.2, 256, []float64{17898, 17900.5, 17961}},
		{1e15, 1e15 + 4, 100, nil},
		{0, 1e-3, 64, []float64{0, .0001, .0003, .001}},
		{-3e9, 5e9, 64, []float64{0, 1e9, -2e9}},
		{0, 0, 64, nil},
		{math.Inf(-1), 0, 64, nil},
		{-1e308, 1e308, 64, nil},
	} {
		points := RoundNumbers(c.low, c.high, c.most)
		if len(points) > c.most || !slices.IsSorted(points) || (c.hold == nil) != (points == nil) {
			t.Errorf("%+v: %d points", c, len(points))
		}
		for _, x := range c.hold {
			if !slices.Contains(points, x) {
				t.Errorf("%+v: %v is missing in %v", c, x, points)
			}
		}
		if !slices.IsSorted(PointEdges(points)) {
			t.Errorf("%+v: edges %v", c, PointEdges(points))
		}
	}
}

// measured is the histogram of rows with a bin for every point, with noise, and how many rows there
// are between the first and the last.
func measured(rng *rand.Rand, rows, points []float64, sigma float64) (counts []float64, inside float64) {
	edges := PointEdges(points)
	counts = make([]float64, len(points))
	for _, x := range rows {
		b, same := slices.BinarySearch(edges, x)
		if same {
			b++
		}
		if b%2 == 1 {
			counts[b/2]++
		}
		if b > 0 && b < len(edges) {
			inside++
		}
	}
	for i := range counts {
		counts[i] += sigma * rng.NormFloat64()
	}
	return counts, inside + sigma*math.Sqrt2*rng.NormFloat64()
}

// TestInfer: lattices are found with unit and offset, and nothing is found where there is none. It
// fails by chance in less than one of 1e6 runs: the noise is a ninth of what the rule allows.
func TestInfer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	gaussian := func(mean, sd, unit, offset float64) func() float64 {
		return func() float64 { return offset + unit*math.Round((mean+sd*rng.NormFloat64()-offset)/unit) }
	}
	choose := func(p float64, a, b func() float64) func() float64 {
		return func() float64 {
			if rng.Float64() < p {
				return a()
			}
			return b()
		}
	}
	value := func(x float64) func() float64 { return func() float64 { return x } }
	for name, c := range map[string]struct {
		row       func() float64
		low, high float64
		want      Grid
	}{
		"whole":           {gaussian(100, 5, 1, 0), 80, 120, Grid{1, 0}},
		"fives":           {gaussian(100, 15, 5, 0), 50, 150, Grid{5, 0}},
		"sevens":          {gaussian(100, 15, 7, 0), 50, 150, Grid{7, 0}},
		"dozens":          {gaussian(100, 15, 12, 0), 50, 150, Grid{12, 0}},
		"weeks, offset":   {gaussian(19000, 15, 7, 3), 18950, 19050, Grid{7, 3}},
		"halves, offset":  {gaussian(0, 3, 1, .5), -12, 12, Grid{1, .5}},
		"tenths":          {func() float64 { return math.Round(10*(7+.3*rng.NormFloat64())) / 10 }, 6, 8, Grid{.1, 0}},
		"tenths, summed":  {func() float64 { return .1 * math.Round(10*(7+.3*rng.NormFloat64())) }, 6, 8, Grid{.1, 0}},
		"quarters":        {gaussian(-3, .6, .25, 0), -6, 0, Grid{.25, 0}},
		"binary":          {choose(.3, value(1), value(0)), -4, 4, Grid{1, 0}},
		"two values":      {choose(.3, value(3.5), value(11)), -4, 20, Grid{7.5, 3.5}},
		"four values":     {choose(.5, choose(.6, value(3.5), value(11)), choose(.5, value(18.5), value(26))), -4, 30, Grid{7.5, 3.5}},
		"rare":            {choose(.03, value(1), value(0)), -4, 4, Grid{}},
		"continuous":      {func() float64 { return 100 + 15*rng.NormFloat64() }, 50, 150, Grid{}},
		"half at zero":    {choose(.5, value(0), rng.NormFloat64), -4, 4, Grid{}},
		"mostly at zero":  {choose(.85, value(0), rng.NormFloat64), -4, 4, Grid{}},
		"zero and counts": {choose(.6, value(0), gaussian(8, 2, 1, 0)), -20, 20, Grid{1, 0}},
		"too fine":        {gaussian(100, 15, .01, 0), 50, 150, Grid{}},
	} {
		rows := make([]float64, 10000)
		for i := range rows {
			rows[i] = c.row()
		}
		points := RoundNumbers(c.low, c.high, 256)
		counts, inside := measured(rng, rows, points, 25)
		l, ok := InferGrid(points, counts, 25, inside, 25*math.Sqrt2)
		if ok != (c.want != Grid{}) || math.Abs(l.Unit-c.want.Unit) > 1e-9 || math.Abs(l.Offset-c.want.Offset) > 1e-9 {
			t.Errorf("%s: %+v, %v, want %+v", name, l, ok, c.want)
		}
		if ok {
			for _, x := range rows[:100] {
				if y := l.Beyond(x + 1e-9); math.Abs(y-x-l.Unit/2) > 1e-6 {
					t.Errorf("%s: beyond %v: %v", name, x, y)
				}
				if y := l.Above(x - 1e-9); math.Abs(y-x+l.Unit/2) > 1e-6 {
					t.Errorf("%s: above %v: %v", name, x, y)
				}
			}
		}
	}
	// Half at 40, three quarters of the others at multiples of 5: noise may hide the rest.
	var hours [81]float64
	counts := make([]float64, 81)
	for i := range counts {
		hours[i], counts[i] = float64(i), 46
		if i%5 == 0 {
			counts[i] = 600
		}
	}
	counts[40] = 12000
	for _, sigma := range []float64{40, 80, 120, 160, 200, 240} {
		if l, ok := InferGrid(hours[:], counts, sigma, floats.Sum(counts), sigma); ok && l.Unit != 1 {
			t.Errorf("noise %v: hours are on %+v", sigma, l)
		}
	}
	if _, ok := InferGrid([]float64{0, 1}, []float64{5, 5}, 25, 10, 25); ok {
		t.Error("found in noise")
	}
}
