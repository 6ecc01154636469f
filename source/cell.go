package source

import (
	"errors"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/source/lines"
)

// ParseCell reads one cell of text: a decimal number with an optional exponent, blanks around it
// ignored.
//
// missing are the empty cell and, in any case of letters, NA, NaN, N/A, #N/A, <NA>, null, nil,
// none, ".", "-" and "?". Numbers in Go's own notation (0x1p-2, 1_000) are not numbers here, nor
// are those with a decimal comma or a thousands separator. A number too small for float64 is zero.
// The value is 0 unless the kind is number.
func ParseCell(cell string) (float64, Kind) {
	if v, ok := lines.Decimal(cell); ok {
		return v, Number
	}
	return parseOther(cell)
}

// parseOther parses cells as ParseCell does, whether or not lines.Decimal reads them.
func parseOther(cell string) (float64, Kind) {
	cell = strings.TrimSpace(cell)
	if !decimal(cell) {
		return 0, word(cell)
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err == nil {
		return v, Number
	}
	if errors.Is(err, strconv.ErrRange) {
		return 0, NotFinite
	}
	return 0, NotNumber
}

// decimal reports whether s has a digit and no character that a decimal number cannot have. It
// spares most text cells the cost of a failed ParseFloat, which allocates.
func decimal(s string) bool {
	digits := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return false
		}
	}
	return digits
}

// longestWord is the length of the longest word below.
const longestWord = len("-infinity")

// wordBegins are the first letters of these words.
const wordBegins = "nN-#<.?iI+"

var wordKinds = map[string]Kind{
	"na": Missing, "nan": Missing, "-nan": Missing, "n/a": Missing, "#n/a": Missing, "<na>": Missing, "null": Missing,
	"nil": Missing, "none": Missing, ".": Missing, "-": Missing, "?": Missing,
	"inf": NotFinite, "+inf": NotFinite, "-inf": NotFinite,
	"infinity": NotFinite, "+infinity": NotFinite, "-infinity": NotFinite,
}

// word returns the kind of a cell that is no decimal number.
func word(s string) Kind {
	if s == "" {
		return Missing
	}
	if len(s) > longestWord || strings.IndexByte(wordBegins, s[0]) < 0 {
		return NotNumber
	}
	var lower [longestWord]byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	if kind, ok := wordKinds[string(lower[:len(s)])]; ok {
		return kind
	}
	return NotNumber
}
