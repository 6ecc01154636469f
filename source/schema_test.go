package source

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	text := "\ufeff" + `{"columns": [{"name": " age ", "rounded_to": 1, "at_least": 0}, {"name": "bmi"}]}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	schema, err := ReadSchema(path)
	if err != nil {
		t.Fatal(err)
	}
	if c := schema.Columns; len(c) != 2 || c[0].Name != "age" || c[0].RoundedTo != 1 || *c[0].AtLeast != 0 || c[0].AtMost != nil || !reflect.DeepEqual(c[1], Column{Name: "bmi"}) {
		t.Errorf("got %v", c)
	}
	table, err := opened("stdin", strings.NewReader("bmi,age\n20,30\n"), schema)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(table.Schema().Names()); got != "[age bmi]" || table.Inferred() {
		t.Errorf("the table has the columns %s", got)
	}
	if _, err := ReadSchema(path + "x"); !isMistake(err) {
		t.Errorf("no file: %v", err)
	}
}

func isMistake(err error) bool {
	var mistake *Error
	return errors.As(err, &mistake)
}

func TestSchemaMistakes(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "an empty file",
		`[]`:                               "want an object with columns",
		`{}`:                               "want at least one column",
		`{"columns": []}`:                  "want at least one column",
		`{"colums": [{"name": "a"}]}`:      "colums",
		`{"columns": [{"nam": "a"}]}`:      "nam",
		`{"columns": [{"rounded_to": 1}]}`: "columns[0].name",
		`{"columns": [{"name": " "}]}`:     "want a name, got an empty one",
		`{"columns": ["a"]}`:               "string",
		`{"columns": [`:                    "ends early",
		`{"csv": {"decimal": ","}}`:        `write "csv": "delimiter=; decimal=,"`,
		`{"columns": [{"name": "a"}, {"name": "a"}]}`:               `"a" twice`,
		`{"columns": [{"name": "a"}]} x`:                            "more text",
		`{"columns": [{"name": "a"}]}{}`:                            "more text",
		`{"columns": [{"name": "a", "rounded_to": 0}]}`:             "want a positive number, got 0",
		`{"columns": [{"name": "a", "rounded_to": -1}]}`:            "want a positive number, got -1",
		`{"columns": [{"name": "a", "rounded_to": 1e300}]}`:         "want at most 1e+150, got 1e+300",
		`{"columns": [{"name": "a", "at_least": 2, "at_most": 1}]}`: "at_most: want at_least, 2, or more, got 1",
		`{"columns": [{"name": "a", "rounded_to": "1"}]}`:           "schema, columns.rounded_to: want a value as in the example, got string",
		`{"columns": [{"name": "a", "rounded_to": 1e999}]}`:         "1e999",
	} {
		_, err := parseSchema([]byte(text))
		if !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSchema(%s): got %v, want %q in it", text, err, want)
		}
	}
	for _, list := range []string{"", "a,", ",a", "a,,b", "a,b,a", "a, a", `"a`, "caf\xe9"} {
		if _, err := ParseColumns(list); !isMistake(err) {
			t.Errorf("ParseColumns(%q): got %v", list, err)
		}
	}
	if s, err := ParseColumns(`a, "b, c" ,d`); err == nil {
		t.Errorf("text behind a quote: got %q", s.Names())
	}
	if s, err := ParseColumns(`a, "b, c",d`); err != nil || fmt.Sprintf("%q", s.Names()) != `["a" "b, c" "d"]` {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestLimits: limits that no record can keep to are refused.
func TestLimits(t *testing.T) {
	for text, good := range map[string]bool{
		`"at_least": 0, "at_most": 120, "rounded_to": 1`: true, `"at_least": 3, "at_most": 3`: true, `"at_most": -1`: true, `"at_least": 0.3, "at_most": 0.3, "rounded_to": 0.1`: true,
		`"at_least": 2, "at_most": 1`: false, `"at_least": 1, "at_most": 9, "rounded_to": 10`: false, `"at_least": 10, "at_most": 10, "rounded_to": 10`: true,
	} {
		if _, err := parseSchema([]byte(`{"columns": [{"name": "age", ` + text + `}]}`)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if err := (&Schema{Columns: []Column{{Name: "age", AtLeast: &x}}}).Tidy(); err == nil {
			t.Errorf("at_least %v is accepted", x)
		}
	}
}
