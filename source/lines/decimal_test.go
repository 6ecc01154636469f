package lines

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// inCell is Decimal of a text between other cells, with digits behind it.
func inCell(cell string) (float64, bool) {
	text := []byte("9," + cell + ",99999999")
	return Decimal(text, 2, 2+len(cell))
}

// pointed writes whole 10^power, with its point anywhere and the exponent that this takes.
func pointed(rng *rand.Rand, whole uint64, power int) string {
	digits := strconv.FormatUint(whole, 10)
	if rng.IntN(3) == 0 {
		digits = strings.Repeat("0", rng.IntN(20)) + digits
	}
	text := []string{"", "", "-", "+"}[rng.IntN(4)]
	if power < 0 && power >= -len(digits) && rng.IntN(2) == 0 {
		return text + digits[:len(digits)+power] + "." + digits[len(digits)+power:]
	}
	point := rng.IntN(len(digits) + 1)
	return text + digits[:point] + "." + digits[point:] + "e" + strconv.Itoa(power+len(digits)-point)
}

// halfway is a decimal exactly between two neighbours among the float64, of at most 19 digits, or
// one unit in its last place off it: whole 10^power is an odd number of 54 bits times a power of 2.
func halfway(rng *rand.Rand) (whole uint64, power int) {
	odd := 1<<53 + rng.Uint64N(1<<52)*2 + 1
	switch rng.IntN(3) {
	case 0: // odd 2^up
		whole = odd << rng.IntN(9)
	case 1: // odd 2^power, for power < 0
		power = -rng.IntN(5)
		whole = odd * fives[-power]
	default: // odd 2^power, for odd = whole 5^power
		power = 1 + rng.IntN(22)
		whole = (odd/fives[power]&^1 + 1) // of 54 bits with 5^power, nearly always
	}
	return whole + uint64(rng.IntN(3)-1), power
}

// TestDecimal: what is read is what strconv reads, in every bit; and it reads what is common.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	const marks = "0123456789012345678901234567890123456789.-+eE"
	kinds := []struct {
		name  string
		least float64 // part that is read
		text  func() string
	}{
		{"anything", .2, func() string {
			var b strings.Builder
			for range 1 + rng.IntN(24) {
				b.WriteByte(marks[rng.IntN(len(marks))])
			}
			return b.String()
		}},
		{"scientific", .2, func() string {
			return strconv.FormatFloat(rng.NormFloat64()*math.Pow(10, float64(rng.IntN(60)-30)), 'e', rng.IntN(20), 64)
		}},
		{"any float64", .05, func() string {
			return strconv.FormatFloat(math.Float64frombits(rng.Uint64()), "ef"[rng.IntN(2)], -1, 64)
		}},
		{"near the subnormals", 0, func() string {
			return strconv.FormatFloat(rng.Float64()*math.Pow(10, float64(-rng.IntN(30)-300)), 'e', rng.IntN(20), 64)
		}},
		{"as tables have them", .95, func() string {
			return strconv.FormatFloat(100+30*rng.NormFloat64(), 'g', -1, 64)
		}},
		{"15 to 19 digits", .5, func() string {
			return pointed(rng, rng.Uint64()>>rng.IntN(15), rng.IntN(55)-27)
		}},
		{"halfway", .4, func() string {
			whole, power := halfway(rng)
			return pointed(rng, whole, power)
		}},
	}
	for _, kind := range kinds {
		read, texts := 0, 200_000
		for range texts {
			cell := kind.text()
			got, ok := inCell(cell)
			if !ok {
				continue
			}
			read++
			if want, err := strconv.ParseFloat(cell, 64); err != nil || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %q: got %v, want %v, %v", kind.name, cell, got, want, err)
			}
		}
		t.Logf("%s: %.3f are read", kind.name, float64(read)/float64(texts))
		if float64(read) < kind.least*float64(texts) {
			t.Errorf("%s: read %d cells of %d only", kind.name, read, texts)
		}
	}
	for _, cell := range []string{"0", "-0", "17", "-12.375", "+.5", "5.", "123456.789", "0.000001", "1e5", "2.5E-7", "9007199254740993", "9999999999999999999",
		"1234567890.12345", "1e27", "1e-27", "100.24474769032078", "0e-27"} {
		if _, ok := inCell(cell); !ok {
			t.Errorf("%q is not read", cell)
		}
	}
}

// TestHalfway: halfway makes what it says.
func TestHalfway(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	between := 0
	for range 3000 {
		whole, power := halfway(rng)
		v := new(big.Rat).SetInt(new(big.Int).SetUint64(whole))
		for range max(power, -power) {
			if power < 0 {
				v.Quo(v, big.NewRat(10, 1))
			} else {
				v.Mul(v, big.NewRat(10, 1))
			}
		}
		near, _ := v.Float64()
		for _, other := range []float64{math.Nextafter(near, 0), math.Nextafter(near, math.Inf(1))} {
			a, b := new(big.Rat).SetFloat64(near), new(big.Rat).SetFloat64(other)
			if a.Add(a, b).Quo(a, big.NewRat(2, 1)).Cmp(v) == 0 {
				between++
			}
		}
	}
	if between < 500 {
		t.Errorf("%d of 3000 are halfway", between)
	}
}

// TestPowers: the tables are of powers.
func TestPowers(t *testing.T) {
	for p, power := range fives {
		if want := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(p)), nil); !want.IsUint64() || want.Uint64() != power {
			t.Errorf("5^%d: got %d", p, power)
		}
		if p < len(tens) && tens[p] != power<<p {
			t.Errorf("10^%d: got %d", p, tens[p])
		}
	}
}
