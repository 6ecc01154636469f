package query_test

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/query/papers"

	"github.com/gauze-dp/gauze/kernel/query"
)

// twinPoint is a value as the queries of gaps see it.
func twinPoint(x float64) float64 {
	switch {
	case math.Abs(x) < 0x1p-900:
		return 0
	case x > 0x1p900:
		return 0x1p900
	case x < -0x1p900:
		return -0x1p900
	}
	return x
}

func ratio(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// ratTwo is 2^e.
func ratTwo(e int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// floorOf rounds a fraction down.
// Div is Euclidean, and Denom positive
func floorOf(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

// twinPosition is floor(1024 log2(g)/6), from the number of bits of g^1024.
func twinPosition(g float64) int64 {
	f, e := math.Frexp(g)
	power := new(big.Int).Exp(big.NewInt(int64(f*(1<<53))), big.NewInt(1024), nil)
	log := big.NewInt(int64(power.BitLen() - 1 + 1024*(e-53))) // floor(1024 log2 g)
	return log.Div(log, big.NewInt(6)).Int64()
}

// twinMasses is the dumb second implementation: fractions and a map, gap by gap in no order.
func twinMasses(q query.SpacingMasses, values []float64) map[query.SpacingMass]int64 {
	masses := map[query.SpacingMass]int64{}
	values = slices.Clone(values)
	for i := range values {
		values[i] = twinPoint(values[i])
	}
	slices.Sort(values)
	for i := len(values) - 1; i > 0; i-- {
		x, g := values[i-1], values[i]-values[i-1]
		if g == 0 {
			continue
		}
		at := big.NewInt(twinPosition(g))
		node, f := new(big.Int).DivMod(at, big.NewInt(1024), new(big.Int))
		for step, weight := range []int64{1024 - f.Int64(), f.Int64()} {
			s := int(node.Int64()) + step
			p := new(big.Rat).Mul(ratio(x), ratTwo(-6*s-q.LogWindow))
			p.Add(p, big.NewRat(5, 8))
			place, r := new(big.Int).DivMod(floorOf(p.Mul(p, big.NewRat(4096, 1))), big.NewInt(4096), new(big.Int))
			upper := min(1024, r.Int64())
			masses[query.SpacingMass{Scale: s, Place: place.Int64()}] += weight * upper
			masses[query.SpacingMass{Scale: s, Place: place.Int64() - 1}] += weight * (1024 - upper)
		}
	}
	return withoutZeros(masses)
}

func twinBuckets(q papers.SpacingBuckets, values []float64) map[query.SpacingMass]int64 {
	masses := map[query.SpacingMass]int64{}
	values = slices.Clone(values)
	for i := range values {
		values[i] = twinPoint(values[i])
	}
	slices.Sort(values)
	for i := 1; i < len(values); i++ {
		if x, g := values[i-1], values[i]-values[i-1]; g > 0 {
			_, a := math.Frexp(g)
			a -= 4 // the last power of two that is no larger
			for ratTwo(a+1).Cmp(ratio(g)) <= 0 {
				a++
			}
			place := ratio(x)
			place.Mul(place, ratTwo(-a))
			place.Quo(place, new(big.Rat).SetInt64(int64(q.Rows)))
			place.Quo(place, new(big.Rat).SetInt64(int64(q.Rows)))
			masses[query.SpacingMass{Scale: a, Place: floorOf(place).Int64()}]++
		}
	}
	return masses
}

func withoutZeros(masses map[query.SpacingMass]int64) map[query.SpacingMass]int64 {
	maps.DeleteFunc(masses, func(_ query.SpacingMass, m int64) bool { return m == 0 })
	return masses
}

// gapColumns are columns to compare twins on: many shapes of a few rows, and some of many.
func gapColumns() (columns [][]float64) {
	rng := rand.New(rand.NewPCG(4, 9))
	for i := range 200 {
		var column []float64
		rows := gapShape(rng, 15+i%46)
		if i%2 == 0 {
			rows = gapSplits(rng, 15+i%46)
		}
		for _, r := range rows {
			column = append(column, r.value)
		}
		columns = append(columns, column)
	}
	for _, scale := range []float64{1, 1e-5, 1e300} {
		var column []float64
		for range 100 {
			column = append(column, scale*math.Round(1e3*rng.NormFloat64()), scale*(rng.NormFloat64()*math.Exp(9*rng.NormFloat64())-1e3))
		}
		columns = append(columns, column)
	}
	return append(columns, nil, []float64{3}, []float64{3, 3, 3}, []float64{-1e308, 1e308}, []float64{-5e-324, 0, 5e-324})
}

// TestGapTwin compares masses with a twin in exact fractions, and says where buckets are.
func TestGapTwin(t *testing.T) {
	for i, column := range gapColumns() {
		soft, hard := query.SpacingMasses{LogWindow: 15 + i%46}, papers.SpacingBuckets{Rows: 1 + i*i*i}
		var rows []gapRow
		for _, v := range column {
			rows = append(rows, gapRow{v, 0})
		}
		if got, want := massesOf(t, soft, rows), twinMasses(soft, column); !maps.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", column, got, want)
		}
		if got, want := massesOf(t, hard, rows), twinBuckets(hard, column); !maps.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v", column, got, want)
		}
	}
}

// TestGapPosition: positions are exact at the ends of octaves and next to every threshold, never
// decrease, and go with powers of 64.
func TestGapPosition(t *testing.T) {
	for j := 0; j < 6*query.GapUnits; j += 5 {
		g := math.Exp2(float64(j) / query.GapUnits)
		for _, x := range []float64{g * (1 - 0x1p-44), g * (1 + 0x1p-44)} {
			if got, want := query.GapPosition(x), int(twinPosition(x)); got != want {
				t.Fatalf("position of %v is %d, want %d", x, got, want)
			}
			if below, above := query.GapPosition(math.Ldexp(x, -954)), query.GapPosition(math.Ldexp(x, 900)); below != query.GapPosition(x)-159*query.GapUnits || above != query.GapPosition(x)+150*query.GapUnits {
				t.Fatalf("position of %v: %d and %d", x, below, above)
			}
		}
		if query.GapPosition(math.Nextafter(g, 0)) > query.GapPosition(g) || query.GapPosition(g) > query.GapPosition(math.Nextafter(g, 9e9)) {
			t.Fatalf("position decreases at %v", g)
		}
	}
	for e := -960; e <= 902; e++ {
		if got, want := query.GapPosition(math.Ldexp(1, e)), int(math.Floor(float64(query.GapUnits*e)/query.GapOctaves)); got != want {
			t.Errorf("position of 2^%d is %d, want %d", e, got, want)
		}
	}
}

// TestGapWindows: the gaps of a bucket lie where it says, in a window as long as it says.
func TestGapWindows(t *testing.T) {
	for i, column := range gapColumns() {
		soft, hard := query.SpacingMasses{LogWindow: 15 + i%46}, papers.SpacingBuckets{Rows: 1 + i}
		sorted := slices.Clone(column)
		slices.Sort(sorted)
		query.EachSpacing(sorted, func(x, g float64) {
			for _, m := range soft.Masses(0, []float64{x, x + g}) {
				gap, low, high := soft.Window(m.Scale, m.Place)
				if x < low || x >= high || math.Abs(math.Log2(g/gap)) > query.GapOctaves+.01 || high-low != math.Ldexp(gap, soft.LogWindow)*1.25 && high-low < 0x1p50*gap {
					t.Fatalf("gap %v at %v is in bucket %v: %v, [%v, %v)", g, x, m, gap, low, high)
				}
			}
			for _, m := range hard.Masses(0, []float64{x, x + g}) {
				gap, low, high := hard.Bucket(m.Scale, m.Place)
				slop := 1e-15 * math.Abs(x)
				if x < low-slop || x > high+slop || g < gap || g >= 2*gap {
					t.Fatalf("gap %v at %v is in bucket %v: %v, [%v, %v)", g, x, m, gap, low, high)
				}
			}
		})
	}
}
