package source

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// repeated reads a header and then one line over and over.
type repeated struct {
	line string
	left int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// watcher is a sink that keeps the largest heap it sees.
type watcher struct {
	rows int
	most uint64
}

func (w *watcher) Append([]float64, string, int) {
	if w.rows++; w.rows%10_000 == 0 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		w.most = max(w.most, stats.HeapAlloc)
	}
}

// TestMemory: rows are not kept. The table is 20 MB as float64; reading it takes the look-ahead and
// small change.
func TestMemory(t *testing.T) {
	const rows, limit = 250_000, 12 << 20
	for _, schema := range []*Schema{inferred, {Columns: []Column{{Name: "a"}, {Name: "j"}}}} {
		in := &repeated{line: "1,2,3,4,5,6.5,7,8,,10\n", left: rows, rest: "a,b,c,d,e,f,g,h,i,j\n"}
		table, err := opened("stdin", in, schema)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC() // what earlier tests left behind is not this table's
		w := &watcher{}
		if err := table.Read(w); err != nil || w.rows != rows {
			t.Fatalf("%d rows, %v", w.rows, err)
		}
		if w.most > limit {
			t.Errorf("the heap grew to %d MB", w.most>>20)
		}
	}
}

// TestLongRecords: a record without an end is an error, whatever it is made of, and takes a bounded
// memory.
func TestLongRecords(t *testing.T) {
	const most = 300 << 20 // allocated altogether: buffers that grow are counted again and again
	for _, c := range []struct{ name, head, line string }{
		{"one cell", "", "1234567890"}, {"cells", "", "1,"}, {"a quote that is never closed", "\"", "x"}, {"lines in quotes", "1,\"", "y\n"},
		{"behind a quote", "\"1\",", "2"}, {"cells behind a quote", "\"1\"", ","}, {"quotes in quotes", "\"", "\"\""},
	} {
		in := &repeated{rest: "a,b\n1,2\n" + c.head, line: strings.Repeat(c.line, 1<<10), left: 1 << 20}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		table, err := opened("stdin", in, Named([]string{"a"}))
		if err != nil {
			t.Fatal(err)
		}
		err = table.Read(discard{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "line 3: want a record of at most 16777216 bytes") {
			t.Errorf("%s: got %v", c.name, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > most {
			t.Errorf("%s: %d MB", c.name, got>>20)
		}
	}
}

// TestLongHeader: the same holds for a header of commas.
func TestLongHeader(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := CSV("stdin", io.NopCloser(&repeated{line: strings.Repeat(",", 1<<10), left: 15 << 10, rest: "a"}))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "header: want at most 1048576 names, got more") {
		t.Errorf("got %v", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 128<<20 {
		t.Errorf("%d MB", got>>20)
	}
}

// TestAllocations: reading costs no allocation for a row or a cell.
func TestAllocations(t *testing.T) {
	const rows = 2000
	text := "a,b,c,d\n" + strings.Repeat("1.5,-2e3,7,NA\n", rows)
	schema := &Schema{Columns: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	got := testing.AllocsPerRun(5, func() {
		table, err := opened("stdin", strings.NewReader(text), schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Read(discard{}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 150 {
		t.Errorf("%v allocations for %d rows of 4 cells", got, rows)
	}
}
