package gauze

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// answers is a database whose every query has the same answer.
type answers struct {
	names []string
	rows  [][]driver.Value
	fault error // in place of an end
}

func (a *answers) Connect(context.Context) (driver.Conn, error) { return a, nil }
func (a *answers) Driver() driver.Driver                        { return nil }
func (a *answers) Prepare(string) (driver.Stmt, error)          { return a, nil }
func (a *answers) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (a *answers) NumInput() int                                { return 0 }
func (a *answers) Exec([]driver.Value) (driver.Result, error)   { return nil, errors.ErrUnsupported }
func (a *answers) Query([]driver.Value) (driver.Rows, error)    { c := *a; return &c, nil }
func (a *answers) Columns() []string                            { return a.names }
func (a *answers) Close() error                                 { return nil }

func (a *answers) Next(row []driver.Value) error {
	switch {
	case len(a.rows) > 0:
		copy(row, a.rows[0])
		a.rows = a.rows[1:]
		return nil
	case a.fault != nil:
		return a.fault
	}
	return io.EOF
}

// answered asks a database that answers so.
func answered(t *testing.T, a *answers) *sql.Rows {
	t.Helper()
	db := sql.OpenDB(a)
	t.Cleanup(func() { db.Close() })
	rows, err := db.Query("rows")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestFrom: rows of slices, of an iterator, of a query and of a reader of one's own are read alike.
func TestFrom(t *testing.T) {
	rows := [][]float64{{40, 25}, {math.NaN(), 30}, {60, math.Inf(1)}}
	columns := []source.Column{{Name: "age", RoundedTo: 1}, {Name: "bmi"}}
	answer := &answers{names: []string{"id", "bmi", "age"}, rows: [][]driver.Value{
		{"a", []byte("25.0"), int64(40)}, {"b", 30., nil}, {"b", math.Inf(1), "60"}}}
	for name, open := range map[string]func() (*Input, error){
		"rows": func() (*Input, error) { return FromRows(rows, columns...) },
		"seq":  func() (*Input, error) { return FromSeq(slices.Values(rows), columns...) },
		"sql": func() (*Input, error) {
			return FromSQL(answered(t, answer), &source.Schema{Columns: columns, Unit: source.NoUnit})
		},
		"reader": func() (*Input, error) {
			return FromReader(source.Seq(slices.Values(rows), []string{"age", "bmi"}), &source.Schema{Columns: columns})
		},
	} {
		in, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		table, err := in.Load(privacy.ReplaceOne, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, _ := table.Rows()
		r, report := in.Request(), in.Report()
		if n != 3 || report.BadRows != 2 || report.Columns[0].Missing != 1 || report.Columns[1].NotFinite != 1 || r.SchemaInferred ||
			!reflect.DeepEqual(r.Columns, columns) {
			t.Errorf("%s: %d rows, %+v, %+v", name, n, report, r)
		}
		if _, err := in.Load(privacy.ReplaceOne, nil); err == nil || !strings.Contains(err.Error(), "a second") {
			t.Errorf("%s: read twice: %v", name, err)
		}
		if err := in.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFromSQLRoles: persons, groups and cells of every type that a driver may have.
func TestFromSQLRoles(t *testing.T) {
	now := time.Now()
	in, err := FromSQL(answered(t, &answers{names: []string{"person", "sex", "x", "when", "ok"}, rows: [][]driver.Value{
		{int64(7), "f", 1., now, true}, {int64(7), "f", "2", now, true}, {"8", []byte("m"), nil, now, false}, {nil, "f", 3., now, true},
	}}), &source.Schema{Columns: Named("x"), Unit: "person", By: []source.Grouping{{Name: "sex", Categories: []string{"f", "m"}}}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := in.LoadGroups(nil)
	if err != nil {
		t.Fatal(err)
	}
	if report := in.Report(); g.rows != 3 || report.NoPerson != 1 || report.Rows != 4 {
		t.Errorf("%d persons, %+v", g.rows, report)
	}
	for _, column := range []string{"when", "ok"} {
		in, err := FromSQL(answered(t, &answers{names: []string{"when", "ok"}, rows: [][]driver.Value{{now, true}}}), &source.Schema{Columns: Named(column)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Load(privacy.ReplaceOne, nil); err == nil || !strings.Contains(err.Error(), "at least one number") {
			t.Errorf("%s: got %v", column, err)
		}
	}
}

// TestFromMistakes: what is wrong is an error that says what was wanted, never a panic.
func TestFromMistakes(t *testing.T) {
	broken := errors.New("the line is dead")
	for want, open := range map[string]func() (*Input, error){
		"row 2: want 2 numbers":        func() (*Input, error) { return FromRows([][]float64{{1, 2}, {3}}, Named("a", "b")...) },
		"row 1: want 1 number":         func() (*Input, error) { return FromRows([][]float64{nil}, Named("a")...) },
		"rows: want at least one":      func() (*Input, error) { return FromRows(nil, Named("a")...) },
		"want at least one column":     func() (*Input, error) { return FromRows([][]float64{{1}}) },
		"every column once":            func() (*Input, error) { return FromRows([][]float64{{1, 2}}, Named("a", "a")...) },
		"rows: wanted an iterator":     func() (*Input, error) { return FromSeq(nil, Named("a")...) },
		"reader: wanted a source.Read": func() (*Input, error) { return FromReader(nil, nil) },
		"wanted the rows of a query":   func() (*Input, error) { return FromSQL(nil, nil) },
		"the line is dead": func() (*Input, error) {
			return FromSQL(answered(t, &answers{names: []string{"a"}, rows: [][]driver.Value{{1.}}, fault: broken}), &source.Schema{Columns: Named("a")})
		},
		`the declared columns "b"`: func() (*Input, error) {
			return FromSQL(answered(t, &answers{names: []string{"a"}}), &source.Schema{Columns: Named("b")})
		},
	} {
		in, err := open()
		if err == nil {
			_, err = in.Load(privacy.ReplaceOne, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	var failed *Input
	if _, err := failed.Load(privacy.ReplaceOne, nil); err == nil || failed.Close() != nil || failed.Request().Columns != nil {
		t.Errorf("an input that is none: %v", err)
	}
}
