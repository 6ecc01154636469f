package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// personOf returns the key of the person that a label names, "" for a label that is missing.
//
// Labels that read as the same number name the same person, whatever source they come from: 7,
// 7.0, 07, 7e0 and +7 have one key. They are compared as exact decimal numbers, never as floats, so
// that 9007199254740992 and 9007199254740993 are two persons. All other labels are compared as
// text, blanks around them ignored. A key of a number reads as that number: no other text has it.
func personOf(label string) string { return new(Dialect).personOf(label) }

// personOf returns the key of the person that a label in the dialect d names: the dialect's marks
// belong to numbers only, and labels that are no numbers stay as they are. Codes for missing name
// nobody.
func (d *Dialect) personOf(label string) string {
	person := strings.TrimSpace(label)
	plain, ok := d.plain(person)
	if number, is := exactDecimal(plain); ok && is {
		person = number
	} else if word(person) == Missing {
		return ""
	}
	if slices.ContainsFunc(d.Missing, func(code any) bool { return strings.EqualFold(personOf(fmt.Sprint(code)), person) }) {
		return ""
	}
	return person
}

// exponentDigits bounds the digits of an exponent that exactDecimal reads, so that it can be added
// to the length of any text.
const exponentDigits = 17

// exactDecimal returns the canonical form of the decimal number in a text: its digits without zeros
// at either end, then the power of ten unless that is 0 ("15", "15e-1", "-15e2"), and "0" for zero.
// ok is false for texts that ParseCell does not read as decimal numbers, and for powers of ten of
// more than exponentDigits digits.
func exactDecimal(s string) (canonical string, ok bool) {
	sign, rest := "", s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		if rest[0] == '-' {
			sign = "-"
		}
		rest = rest[1:]
	}
	mantissa, exponent := rest, int64(0)
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa = rest[:i]
		if exponent, ok = exponentOf(rest[i+1:]); !ok {
			return "", false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !onlyDigits(whole) || !onlyDigits(fraction) {
		return "", false
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0", true
	}
	exponent += int64(len(digits)-len(significant)) - int64(len(fraction))
	if exponent != 0 {
		significant += "e" + strconv.FormatInt(exponent, 10)
	}
	return sign + significant, true
}

// exponentOf reads the exponent after the e of a number.
func exponentOf(s string) (int64, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || len(s)-len(digits) > 1 || !onlyDigits(digits) {
		return 0, false
	}
	if digits = strings.TrimLeft(digits, "0"); len(digits) > exponentDigits {
		return 0, false
	}
	value, _ := strconv.ParseInt("0"+digits, 10, 64)
	if s[0] == '-' {
		value = -value
	}
	return value, true
}

func onlyDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return true
}
