package inputs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/source"
)

// kept is a sink that keeps copies of the rows.
type kept [][]float64

func (k *kept) Append(row []float64, _ string, _ int) { *k = append(*k, slices.Clone(row)) }

// read reads an input and returns what was kept of it, as text.
func read(input string, schema *source.Schema) (string, error) {
	table, err := Open(input, strings.NewReader("a\n7\n"), schema)
	if err != nil {
		return "", err
	}
	defer table.Close()
	var rows kept
	err = table.Read(&rows)
	return fmt.Sprint(table.Columns(), rows), err
}

// folder writes files; names that end in .gz are packed.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			packed := gzip.NewWriter(file)
			packed.Write([]byte(text))
			packed.Close()
		} else {
			file.WriteString(text)
		}
		file.Close()
	}
	return dir
}

// TestFiles: the files of a pattern are one table, in the order of their names, with the columns of
// the first whatever their order.
func TestFiles(t *testing.T) {
	dir := folder(t, map[string]string{"b1.csv": "a,b\n1,2\n3,4\n", "b2.csv.gz": "b,a\n6,5\n", "b10.csv": "a,b\n7,8", "b3.csv": "b,a\n", "x[1].csv": "a\n9\n", "x1.csv": "a\n1\n"})
	for pattern, want := range map[string]string{
		"b*":        "[b a] [[2 1] [4 3] [8 7] [6 5]]",
		"b?.csv*":   "[b a] [[2 1] [4 3] [6 5]]",
		"b[13].csv": "[b a] [[2 1] [4 3]]",
	} {
		got, err := read(filepath.Join(dir, pattern), source.Named([]string{"b", "a"}))
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", pattern, got, err, want)
		}
	}
	if got, err := read(filepath.Join(dir, "b*"), &source.Schema{Infer: true}); err != nil || got != "[a b] [[1 2] [3 4] [7 8] [5 6]]" {
		t.Errorf("inferred: got %s, %v", got, err)
	}
	if got, err := read(filepath.Join(dir, "x[1].csv"), &source.Schema{Infer: true}); err != nil || got != "[a] [[9]]" {
		t.Errorf("a file whose name is a pattern: got %s, %v", got, err)
	}
}

// TestFilesOfTypes: where the files of a pattern differ about a column, cells decide, or the type
// that cannot be fitted.
func TestFilesOfTypes(t *testing.T) {
	dir := folder(t, nil)
	for _, name := range []string{"v1-snappy-dictionary", "v2-gzip-delta"} {
		data, err := os.ReadFile("../parquet/testdata/" + name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".parquet"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	columns, known, err := Foresee(filepath.Join(dir, "*.parquet"), nil, &source.Schema{Infer: true})
	if err != nil || !known || len(columns) != 17 {
		t.Errorf("foresaw %d columns, %v, %v", len(columns), known, err)
	}
	if got, err := read(filepath.Join(dir, "*.parquet"), source.Named([]string{"last"})); err != nil || strings.Count(got, "23") != 2 {
		t.Errorf("got %s, %v", got, err)
	}
	csv, err := os.ReadFile("../parquet/testdata/cells.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), csv, 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Open(filepath.Join(dir, "*"), nil, &source.Schema{Infer: true, Unit: source.NoUnit}) // one table three times
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var rows kept
	if err := table.Read(&rows); err != nil || len(rows) != 72 || !table.Inferred() || !slices.Contains(table.Columns(), "truth") || !slices.Contains(table.Columns(), "int8") {
		t.Errorf("%d rows of %q, %v", len(rows), table.Columns(), err)
	}
}

// TestFilesThatDiffer: a mistake names its file.
func TestFilesThatDiffer(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"2.csv, header: want the 2 columns of the first file that the pattern matches, in any order, got others": {"1.csv": "a,b\n1,2\n", "2.csv": "a,c\n1,2\n"},
		"2.csv, header: want the 1 columns":            {"1.csv": "a\n1\n", "2.csv": "a,c\n1,2\n"},
		"2.csv, line 3: want 2 cells, as in the heade": {"1.csv": "a,b\n1,2\n", "2.csv": "a,b\n1,2\n3\n", "3.csv": "a,b\n1,2\n"},
		"2.csv, input: want a header row":              {"1.csv": "a,b\n1,2\n", "2.csv": ""},
	} {
		_, err := read(filepath.Join(folder(t, files), "*.csv"), source.Named([]string{"a"}))
		var mistake *source.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestLocalFiles(t *testing.T) {
	dir := folder(t, map[string]string{"b.csv": "", "a.csv": "", "[x].csv": ""})
	for input, want := range map[string][]string{
		"-": nil, "postgres://h/d?table=t": nil, dir + "/*.parquet": nil, "sqlite:a%25b.db?table=t": {"a%b.db"}, "no.csv": {"no.csv"},
		dir + "/[x].csv": {dir + "/[x].csv"}, dir + "/?.csv": {dir + "/a.csv", dir + "/b.csv"},
	} {
		if got := Files(input); !slices.Equal(got, want) && !(want == nil && strings.Contains(input, "*")) {
			t.Errorf("Files(%q) = %q, want %q", input, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for input, want := range map[string]string{
		"":                                   "an empty name",
		"mysql://me:hunter2@db/x?table=t":    `the scheme "mysql"`,
		"https://example.org/a.csv":          `the scheme "https"`,
		filepath.Join(t.TempDir(), "no.csv"): "no such file",
		filepath.Join(t.TempDir(), "*.csv"):  "which matches none",
		filepath.Join(t.TempDir(), "[.csv"):  "which matches none",
		t.TempDir():                          "the folder",
	} {
		_, err := Open(input, nil, nil)
		var mistake *source.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): got %v, want %q in it", input, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error shows a password: %v", err)
		}
	}
	if got, err := read("-", &source.Schema{Infer: true}); err != nil || got != "[a] [[7]]" {
		t.Errorf("stdin: got %s, %v", got, err)
	}
	for _, input := range []string{`C:\data\a.csv`, "./a:b.csv", "a_b:c.csv"} {
		if scheme, ok := schemeOf(input); ok {
			t.Errorf("schemeOf(%q) = %q, want none", input, scheme)
		}
	}
}

// TestFraction: of files that are read one after the other, each counts as one.
func TestFraction(t *testing.T) {
	dir := folder(t, map[string]string{"1.csv": "a\n1\n", "2.csv": "a\n2\n", "3.csv.gz": "a\n3\n", "4.csv": "a\n4\n"})
	table, err := Open(filepath.Join(dir, "*.csv*"), nil, source.Named([]string{"a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if got := table.Fraction(); got != .25 {
		t.Errorf("with one small file open: %v", got)
	}
	var rows kept
	if err := table.Read(&rows); err != nil || table.Fraction() != 1 {
		t.Errorf("in the end: %v, %v", table.Fraction(), err)
	}
}
