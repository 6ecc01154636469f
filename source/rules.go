package source

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gauze-dp/gauze/dense"
)

// longestCode bounds a code of text that means missing, in bytes.
const longestCode = 100

// rules decide which cells of a table's columns are missing by the schema's declarations: cells
// that hold a code, and numbers outside the limits. They look at one cell at a time, so a row's
// cells decide nothing about any other row.
type rules struct {
	low, high []float64 // of every column, inclusive; the finite numbers where none are declared
	codes     [][]float64
	words     [][]string
	coded     []int // the columns that have codes of numbers
	yesNo     []int // the columns of the kind YesNo
	dates     []int // .. of Dates
	logs      []int // .. of Logs, with their maps
	maps      []dense.Log
}

func rulesOf(columns []Column) (r rules) {
	for i, c := range columns {
		low, high := c.Limits()
		r.low, r.high = append(r.low, low), append(r.high, high)
		codes, words := splitCodes(c.Missing)
		r.codes, r.words = append(r.codes, codes), append(r.words, words)
		if c.Kind == YesNo {
			r.yesNo = append(r.yesNo, i)
		}
		if c.Kind == Dates {
			r.dates = append(r.dates, i)
		}
		if c.Kind == Logs {
			r.logs, r.maps = append(r.logs, i), append(r.maps, c.Log())
		}
		if codes != nil {
			r.coded = append(r.coded, i)
		}
	}
	return r
}

// splitCodes divides codes that mean missing into numbers and text. They are tidy.
func splitCodes(codes []any) (numbers []float64, words []string) {
	for _, code := range codes {
		switch c := code.(type) {
		case float64:
			numbers = append(numbers, c)
		case string:
			words = append(words, c)
		}
	}
	return numbers, words
}

// Limits returns the least and the greatest number that a cell can hold: the largest finite ones
// where none are declared.
func (c Column) Limits() (low, high float64) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	if c.AtLeast != nil {
		low = *c.AtLeast
	}
	if c.AtMost != nil {
		high = *c.AtMost
	}
	return low, high
}

// keep reports whether all cells of a row are finite numbers that no rule makes missing.
func (r *rules) keep(values []float64, kinds []Kind) bool {
	low, high := r.low[:len(kinds)], r.high[:len(kinds)]
	for i, kind := range kinds {
		if v := values[i]; kind != Number || !(low[i] <= v && v <= high[i]) {
			return false
		}
	}
	for _, i := range r.coded {
		if slices.Contains(r.codes[i], values[i]) {
			return false
		}
	}
	return true
}

// isCode reports whether a cell of column i holds a code for missing: a number, or the text of a
// cell that is no number. Numbers compare as numbers, text in any case of letters.
func (r *rules) isCode(i int, v float64, kind Kind, text func() string) bool {
	switch kind {
	case Number:
		return slices.Contains(r.codes[i], v)
	case NotNumber:
		return r.words[i] != nil && isWord(r.words[i], text())
	}
	return false
}

func isWord(words []string, text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) })
}

// outside reports whether a number is beyond the limits of column i.
func (r *rules) outside(i int, v float64) bool { return !(r.low[i] <= v && v <= r.high[i]) }

// tidyCodes returns codes that mean missing as finite float64 and as text that does not read as a
// number, each once. field is used in errors.
func tidyCodes(field string, codes []any) (tidy []any, err error) {
	for _, code := range codes {
		code, err := tidyCode(field, code)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tidy, code) {
			tidy = append(tidy, code)
		}
	}
	return tidy, nil
}

func tidyCode(field string, code any) (any, error) {
	fault := &Error{Field: field, Wanted: "finite numbers and text", Hint: `for instance "missing": [999, -1, "refused"]`}
	switch c := code.(type) {
	case int:
		return float64(c), nil
	case json.Number:
		return tidyCode(field, string(c))
	case float64:
		if fault.Got = fmt.Sprint(c); c-c == 0 {
			return c + 0, nil
		}
	case string:
		c = strings.TrimSpace(c)
		v, kind := ParseCell(c)
		switch {
		case kind == Number:
			return v, nil
		case kind == NotFinite:
			fault.Got = fmt.Sprintf("%q, which no cell can hold", c)
		case len(c) > longestCode:
			fault.Got, fault.Hint = fmt.Sprintf("text of %d bytes", len(c)), fmt.Sprintf("codes have at most %d", longestCode)
		case !utf8.ValidString(c) || strings.ContainsFunc(c, unicode.IsControl):
			fault.Got, fault.Hint = "text that cannot be printed", "save the schema as UTF-8"
		default:
			return c, nil
		}
	default:
		fault.Got = fmt.Sprintf("%v", code)
	}
	return nil, fault
}
