package lines

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	// mostDigits is how many digits a uint64 has room for, whatever they are.
	mostDigits = 19
	// exactWhole is up to where every whole number is a float64.
	exactWhole = 1 << 53
	// exponentDigits is how many digits of an exponent are read here.
	exponentDigits = 3
)

// tens are the powers of ten that are float64 themselves.
var tens = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22}

// wholeTens are 10^0 to 10^8.
var wholeTens = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// Decimal reads text[from:to], whose next byte is no digit, point or letter, with at least eight
// bytes behind it in text.
//
// A whole number m up to 2^53 and 10^p for p up to 22 are float64, so that m 10^p and m/10^p, each
// one operation, are the nearest float64 to what is written: what strconv.ParseFloat returns. All
// else is not ok.
func Decimal(text []byte, from, to int) (v float64, ok bool) {
	if v, ok = short(text, from, to); ok {
		return v, true
	}
	return long(text, from, to)
}

// short is Decimal of at most eight digits and a point among them, behind a minus or not: one word,
// without a branch that depends on where the point is or whether there is a sign.
func short(text []byte, from, to int) (v float64, ok bool) {
	minus := (uint64(text[from]^'-') - 1) >> 63
	at := from + int(minus)
	n := to - at
	if n < 1 || n > 8 {
		return 0, false
	}
	word := (binary.LittleEndian.Uint64(text[at:]) ^ zeros) << (64 - 8*n)
	if other := nonDigits(word); other != 0 {
		point := bits.TrailingZeros64(other) &^ 7
		if other&(other-1) != 0 || byte(word>>point) != '.'^'0' || n == 1 {
			return 0, false
		}
		before := word & (1<<point - 1)
		v = float64(number(word&^(before|0xff<<point)|before<<8)) / tens[7-point/8]
	} else {
		v = float64(number(word))
	}
	return math.Float64frombits(math.Float64bits(v) | minus<<63), true
}

// long is Decimal of any length and form.
func long(text []byte, from, to int) (v float64, ok bool) {
	minus, begin := sign(text, from)
	whole, at := digits(text, begin, 0)
	count, power := at-begin, 0
	if text[at] == '.' {
		begin = at + 1
		whole, at = digits(text, begin, whole)
		power = begin - at
		count -= power
	}
	if at < to && text[at]|' ' == 'e' {
		below, begin := sign(text, at+1)
		var e uint64
		if e, at = digits(text, begin, 0); at == begin || at-begin > exponentDigits {
			return 0, false
		}
		power += int(e) * (1 - 2*int(below))
	}
	switch v = float64(whole); {
	case at != to || count == 0 || count > mostDigits || whole > exactWhole:
		return 0, false
	case 0 <= power && power < len(tens):
		v *= tens[power]
	case -len(tens) < power && power < 0:
		v /= tens[-power]
	default:
		return 0, false
	}
	return math.Float64frombits(math.Float64bits(v) | minus<<63), true
}

// sign reads a sign, if there is one.
func sign(text []byte, at int) (minus uint64, next int) {
	switch text[at] {
	case '-':
		return 1, at + 1
	case '+':
		return 0, at + 1
	}
	return 0, at
}

// digits appends the run of digits that begins there to a whole number, modulo 2^64, and returns
// where it ends.
func digits(text []byte, at int, whole uint64) (uint64, int) {
	for {
		value, n := eight(binary.LittleEndian.Uint64(text[at:]))
		whole = whole*wholeTens[n] + value
		at += n
		if n < 8 {
			return whole, at
		}
	}
}

// eight is the number that up to eight characters write, the first one in the lowest byte, and how
// many of them are digits.
func eight(word uint64) (value uint64, n int) {
	word ^= zeros
	n = bits.TrailingZeros64(nonDigits(word)) / 8
	return number(word << (64 - 8*n)), n
}

// zeros are eight characters 0: with them taken off by exclusive or, digits become 0 to 9, and
// nothing else does.
const zeros = 0x3030303030303030

// nonDigits flags the bytes above 9, by their highest bit. Up to the first of them the flags are
// right, for no sum has carried; and none is missing after it.
func nonDigits(word uint64) uint64 {
	return (word | (word + 0x7676767676767676)) & 0x8080808080808080
}

// number is the number of eight digits, the first one in the lowest byte.
func number(word uint64) uint64 {
	word = word * (10<<8 | 1) >> 8 & 0x00ff00ff00ff00ff // of two digits each
	word = word * (100<<16 | 1) >> 16 & 0x0000ffff0000ffff
	return word * (10_000<<32 | 1) >> 32
}
