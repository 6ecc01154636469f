package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/gauze-dp/gauze/source"
)

const script = `
CREATE TABLE cells (i INTEGER, r REAL, n NUMERIC, txt TEXT, any, yes BOOLEAN, born DATE, at DATETIME, raw BLOB, who INTEGER);
INSERT INTO cells VALUES (9007199254740993, 0.1, 1e308, '0.1', 5, 1, '1999-02-03', 1000000000, x'00ff', 17);
INSERT INTO cells VALUES (-9223372036854775808, -0.0, 5e-324, ' 7 ', '6', 0, '0001-01-01', '2020-01-01 10:00:00', 'x', '18');
INSERT INTO cells VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO cells VALUES ('abc', 1e999, 'NA', '1e400', x'35', 'yes', 5, 5.5, 1, 0.5);
CREATE TABLE "odd ""name"" %" ("a ""b""" REAL); INSERT INTO "odd ""name"" %" VALUES (1), (2);
CREATE TABLE words (a TEXT);
`

func made(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	defer os.Rename(filepath.Join(filepath.Dir(path), "new"), path)
	conn, err := new(sqlite.Driver).Open(filepath.Dir(path) + "/new")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), script, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRowsOnce: a statement that has ended is not run again, nor is any row there twice where the
// schema is inferred from all of them.
func TestRowsOnce(t *testing.T) {
	r, err := Open("sqlite:" + made(t, "a.db") + "?query=SELECT i+0.5 AS x FROM cells UNION ALL SELECT 1.5")
	if err != nil {
		t.Fatal(err)
	}
	table, err := source.Of(r, &source.Schema{Infer: true})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var rows counted
	if err := table.Read(&rows); err != nil || rows != 5 {
		t.Errorf("%d rows of 5, %v", rows, err)
	}
	for range 2 {
		if err := r.Next(make([]float64, 1), make([]source.Kind, 1), nil); err != io.EOF {
			t.Errorf("behind the last row: %v", err)
		}
	}
}

type counted int

func (c *counted) Append([]float64, string, int) { *c++ }

// read reads the columns and the labels; a bad cell is its kind.
func read(r source.Reader, columns, labels []string) (rows [][]string, texts [][]string, err error) {
	defer r.Close()
	at := func(names []string) (out []int) {
		for _, name := range names {
			out = append(out, slices.Index(r.Header(), name))
		}
		return out
	}
	r.Select(at(columns), at(labels))
	values, kinds, text := slices.Repeat([]float64{0}, len(columns)), slices.Repeat([]source.Kind{0}, len(columns)), slices.Repeat([]string{""}, len(labels))
	for {
		if err := r.Next(values, kinds, text); err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, texts, err
		}
		var row []string
		for i := range columns {
			if kinds[i] == source.Number {
				row = append(row, fmt.Sprint(values[i]))
			} else {
				row = append(row, fmt.Sprint("bad", kinds[i]))
			}
		}
		rows, texts = append(rows, row), append(texts, slices.Clone(text))
	}
}

// TestCells: cells are read by what they hold, whatever their column is declared as; text as CSV.
func TestCells(t *testing.T) {
	path := made(t, "t.db")
	want := [][]string{
		{fmt.Sprint(float64(9007199254740993)), "0.1", "1e+308", "0.1", "5"}, {fmt.Sprint(float64(math.MinInt64)), "0", "5e-324", "7", "6"},
		{"bad1", "bad1", "bad1", "bad1", "bad1"}, {"bad3", "bad2", "bad1", "bad2", "bad3"},
	}
	labels := [][]string{{"1", "1999-02-03", "1000000000", "17"}, {"0", "0001-01-01", "2020-01-01 10:00:00", "18"}, {"", "", "", ""}, {"yes", "5", "5.5", "0.5"}}
	for _, input := range []string{"sqlite:" + path + "?table=cells", "sqlite://" + path + "?query=SELECT * FROM cells -- all;", "sqlite:" + path + "?query=select * from cells where 1%2B1 = 1+1 ; "} {
		r, err := Open(input)
		if err != nil {
			t.Fatal(err)
		}
		rows, texts, err := read(r, []string{"i", "r", "n", "txt", "any"}, []string{"yes", "born", "at", "who"})
		if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) || fmt.Sprint(texts) != fmt.Sprint(labels) {
			t.Errorf("%s: got %v\n%v\n%v, want\n%v\n%v", input, err, rows, texts, want, labels)
		}
	}
	r, err := Open(`sqlite:` + path + `?table=odd "name" %25`)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := read(r, []string{`a "b"`}, nil); err != nil || fmt.Sprint(rows) != "[[1] [2]]" {
		t.Errorf("odd names: got %v, %v", rows, err)
	}
	odd := strings.NewReplacer("%", "%25", "?", "%3F").Replace(made(t, "50% a?b#c.db"))
	if r, err = Open("sqlite:" + odd + "?table=cells"); err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// TestTypes: columns are chosen by their declarations, and by cells where there is none.
func TestTypes(t *testing.T) {
	input := "sqlite:" + made(t, "t.db")
	open := func(more string) source.Reader {
		r, err := Open(input + more)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for more, want := range map[string]string{"?table=cells": "i r n any yes raw who false", "?query=select i, r as x, i%2Br as sum, txt from cells": "i x sum false", "?query=select i from (select i, r from cells)": "i true"} {
		columns, known, err := source.Foresee(open(more), &source.Schema{Infer: true})
		got := ""
		for _, c := range columns {
			got += c.Name + " "
		}
		if got += fmt.Sprint(known); err != nil || got != want {
			t.Errorf("%s: chose %s, %v; want %s", more, got, err, want)
		}
	}
	for name, want := range map[string]string{"born": "points in time; fit numbers", "at": "points in time"} {
		if _, err := source.Of(open("?table=cells"), source.Named([]string{name})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
	if _, _, err := source.Foresee(open("?table=words"), &source.Schema{Infer: true}); err == nil || !strings.Contains(err.Error(), "got none") {
		t.Errorf("no numbers: got %v", err)
	}
}

// TestMistakes: nothing is changed, and every error says what is wrong.
func TestMistakes(t *testing.T) {
	path := made(t, "t.db")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "t.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	attached := filepath.Join(t.TempDir(), "new.db")
	for input, want := range map[string]string{
		path:                          "table=T or query=Q behind the ?, got neither",
		path + "?table=cells&mode=rw": "nothing else",
		path + "?table=nobody":        "no such table: nobody",
		path + "?query=delete from cells returning i":                                                  "syntax error",
		path + "?query=select 1 as i); delete from cells; select * from (select 1 as i":                "",
		path + "?query=select 1 as i); attach '" + attached + "' as y; create table y.a(b); select (1": "want one statement",
		text + "?table=cells":        "not a database",
		path + "x?table=cells":       "no such file",
		t.TempDir() + "?table=cells": "input",
	} {
		r, err := Open("sqlite:" + input)
		if err == nil {
			_, _, err = read(r, []string{"i"}, nil)
		}
		var mistake *source.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", input, err, want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the database was changed")
	}
	if _, err := os.Stat(attached); err == nil {
		t.Error("another database was made")
	}
}
