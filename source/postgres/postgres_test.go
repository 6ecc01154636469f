package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/source"
)

const script = `
CREATE TYPE mood AS ENUM ('fine', 'ill');
CREATE TABLE cells (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, num numeric, txt text, moods mood, yes bool, born date, at timestamptz, several int[], price money, who int8);
INSERT INTO cells VALUES
 (-32768, -2147483648, 9007199254740993, 0.1, '-0', 123456789012345678901234567890.123456789, '0.1', 'fine', true, '1999-02-03', '1970-01-01 01:02:03+02', '{1}', 5, 1),
 (32767, 2147483647, -9223372036854775808, '-0', 5e-324, 0.1, ' 7 ', 'ill', false, '0001-01-01', '2020-01-01', NULL, 5, 2),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (0, 0, 0, 'NaN', 'NaN', 'NaN', 'NA', 'ill', NULL, NULL, NULL, NULL, NULL, 9223372036854775807),
 (1, 1, 1, 'Infinity', '-Infinity', 'Infinity', '1e400', 'fine', NULL, NULL, NULL, NULL, NULL, 5),
 (2, 2, 2, 3.4e38, 1e308, 1e308, 'abc', 'fine', NULL, NULL, NULL, NULL, NULL, 5);
CREATE SCHEMA ward; CREATE TABLE ward."odd ""name""; DROP TABLE cells; --" (a float8); INSERT INTO ward."odd ""name""; DROP TABLE cells; --" VALUES (1), (2);
CREATE TABLE words (a text, b date);
CREATE FUNCTION spoil() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN DELETE FROM cells; RETURN 1; END';
`

// TestPostgres holds what needs a server.
func TestPostgres(t *testing.T) {
	base := pgtest.Start(t)
	conn, err := pgconn.Connect(context.Background(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	do := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	do(script)
	t.Run("Cells", func(t *testing.T) { testCells(t, base) })
	t.Run("Types", func(t *testing.T) { testTypes(t, base) })
	t.Run("Mistakes", func(t *testing.T) { testMistakes(t, base) })
	t.Run("Ranges", func(t *testing.T) { testRanges(t, base, do) })
	t.Run("OneState", func(t *testing.T) {
		do("CREATE TABLE grows AS SELECT i::float8 FROM generate_series(1, 5) AS i")
		r, err := Open(base + "?table=grows")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		do("INSERT INTO grows VALUES (6)")
		if rows, _, err := read(r, []string{"i"}, nil); err != nil || len(rows) != 5 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
}

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
	values, kinds, text := make([]float64, len(columns)), make([]source.Kind, len(columns)), make([]string, len(labels))
	for {
		if err := r.Next(values, kinds, text); err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, texts, err
		}
		row := make([]string, len(columns))
		for i := range row {
			row[i] = fmt.Sprint("bad", kinds[i])
			if kinds[i] == source.Number {
				row[i] = fmt.Sprintf("%v", values[i])
			}
		}
		rows, texts = append(rows, row), append(texts, slices.Clone(text))
	}
}

// testCells: numbers as text of the same values has them, nulls missing, what is not finite bad.
func testCells(t *testing.T, base string) {
	wide, big := float64(9007199254740993), 123456789012345678901234567890.123456789
	want := [][]string{
		{"-32768", "-2.147483648e+09", fmt.Sprint(wide), "0.1", fmt.Sprint(math.Copysign(0, -1)), fmt.Sprint(big), "0.1"},
		{"32767", "2.147483647e+09", fmt.Sprint(float64(math.MinInt64)), "-0", "5e-324", "0.1", "7"},
		{"bad1", "bad1", "bad1", "bad1", "bad1", "bad1", "bad1"},
		{"0", "0", "0", "bad1", "bad1", "bad1", "bad1"},
		{"1", "1", "1", "bad2", "bad2", "bad2", "bad2"},
		{"2", "2", "2", "3.4e+38", "1e+308", "1e+308", "bad3"},
	}
	labels := [][]string{
		{"fine", "true", "1999-02-03", "1969-12-31 23:02:03+00", "1"}, {"ill", "false", "0001-01-01", "2020-01-01 00:00:00+00", "2"},
		{"", "", "", "", ""}, {"ill", "", "", "", "9223372036854775807"}, {"fine", "", "", "", "5"}, {"fine", "", "", "", "5"},
	}
	for _, input := range []string{"?table=cells", "?table=public.cells&connect_timeout=60", "?query=select * from cells;", "?connect_timeout=60&query=" + url.PathEscape("with x as (select * from cells) select * from x")} {
		r, err := Open(base + input)
		if err != nil {
			t.Fatal(err)
		}
		rows, texts, err := read(r, []string{"i2", "i4", "i8", "f4", "f8", "num", "txt"}, []string{"moods", "yes", "born", "at", "who"})
		if err != nil || fmt.Sprint(rows) != fmt.Sprint(want) || fmt.Sprint(texts) != fmt.Sprint(labels) {
			t.Errorf("%s: got %v\n%v\n%v, want\n%v\n%v", input, err, rows, texts, want, labels)
		}
	}
	r, err := Open(base + "?table=" + url.PathEscape(`ward.odd "name"; DROP TABLE cells; --`))
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := read(r, []string{"a"}, nil); err != nil || fmt.Sprint(rows) != "[[1] [2]]" {
		t.Errorf("an odd name: got %v, %v", rows, err)
	}
}

// testTypes: columns are chosen by type, without a row, and what is no number is refused.
func testTypes(t *testing.T, base string) {
	open := func(input string) source.Reader {
		r, err := Open(base + input)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	columns, known, err := source.Foresee(open("?query=select who as visit_id, * from cells"), &source.Schema{Infer: true})
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); err != nil || !known || got != "i2 i4 i8 f4 f8 num yes who" {
		t.Errorf("chose %s, %v, %v", got, known, err)
	}
	for name, want := range map[string]string{"born": "extract(epoch", "at": "extract(epoch", "several": "nested values", "price": "column::numeric"} {
		if _, err := source.Of(open("?table=cells"), source.Named([]string{name})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", name, err, want)
		}
	}
	if _, _, err := source.Foresee(open("?table=words"), &source.Schema{Infer: true}); err == nil || !strings.Contains(err.Error(), "want at least one column of numbers, got none") {
		t.Errorf("no numbers: got %v", err)
	}
}

// testMistakes: nothing is changed, no error shows a password or a cell, and all say what is wrong.
func testMistakes(t *testing.T, base string) {
	wrong := strings.Replace(base, pgtest.Password, "s3cret%2Fword", 1)
	for input, want := range map[string]string{
		base:                                                "table=T or query=Q behind the ?, got neither",
		base + "?table=a&query=b":                           "got both",
		base + "?query=select 1 %":                          "a % that begins no two digits",
		base + "?table=nobody":                              `relation "nobody" does not exist`,
		base + "?table=cells where":                         `relation "cells where" does not exist`,
		base + "?query=selec 1":                             "syntax error",
		base + "?query=begin":                               "a query that returns rows",
		base + "?query=select 1; select 2":                  "multiple commands",
		base + "?query=delete from cells returning i2":      "a query that only reads",
		base + "?query=select spoil() as i2":                "a query that only reads",
		base + "?query=select nextval('x') as i2":           "does not exist",
		base + "?query=select txt::float8 as i2 from cells": "with the code 22P02",
		wrong + "?table=cells":                              "connection to PostgreSQL",
		strings.Replace(base, "gauze:", "gauze:%zz", 1) + "?table=cells": "a URL that is none",
		"postgres://gauze:s3cret/word@127.0.0.1:1/x?table=cells":         "input",
	} {
		r, err := Open(input)
		if err == nil {
			_, _, err = read(r, []string{"i2"}, nil)
		}
		var mistake *source.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", input, err, want)
			continue
		}
		for _, secret := range []string{pgtest.Password, "s3cret", "abc"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: shows %s: %v", input, secret, err)
			}
		}
	}
	r, err := Open(base + "?table=cells")
	if err != nil {
		t.Fatal(err)
	}
	if rows, _, err := read(r, []string{"i2"}, nil); err != nil || len(rows) != 6 {
		t.Errorf("%d rows are left, %v", len(rows), err)
	}
}
