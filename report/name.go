package report

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/gauze-dp/gauze/internal/words"
)

// clean makes a text from outside safe to show: characters that are not printable (control
// characters, terminal escapes, marks that change the direction of writing, broken UTF-8) become
// U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// columnName returns the name of column j as shown; an empty or blank one is replaced by its
// number.
func columnName(name string, j int) string {
	if s := clean(name); strings.TrimSpace(s) != "" {
		return s
	}
	return "(column " + strconv.Itoa(j+1) + ")"
}

// shorten cuts s to n characters, the last of them an ellipsis.
func shorten(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// shellWord quotes s so that a POSIX shell reads it as one word and no option.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return words.Quoted(s)
}
