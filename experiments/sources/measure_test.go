// Package sources measures what reading a table costs beside its fit, from every kind of input.
//
//	GAUZE_SOURCES=1 go test -run Measure -v -timeout 60m ./experiments/sources
//	GAUZE_SOURCES=reading go test -run Measure -v ./experiments/sources # without the memory
//
// Each input is read by a process of its own, which says what CPU time reading and fitting took and
// what its memory was at most. The tables that docs/SOURCES.md shows are what it logs.
package sources

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/parquet-go/parquet-go"
	"modernc.org/sqlite"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/pgtest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/source"
)

const (
	asked = "GAUZE_SOURCES" // set by who wants the measurement
	// readingAlone leaves the memory out.
	readingAlone = "reading"
	oneInput     = "GAUZE_SOURCES_ONE" // set for the process that reads one input
)

// A job is what that process is told, and an answer what it prints.
type (
	job struct {
		Input string
		D     int
		Fits  []string // methods
	}
	answer struct {
		Rows int
		Read float64   // CPU seconds
		Fits []float64 // .. of each method
		Peak float64   // MB, after reading
	}
)

// gcPercent is that of cmd/gauze.
const gcPercent = 50

func TestMain(m *testing.M) {
	text := os.Getenv(oneInput)
	if text == "" {
		os.Exit(m.Run())
	}
	debug.SetGCPercent(gcPercent)
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	a, err := j.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(a)
}

// used is the CPU time in seconds and the largest memory in MB of this process so far.
func used() (cpu, peak float64) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + 1e-6*float64(t.Usec) }
	return seconds(r.Utime) + seconds(r.Stime), float64(r.Maxrss) / 1024
}

func (j job) run() (a answer, err error) {
	in, err := gauze.Open(j.Input, nil, source.Named(model.DefaultColumns(j.D)))
	if err != nil {
		return a, err
	}
	defer in.Close()
	before, _ := used()
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		return a, err
	}
	after, peak := used()
	a.Rows, a.Read, a.Peak = in.Report().Rows, after-before, peak
	for _, method := range j.Fits {
		r := in.Request()
		r.Relation, r.Budget, r.Method = privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-8}, method
		before, _ := used()
		if _, err := gauze.Fit(context.Background(), table, r); err != nil {
			return a, err
		}
		after, _ := used()
		a.Fits = append(a.Fits, after-before)
	}
	return a, nil
}

// ask lets a process of its own do a job.
func ask(t *testing.T, j job) (a answer) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), oneInput+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &a)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a
}

// TestMeasure measures, and checks what has to hold: reading takes less CPU time than the fit, and
// memory is that of the table.
func TestMeasure(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skipf("it takes some ten minutes and 3 GB of disk: %s=1 asks for it", asked)
	}
	base, dir := pgtest.Start(t), t.TempDir()
	const n, d, times = 1_000_000, 10, 3
	inputs := []struct{ name, input string }{
		{"CSV", writeCSV(t, dir, n, d)}, {"CSV, gzip", ""}, {"Parquet", writeParquet(t, dir, n, d)}, {"SQLite", writeSQLite(t, dir, n, d)}, {"PostgreSQL", fillPostgres(t, base, n, d)},
	}
	if out, err := exec.Command("gzip", "-k", inputs[0].input).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inputs[1].input = inputs[0].input + ".gz"
	fits := ask(t, job{Input: inputs[2].input, D: d, Fits: []string{"gaussian", "auto"}}).Fits
	t.Logf("CPU seconds of the fit: gaussian %.2f, auto %.2f; of reading:", fits[0], fits[1])
	t.Logf("| input | seconds |")
	for _, in := range inputs {
		var read []float64
		for range times {
			a := ask(t, job{Input: in.input, D: d})
			if read = append(read, a.Read); a.Rows != n || a.Read > fits[1] {
				t.Errorf("%s: %d rows in %.2f s", in.name, a.Rows, a.Read)
			}
		}
		slices.Sort(read)
		t.Logf("| %s | %.2f (%.2f to %.2f) |", in.name, read[times/2], read[0], read[times-1])
	}
	if os.Getenv(asked) == readingAlone {
		return
	}
	const wide = 3
	t.Logf("| input | rows | table, MB | peak, MB |")
	for _, rows := range []int{n, 10 * n} {
		for name, input := range map[string]string{"Parquet": writeParquet(t, dir, rows, wide), "PostgreSQL": fillPostgres(t, base, rows, wide)} {
			a := ask(t, job{Input: input, D: wide})
			table := float64(rows) * wide * 8 / (1 << 20)
			t.Logf("| %s | %d | %.0f | %.0f |", name, rows, table, a.Peak)
			if a.Rows != rows || a.Peak > 2*table+200 {
				t.Errorf("%s: %d rows, peak %.0f MB", name, a.Rows, a.Peak)
			}
		}
	}
}

// rowsOf calls f with every row: a mixture of three components in boxes of ten standard deviations,
// numbers of six digits.
func rowsOf(n, d int, f func(row []float64)) {
	const digits = 6
	rng := rand.New(rand.NewPCG(17, uint64(d)))
	row := make([]float64, d)
	for range n {
		c := float64(rng.IntN(3))
		for j := range row {
			v := 100 + 10*c*float64(1+j%3) + rng.NormFloat64()
			row[j], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
		}
		f(row)
	}
}

func writeText(w io.Writer, n, d int, header bool) error {
	out := bufio.NewWriterSize(w, 1<<16)
	if header {
		out.WriteString(strings.Join(model.DefaultColumns(d), ",") + "\n")
	}
	var line []byte
	rowsOf(n, d, func(row []float64) {
		line = line[:0]
		for j, v := range row {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		out.Write(append(line, '\n'))
	})
	return out.Flush()
}

func create(t *testing.T, dir, name string) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func writeCSV(t *testing.T, dir string, n, d int) string {
	file := create(t, dir, "t.csv")
	defer file.Close()
	if err := writeText(file, n, d, true); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

func writeParquet(t *testing.T, dir string, n, d int) string {
	group := parquet.Group{}
	names := model.DefaultColumns(d)
	for _, name := range names {
		group[name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	}
	schema := parquet.NewSchema("t", group) // which sorts its columns
	file := create(t, dir, fmt.Sprintf("t%d-%d.parquet", n, d))
	defer file.Close()
	w := parquet.NewWriter(file, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<20))
	cells := make(parquet.Row, d)
	var err error
	rowsOf(n, d, func(row []float64) {
		for at, field := range schema.Fields() {
			j, _ := strconv.Atoi(strings.TrimLeft(field.Name(), "x"))
			cells[at] = parquet.DoubleValue(row[j-1]).Level(0, 1, at)
		}
		if _, failed := w.WriteRows([]parquet.Row{cells}); failed != nil {
			err = failed
		}
	})
	if closed := w.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return file.Name()
}

func columnsAs(d int, kind string) string {
	return strings.Join(model.DefaultColumns(d), " "+kind+", ") + " " + kind
}

func writeSQLite(t *testing.T, dir string, n, d int) string {
	path := filepath.Join(dir, "t.db")
	conn, err := new(sqlite.Driver).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	do := func(sql string, args []driver.NamedValue) {
		if _, err := conn.(driver.ExecerContext).ExecContext(context.Background(), sql, args); err != nil {
			t.Fatal(err)
		}
	}
	do("PRAGMA synchronous = OFF; CREATE TABLE t ("+columnsAs(d, "REAL")+"); BEGIN", nil)
	insert, err := conn.Prepare("INSERT INTO t VALUES (" + strings.Repeat("?, ", d-1) + "?)")
	if err != nil {
		t.Fatal(err)
	}
	args := make([]driver.NamedValue, d)
	rowsOf(n, d, func(row []float64) {
		for j, v := range row {
			args[j] = driver.NamedValue{Ordinal: j + 1, Value: v}
		}
		if _, err := insert.(driver.StmtExecContext).ExecContext(context.Background(), args); err != nil {
			t.Fatal(err)
		}
	})
	insert.Close()
	do("COMMIT", nil)
	return "sqlite:" + path + "?table=t"
}

func fillPostgres(t *testing.T, base string, n, d int) string {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	table := fmt.Sprintf("t%d_%d", n, d)
	if _, err := conn.Exec(ctx, "CREATE UNLOGGED TABLE "+table+" ("+columnsAs(d, "float8")+")").ReadAll(); err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	go func() { in.CloseWithError(writeText(in, n, d, false)) }()
	if _, err := conn.CopyFrom(ctx, out, "COPY "+table+" FROM STDIN WITH (FORMAT csv)"); err != nil {
		t.Fatal(err)
	}
	return base + "?table=" + table
}
