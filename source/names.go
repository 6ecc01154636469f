package source

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkHeader returns an error if names are empty, repeated or not text, or if the header has the
// marks of CSV in another dialect.
func checkHeader(header []string) error {
	seen := make(map[string]int, len(header))
	for i, name := range header {
		field := fmt.Sprintf("header, column %d", i+1)
		switch {
		case name == "":
			return &Error{Field: field, Wanted: "a name", Got: "an empty one",
				Hint: "name it, or write the file without row names and without a comma at the end of lines"}
		case strings.ContainsRune(name, 0):
			return &Error{Field: field, Wanted: "text", Got: "zero bytes", Hint: "save the file as UTF-8"}
		case !utf8.ValidString(name):
			return &Error{Field: field, Wanted: "a name in UTF-8", Got: "other bytes", Hint: "recode the file: iconv -f latin1 -t utf-8"}
		case strings.ContainsAny(name, "\r\n"):
			return &Error{Field: field, Wanted: "a name on one line", Got: "a line break in it", Hint: "end lines with LF or CRLF, not with CR alone"}
		case seen[name] > 0: // the name is not shown: without a header row it is a cell
			return &Error{Field: field, Wanted: "a name of its own", Got: fmt.Sprintf("that of column %d", seen[name]),
				Hint: "rename one of the two, or add the header row if it is missing"}
		}
		seen[name] = i + 1
	}
	return nil
}

// checkNames returns an error for a header that may be a row of data: the first row of a file
// without a header is a person, and names of columns are published.
//
// One cell that reads as a number, a date or a missing value is enough, for a row like "Alice
// Miller,34,71250.5" has one that does not. Declared names are not checked: whoever wrote them down
// knows that they are names.
func checkNames(header []string) error {
	const most = 8 // are shown
	var at []string
	for i, name := range header {
		if readsAsData(name) {
			at = append(at, strconv.Itoa(i+1))
		}
	}
	if at == nil {
		return nil
	}
	got := "what reads as data in column " + strings.Join(at[:min(most, len(at))], ", ")
	if len(at) > most {
		got += fmt.Sprintf(" and %d more", len(at)-most)
	}
	return &Error{Field: "header", Wanted: "a row of column names", Got: got,
		Hint: "add the header row if it is missing, for names are published; if these are the names, declare them with --columns or --schema"}
}

// readsAsData reports whether a name may be a cell of data: a number, a date or a missing value.
//
// A name with a digit and no letter is a number in some notation, or a date, whatever marks are
// between the digits: 34, 71,250.50, $5, 12 %, 2021-03-04, 3.4.2021, 10:30. With letters it may be
// a number as programs write it, a date or a time of day with only words of dates beside it
// (2021-03-04T10:00:00Z, 10:30 UTC), and the same with the name of a month (Mar 4 2021). So age,
// x1, 2nd_visit, t0, PM2.5 and 24h are names. A missing value is one of the words of [ParseCell] or
// of missingInText, or nothing but strokes.
func readsAsData(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	if kind := word(name); kind == Missing || kind == NotFinite || missingInText[name] || strings.Trim(name, ".-_?*/–— ") == "" {
		return true
	}
	if !strings.ContainsFunc(name, unicode.IsDigit) {
		return false
	}
	letters, ofDates, month := letterRun.FindAllString(name, -1), true, false
	for _, w := range letters {
		ofDates = ofDates && (slices.Contains(months, w) || slices.Contains(besideMonths, w))
		month = month || slices.Contains(months, w)
	}
	return letters == nil || numberWithLetters.MatchString(name) || ofDates && (month || dateOrTime.MatchString(name))
}

// missingInText are words for "not there" that a cell of text may hold, and hardly ever the name of
// a column.
var missingInText = map[string]bool{"missing": true, "unknown": true, "nat": true, "n.a.": true, "#null!": true, "#value!": true}

// dateWords are the names of months in English, and in German, French and Spanish where they are
// others, whole and shortened; and, below an empty line, what stands beside them.
//
//go:embed dates.txt
var dateWords string

var (
	// 2021-03-04, 4/3/21, 3.4.2021, each with or without more behind it; 20210304T1000; 2021-W09;
	// 10:30; 10h30, 10 am, 10.30 p.m.
	dateOrTime = regexp.MustCompile(`^\d{1,4}([-/.])\d{1,2}([-/.])\d{1,4}([ tz+]|$)|^\d{8}t\d{4}|^\d{4}-?w\d\d|\d:\d\d|` +
		`^\d{1,2}h\d\d$|^\d{1,2}([.:]\d\d)? ?[ap]\.?m\.?$`)
	// 1e5, -2.5e-3, 0x1f
	numberWithLetters = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)e[-+]?\d+$|^[-+]?0x[0-9a-f]+$`)
	letterRun         = regexp.MustCompile(`\pL+`)

	monthNames, others, _ = strings.Cut(dateWords, "\n\n")
	months, besideMonths  = strings.Fields(monthNames), strings.Fields(others)
)
