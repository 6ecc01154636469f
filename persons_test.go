package gauze

import (
	"bytes"
	"context"
	"database/sql/driver"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	pq "github.com/parquet-go/parquet-go"
	"modernc.org/sqlite"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// keys keeps the person of every row.
type keys []string

func (k *keys) Append(_ []float64, person string, _ int) { *k = append(*k, person) }

// TestPersonsOfNumbers: labels that read as one number are one person with one key, from every
// source, and whole numbers beyond 2^53 are told apart.
func TestPersonsOfNumbers(t *testing.T) {
	const text = "id,x\n7,1\n7.0,1\n07,1\n7e0,1\n+7,1\n 7 ,1\n9007199254740992,1\n9007199254740993,1\n-0,1\n0.0,1\n,1\nNA,1\na7,1\n"
	ofText := []string{"7", "7", "7", "7", "7", "7", "9007199254740992", "9007199254740993", "0", "0", "", "", "a7"}
	quoted := strings.NewReplacer("\n7,", "\n\"7\",", "\n 7 ,", "\n\" 7 \",", "\n7.0,", "\n\"7.0\",").Replace(text)
	wide := []string{"7", "9007199254740992", "9007199254740993", "0"} // of whole numbers
	halves := []string{"7", "7", "9007199254740992", "0", "75e-1", ""} // of floats
	dir, x := t.TempDir(), []source.Column{{Name: "x"}}
	of := func(rows [][]driver.Value) func() (*Input, error) {
		return func() (*Input, error) {
			return FromSQL(answered(t, &answers{names: []string{"id", "x"}, rows: rows}), &source.Schema{Columns: x, Unit: "id"})
		}
	}
	named := func(input string, stdin io.Reader) func() (*Input, error) {
		return func() (*Input, error) { return Open(input, stdin, &source.Schema{Columns: x, Unit: "id"}) }
	}
	check := func(name string, want []string, open func() (*Input, error)) {
		t.Helper()
		in, err := open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer in.Close()
		var got keys
		if err := in.table.Read(&got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v\nwant %q", name, []string(got), err, want)
		}
	}
	check("CSV", ofText, named(writeFile(t, dir, "a.csv", []byte(text)), nil))
	check("CSV with quotes", ofText, named(writeFile(t, dir, "q.csv", []byte(quoted)), nil))
	check("stdin, UTF-16", ofText, named("-", strings.NewReader(utf16le(text))))
	check("a pattern", slices.Concat(ofText, ofText), named(filepath.Join(dir, "[aq].csv"), nil))
	ofProgram := func(id any, n int) func() (*Input, error) {
		return named("-", bytes.NewReader(pipedOf(t, []string{"id", "x"}, []any{id, slices.Repeat([]float64{1}, n)})))
	}
	check("rows of a program, whole numbers", append(slices.Clone(wide), ""), ofProgram([]string{"7", "9007199254740992", "9007199254740993", "0", ""}, 5))
	check("rows of a program, floats", halves, ofProgram([]float64{7, 7, 1<<53 + 1, math.Copysign(0, -1), 7.5, math.NaN()}, 6))
	check("rows of a program, decimals", []string{"7", "75e-1", "0"}, ofProgram([]string{"7.00", "7.50", "0.00"}, 3))
	check("Parquet, whole numbers", wide, named(parquetPersons(t, dir, func(i int) wholePerson { return wholePerson{[]int64{7, 1 << 53, 1<<53 + 1, 0}[i], 1} }, 4), nil))
	check("Parquet, floats", []string{"7", "9007199254740992", "0"}, named(parquetPersons(t, dir, func(i int) floatPerson { return floatPerson{[]float64{7, 1 << 53, 0}[i], 1} }, 3), nil))
	check("Parquet, decimals", []string{"7", "75e-1", "0"}, named(parquetPersons(t, dir, func(i int) decimalPerson { return decimalPerson{[]int64{700, 750, 0}[i], 1} }, 3), nil))
	check("Parquet, text", ofText[:6], named(parquetPersons(t, dir, func(i int) textPerson {
		return textPerson{[]string{"7", "7.0", "07", "7e0", "+7", " 7 "}[i], 1}
	}, 6), nil))
	check("SQLite", []string{"7", "7", "7", "9007199254740993", "9007199254740992", "", "1e6"}, named(sqlitePersons(t, dir), nil))
	check("rows of a query", []string{"7", "7", "7", "7", "9007199254740993", "9007199254740992", "1e6", "1e6", ""}, of([][]driver.Value{{int64(7), 1.}, {7., 1.}, {"07", 1.},
		{[]byte("7.00"), 1.}, {int64(1<<53 + 1), 1.}, {float64(1 << 53), 1.}, {1e6, 1.}, {int64(1000000), 1.}, {nil, 1.}}))
	t.Run("PostgreSQL", func(t *testing.T) {
		base := pgtest.Start(t)
		for query, want := range map[string][]string{
			"select 7.00::numeric as id, 1 as x union all select 07, 1 union all select 9007199254740993, 1": {"7", "7", "9007199254740993"},
			"select id, 1 as x from unnest(array[7, 7.5, 0, 1e22]::float8[]) id":                             {"7", "75e-1", "0", "1e22"},
			"select id, 1 as x from unnest(array['07', ' 7 ', '7.0', ' ', null, 'NA', 'a']) id":              {"7", "7", "7", "", "", "", "a"},
			"select id, 1 as x from unnest(array[7, 9007199254740993]::int8[]) id":                           {"7", "9007199254740993"},
		} {
			check(query, want, named(base+"?query="+query, nil))
		}
		conn, err := pgconn.Connect(context.Background(), base)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "CREATE TABLE persons (id numeric, x int); INSERT INTO persons VALUES (7.0, 1), (7, 2)").ReadAll(); err != nil {
			t.Fatal(err)
		}
		check("a table", []string{"7", "7"}, named(base+"?table=persons", nil))
	})
	in, err := named("-", strings.NewReader(text))()
	if err != nil {
		t.Fatal(err)
	}
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := table.Rows(); n != 7 { // 7, the two beyond 2^53, 0, two rows of nobody, a7
		t.Errorf("%d persons, want 7", n)
	}
}

func utf16le(text string) string {
	out := []byte{0xff, 0xfe}
	for i := range len(text) {
		out = append(out, text[i], 0)
	}
	return string(out)
}

type wholePerson struct {
	ID int64 `parquet:"id"`
	X  int64 `parquet:"x"`
}

type floatPerson struct {
	ID float64 `parquet:"id"`
	X  int64   `parquet:"x"`
}

type decimalPerson struct {
	ID int64 `parquet:"id,decimal(2:18)"`
	X  int64 `parquet:"x"`
}

type textPerson struct {
	ID string `parquet:"id"`
	X  int64  `parquet:"x"`
}

func parquetPersons[T any](t *testing.T, dir string, row func(i int) T, rows int) string {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b)
	for i := range rows {
		if _, err := w.Write([]T{row(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, t.TempDir(), "persons.parquet", b.Bytes())
}

// sqlitePersons is a table whose cells are of all types that SQLite has.
func sqlitePersons(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "persons.db")
	conn, err := new(sqlite.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const statements = "CREATE TABLE persons (id BLOB, x INTEGER); INSERT INTO persons VALUES (7, 1), (7.0, 1), ('07', 1), (9007199254740993, 1), (9007199254740992.0, 1), (null, 1), (1e6, 1)"
	if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), statements, nil); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path + "?table=persons"
}
