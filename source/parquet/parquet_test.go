package parquet

import (
	"bytes"
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

	pq "github.com/parquet-go/parquet-go"

	"github.com/gauze-dp/gauze/source"
)

// A table is what a reader returned: numbers by their bits, bad cells by their kinds, and labels.
type table struct {
	rows   [][]string
	labels [][]string
}

// read reads the columns, those of labels as text.
func read(r source.Reader, columns, labels []string) (table, error) {
	defer r.Close()
	at := func(names []string) (out []int) {
		for _, name := range names {
			out = append(out, slices.Index(r.Header(), name))
		}
		return out
	}
	r.Select(at(columns), at(labels))
	var t table
	values, kinds, texts := make([]float64, len(columns)), make([]source.Kind, len(columns)), make([]string, len(labels))
	for {
		err := r.Next(values, kinds, texts)
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		row := make([]string, len(columns))
		for i := range row {
			row[i] = fmt.Sprint("bad: ", kinds[i])
			if kinds[i] == source.Number {
				row[i] = fmt.Sprintf("%v %x", values[i], math.Float64bits(values[i]))
			}
		}
		t.rows = append(t.rows, row)
		for i := range texts {
			texts[i] = strings.TrimSpace(texts[i])
		}
		t.labels = append(t.labels, slices.Clone(texts))
	}
}

func open(t testing.TB, path string) source.Reader {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".csv") {
		r, err := source.CSV(path, file)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r, err := Of(path, file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSameAsCSV: a table that pyarrow wrote in all its versions, compressions and encodings has the
// numbers of the same table as CSV, bit for bit, and the same text where columns are labels.
func TestSameAsCSV(t *testing.T) {
	fitted := []string{"double", "double_gaps", "float", "half", "int8", "int32", "int64", "uint32", "uint64", "money32", "money64", "dec_wide", "dec_wider", "text", "same", "nothing", "last"}
	labels := []string{"int8", "int32", "int64", "uint64", "money32", "money64", "dec_wider", "text", "truth", "date", "stamp"}
	want, err := read(open(t, "testdata/cells.csv"), fitted, labels)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/v*.parquet")
	if err != nil || len(paths) < 7 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		got, err := read(open(t, path), fitted, labels)
		if strings.Contains(path, "brotli") {
			if err == nil || !strings.Contains(err.Error(), "got BROTLI; write it again") {
				t.Errorf("%s: got %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if len(got.rows) != len(want.rows) {
			t.Errorf("%s: %d rows, want %d", path, len(got.rows), len(want.rows))
			continue
		}
		for i := range want.rows {
			for j, name := range fitted {
				if got.rows[i][j] != want.rows[i][j] {
					t.Errorf("%s, row %d, %s: got %s, want %s", path, i, name, got.rows[i][j], want.rows[i][j])
				}
			}
			for j, name := range labels {
				if got.labels[i][j] != want.labels[i][j] {
					t.Errorf("%s, row %d, label %s: got %s, want %s", path, i, name, got.labels[i][j], want.labels[i][j])
				}
			}
		}
	}
}

// TestTypes: what can be fitted, and what is refused with a hint.
func TestTypes(t *testing.T) {
	r := open(t, "testdata/v2-zstd-dictionary.parquet")
	var got []string
	for i, kind := range r.(source.Typed).Types() {
		what := "refused"
		switch {
		case kind.Numbers:
			what = "numbers"
		case kind.Hint == "":
			what = "read as CSV"
		}
		if name := r.Header()[i]; what != "numbers" {
			got = append(got, name+" "+what)
		}
	}
	if want := "[text read as CSV truth refused date refused stamp refused nested refused]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	r.Close()
	for name, want := range map[string]string{"date": "days since 1970", "stamp": "seconds since 1970", "nested": "one value to a row"} {
		if _, err := source.Of(open(t, "testdata/v2-zstd-dictionary.parquet"), source.Named([]string{name})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
	number := &source.Schema{Columns: []source.Column{{Name: "truth", Kind: source.Numbers}}}
	if _, err := source.Of(open(t, "testdata/v2-zstd-dictionary.parquet"), number); err == nil || !strings.Contains(err.Error(), "say yes-no") {
		t.Errorf("truth values as numbers: %v", err)
	}
	truth, err := source.Of(open(t, "testdata/v2-zstd-dictionary.parquet"), source.Named([]string{"truth"}))
	if err != nil {
		t.Fatal(err)
	}
	if c := truth.Schema().Columns[0]; c.Kind != source.YesNo || c.RoundedTo != 1 {
		t.Errorf("a column of truth values is %+v", c)
	}
	truth.Close()
	if _, err := read(open(t, "testdata/v2-zstd-dictionary.parquet"), []string{"int8"}, []string{"nested"}); err == nil || !strings.Contains(err.Error(), "want plain cells") {
		t.Errorf("a nested label: got %v", err)
	}
}

// TestSelectAgain: fewer columns between two rows leave the rows where they were.
func TestSelectAgain(t *testing.T) {
	r := open(t, "testdata/v1-snappy-dictionary.parquet")
	defer r.Close()
	at := func(name string) int { return slices.Index(r.Header(), name) }
	values, kinds, labels := make([]float64, 2), make([]source.Kind, 2), make([]string, 1)
	r.Select([]int{at("last"), at("int8")}, []int{at("text")})
	for i := range 24 {
		if i == 3 {
			r.Select([]int{at("int8")}, []int{at("text")})
			values, kinds = values[:1], kinds[:1]
		}
		if err := r.Next(values, kinds, labels); err != nil {
			t.Fatal(err)
		}
		if got, want := values[len(values)-1], float64(i-12); got != want {
			t.Errorf("row %d: got %v, want %v", i, got, want)
		}
	}
	if err := r.Next(values, kinds, labels); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// TestOtherWriter: files of parquet-go's own writer, with pages and groups of many sizes.
func TestOtherWriter(t *testing.T) {
	type row struct {
		A float64  `parquet:"a"`
		B *int64   `parquet:"b,optional,dict"`
		C *float32 `parquet:"c,optional,split,zstd"`
		D string   `parquet:"d,dict,snappy"`
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var rows []row
		for range rng.IntN(3000) {
			r := row{A: rng.NormFloat64(), D: fmt.Sprint(rng.IntN(300))}
			if rng.IntN(3) > 0 {
				v := rng.Int64N(50)
				r.B = &v
			}
			if rng.IntN(100) > 0 {
				v := float32(rng.IntN(1000)) / 10
				r.C = &v
			}
			rows = append(rows, r)
		}
		var file bytes.Buffer
		w := pq.NewGenericWriter[row](&file, pq.PageBufferSize(100+rng.IntN(5000)), pq.MaxRowsPerRowGroup(int64(1+rng.IntN(2000))), pq.DataPageVersion(1+rng.IntN(2)))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(open(t, path), []string{"c", "a", "b"}, []string{"d"})
		if err != nil || len(got.rows) != len(rows) {
			t.Fatalf("%d rows of %d, %v", len(got.rows), len(rows), err)
		}
		cell := func(v float64, there bool) string {
			if !there {
				return fmt.Sprint("bad: ", source.Missing)
			}
			return fmt.Sprintf("%v %x", v, math.Float64bits(v))
		}
		for i, r := range rows {
			want := []string{cell(0, false), cell(r.A, true), cell(0, false)}
			if r.C != nil {
				want[0] = cell(math.Round(float64(*r.C)*10)/10, true)
			}
			if r.B != nil {
				want[2] = cell(float64(*r.B), true)
			}
			if !slices.Equal(got.rows[i], want) || got.labels[i][0] != r.D {
				t.Fatalf("row %d: got %v %v, want %v %s", i, got.rows[i], got.labels[i], want, r.D)
			}
		}
	}
}

// TestDamaged: whatever a byte is changed to, there is an error or a table, and no error shows
// more than that the file is damaged.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile("testdata/v1-snappy-dictionary.parquet")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "t.parquet")
	faults := 0
	for range 400 {
		data := slices.Clone(whole)
		switch rng.IntN(10) {
		case 0:
			data = data[:rng.IntN(len(data))]
		case 1:
			data = data[rng.IntN(len(data)):]
		default:
			data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Of("t", file)
		if err == nil {
			columns := r.Header()
			if len(columns) > 14 {
				columns = columns[:14]
			}
			_, err = read(r, columns, nil)
		}
		var mistake *source.Error
		if err != nil && !errors.As(err, &mistake) {
			t.Fatalf("got %v", err)
		}
		if err != nil {
			faults++
		}
	}
	if faults < 100 {
		t.Errorf("%d of 400 damages were found", faults)
	}
}
