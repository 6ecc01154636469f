package lines

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// forms runs a test with decimals and, where that reads, without.
func forms(t *testing.T, run func(*testing.T)) {
	defer func(best bool) { vectors = best }(vectors)
	t.Run("this machine's", run)
	if vectors {
		vectors = false
		t.Run("all machines'", run)
	}
}

// inCell reads a text between other cells, with digits behind it: in a line, and alone. It may be
// the last of its line.
func inCell(t *testing.T, cell string, last bool) (float64, bool) {
	line := "9," + cell + ",99999999"
	if last {
		line = "-8.5," + cell
	}
	text := append(make([]byte, 0, len(line)+slack), line...)
	copy(text[len(line):cap(text)], "\n"+strings.Repeat("9", slack))
	r := &Reader{text: text}
	if cells, _ := r.split(0, len(line), 2); cells != strings.Count(line, ",")+1 || string(r.Cell(1)) != cell {
		t.Fatalf("%q: %d cells, of which the second is %q", line, cells, r.Cell(1))
	}
	var values [1]float64
	r.Numbers([]int{1}, values[:])
	v, ok := values[0], values[0] == values[0]
	alone, ok2 := Decimal(cell)
	if fits := len(cell) <= mostPlain && len(cell) > 0; ok2 != (ok && fits) || ok2 && math.Float64bits(alone) != math.Float64bits(v) {
		t.Fatalf("%q: %v, %v alone, %v, %v in a line", cell, alone, ok2, v, ok)
	}
	return v, ok
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
func TestDecimal(t *testing.T) { forms(t, testDecimal) }

func testDecimal(t *testing.T) {
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
			got, ok := inCell(t, cell, read%2 == 0)
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
		if _, ok := inCell(t, cell, false); !ok {
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

// TestForms: decimals reads as read does, in every bit, or leaves the cell to it, whatever bytes
// there are.
func TestForms(t *testing.T) {
	if !vectors {
		t.Skip("this machine has one form")
	}
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 3))
	digits := func() string {
		zeros, nines := strings.Repeat("0", rng.IntN(2)*rng.IntN(3)), strings.Repeat("9", rng.IntN(2)*rng.IntN(18))
		return []string{"", zeros + strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10), nines}[rng.IntN(3)]
	}
	exponent := func() string {
		return []string{"", "", "e", "E"}[rng.IntN(4)] + []string{"", "-", "-", "+"}[rng.IntN(4)] + []string{"", "0", strconv.Itoa(rng.IntN(40)), strconv.Itoa(rng.IntN(2000))}[rng.IntN(4)]
	}
	words := []string{"", ",", ",,5", ",east", ",\"a\",7", ",a level of some 30 letters,\"", ",and one of more than 30 letters,3"}
	plain, texts := 0, 600_000
	for range texts {
		line := []byte([]string{"", "-", "+"}[rng.IntN(3)] + digits() + []string{"", ".", ".", "..", "e"}[rng.IntN(5)] + digits() + exponent() + ",-7.25" + words[rng.IntN(len(words))])
		if rng.IntN(2) == 0 {
			line[rng.IntN(len(line))] = byte(rng.IntN(256))
		}
		if rng.IntN(4) == 0 {
			line = line[:rng.IntN(len(line)+1)]
		}
		text := append(line, []byte{'\n', '\r'}[rng.IntN(2)])
		for range slack {
			text = append(text, "0123456789.,-\n\xff"[rng.IntN(15)])
		}
		var got, want [6]cell
		n, next := decimals(text, 0, len(line), got[:])
		from := 0
		for i := range n {
			if from = want[i].read(text, from, len(line)); got[i].from != want[i].from || got[i].to != want[i].to ||
				math.Float64bits(got[i].value) != math.Float64bits(want[i].value) {
				t.Fatalf("%q: cell %d is %v, want %v", text, i, got[i], want[i])
			}
		}
		if next != from || bytes.IndexByte(text[:min(from, len(line))], '"') >= 0 {
			t.Fatalf("%q: the next cell begins at %d, want %d, and no quote before it", text, next, from)
		}
		plain += min(n, 1)
	}
	if t.Logf("%d of %d first cells are plain", plain, texts); plain < texts/10 {
		t.Error("they are too few")
	}
	most := "-1234567890123456.1234567890123456"
	for _, c := range []struct {
		cell string
		n    int
	}{{most[:17], 1}, {"1" + most[1:17], 0}, {most[14:], 1}, {most[13:], 0}, {"." + most[18:], 1}, {"." + most[18:] + "7", 0},
		{strings.Repeat("0", 16) + ".1", 1}, {"+", 0}, {".", 1}, {"-.", 1}, {"", 1}, {"5.", 1}, {"-.5", 1}, {"1.2.3", 0}, {"1e5", 0}, {most, 0},
		{"1.5e-07", 1}, {"-12.345E+3", 1}, {"12.345e4", 0}, {"1e-27", 1}, {"1e-28", 0}, {".1e-26", 1}, {".1e-27", 0}, {"0e0", 1}, {"1e", 1}, {"1e-", 1}, {"e5", 1}, {"-e", 1}, {"1e-007", 0}, {"1e-7x", 0},
		{"1e+", 1}, {"1e5e5", 0}, {"east", 1}, {"2024-01-31", 1}, {" 7", 1}, {"a\"", 0}, {"\"7\"", 0}, {"1+", 0}, {"-+1", 0}, {strings.Repeat("x", 32), 1}, {strings.Repeat("x", 33), 0}} {
		text := append([]byte(c.cell), make([]byte, slack)...)
		if n, _ := decimals(text, 0, len(c.cell), make([]cell, 1)); n != c.n {
			t.Errorf("%q: %d cells are read", c.cell, n)
		}
	}
}
