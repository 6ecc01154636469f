package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/gauze-dp/gauze/internal/words"
)

const (
	mostPatterns  = 64 // that are distinguished in a column
	shownPatterns = 3
	shownColumns  = 8
	longestShown  = 24 // characters of a pattern
	manyLetters   = 3  // in a row that are shown
)

// unreadable counts the cells of a column that hold something but no number, by their patterns.
// They are for the custodian only.
type unreadable struct {
	patterns map[string]int
	latin1   bool // some cells are not UTF-8: their patterns are those of Latin1
}

// note counts a cell.
func (u *unreadable) note(text string) {
	if u.patterns == nil {
		u.patterns = map[string]int{}
	}
	if !utf8.ValidString(text) {
		if recoded, err := charmap.Windows1252.NewDecoder().String(text); err == nil {
			text, u.latin1 = recoded, true
		}
	}
	pattern := patternOf(text)
	if _, known := u.patterns[pattern]; known || len(u.patterns) < mostPatterns {
		u.patterns[pattern]++
	}
}

// patternOf returns how a cell is written, without its content: every digit is a 9 and every letter
// an a, and long texts are cut.
func patternOf(text string) string {
	var b strings.Builder
	letters, shown := 0, 0
	for _, r := range strings.TrimSpace(text) {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			if letters++; letters == manyLetters+1 {
				b.WriteString("..")
			}
			if r = 'a'; letters > manyLetters {
				continue
			}
		case unicode.IsDigit(r):
			letters, r = 0, '9'
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			letters, r = 0, '?'
		default:
			letters = 0
		}
		if shown++; shown > longestShown {
			return b.String() + ".."
		}
		b.WriteRune(r)
	}
	return b.String()
}

// often returns the patterns, the most frequent first.
func (u unreadable) often() []string {
	return slices.SortedFunc(maps.Keys(u.patterns), func(a, b string) int { return cmp.Or(u.patterns[b]-u.patterns[a], cmp.Compare(a, b)) })
}

// shows describes how most of the cells are written.
func (u unreadable) shows() string {
	var parts []string
	for _, p := range u.often() {
		if p != "" && len(parts) < shownPatterns {
			parts = append(parts, fmt.Sprintf("%s as %s", words.Digits(u.patterns[p]), p))
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// limits reports that a cell says that a value is beyond what could be measured.
func (u unreadable) limits() bool {
	return slices.ContainsFunc(u.often(), func(p string) bool { return strings.HasPrefix(p, "<9") || strings.HasPrefix(p, "< 9") })
}

// marks are signs of currencies and the like that may stand beside numbers.
const marks = "$€£¥%‰°"

// reads returns the first dialect, in words, by which all patterns of some columns are numbers; ""
// if there is none.
func reads(columns []unreadable) string {
	if text, all := mostly(columns); all {
		return text
	}
	return ""
}

// mostly returns the first of the dialects, in words, by which the most cells of some columns are
// numbers, and whether all are; "" if none reads three quarters of them, a guess.
func mostly(columns []unreadable) (text string, all bool) {
	var more strings.Builder
	for _, mark := range marks {
		if slices.ContainsFunc(columns, func(u unreadable) bool {
			return slices.ContainsFunc(u.often(), func(p string) bool { return strings.ContainsRune(p, mark) })
		}) {
			fmt.Fprintf(&more, " strip=%c", mark)
		}
	}
	if slices.ContainsFunc(columns, func(u unreadable) bool { return u.latin1 }) {
		more.WriteString(" encoding=" + Latin1)
	}
	most, cells := 0, 0
	for _, u := range columns {
		for _, n := range u.patterns {
			cells += n
		}
	}
	for _, numbers := range []string{"", "thousands=,", "decimal=,", "thousands=space", "thousands='", "decimal=, thousands=.", "decimal=, thousands=space"} {
		as := strings.TrimSpace(numbers + more.String())
		d, err := ParseDialect(as)
		if err != nil || as == "" {
			continue
		}
		if n := d.numbers(columns); n > most && 4*n >= 3*cells {
			text, most = as, n
		}
	}
	return text, most == cells && text != ""
}

// numbers returns how many of the cells are numbers in the dialect.
func (d *Dialect) numbers(columns []unreadable) (sum int) {
	for _, u := range columns {
		for pattern, n := range u.patterns {
			if _, kind := d.parse(pattern); kind == Number {
				sum += n
			}
		}
	}
	return sum
}

// checkReadable returns an error for cells that hold something but no number, unless the schema
// makes them count as missing. A fit ends there, before anything is spent. Columns without any
// number are left to checkNumbers, except for those that a dialect would read.
func (t *Table) checkReadable() error {
	if t.any || t.schema.Unreadable == UnreadableMissing {
		return nil
	}
	var names, counts, said []string
	var found []unreadable
	for i, c := range t.Report().Columns {
		if as, _ := mostly(t.odd[i : i+1]); c.NotNumber == 0 || c.Numbers == 0 && as == "" {
			continue
		}
		names, found = append(names, c.Name), append(found, t.odd[i])
		if len(said) < shownColumns {
			counts = append(counts, fmt.Sprintf("%q: %s", c.Name, words.Plural(c.NotNumber, "cell")))
			said = append(said, counts[len(counts)-1]+t.odd[i].shows())
		}
	}
	if names == nil {
		return nil
	}
	fault := &Error{Field: "columns " + quoteNames(names), Wanted: "numbers and missing cells", Got: "text: " + strings.Join(counts, "; "), Quoted: "text: " + strings.Join(said, "; ")}
	const missing = `or count them as missing: --unreadable missing, or as codes, "missing": [..] in the schema`
	switch dialect, all := mostly(found); {
	case dialect != "" && t.ofText() && t.schema.CSV.asUsual():
		fault.Hint = fmt.Sprintf("say how numbers are written, as in --csv %q, if they are; ", t.schema.CSV.with(dialect)) + missing
		if !all {
			fault.Hint = fmt.Sprintf("say how most of them are written: --csv %q; and ", t.schema.CSV.with(dialect)) + strings.Replace(missing, "or count them", "count the others", 1)
		}
	case t.ofText():
		fault.Hint = "say how numbers are written with --csv, " + missing
		if slices.ContainsFunc(found, unreadable.limits) {
			fault.Hint += "; <5 as missing leaves all small values out, and --csv strip=< reads it as 5"
		}
	default:
		fault.Hint = "make numbers of them where the rows come from, as by a ?query=, " + missing
	}
	return fault
}

// ofText reports whether the format has no types, as CSV has none.
func (t *Table) ofText() bool {
	return !slices.ContainsFunc(t.types, func(kind Type) bool { return kind != Type{} })
}
