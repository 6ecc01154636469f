package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

func TestDialectCells(t *testing.T) {
	nan := math.NaN() // for a cell that is no number; Missing is +Inf here
	missing := math.Inf(1)
	for dialect, cells := range map[string]map[string]float64{
		"thousands=,":             {"1,542.01": 1542.01, "1542.01": 1542.01, "12,345,678": 12345678, "-1,000": -1000, "1,5": nan, ",123": nan, "1,2345": nan, "1,00,000": nan, "12,34": nan, "1.5,000": nan, "NA": missing, "1,000e2": 1e5, "": missing, "1234,567": nan},
		"decimal=,":               {"1,5": 1.5, "1": 1, "-0,25": -.25, "1.5": nan, "1.542": nan, "1,5,6": nan, "1,5e3": 1500, "n/a": missing, ".": missing, ",5": .5},
		"decimal=, thousands=.":   {"1.542,01": 1542.01, "1.542": 1542, "1.5": nan, "1542,5": 1542.5, "1.542.000": 1542000, "1,5.000": nan},
		"thousands=space":         {"1 542.5": 1542.5, "1\u00a0542": 1542, "1\u202f542": 1542, "15 42": nan, "a b": nan},
		"thousands='":             {"1'542": 1542, "1\u2019542.5": 1542.5},
		"strip=$ thousands=,":     {"$1,542.01": 1542.01, "-$5": -5, "$-5": -5, "$ 5": 5, "5": 5, "$": nan, "5$": 5, "€5": nan},
		"strip=% strip=EUR":       {"12 %": 12, "12%": 12, "EUR 7": 7, "7 EUR": 7, "%": nan},
		"decimal=. delimiter=tab": {"1.5": 1.5, "1,5": nan},
	} {
		d, err := ParseDialect(dialect)
		if err != nil {
			t.Fatal(dialect, err)
		}
		for cell, want := range cells {
			got, kind := d.parse(cell)
			if kind == Missing {
				got = missing
			} else if kind != Number {
				got = nan
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %q is read as %v, want %v", dialect, cell, got, want)
			}
		}
	}
}

func TestDialectWords(t *testing.T) {
	for _, text := range []string{DialectExample, `delimiter=tab thousands=space strip="kg m" missing=refused missing=-1`, "", `missing="not asked"`} {
		d, err := ParseDialect(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		encoded, err := json.Marshal(Schema{CSV: d})
		if err != nil {
			t.Fatal(err)
		}
		var back Schema
		if err := json.Unmarshal(encoded, &back); err != nil || fmt.Sprint(back.CSV) != fmt.Sprint(d) || strings.Contains(string(encoded), "csv") != (text != "") {
			t.Errorf("%s: %s, %v", text, encoded, err)
		}
	}
	for text, want := range map[string]string{
		"delimiter": "want name=value", "delimiter=": "want a value", "colour=red": `got "colour"`, "decimal=; delimiter=;": "decimal=. or decimal=,", "decimal=, thousands=,": "two marks",
		"delimiter=ab": "one character", "delimiter=a": "a delimiter that is a mark", "thousands=0": "a mark between thousands", "encoding=ebcdic": "utf-8, utf-16 or latin1",
		"decimal=, decimal=.": "decimal once", "missing=inf": "no cell can hold", "strip=1": "marks to strip", "delimiter=\u00a7": "a delimiter that is a mark",
	} {
		if _, err := ParseDialect(text); !isMistake(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := parseSchema([]byte(`{"columns": [{"name": "a"}], "csv": "decimal=;"}`)); !isMistake(err) || !strings.Contains(err.Error(), "decimal=.") {
		t.Errorf("a schema: %v", err)
	}
}

// TestDialectFiles: a table that is written otherwise has the same rows and persons.
func TestDialectFiles(t *testing.T) {
	const plain = "id,größe,cost\n7,1.5,1542.01\n8,,3\nNA,2,4\n999,1,1\n7.0,-2,1234567\n9,x y,5\n"
	const want = "[1.5 1542.01] 7|[NaN 3] 8|[NaN NaN] |[NaN NaN] |[-2 1.234567e+06] 7|[NaN 5] 9"
	latin1, err := charmap.Windows1252.NewEncoder().String("id;größe;cost\r\n7;1,5;1.542,01\r\n8;;3\r\nNA;2;4\r\n999;1;1\r\n\"7,0\";-2;1.234.567,0\r\n9;x y;5\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for dialect, text := range map[string]string{
		"missing=999":                             plain,
		DialectExample:                            latin1,
		"delimiter=tab thousands=, missing=999":   "id\tgröße\tcost\n7\t1.5\t1,542.01\n8\t\t3\nNA\t2\t4\n999\t1\t1\n7.0\t-2\t1,234,567\n9\tx y\t5\n",
		"delimiter=| thousands=space missing=999": "id|größe|cost\n7|1.5|1 542.01\n8||3\nNA|2|4\n999|1|1\n7.0|-2|\"1 234 567\"\n9|x y|5",
		"decimal=, missing=999":                   "id,größe,cost\n7,\"1,5\",\"1542,01\"\n8,,3\nNA,2,4\n999,1,1\n7,-2,1234567\n9,x y,5\n",
		"delimiter=; decimal=, missing=999.0":     "id;größe;cost\n7;1,5;1542,01\n8;;3\nNA;2;4\n999;1;1\n7,0;-2;1234567\n9;x y;5\n",
	} {
		d, err := ParseDialect(dialect)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := d.CSV("stdin", io.NopCloser(strings.NewReader(text)))
		if err != nil {
			t.Fatalf("%s: %v", dialect, err)
		}
		table, err := Of(reader, &Schema{Columns: []Column{{Name: "größe"}, {Name: "cost"}}, Unit: "id", CSV: d, Unreadable: UnreadableMissing})
		if err != nil {
			t.Fatalf("%s: %v", dialect, err)
		}
		var got told
		if err := table.Read(&got); err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(strings.Join(got, "|"), " 0|", "|"); strings.TrimSuffix(text, " 0") != want {
			t.Errorf("%s: got  %s\nwant %s", dialect, text, want)
		}
		if codes := table.Schema().Columns[0].Missing; len(codes) != 1 || codes[0] != 999. {
			t.Errorf("%s: the columns' codes are %v", dialect, codes)
		}
	}
}

// TestUnreadable: cells that hold something but no number are an error that shows how they are
// written and how many there are, and no cell.
func TestUnreadable(t *testing.T) {
	for text, want := range map[string]string{
		"a\n1\n\"1,542.01\"\n\"2,500.10\"\n\"12,345.00\"\n": `"a": 3 cells (2 as 9,999.99, 1 as 99,999.99); say how numbers are written, as in --csv "thousands=,"`,
		"a\n1\n\"1,5\"\n":        `--csv "decimal=,"`,
		"a\n1\n\"1.542,50\"\n":   `--csv "decimal=, thousands=."`,
		"a\n$1\n$2.50\n":         `"a": 2 cells (1 as $9, 1 as $9.99); say how numbers are written, as in --csv "strip=$"`,
		"a\n1\n12 %\n":           `1 as 99 %); say how numbers are written, as in --csv "strip=%"`,
		"a\n1\n<5\nMiller\n":     `"a": 2 cells (1 as <9, 1 as aaa..); say how numbers are written with --csv, or count them as missing: --unreadable missing, or as codes, "missing": [..] in the schema; <5 as missing leaves all small values out`,
		"a,b\n1,x\n\x1b[31m,2\n": `columns "a", "b": want numbers and missing cells, got text: "a": 1 cell (1 as ?[99a); "b": 1 cell (1 as a)`,
		"a\n1\n1_000\n":          "1 as 9_999",
	} {
		columns := "a"
		if strings.HasPrefix(text, "a,b") {
			columns = "a,b"
		}
		for _, declared := range []bool{true, false} {
			schema, _ := ParseColumns(columns)
			if !declared {
				if strings.HasPrefix(text, "a,b") || strings.Contains(text, "$") {
					continue
				}
				schema = inferred
				text = "a\n" + strings.Repeat("1\n", 100) + strings.TrimPrefix(text, "a\n")
			}
			reader, err := CSV("stdin", io.NopCloser(strings.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			table, err := Of(reader, schema)
			if err == nil {
				err = table.Read(&kept{})
			}
			if !isMistake(err) || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "Miller") {
				t.Errorf("%q: got %v\nwant %s", text[max(0, len(text)-30):], err, want)
			}
		}
	}
	for _, text := range []string{"a\n1\nNA\n\n-\n", "a\n1\ninf\n1e400\n"} { // missing, and what no float64 holds
		if _, _, err := readAll(t, text, "a"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Of(&cells{header: []string{"a"}}, &Schema{Columns: []Column{{Name: "a"}}, Unreadable: "drop"}); !isMistake(err) {
		t.Errorf("drop: %v", err)
	}
}

// TestFirstLines: the first lines of a file say its delimiter, its encoding and its empty columns.
func TestFirstLines(t *testing.T) {
	for text, columns := range map[string]string{
		"sep=;\r\na;b\r\n1;2\r\n":                    "a,b",
		"\"sep=\t\"\na\tb\n1\t2\n":                   "a,b",
		"a;b;;\n1;2;;\n":                             "a,b",
		"a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00": "a,b",
		"\x00a\x00,\x00b\x00\n\x001\x00,\x002\x00\n": "a,b",
		"sep=,\na,\xe4,x\n1,2,m\xe4nnlich\n":         "a,ä,x:category(männlich)",
		"sep=;\nsize; (cm)\n1;2\n":                   "size,(cm)",
		"a,b,x:y\n1,2,\n":                            "a,b",
		"a,b,seen\n1,2,02-OCT-2006\n1,2,2006/10/2\n": "a,b,seen:date",
	} {
		if table, rows, err := readAll(t, text, columns); err != nil || len(rows) == 0 || rows[0][0] != 1 || rows[0][1] != 2 || table.Report().BadRows > 0 {
			t.Errorf("%q: %v %v", text, rows, err)
		}
	}
}

// TestOtherEncoding: where the header is ASCII and cells are not UTF-8, the error names the
// encoding, before a value of a category is lost.
func TestOtherEncoding(t *testing.T) {
	read := func(text string, anyCells bool) error {
		schema, err := ParseColumns("a,x:category(männlich,weiblich,b)")
		if err != nil {
			t.Fatal(err)
		}
		reader, err := CSV("stdin", io.NopCloser(strings.NewReader(text)))
		if err != nil {
			return err
		}
		table, err := Of(reader, schema)
		if err != nil {
			return err
		}
		if anyCells {
			table.TakeAnyCells()
		}
		return table.Read(&kept{})
	}
	for text, want := range map[string]string{
		"a,x\n1,m\xe4nnlich\n2,weiblich\n":         `columns "x": want text in UTF-8, got other bytes in 1 cell; in Western European letters: --csv "encoding=latin1"`,
		"a;x\n1\xa0234,50;b\n1\xa0234,50 \x80;b\n": `as in --csv "decimal=, thousands=space encoding=latin1 strip=€"`,
		"a;x\n1,5;b\n2,5;b\n7,5;b\n<5;b\n":         `say how most of them are written: --csv "decimal=,"; and count the others as missing: --unreadable missing`,
	} {
		if err := read(text, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if err := read(text, true); err != nil { // then no cell ends a fit
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestUnreadableBounded: whatever cells hold, no more than so many patterns are kept, each short.
func TestUnreadableBounded(t *testing.T) {
	var u unreadable
	for i := range 10_000 {
		u.note(strings.Repeat("x-", i%90) + strings.Repeat("#", i))
	}
	if len(u.patterns) > mostPatterns {
		t.Errorf("%d patterns", len(u.patterns))
	}
	for p := range u.patterns {
		if len(p) > 2*longestShown {
			t.Errorf("the pattern %q has %d bytes", p, len(p))
		}
	}
	if bytes.ContainsAny([]byte(patternOf("Alice Miller 1975\n")), "AlceMir175\n") {
		t.Errorf("a name shows: %q", patternOf("Alice Miller 1975"))
	}
}
