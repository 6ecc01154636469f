package words

import (
	"strings"
	"unicode"
)

// Quoted quotes a word so that a POSIX shell reads it as that one word.
func Quoted(word string) string {
	plain := func(c rune) bool {
		return unicode.IsLetter(c) || c <= unicode.MaxASCII && unicode.IsDigit(c) || strings.ContainsRune("-_./:=,+@%", c)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
