package source

import (
	"strings"
	"testing"
)

// TestDates: dates are days since 1970-01-01, with or without a time of day; codes and limits hold,
// and what is none is told apart.
func TestDates(t *testing.T) {
	schema, err := parseSchema([]byte(`{"columns": [{"name": "born", "kind": "date", "at_least": "1900-01-01", "at_most": 20000, "missing": ["1999-01-01"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c := schema.Columns[0]; c.RoundedTo != 1 || *c.AtLeast != -25567 || *c.AtMost != 20000 {
		t.Errorf("got %+v", c)
	}
	table, err := opened("stdin", strings.NewReader("born\n1970-01-01\n 2000-02-29T23:59:59\n1969-12-31 01:02\n1999-01-01\n1899-12-31\n\n2001-02-29\n19\n01/02/2003\n2000-1-1\n1.3.1970 08:00\n29.02.2000\n30.02.2000\n1.3.70\n01MAR1970\n29Feb2000:10:20:30\n31FEB2000\n01OCT1970X\n"), schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	if got, want := show(rows), "[0] [11016] [-1] bad bad bad bad [19] bad bad [59] [11016] bad bad [59] [11016] bad bad"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c := table.Report().Columns[0]
	if c.Coded != 1 || c.Outside != 1 || c.NotNumber != 7 {
		t.Errorf("the report counts %+v", c)
	}
}

func TestDateMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`"kind": "date", "at_least": "1900"`:                                "want a number, or a date for a column of dates",
		`"at_least": "1900-01-01"`:                                          `say "kind": "date"`,
		`"kind": "date", "at_least": "2001-01-01", "at_most": "2000-01-01"`: "swap the two",
	} {
		if _, err := parseSchema([]byte(`{"columns": [{"name": "a", ` + text + `}]}`)); !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
