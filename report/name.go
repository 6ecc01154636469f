package report

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// clean makes a text from outside safe to show: what is not printable (control characters, escapes
// of a terminal, marks that turn the direction of writing, broken UTF-8) becomes U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// columnName is the name of column j as shown; an empty or blank one is replaced by its place.
func columnName(name string, j int) string {
	if s := clean(name); strings.TrimSpace(s) != "" {
		return s
	}
	return "(column " + strconv.Itoa(j+1) + ")"
}

// shorten cuts s to n cells of a terminal, the last of them an ellipsis.
func shorten(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeCells(r); used > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// shellWord quotes s so that a POSIX shell takes it for one word and no option.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+:@%", r))
	}
	if strings.TrimFunc(s, plain) == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// cells is the number of cells that s takes on a terminal.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pad fills s with spaces to n cells, on the left if right says so.
func pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-cells(s)))
	if right {
		return fill + s
	}
	return s + fill
}
