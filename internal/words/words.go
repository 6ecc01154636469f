// Package words writes counts for people, and reads text as programs write it: in UTF-8 or UTF-16,
// with a byte order mark or, in UTF-8, without one.
package words

import "strconv"

// Digits writes a count with commas between thousands.
func Digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes "1 row" or "10,000 rows".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Digits(n) + " " + noun
}
