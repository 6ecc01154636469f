package source

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// What a name reads as.
func TestReadsAs(t *testing.T) {
	for kind, names := range map[string][]string{
		"a number": {"34", "71250.5", "-1", "+3", ".5", "1.", "1e5", "1E-300", "1e400", "inf", "-Infinity", "0x1F", "71,250.50", "71 250,5",
			"71'250", "1_000", "$5", "5 €", "12 %", "(5.00)", "#3", "+49 30 123456", "192.168.1.1", "1/2", "٣٤", "2021", "20210304", "1-2"},
		"a date": {"2021-03-04", "2021/03/04", "2021.3.4", "04/03/2021", "4/3/21", "3.4.2021", "03-04-2021", "2021-03-04T10:00:00Z",
			"2021-03-04T10:00:00.123+01:00", "2021-03-04 10:00", "2021-03-04 10:00:00 UTC", "2021-03-04Z", "20210304T100000Z", "2021-W09-4",
			"10:30", "10:30:15", "1:05", "10:30 am", "10:30 CET", "10h30", "10 am", "9 p.m.", "Mar 4 2021", "March 4, 2021", "4 March 2021",
			"4-Mar-21", "04MAR2021", "mar 2021", "Thu Mar  4 10:00:00 UTC 2021", "Thursday, 4th of March 2021", "4. März 2021", "4 mars 2021",
			"4 de marzo de 2021"},
		"a missing value": {"", " ", "NA", "na", "NaN", "n/a", "N.A.", "#N/A", "<NA>", "null", "NULL", "nil", "None", "NaT", ".", "-", "--", "?", "???",
			"...", "—", "_", "missing", "Unknown", "#NULL!"},
		"": {"age", "x1", "x", "2nd_visit", "1st", "t0", "T1", "PM2.5", "PM10", "24h", "10k", "bmi_2019", "Q1 2021", "visit 3", "week 12",
			"may", "March", "mars", "sun", "am", "date", "time", "year", "%", "#", "income ($)", "p<0.05", "ratio 1:20", "score 2021-03-04",
			"e5", "1e", "0x", "x-1", "a.b", "Größe", "温度", "年龄1", "Alice Miller", "information", "nano", "nullable", "inflow", "12 kg", "v1.2.3",
			"column_1", "Unnamed: 0", "V1", "dose_5mg", "march madness 2"},
	} {
		for _, name := range names {
			if got := readsAsData(name); got != (kind != "") {
				t.Errorf("%q reads as data: %v; it is %q", name, got, kind)
			}
		}
	}
}

// A file without a header is refused before a row is read, whichever cell of its first person gives
// it away, and the refusal shows no cell. Declared columns are taken at their word.
func TestFirstRowIsNoHeader(t *testing.T) {
	for _, first := range []string{
		"Alice Miller," + secret + ",71250.5", "Alice Miller,f," + secret, "Alice Miller,2021-03-04,f", "Alice Miller,NA,f", "Alice Miller,f,?",
		"Alice Miller,f,10:30", "Alice Miller,4 Mar 2021,f",
	} {
		text := first + "\n" + strings.Repeat("Bob,3,4\nCarla,5,6\n", 10)
		for name, open := range map[string]func() error{
			"Open": func() error { _, err := opened("stdin", strings.NewReader(text), inferred); return err },
			"Foresee": func() error {
				reader, err := CSV("stdin", io.NopCloser(strings.NewReader(text)))
				if err == nil {
					_, _, err = Foresee(reader, inferred)
				}
				return err
			},
		} {
			err := open()
			var mistake *Error
			if !errors.As(err, &mistake) || mistake.Field != "header" || !strings.Contains(mistake.Hint, "--columns") {
				t.Errorf("%s, %s: got %v, want a refusal of the header that points to --columns", name, first, err)
				continue
			}
			for _, cell := range strings.Split(first, ",") {
				if len(cell) > 2 && strings.Contains(err.Error(), cell) {
					t.Errorf("%s: the refusal shows a cell: %v", name, err)
				}
			}
		}
	}
	table, rows, err := readAll(t, "2019,2020\n1,2\n3,4\n", "2020,2019")
	if err != nil || show(rows) != "[2 1] [4 3]" || table.Inferred() {
		t.Errorf("declared years: %v, %v", show(rows), err)
	}
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprint(i))
	}
	const want = "what reads as data in column 1, 2, 3, 4, 5, 6, 7, 8 and 4 more"
	if err := checkNames(names); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if err := checkNames([]string{"a", "5", "NA", "6"}); err == nil || !strings.Contains(err.Error(), "got what reads as data in column 2, 3, 4;") {
		t.Errorf("got %v", err)
	}
}
