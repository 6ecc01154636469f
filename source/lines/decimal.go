package lines

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// mostDigits is the number of digits for which every number fits a uint64.
	mostDigits = 19
	// exponentDigits is the number of digits of an exponent that are read here.
	exponentDigits = 3
)

// tens are 10^0 to 10^7.
var tens = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// fives are the powers of five that fit a uint64.
var fives = [...]uint64{1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125, 6103515625, 30517578125, 152587890625, 762939453125,
	3814697265625, 19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125, 59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125}

// mostPlain is the longest text that Decimal reads: 17 digits, signs, a point and an exponent.
const mostPlain = 24

// Decimal returns the float64 nearest to the number in a text, as strconv.ParseFloat finds it, if
// it is up to 19 digits as a whole number times a power of ten from 10^-27 to 10^27. For anything
// else ok is false.
func Decimal(text string) (v float64, ok bool) {
	var plain [mostPlain + slack]byte
	if len(text) == 0 || len(text) > mostPlain {
		return 0, false
	}
	var cells [1]cell
	copy(plain[:], text)
	if n, _ := decimals(plain[:], 0, len(text), cells[:]); n == 0 {
		cells[0].read(plain[:], 0, len(text))
	}
	return cells[0].value, cells[0].value == cells[0].value && cells[0].to == len(text)
}

// A decimal is whole 10^power, or its negative.
type decimal struct {
	whole, minus uint64
	power        int
}

// none is a decimal whose value is NaN.
var none = decimal{power: len(fives)}

// read reads the number that begins at a byte, and returns where it ends: at most at the first byte
// that no number has.
func read(text []byte, begin int) (d decimal, end int) {
	d.minus, begin = sign(text, begin)
	d.whole, end = digits(text, begin, 0)
	count := end - begin
	if text[end] == '.' {
		begin = end + 1
		d.whole, end = digits(text, begin, d.whole)
		d.power = begin - end
		count -= d.power
	}
	if text[end]|' ' == 'e' {
		below, begin := sign(text, end+1)
		var e uint64
		if e, end = digits(text, begin, 0); end == begin || end-begin > exponentDigits {
			return none, end
		}
		d.power += int(e) * (1 - 2*int(below))
	}
	if count == 0 || count > mostDigits {
		return none, end
	}
	return d, end
}

// value returns the float64 nearest to a decimal, the even one of two, for powers that fives has,
// and NaN for others.
//
// Let x and y be whole and 5^|power|, shifted left until their highest bits are set: both are in
// [2^63, 2^64), and the number is x/y or xy times a power of two. So is s = 2^62 x/y or xy/2^65, of
// which q is the whole part: 2^61 <= s < 2^63, for 1/2 < x/y < 2 and 2^126 <= xy < 2^128. Of that
// size the float64 are multiples of 2^9 at least, and the middles between two of them multiples of
// 2^8. If s is no whole number, it lies between q and q+1, and so it does, as q|1 does, strictly
// between two even numbers that follow each other: no float64 and no middle is between s and q|1.
// Hence both have the same nearest one, and the one rounding, of q|1, finds it. To multiply by a
// power of two between 2^-153 and 2^92 is exact. Zero has x = 0, and remains zero.
func (d decimal) value() float64 {
	power := d.power
	if power <= -len(fives) || power >= len(fives) {
		return math.NaN()
	}
	up, five := bits.LeadingZeros64(d.whole), fives[max(power, -power)]
	down := bits.LeadingZeros64(five)
	x, y := d.whole<<(up&63), five<<(down&63)
	var q, rest uint64
	if power < 0 {
		q, rest = bits.Div64(x>>2, x<<62, y)
		power += down - 62
	} else {
		q, rest = bits.Mul64(x, y)
		q, rest = q>>1, rest|q&1
		power += 65 - down
	}
	return float64(int64(q|(rest|-rest)>>63)) * math.Float64frombits(uint64(1023+power-up)<<52|d.minus<<63)
}

// sign reads a sign, if there is one, without a branch.
func sign(text []byte, at int) (minus uint64, next int) {
	minus = (uint64(text[at]^'-') - 1) >> 63
	return minus, at + int(minus|(uint64(text[at]^'+')-1)>>63)
}

// digits appends the run of digits at a place of the text to a whole number, modulo 2^64, and
// returns where the run ends.
func digits(text []byte, at int, whole uint64) (uint64, int) {
	for {
		word := load(text, at)
		if others := nonDigits(word); others != 0 {
			n := bits.TrailingZeros64(others) / 8
			return whole*tens[n] + eight(word<<(64-8*n)), at + n
		}
		whole = whole*1e8 + eight(word)
		at += 8
	}
}

// load returns eight characters, the first one in the lowest byte, with digits, and nothing else,
// turned into 0 to 9.
func load(text []byte, at int) uint64 {
	return binary.LittleEndian.Uint64(text[at:]) ^ 0x3030303030303030
}

// nonDigits flags the bytes above 9, by their highest bit. Up to the first of them the flags are
// right, for no sum has carried; and none is missing after it.
func nonDigits(word uint64) uint64 {
	return (word | (word + 0x7676767676767676)) & 0x8080808080808080
}

// eight returns the number of eight digits, the first one in the lowest byte.
func eight(word uint64) uint64 {
	word = word * (10<<8 | 1) >> 8 & 0x00ff00ff00ff00ff // of two digits each
	word = word * (100<<16 | 1) >> 16 & 0x0000ffff0000ffff
	return word * (10_000<<32 | 1) >> 32
}
