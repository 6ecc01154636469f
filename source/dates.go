package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// secondsOfDay is the number of seconds of a day in UTC, without leap seconds.
const secondsOfDay = 24 * 60 * 60

// dayOf reads a date as its day, a number of days since 1970-01-01: 2006-01-02 or 2006/1/2, or
// 2.1.2006 with points, where the day comes first everywhere, or 02JAN2006 or 2-Jan-2006,
// optionally followed by a time of day, which it ignores. 2/1/2006 is none: some write the month
// first.
func dayOf(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if n := len("01JAN2006"); len(text) == n || len(text) > n && text[n] == ':' { // as SAS writes dates and times
		if day, err := time.Parse("02Jan2006", text[:n]); err == nil {
			return float64(day.Unix() / secondsOfDay), true
		}
	}
	for i, c := range text {
		if c == ' ' || c == 'T' && i > 0 && onlyDigits(text[i-1:i]) { // not that of OCT
			text = text[:i]
			break
		}
	}
	for _, layout := range []string{time.DateOnly, "2.1.2006", "2-Jan-2006", "2006/1/2"} {
		if day, err := time.Parse(layout, text); err == nil {
			return float64(day.Unix() / secondsOfDay), true
		}
	}
	return 0, false
}

// A limit is at_least or at_most in a schema file: a number, or a date.
type limit struct {
	value float64
	date  string // as it is written; "" for a number
}

// UnmarshalJSON reads a number or a date.
func (l *limit) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		if err := json.Unmarshal(data, &l.date); err != nil {
			return err
		}
		day, ok := dayOf(l.date)
		if !ok {
			return &Error{Field: "schema, columns, at_least and at_most", Wanted: "a number, or a date for a column of dates", Got: fmt.Sprintf("%q", l.date), Hint: "write 2006-01-02"}
		}
		l.value = day
		return nil
	}
	return json.Unmarshal(data, &l.value)
}

// limitOf returns a limit in the form of a column of that kind.
func limitOf(column, kind string, l *limit) (*float64, error) {
	if l == nil {
		return nil, nil
	}
	if l.date != "" && kind != Dates {
		return nil, &Error{Field: fmt.Sprintf("schema, column %q, at_least and at_most", column), Wanted: "numbers", Got: fmt.Sprintf("%q", l.date), Hint: `say "kind": "date" beside dates`}
	}
	return &l.value, nil
}
