package gauze

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	pq "github.com/parquet-go/parquet-go"
	"modernc.org/sqlite"

	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/piped"
)

// A mixed row holds what formats differ in: floats, decimals, wide whole numbers, gaps.
type mixed struct {
	A *float64 `parquet:"a,optional"`
	B int64    `parquet:"b,decimal(4:18)"` // of 1/10000
	C int64    `parquet:"c"`
	D *float32 `parquet:"d,optional"`
}

// cells are the row as CSV has it, "" for a gap.
func (m mixed) cells() [4]string {
	c := [4]string{1: fmt.Sprintf("%s%d.%04d", map[bool]string{true: "-"}[m.B < 0], max(m.B, -m.B)/10000, max(m.B, -m.B)%10000), 2: strconv.FormatInt(m.C, 10)}
	if m.A != nil {
		c[0] = strconv.FormatFloat(*m.A, 'g', -1, 64)
	}
	if m.D != nil {
		c[3] = strconv.FormatFloat(float64(*m.D), 'g', -1, 32)
	}
	return c
}

func mixedRows(t *testing.T, n int) []mixed {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 17))
	hard := []float64{math.Copysign(0, -1), 5e-324, -2.2250738585072011e-308, 1e308, -1e308, math.MaxFloat64, .1, 1 << 53, 1e22, 123456789.123456789}
	wide := []int64{1<<53 + 1, -1<<53 - 1, math.MaxInt64, math.MinInt64, 0}
	rows := make([]mixed, n)
	for i := range rows {
		a, d := rng.NormFloat64()*math.Pow(10, float64(rng.IntN(20)-10)), float32(rng.IntN(2000)-1000)/10
		if i%7 == 0 {
			a = hard[rng.IntN(len(hard))]
		}
		rows[i] = mixed{A: &a, B: rng.Int64N(2e12) - 1e12, C: rng.Int64N(100), D: &d}
		switch rng.IntN(12) {
		case 0:
			rows[i].A = nil
		case 1:
			rows[i].D = nil
		case 2:
			rows[i].C = wide[rng.IntN(len(wide))]
		case 3:
			rows[i].B = 900719925474099300 + rng.Int64N(1000) // wider than 2^53
		}
	}
	return rows
}

// TestSourcesAgree: one table through every source gives the kernel the same integers, whatever
// the scale that they are asked at, and however the rows arrive.
func TestSourcesAgree(t *testing.T) {
	rows := mixedRows(t, 3000)
	inputs, dir := map[string]string{}, t.TempDir()
	for name, write := range map[string]func(*testing.T, string, []mixed) string{"csv": writeCSV, "gzip": writeGzip, "pattern": writePattern, "parquet": writeParquet, "sqlite": writeSQLite} {
		inputs[name] = write(t, dir, rows)
	}
	want := sums(t, rows, nil)
	check := func(t *testing.T, name string, open func() (*Input, error)) {
		t.Helper()
		for _, look := range []func(*Input) string{func(in *Input) string { return sameCells(rows, in) }, func(in *Input) string {
			table, err := in.Load(privacy.ReplaceOne, nil)
			if err != nil {
				return err.Error()
			}
			if got := sums(t, nil, table); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
				return fmt.Sprintf("the sums are %v\nwant %v", got, want)
			}
			return ""
		}} {
			in, err := open()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if fault := look(in); fault != "" {
				t.Errorf("%s: %s", name, fault)
			}
			in.Close()
		}
	}
	named := func(input string, stdin io.Reader, schema *source.Schema) func() (*Input, error) {
		return func() (*Input, error) { return Open(input, stdin, schema) }
	}
	schema := source.Named([]string{"a", "b", "c", "d"})
	for name, input := range inputs {
		check(t, name, named(input, nil, schema))
		check(t, name+", columns chosen", named(input, nil, &source.Schema{Infer: true}))
	}
	check(t, "stdin", func() (*Input, error) { return Open("-", bytes.NewReader(csvOf(rows)), schema) })
	check(t, "rows of a program", func() (*Input, error) { return Open("-", bytes.NewReader(mixedPiped(t, rows)), schema) })
	check(t, "a reader of one's own", func() (*Input, error) { return FromReader(&memory{rows: rows}, schema) })
	t.Run("PostgreSQL", func(t *testing.T) {
		base := pgtest.Start(t)
		fillPostgres(t, base, rows)
		// ordered, because a table has no order: not even that in which its rows were inserted
		for _, input := range []string{"?table=ordered", "?query=select d, c, b, a from mixed order by i"} {
			check(t, input, named(base+input, nil, schema))
		}
	})
}

// float is what a cell of CSV hands over: NaN where it is bad.
func float(cell string) float64 {
	v, kind := source.ParseCell(cell)
	if kind != source.Number {
		return math.NaN()
	}
	return v
}

// cellsSink compares rows with what they should be, bit for bit but for the sign of zero, which
// SQLite does not keep and no sum sees.
type cellsSink struct {
	rows  []mixed
	n     int
	fault string
}

func (c *cellsSink) Append(row []float64, _ string, _ int) {
	for j, cell := range c.rows[c.n].cells() {
		if want := float(cell); row[j] != want && !(math.IsNaN(row[j]) && math.IsNaN(want)) {
			c.fault = fmt.Sprintf("row %d, column %d: %v, want %v", c.n, j, row[j], want)
		}
	}
	c.n++
}

// sameCells says where an input's rows differ.
func sameCells(rows []mixed, in *Input) string {
	sink := &cellsSink{rows: rows}
	if err := in.table.Read(sink); err != nil || sink.n != len(rows) {
		return fmt.Sprintf("%d rows, %v", sink.n, err)
	}
	return sink.fault
}

// sums are exact integer answers about a table, at several scales; of rows if there is none.
func sums(t *testing.T, rows []mixed, table *kernel.Table) [][]int64 {
	t.Helper()
	if table == nil {
		b := kernel.NewBuilder(4)
		for _, row := range rows {
			values := make([]float64, 4)
			for j, cell := range row.cells() {
				values[j] = float(cell)
			}
			b.Append(values)
		}
		table = b.Protect(privacy.ReplaceOne)
	}
	var record kerneltest.Transcript
	terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Rho: 1}}
	const step = "moments"
	asked := func(scale float64) query.ClippedMoments {
		frame := query.Affine{Center: make([]float64, 4)}
		for j := range 4 {
			w := make([]float64, 4)
			w[j] = scale
			frame.W = append(frame.W, w)
		}
		return query.ClippedMoments{Form: query.FullForm, Lift: .5, Components: []query.Component{{Map: frame, Radius: 2}}}
	}
	scales := []float64{1e-300, 1e-17, 1e-9, 1e-3, 1, 1e6, 1e300}
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: step, Query: asked(1).Kind(), Share: 1, Most: len(scales)}}}
	session := kerneltest.Open(t, table, plan, terms, kerneltest.Options{Exact: true, Record: &record})
	for _, scale := range scales {
		if _, err := session.SubBudget().Sum(step, asked(scale), session.Mu()*math.Sqrt(.99/float64(len(scales)))); err != nil {
			t.Fatal(err)
		}
	}
	return record.Sums
}

// memory is a reader of one's own.
type memory struct {
	rows []mixed
	at   int
	pick []int
}

func (m *memory) Header() []string        { return []string{"a", "b", "c", "d"} }
func (m *memory) Select(columns, _ []int) { m.pick = columns }
func (m *memory) Close() error            { return nil }
func (m *memory) Next(values []float64, kinds []source.Kind, _ []string) error {
	if m.at == len(m.rows) {
		return io.EOF
	}
	cells := m.rows[m.at].cells()
	m.at++
	for i, j := range m.pick {
		values[i], kinds[i] = source.ParseCell(cells[j])
	}
	return nil
}

func csvOf(rows []mixed) []byte {
	var b bytes.Buffer
	b.WriteString("a,b,c,d\n")
	for _, row := range rows {
		cells := row.cells()
		b.WriteString(strings.Join(cells[:], ",") + "\n")
	}
	return b.Bytes()
}

func writeFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeCSV(t *testing.T, dir string, rows []mixed) string {
	return writeFile(t, dir, "t.csv", csvOf(rows))
}

func writeGzip(t *testing.T, dir string, rows []mixed) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(csvOf(rows))
	w.Close()
	return writeFile(t, dir, "t.csv.gz", b.Bytes())
}

func writePattern(t *testing.T, dir string, rows []mixed) string {
	for i, part := range slices.Collect(slices.Chunk(rows, 1100)) {
		writeFile(t, dir, fmt.Sprintf("part%d.csv", i), csvOf(part))
	}
	return filepath.Join(dir, "part*.csv")
}

func writeParquet(t *testing.T, dir string, rows []mixed) string {
	var b bytes.Buffer
	w := pq.NewGenericWriter[mixed](&b, pq.MaxRowsPerRowGroup(700), pq.PageBufferSize(999), pq.Compression(&pq.Zstd))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, "t.parquet", b.Bytes())
}

// mixedPiped is a stream of batches, as the package in Python writes them.
func mixedPiped(t *testing.T, rows []mixed) []byte {
	t.Helper()
	var batches [][]any
	for part := range slices.Chunk(rows, 700) {
		var a []float64
		var b, c []string
		var d []float32
		for _, row := range part {
			cells := row.cells()
			a, b, c, d = append(a, math.NaN()), append(b, cells[1]), append(c, cells[2]), append(d, float32(math.NaN()))
			if row.A != nil {
				a[len(a)-1] = *row.A
			}
			if row.D != nil {
				d[len(d)-1] = *row.D
			}
		}
		batches = append(batches, []any{a, b, c, d})
	}
	return pipedOf(t, []string{"a", "b", "c", "d"}, batches...)
}

// pipedOf is a stream of batches of columns: float64, float32, or text, "" for a missing one.
func pipedOf(t *testing.T, names []string, batches ...[]any) []byte {
	t.Helper()
	var header [][2]string
	var body []byte
	for _, batch := range batches {
		header = nil
		body = binary.LittleEndian.AppendUint32(body, uint32(reflect.ValueOf(batch[0]).Len()))
		for j, column := range batch {
			kind := reflect.TypeOf(column).Elem().String()
			text, ok := column.([]string)
			if !ok {
				body, _ = binary.Append(body, binary.LittleEndian, column)
			} else {
				kind = "text"
			}
			for _, cell := range text {
				size := int32(len(cell))
				if size == 0 {
					size = -1
				}
				body = binary.LittleEndian.AppendUint32(body, uint32(size))
			}
			body = append(body, strings.Join(text, "")...)
			header = append(header, [2]string{names[j], kind})
		}
	}
	said, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	begin := binary.LittleEndian.AppendUint32([]byte(piped.Magic), uint32(len(said)))
	return slices.Concat(begin, said, body, make([]byte, 4))
}

// valuesOf are rows for INSERT.
func valuesOf(rows []mixed) string {
	var b strings.Builder
	for i, row := range rows {
		cells := row.cells()
		for j := range cells {
			if cells[j] == "" {
				cells[j] = "NULL"
			}
		}
		fmt.Fprintf(&b, "%s(%d, %s)", map[bool]string{true: ", "}[i > 0], i, strings.Join(cells[:], ", "))
	}
	return b.String()
}

func writeSQLite(t *testing.T, dir string, rows []mixed) string {
	path := filepath.Join(dir, "t.db")
	conn, err := new(sqlite.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	statements := "CREATE TABLE mixed (row_id INTEGER PRIMARY KEY, a REAL, b DECIMAL(18, 4), c INTEGER, d REAL); INSERT INTO mixed VALUES " + valuesOf(rows)
	if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), statements, nil); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path + "?table=mixed"
}

func fillPostgres(t *testing.T, base string, rows []mixed) {
	conn, err := pgconn.Connect(context.Background(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	quoted := strings.ReplaceAll(valuesOf(rows), "-0,", "'-0',") // a literal -0 is the whole number
	statements := "CREATE TABLE mixed (i int, a float8, b numeric(18, 4), c int8, d float4); CREATE VIEW ordered AS SELECT * FROM mixed ORDER BY i; INSERT INTO mixed VALUES " + quoted
	if _, err := conn.Exec(context.Background(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}
