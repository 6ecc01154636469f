package source

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// FuzzRead: any bytes are read without a panic, into whole rows or an error, and the same way in
// one piece or byte by byte; and where a plain reading of the whole text by encoding/csv succeeds,
// the rows are those.
func FuzzRead(f *testing.F) {
	dirty, err := os.ReadFile("testdata/dirty.csv")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(dirty), "a\n\n1\n\r\n\"\"\n2", "a,b\n1,2\n", "\ufeffa\r\n1\r\n", "\xff\xfea\x00\n\x001\x00\n\x00", "\x1f\x8b",
		string(pack(f, "a,b\n1,2\n")), "a;b\n1;2\n", "\"a\"\"b\",c\n1,\"2\n\"\n", "a,b\n1e400,0x1\n", "a\r1\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, rows, err := readAll(t, text, "")
		if err != nil {
			return
		}
		for _, row := range rows {
			if len(row) != len(table.columns) {
				t.Fatalf("row of %d values for %d columns", len(row), len(table.columns))
			}
		}
		if s := show(rows); strings.Contains(s, "HALF") || strings.Contains(s, "Inf") {
			t.Fatalf("half a row: %s", s)
		}
		schema := table.Schema()
		slow, err := opened("stdin", &oneByte{text}, schema)
		if err != nil {
			t.Fatalf("inferred columns cannot be declared: %v", err)
		}
		var same kept
		if err := slow.Read(&same); err != nil || show(same) != show(rows) {
			t.Fatalf("byte by byte: %s, %v; want %s", show(same), err, show(rows))
		}
		checkPlainly(t, text, table, rows)
	})
}

// oneByte reads a text byte by byte.
type oneByte struct{ text string }

func (o *oneByte) Read(p []byte) (int, error) { return strings.NewReader(o.next()).Read(p) }

func (o *oneByte) next() string {
	if o.text == "" {
		return ""
	}
	c := o.text[:1]
	o.text = o.text[1:]
	return c
}

// checkPlainly is the second, dumb implementation: all at once, for text of two columns or more.
func checkPlainly(t *testing.T, text string, table *Table, rows kept) {
	if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.TrimLeadingSpace = true
	records, err := r.ReadAll()
	if err != nil {
		t.Fatalf("read what encoding/csv does not: %v", err)
	}
	if len(records[0]) == 1 {
		return
	}
	var want kept
	for _, record := range records[1:] {
		row := make([]float64, len(table.columns))
		for i, c := range table.columns {
			for j, name := range records[0] {
				if strings.TrimSpace(name) != c.Name {
					continue
				}
				v, kind := ParseCell(record[j])
				if row[i] = v; kind != Number {
					row[i] = math.NaN()
				}
			}
		}
		want = append(want, row)
	}
	if show(rows) != show(want) {
		t.Fatalf("got %s, want %s", show(rows), show(want))
	}
}

func FuzzParseCell(f *testing.F) {
	for _, seed := range []string{"1", "1e400", "NaN", "-", "0x1", "1_0", " 5 ", "infinity"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		v, kind := ParseCell(cell)
		if math.IsNaN(v) || math.IsInf(v, 0) || kind != Number && v != 0 {
			t.Fatalf("ParseCell(%q) = %v, %v", cell, v, kind)
		}
	})
}

// discard is a sink that keeps nothing.
type discard struct{}

func (discard) Append([]float64, string, int) {}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("a,b,c,d,e,f,g,h,i,j\n")
	for i := range 20000 {
		for j := range 9 {
			fmt.Fprintf(&text, "%.6g,", math.Sin(float64(i*10+j))*1000)
		}
		text.WriteString("17\n")
	}
	for _, columns := range []string{"a,b,c,d,e,f,g,h,i,j", "a,j", ""} {
		b.Run("columns="+columns, func(b *testing.B) {
			var schema *Schema
			if columns != "" {
				schema, _ = ParseColumns(columns)
			}
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				table, err := opened("stdin", strings.NewReader(text.String()), schema)
				if err != nil {
					b.Fatal(err)
				}
				if err := table.Read(discard{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
