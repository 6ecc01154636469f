package source

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// What a cell of data reads as, where a name should stand.
const (
	readsNumber  = "numbers"
	readsDate    = "dates"
	readsMissing = "missing values"
)

// checkNames refuses a header that may be a row of data: the first row of a file without a header
// is a person, and names of columns are published.
//
// One cell that reads as a number, a date or a missing value is enough, for a row like "Alice
// Miller,34,71250.5" has one that does not. Names that were declared are not asked: whoever wrote
// them down knows that they are names.
func checkNames(header []string) error {
	at := map[string][]int{}
	for i, name := range header {
		kind := readsAs(name)
		at[kind] = append(at[kind], i+1)
	}
	var parts []string
	for _, kind := range []string{readsNumber, readsDate, readsMissing} {
		if at[kind] != nil {
			parts = append(parts, kind+" in "+columnsAt(at[kind]))
		}
	}
	if parts == nil {
		return nil
	}
	return &Error{Field: "header", Wanted: "a row of column names", Got: strings.Join(parts, ", "),
		Hint: "add the header row if it is missing, for names are published; if these are the names, declare them with --columns or --schema"}
}

// columnsAt writes "column 2" or "columns 1, 2 and 5 more".
func columnsAt(at []int) string {
	const most = 8
	if len(at) == 1 {
		return fmt.Sprintf("column %d", at[0])
	}
	text := fmt.Sprintf("columns %d", at[0])
	for _, n := range at[1:min(most, len(at))] {
		text += fmt.Sprintf(", %d", n)
	}
	if len(at) > most {
		text += fmt.Sprintf(" and %d more", len(at)-most)
	}
	return text
}

// readsAs says what a cell of data a name reads as, or "" for one that can be a name.
//
// A number in any notation, or a date, is what has a digit and no letter, whatever marks stand
// between the digits: 34, 71,250.50, $5, 12 %, 2021-03-04, 3.4.2021, 10:30. With letters: numbers
// as programs write them, a date or a time of day with nothing but words of dates beside it
// (2021-03-04T10:00:00Z, 10:30 UTC), and the same with the name of a month (Mar 4 2021). So age,
// x1, 2nd_visit, t0, PM2.5 and 24h are names. A missing value is one of the words of [parseCell] or
// of missingInText, or nothing but strokes.
func readsAs(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch kind := word(name); {
	case kind == missing, missingInText[name], strings.Trim(name, ".-_?*/–— ") == "":
		return readsMissing
	case kind == notFinite:
		return readsNumber
	}
	letters := strings.ContainsFunc(name, unicode.IsLetter)
	switch {
	case !strings.ContainsFunc(name, unicode.IsDigit):
		return ""
	case dateOrTime.MatchString(name) && wordsOfDates(name, false), letters && wordsOfDates(name, true), hour.MatchString(name):
		return readsDate
	case !letters, numberWithLetters.MatchString(name):
		return readsNumber
	}
	return ""
}

// missingInText are words for "not there" that a cell of text may hold, and hardly ever the name of
// a column.
var missingInText = map[string]bool{"missing": true, "unknown": true, "nat": true, "n.a.": true, "#null!": true, "#value!": true}

var (
	// 2021-03-04, 4/3/21, 3.4.2021, each with or without more behind it; 20210304T1000; 2021-W09;
	// 10:30
	dateOrTime = regexp.MustCompile(`^\d{1,4}([-/.])\d{1,2}([-/.])\d{1,4}([ tz+]|$)|^\d{8}t\d{4}|^\d{4}-?w\d\d|\d:\d\d`)
	// 10h30, 10 am, 10.30 p.m.
	hour = regexp.MustCompile(`^\d{1,2}h\d\d$|^\d{1,2}([.:]\d\d)? ?[ap]\.?m\.?$`)
	// 1e5, -2.5e-3, 0x1f
	numberWithLetters = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)e[-+]?\d+$|^[-+]?0x[0-9a-f]+$`)
	letterRun         = regexp.MustCompile(`\pL+`)
)

// wordsOfDates reports that a name has no word that dates do not have and, if asked, the name of a
// month: "mar 4 2021", "4-Mar-21", "Thursday, 4th of March 2021", "mar 2021".
func wordsOfDates(name string, withMonth bool) bool {
	found := false
	for _, w := range letterRun.FindAllString(name, -1) {
		if !months[w] && !besideMonths[w] {
			return false
		}
		found = found || months[w]
	}
	return found || !withMonth
}

// The names of months in English, and in German, French and Spanish where they are others, whole
// and shortened; and what stands beside them.
var (
	months = wordSet(`jan feb mar apr may jun jul aug sep sept oct nov dec
		january february march april june july august september october november december
		jän jänner januar februar mär märz maerz mai juni juli okt oktober dez dezember
		janv janvier févr février fevrier mars avr avril juin juil juillet août aout septembre octobre novembre déc décembre decembre
		ene enero febrero marzo abr abril mayo junio julio ago agosto septiembre octubre noviembre dic diciembre`)
	besideMonths = wordSet(`st nd rd th of de del the t w z utc gmt est edt cst cdt mst mdt pst pdt cet cest bst am pm h uhr
		mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday`)
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
