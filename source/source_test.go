package source

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"
)

// kept is a sink that keeps copies of the rows.
type kept [][]float64

func (k *kept) Append(row []float64, _ string, _ int) { *k = append(*k, slices.Clone(row)) }

// inferred has the cells choose the columns.
var inferred = &Schema{Infer: true}

// lenient has cells that cannot be read count as missing.
func lenient(schema *Schema) *Schema {
	s := Schema{}
	if schema != nil {
		s = *schema
	}
	s.Unreadable = UnreadableMissing
	return &s
}

// opened is the table of CSV, in which cells that cannot be read are missing.
func opened(name string, in io.Reader, schema *Schema) (*Table, error) {
	reader, err := CSV(name, io.NopCloser(in))
	if err != nil {
		return nil, err
	}
	return Of(reader, lenient(schema))
}

func openedFile(t *testing.T, path string) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	reader, err := CSV(path, file)
	if err != nil {
		return nil, err
	}
	return Of(reader, lenient(inferred))
}

// readAll opens text as stdin with the columns ("" infers them) and reads it.
func readAll(t testing.TB, text, columns string) (*Table, kept, error) {
	t.Helper()
	schema := &Schema{Infer: true, Unit: NoUnit}
	if columns != "" {
		var err error
		if schema, err = ParseColumns(columns); err != nil {
			t.Fatal(err)
		}
	}
	table, err := opened("stdin", strings.NewReader(text), schema)
	if err != nil {
		return nil, nil, err
	}
	defer table.Close()
	var rows kept
	err = table.Read(&rows)
	return table, rows, err
}

func bad(rows kept) (n int) {
	for _, row := range rows {
		if slices.ContainsFunc(row, math.IsNaN) {
			n++
		}
	}
	return n
}

// show writes rows with "bad" for a row of NaNs, and "-" for one among numbers.
func show(rows kept) string {
	var b strings.Builder
	for _, row := range rows {
		nans := 0
		for _, v := range row {
			if math.IsNaN(v) {
				nans++
			}
		}
		switch nans {
		case 0:
			fmt.Fprint(&b, row, " ")
		case len(row):
			b.WriteString("bad ")
		default:
			b.WriteString(strings.ReplaceAll(fmt.Sprint(row), "NaN", "-") + " ")
		}
	}
	return strings.TrimSpace(b.String())
}

func TestParseCell(t *testing.T) {
	for _, c := range []struct {
		cell string
		want float64
		kind Kind
	}{
		{"1", 1, Number}, {" -2.5\t", -2.5, Number}, {"+3", 3, Number}, {"1.", 1, Number}, {".5", 0.5, Number}, {"1E3", 1000, Number},
		{"1e308", 1e308, Number}, {"5e-324", 5e-324, Number}, {"2.2250738585072011e-308", 2.2250738585072011e-308, Number},
		{"1e-400", 0, Number}, {"-0", math.Copysign(0, -1), Number}, {"\u00a07", 7, Number}, {"0007", 7, Number},
		{"123456789012345678901234567890", 123456789012345678901234567890, Number},
		{"1e400", 0, NotFinite}, {"-1e400", 0, NotFinite}, {"1.8e308", 0, NotFinite},
		{"inf", 0, NotFinite}, {"-Inf", 0, NotFinite}, {"+INFINITY", 0, NotFinite},
		{"", 0, Missing}, {"  ", 0, Missing}, {"NA", 0, Missing}, {"NaN", 0, Missing}, {"-nan", 0, Missing}, {"NULL", 0, Missing},
		{"N/A", 0, Missing}, {"none", 0, Missing}, {".", 0, Missing}, {"-", 0, Missing}, {"?", 0, Missing}, {"<NA>", 0, Missing},
		{"0x1p-2", 0, NotNumber}, {"0x10", 0, NotNumber}, {"1_000", 0, NotNumber}, {"1,5", 0, NotNumber}, {"1,000.5", 0, NotNumber},
		{"2020-01-01", 0, NotNumber}, {"--1", 0, NotNumber}, {"1e", 0, NotNumber}, {"e5", 0, NotNumber}, {"+", 0, NotNumber},
		{"1 2", 0, NotNumber}, {"5%", 0, NotNumber}, {"$5", 0, NotNumber}, {"TRUE", 0, NotNumber}, {"١", 0, NotNumber}, {"1\x00", 0, NotNumber},
		{"a text that is much longer than any word", 0, NotNumber},
	} {
		got, kind := ParseCell(c.cell)
		if kind != c.kind || math.Float64bits(got) != math.Float64bits(c.want) {
			t.Errorf("ParseCell(%q) = %v, %v; want %v, %v", c.cell, got, kind, c.want, c.kind)
		}
	}
}

// TestRead: what a well-formed input hands over.
func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, columns, want string }{
		{"plain", "a,b\n1,2\n3,4\n", "a,b", "[1 2] [3 4]"},
		{"order of the schema", "a,b,c\n1,2,3\n", "c,a", "[3 1]"},
		{"no line end at the end", "a,b\n1,2", "a,b", "[1 2]"},
		{"CRLF", "a,b\r\n1,2\r\n\r\n3,4\r\n", "a,b", "[1 2] [3 4]"},
		{"UTF-8 byte order mark", "\ufeffa,b\n1,2\n", "a,b", "[1 2]"},
		{"quoted names and cells", "\"a, x\",\"b\"\"y\"\"\"\n\"1\",\" 2 \"\n", `"a, x","b""y"""`, "[1 2]"},
		{"quoted line break in text", "a,t\n1,\"x\ny, z\"\n2,w\n", "a", "[1] [2]"},
		{"blanks around names, cells and quotes", " a , b\n 1 , \"2\"\n", "a,b", "[1 2]"},
		{"bad cells make bad rows", "a,b\n1,\n,2\nNA,x\n1,1e400\n3,4\n", "a,b", "[1 -] [- 2] bad [1 -] [3 4]"},
		{"bad cells elsewhere do not", "a,b\n1,\n2,x\n", "a", "[1] [2]"},
		{"extremes", "a\n1e308\n5e-324\n-1e308\n", "a", "[1e+308] [5e-324] [-1e+308]"},
		{"blank lines between wide rows", "\n\na,b\n\n1,2\n\n", "a,b", "[1 2]"},
		{"blank lines in one column are rows", "a\n\n1\n\n\n2\n", "a", "bad [1] bad bad [2]"},
		{"and those behind the last row too", "a\n1\n\n2\n\n\r\n\n", "a", "[1] bad [2] bad bad bad"},
		{"quoted or not", "a\n\"1\"\n\n2\n\n\r\n", "a", "[1] bad [2] bad bad"},
		{"and with CRLF", "\r\na\r\n\r\n1\r\n\r\n", "a", "bad [1] bad"},
		{"and quoted ones", "a\n\"\"\n1\n\" \"\n", "a", "bad [1] bad"},
		{"but not in a quoted cell", "a\n1\n\"\n\n\"\n2\n", "a", "[1] bad [2]"},
		{"nor around a quoted number", "a\n\"\n\n5\n\n\"\n2\n", "a", "[5] [2]"},
		{"marks of other separators in names", "\"a;b\",\"c;\td\",e;f,P(x|y)\n1,2,3,4\n", "P(x|y)", "[4]"},
		{"tabs around names", "\ta,\tb\t,c\t\n1,2,3\n", "a,b,c", "[1 2 3]"},
		{"a quoted comma makes no second column", "\"a,b\"\n\n1\n", `"a,b"`, "bad [1]"},
		{"bytes that are no UTF-8 in text", "a,t\n1,caf\xe9\n", "a", "[1]"},
		{"zero bytes in a cell", "a,b\n1,\x00\n2,3\n", "a,b", "[1 -] [2 3]"},
		{"a column called label is nothing special", "x,label\n1,0\n2,1\n", "", "[1 0] [2 1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, rows, err := readAll(t, c.text, c.columns)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(rows); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if r := table.Report(); r.Rows != len(rows) || r.BadRows != bad(rows) {
				t.Errorf("report counts %d rows and %d bad ones for %s", r.Rows, r.BadRows, show(rows))
			}
		})
	}
}

// secret stands for a cell in the tests of error texts.
const secret = "73519"

// TestMistakes: every malformed input is an *Error that says where and how to fix it, and shows no
// cell.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, columns, want string }{
		{"empty", "", "a", "want a header row and rows of numbers, got nothing"},
		{"blank", "\n\r\n", "a", "got nothing"},
		{"header alone, declared", "a,b\n", "a", "got a header alone"},
		{"header alone, inferred", "a,b\n", "", "got a header alone"},
		{"header alone, one column", "a", "a", "got a header alone"},
		{"long row", "a,b\n1,2\n1,2," + secret + "\n", "a", "line 3: want 2 cells, as in the header, got 3"},
		{"short row", "a,b\n" + secret + "\n", "a", "line 2: want 2 cells, as in the header, got 1"},
		{"ragged in one column", "a\n1," + secret + "\n", "a", "line 2: want 1 cell, as in the header, got 2; where numbers have a decimal comma: --csv"},
		{"ragged, inferred", "a,b\n1,2\n" + secret + "\n", "", "line 3"},
		{"doubled name", "a,b,a\n1,2,3\n", "b", "header, column 3: want a name of its own, got that of column 1"},
		{"doubled number without a header row", secret + "," + secret + "\n1,2\n", "", "header, column 2"},
		{"empty name", "a,,b\n1,2,3\n", "a", "header, column 2: want a name, got an empty one"},
		{"blank name", "a,\" \",b\n1,2,3\n", "a", "header, column 2"},
		{"semicolons and a comma", "name;size (a,b);x\n1;2;3\n", "x", "got semicolons"},
		{"as many semicolons as commas", "a;b,c\n1,2\n", "c", "got semicolons"},
		{"semicolons in one pair of quotes", "\"a;b\"\n1;2\n", "a", "got semicolons"},
		{"two marks", "a;b\tc\n1;2\t3\n", "a", "want names separated by one mark, got tabs and others"},
		{"tabs and a comma", "a, b\tc\n1\t2\n", "a", "got tabs"},
		{"bars and a comma", "a|b, c|d\n1|2|3\n", "a", "got bars"},
		{"CR alone", "a,b\r1,2\r3,4\r", "a", "end lines with LF or CRLF"},
		{"zero bytes", "a\x00,b\n1,2\n", "a", "zero bytes"},
		{"names of rows alone", "a,b\nr1,1,2\n", "a", "col.names=NA"},
		{"unclosed quote", "a,b\n1,2\n\"" + secret + ",4\n5,6\n", "a", "line 3: want cells quoted whole or not at all"},
		{"stray quote", "a,b\n1," + secret + "\"x\n", "a", "line 2"},
		{"stray quote in the header", "a\"x,b\n1,2\n", "b", "line 1"},
		{"unclosed quote in the header", "\"a,b\n1,2\n", "b", "line 1"},
		{"column not there", "age,bmi\n1,2\n", "age,height,sex", `the declared columns "height", "sex", got only "age", "bmi"`},
		{"column not there, case", "Age\n1\n", "age", `did you mean "Age"?`},
		{"name without its unit", "age (years),bmi\n1,2\n", "age", `did you mean "age (years)"?`},
		{"no kind", "age\n1\n", "age:years", "kinds behind a name are :number, :count, "},
		{"no header row, declared", secret + ",2\n3,4\n", "age", "got a first row that reads as data"},
		{"no header row, a cell that begins as a name", "Age " + secret + ",2\n3,4\n", "age,bmi", "got a first row that reads as data; fix"},
		{"no header row, inferred", secret + ",2\n3,4\n", "", "header: want a row of column names, got what reads as data in column 1, 2; add the header row"},
		{"declared column without a number", "a,b,c\n1,x,\n2,y,NA\n", "a,b,c", `columns "b", "c": want at least one number in each, got none`},
		{"dates that are none", "a,b\n1,1/2/2003\n2,\n", "a,b:date", `want at least one date, as 2006-01-02 or 2.1.2006, got none`},
		{"nothing to infer", "a,b\nx,\ny,\n", "", `want at least one column of numbers, got none in "a", "b"`},
		{"zip", "PK\x03\x04....", "a", "got a zip archive or a spreadsheet"},
		{"Parquet", "PAR1......", "a", "got a Parquet file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(t, c.text, c.columns)
			var mistake *Error
			if !errors.As(err, &mistake) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q in it", err, c.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error shows a cell: %q", err)
			}
			if mistake.Field == "" || mistake.Wanted == "" || mistake.Got == "" || mistake.Hint == "" {
				t.Errorf("a part is empty: %#v", mistake)
			}
		})
	}
}

func pack(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEncodings(t *testing.T) {
	const text = "a,größe\n1,2\nx,3\n4,5\n"
	const want = "[2 1] [3 -] [5 4]"
	recode := func(e unicode.Endianness) []byte {
		b, err := unicode.UTF16(e, unicode.UseBOM).NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	schema, _ := ParseColumns("größe,a")
	for name, data := range map[string][]byte{
		"plain.csv":     []byte(text),
		"noextension":   []byte(text),
		"le.csv":        recode(unicode.LittleEndian),
		"be.csv":        recode(unicode.BigEndian),
		"packed.csv.gz": pack(t, text),
		"packed.csv":    pack(t, text),
		"members.gz":    append(pack(t, text[:12]), pack(t, text[12:])...),
		"both.csv.gz":   pack(t, string(recode(unicode.LittleEndian))),
		"bom.csv.gz":    pack(t, "\ufeff"+text),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{path, "stdin"} {
			table, err := opened(input, iotest.OneByteReader(bytes.NewReader(data)), schema)
			if err != nil {
				t.Errorf("%s as %s: %v", name, input, err)
				continue
			}
			var rows kept
			if err := table.Read(&rows); err != nil || show(rows) != want {
				t.Errorf("%s as %s: got %s, %v", name, input, show(rows), err)
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestDamagedGzip(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,%d\n", i*i%7919, i)
	}
	whole := pack(t, text.String())
	flipped := slices.Clone(whole)
	flipped[len(flipped)-6] ^= 1
	middle := slices.Clone(whole)
	for i := range 64 {
		middle[len(middle)/2+i] ^= 0xff
	}
	for name, data := range map[string][]byte{
		"cut": whole[:len(whole)/2], "cut in the first bytes": whole[:3], "checksum": flipped, "middle": middle, "trailer": append(whole, "junk and more of it"...),
	} {
		_, _, err := readAll(t, string(data), "a,b")
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%s: got %v, want an *Error", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "t.csv.gz")
	if err := os.WriteFile(path, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openedFile(t, path); err == nil || !strings.Contains(err.Error(), "want gzip data, as the name says") {
		t.Errorf("plain text named .gz: got %v", err)
	}
}

// TestReadFailure: a failing disk is no mistake of the custodian's, and is passed on as it is.
func TestReadFailure(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, before := range []string{"", "a,", "a,b\n", "a,b\n1,2\n", "a\n1\n\n"} {
		in := io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken))
		table, err := opened("stdin", in, &Schema{Columns: []Column{{Name: "a"}}})
		if err == nil {
			err = table.Read(&kept{})
		}
		var mistake *Error
		if !errors.Is(err, broken) || errors.As(err, &mistake) {
			t.Errorf("after %q: got %v", before, err)
		}
	}
}

// TestProtected: what depends on rows does not print or encode by accident.
func TestProtected(t *testing.T) {
	table, _, err := readAll(t, "a,b\n"+secret+",x\n2,\n"+secret+",3\n", "a,b")
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(map[string]any{"report": table.Report(), "table": table})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(encoded), fmt.Sprintf("%v %+v %#v %s", table.Report(), table.Report(), table.Report(), table.Report()),
		fmt.Sprintf("%v %+v %#v %s", table, table, table, table)} {
		if strings.Count(text, "[protected]") < 2 || strings.ContainsAny(text, "0123456789") {
			t.Errorf("prints %s", text)
		}
	}
	if text := table.Report().Text(); !strings.Contains(text, `column "b": 1 missing, 0 not finite, 1 not a number`) || strings.Contains(text, secret) {
		t.Errorf("Text() = %s", text)
	}
}

// TestHeaderReadsNoRow: Foresee, and Of with a schema, succeed where the first row is malformed.
func TestHeaderReadsNoRow(t *testing.T) {
	const text = "a,b\n1,2,3\n"
	for _, c := range []struct {
		schema *Schema
		want   string
	}{{inferred, "[a b] false"}, {Named([]string{"b"}), "[b] true"}} {
		reader, err := CSV("stdin", io.NopCloser(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		columns, known, err := Foresee(reader, c.schema)
		if got := fmt.Sprint((&Schema{Columns: columns}).Names(), known); err != nil || got != c.want {
			t.Errorf("Foresee: %s, %v; want %s", got, err, c.want)
		}
	}
	if _, err := opened("stdin", strings.NewReader(text), &Schema{Columns: []Column{{Name: "a"}}}); err != nil {
		t.Errorf("Of: %v", err)
	}
}

// TestFraction: a file says how much of it was read, as stored, and anything else says nothing.
func TestFraction(t *testing.T) {
	var text strings.Builder
	text.WriteString("a\n")
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		fmt.Fprintln(&text, rng.Float64())
	}
	for name, data := range map[string][]byte{"t.csv": []byte(text.String()), "t.csv.gz": pack(t, text.String())} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := openedFile(t, path)
		if err != nil {
			t.Fatal(err)
		}
		half := &at{row: 100_000, do: func() {
			if f := table.Fraction(); f < .4 || f > .6 {
				t.Errorf("%s: %v after half of the rows", name, f)
			}
		}}
		if err := table.Read(half); err != nil || table.Fraction() != 1 {
			t.Errorf("%s: %v, %v in the end", name, err, table.Fraction())
		}
	}
	table, _, err := readAll(t, "a\n1\n", "a")
	if err != nil || table.Fraction() != 0 {
		t.Errorf("no file: %v, %v", table.Fraction(), err)
	}
}

// at is a sink that does something at a row.
type at struct {
	rows, row int
	do        func()
}

func (a *at) Append([]float64, string, int) {
	if a.rows++; a.rows == a.row {
		a.do()
	}
}

// The header alone says the delimiter, where it has marks of one kind and no comma, and that text
// is of one byte a letter, where it is none of UTF-8; a first column without a name holds names of
// rows.
func TestHeaderTells(t *testing.T) {
	for text, columns := range map[string]string{
		"a;b\n1;2\n": "a,b", "a\tb\n1\t2\n": "a,b", "a|b\n1|2\n": "a,b", "\"a\";\"b\"\n1;2\n": "a,b", "\"a\"\t\"b\"\n1\t2\n": "a,b",
		"caf\xe9;b\n1;2\n": "café,b", "a,b\n1,2\n": "a,b", "\"\",\"a\",\"b\"\n\"r1\",1,2\n": "a,b", ",a,b\n0,1,2\n": "a,b", ";a;b\n0;1;2\n": "a,b",
	} {
		_, rows, err := readAll(t, text, columns)
		if err != nil || fmt.Sprint(rows) != "[[1 2]]" {
			t.Errorf("%q: got %v, %v", text, rows, err)
		}
	}
}
