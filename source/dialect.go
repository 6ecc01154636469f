package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Dialect says how CSV is written, where its text does not show it. The zero Dialect is UTF-8 or
// UTF-16 with commas between cells and a point in numbers.
type Dialect struct {
	Delimiter rune // between cells; 0 for a comma
	Decimal   rune // in numbers, ',' or '.'; 0 for a point
	// Thousands stands between groups of three digits before it; 0 for nothing. A blank stands for
	// no-break and thin blanks too, and ' for the curly one.
	Thousands rune
	Encoding  string   // Latin1; "" for the encoding that the text shows
	Strip     []string // marks before or after a number that do not belong to it: "$", "%"
	Missing   []any    // codes of all columns, and of the unit, as Column.Missing
}

// Latin1 is the encoding of Western European text in one byte per letter, by Windows' table
// (windows-1252), which includes ISO 8859-1.
const Latin1 = "latin1"

// DialectExample is a dialect in words.
const DialectExample = `delimiter=; decimal=, thousands=. encoding=latin1 missing=999`

// named are the names of characters that are hard to write as themselves.
var named = map[string]rune{"tab": '\t', `\t`: '\t', "comma": ',', "semicolon": ';', "bar": '|', "pipe": '|', "space": ' ', "blank": ' ', "point": '.', "none": 0}

// ParseDialect reads a dialect in words: "delimiter=; decimal=, thousands=. encoding=latin1 strip=€
// missing=999", each of which may be left out. A value with blanks in it is quoted; strip and
// missing may be repeated.
func ParseDialect(text string) (d Dialect, err error) {
	seen := map[string]bool{}
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		var name, value string
		var ok bool
		if name, rest, ok = strings.Cut(rest, "="); !ok {
			return d, dialectError("name=value", name)
		}
		if value, rest, ok = cutValue(rest); !ok {
			return d, dialectError("a value, in quotes if it has blanks", name+"=")
		}
		if name = strings.ToLower(name); seen[name] && name != "missing" && name != "strip" {
			return d, dialectError(name+" once", "it twice")
		}
		seen[name] = true
		if err := d.set(name, value); err != nil {
			return d, err
		}
	}
	return d, d.check()
}

func dialectError(wanted, got string) error {
	return &Error{Field: "csv", Wanted: wanted, Got: got, Hint: fmt.Sprintf("for instance %q; missing and strip may come again", DialectExample)}
}

// cutValue cuts the first value off a text: up to the next blank, or a text in quotes.
func cutValue(text string) (value, rest string, ok bool) {
	if quote := text[:min(1, len(text))]; quote == `"` || quote == `'` {
		if value, rest, ok := strings.Cut(text[1:], quote); ok && (rest == "" || rest[0] == ' ') {
			return value, rest, value != ""
		}
	}
	value, rest, _ = strings.Cut(text, " ")
	return value, rest, value != ""
}

func (d *Dialect) set(name, value string) (err error) {
	switch name {
	case "delimiter":
		d.Delimiter, err = mark(name, value)
	case "decimal":
		d.Decimal, err = mark(name, value)
	case "thousands":
		d.Thousands, err = mark(name, value)
	case "encoding":
		return d.setEncoding(value)
	case "strip":
		d.Strip = append(d.Strip, value)
	case "missing":
		var codes []any
		codes, err = tidyCodes("csv, missing", append(slices.Clone(d.Missing), value))
		d.Missing = codes
	default:
		return dialectError("delimiter, decimal, thousands, encoding, strip or missing", fmt.Sprintf("%q", name))
	}
	return err
}

// mark reads a character by itself or its name.
func mark(name, value string) (rune, error) {
	if r, ok := named[strings.ToLower(value)]; ok {
		return r, nil
	}
	if r, size := utf8.DecodeRuneInString(value); size == len(value) && r != utf8.RuneError {
		return r, nil
	}
	return 0, dialectError(name+" as one character, or tab, space, comma, semicolon, bar, point", fmt.Sprintf("%q", value))
}

func (d *Dialect) setEncoding(value string) error {
	switch strings.ToLower(value) {
	case "latin1", "latin-1", "iso-8859-1", "windows-1252", "cp1252":
		d.Encoding = Latin1
	case "utf-8", "utf8", "utf-16", "utf16": // the text shows these itself
	default:
		return dialectError("the encoding utf-8, utf-16 or latin1", fmt.Sprintf("%q", value))
	}
	return nil
}

// check returns an error if marks are ambiguous.
func (d *Dialect) check() error {
	plain := func(r rune) bool {
		return r != 0 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("\"\r\n+-", r))
	}
	switch decimal := d.decimal(); {
	case plain(d.Delimiter) || d.Delimiter != 0 && d.Delimiter > unicode.MaxASCII:
		return dialectError("a delimiter that is a mark, such as ; or tab", fmt.Sprintf("%q", d.Delimiter))
	case decimal != '.' && decimal != ',':
		return dialectError("decimal=. or decimal=,", fmt.Sprintf("%q", decimal))
	case d.Thousands == decimal:
		return dialectError("two marks for decimal and thousands", fmt.Sprintf("%q for both", decimal))
	case plain(d.Thousands):
		return dialectError("a mark between thousands, such as , or space", fmt.Sprintf("%q", d.Thousands))
	}
	for _, s := range d.Strip {
		if strings.ContainsAny(s, "0123456789+-.,\"\r\n") {
			return dialectError("marks to strip without digits, signs, points and commas", fmt.Sprintf("%q", s))
		}
	}
	return nil
}

func (d *Dialect) decimal() rune {
	if d.Decimal == 0 {
		return '.'
	}
	return d.Decimal
}

// asUsual reports whether cells are read as ParseCell reads them.
func (d *Dialect) asUsual() bool {
	return d.decimal() == '.' && d.Thousands == 0 && d.Strip == nil
}

// OfText reports whether a dialect has settings that only CSV can have, and not just codes.
func (d Dialect) OfText() bool { return !d.asUsual() || d.Delimiter != 0 || d.Encoding != "" }

// with returns d with the settings for numbers of a text.
func (d Dialect) with(text string) Dialect {
	if numbers, err := ParseDialect(text); err == nil {
		d.Decimal, d.Thousands, d.Strip, d.Encoding = numbers.Decimal, numbers.Thousands, numbers.Strip, cmp.Or(numbers.Encoding, d.Encoding)
	}
	return d
}

// IsZero reports whether the dialect has no settings.
func (d Dialect) IsZero() bool { return !d.OfText() && d.Missing == nil }

// String returns the dialect in the form that ParseDialect reads.
func (d Dialect) String() string {
	var parts []string
	add := func(name, value string) {
		if quote := `"`; strings.ContainsAny(value, " '\"") {
			if strings.Contains(value, quote) {
				quote = "'"
			}
			value = quote + value + quote
		}
		parts = append(parts, name+"="+value)
	}
	for _, m := range []struct {
		name string
		mark rune
	}{{"delimiter", d.Delimiter}, {"decimal", d.Decimal}, {"thousands", d.Thousands}} {
		switch m.mark {
		case 0:
		case '\t':
			add(m.name, "tab")
		case ' ':
			add(m.name, "space")
		default:
			add(m.name, string(m.mark))
		}
	}
	if d.Encoding != "" {
		add("encoding", d.Encoding)
	}
	for _, s := range d.Strip {
		add("strip", s)
	}
	for _, code := range d.Missing {
		add("missing", fmt.Sprint(code))
	}
	return strings.Join(parts, " ")
}

// MarshalText implements encoding.TextMarshaler: schemas hold a dialect in words.
func (d Dialect) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Dialect) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDialect(string(text))
	return err
}

// parse reads a cell as ParseCell does, with the marks of the dialect.
func (d *Dialect) parse(cell string) (float64, Kind) {
	if plain, ok := d.plain(cell); ok {
		return ParseCell(plain)
	}
	return 0, word(strings.TrimSpace(cell))
}

// plain returns a cell as it would be written with a decimal point and no other marks; false if its
// marks are where no number has them.
func (d *Dialect) plain(cell string) (string, bool) {
	cell = strings.TrimSpace(cell)
	if d.asUsual() {
		return cell, true
	}
	sign, cell := cutSign(cell)
	if cell = d.stripped(cell); sign == "" {
		sign, cell = cutSign(cell)
	}
	end := strings.IndexAny(cell, string(d.decimal())+"eE")
	if end < 0 {
		end = len(cell)
	}
	whole, ok := d.ungrouped(cell[:end])
	rest := cell[end:]
	if d.decimal() != '.' {
		ok = ok && !strings.Contains(whole+rest, ".")
		rest = strings.Replace(rest, string(d.decimal()), ".", 1)
	}
	return sign + whole + rest, ok && (cell != "" || sign != "" || d.Strip == nil)
}

func cutSign(s string) (sign, rest string) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1], strings.TrimSpace(s[1:])
	}
	return "", s
}

// stripped removes the marks of Strip from both ends, and blanks with them.
func (d *Dialect) stripped(s string) string {
	for range 2 {
		for _, mark := range d.Strip {
			s = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(s, mark), mark))
		}
	}
	return s
}

// ungrouped removes the marks between thousands from the digits before the decimal mark; false if
// they do not separate groups of three.
func (d *Dialect) ungrouped(whole string) (string, bool) {
	if d.Thousands == 0 {
		return whole, true
	}
	switch d.Thousands {
	case '\'':
		whole = strings.ReplaceAll(whole, "\u2019", "'")
	case ' ':
		whole = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Zs, r) {
				return ' '
			}
			return r
		}, whole)
	}
	groups := strings.Split(whole, string(d.Thousands))
	for i, g := range groups {
		if len(groups) > 1 && (!onlyDigits(g) || i > 0 && len(g) != 3 || g == "" || len(g) > 3) {
			return whole, false
		}
	}
	return strings.Join(groups, ""), true
}
