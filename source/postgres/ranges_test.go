package postgres

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/source"
)

// A table of many blocks is read by several connections, which all see the state in which it was
// opened: rows that are changed, moved, deleted and added since are as they were, each once.
func testRanges(t *testing.T, base string, do func(string)) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor asks by one connection")
	}
	const n = 60_000
	do(fmt.Sprintf(`CREATE TABLE wide (i int8, x float8, who text, pad text) WITH (fillfactor = 70);
		INSERT INTO wide SELECT i, CASE WHEN i %% 10 = 0 THEN NULL ELSE i / 7e0 END, 'p' || i / 2, repeat('x', 900) FROM generate_series(1, %d) AS i;
		DELETE FROM wide WHERE i <= 5000`, n))
	open := func() *reader {
		t.Helper()
		r, err := Open(base + "?table=wide")
		if err != nil {
			t.Fatal(err)
		}
		return r.(*reader)
	}
	before := open()
	do("UPDATE wide SET x = -1 WHERE i % 3 = 0; DELETE FROM wide WHERE i % 5 = 0; INSERT INTO wide SELECT 0, 0, 'new', '' FROM generate_series(1, 30000)")
	rows, labels, err := read(before, []string{"i", "x"}, []string{"who"})
	if err != nil || before.ranges == nil || len(before.ranges.Conns) < 2 || before.ranges.Count < 30 {
		t.Fatalf("%v: %+v", err, before.ranges)
	}
	for _, c := range before.ranges.Conns {
		if !c.IsClosed() {
			t.Error("a connection is left")
		}
	}
	var got []string
	for i, row := range rows {
		got = append(got, strings.Join(append(row, labels[i]...), " "))
	}
	var want []string
	for i := 5001; i <= n; i++ {
		x := fmt.Sprint(float64(i) / 7)
		if i%10 == 0 {
			x = "bad1"
		}
		want = append(want, fmt.Sprint(float64(i), " ", x, " p", i/2))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d: %.3q, %.3q", len(got), len(want), got[:3], want[:3])
	}
	do("CREATE VIEW narrow AS SELECT i, x FROM wide")
	for _, whole := range []string{"?table=narrow", "?query=SELECT i, x FROM wide"} {
		r, err := Open(base + strings.ReplaceAll(whole, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		own := r.(*reader)
		if rows, _, err := read(r, []string{"i"}, nil); err != nil || len(rows) != n-5000-11000+30000 || own.ranges != nil {
			t.Errorf("%s: %d rows, %v, %+v", whole, len(rows), err, own.ranges)
		}
	}
	// whose rows are not the table's when it is opened are not halfway through
	do("CREATE TABLE late (LIKE wide); INSERT INTO late SELECT -1, 0, '', repeat('x', 900) FROM generate_series(1, 40000)")
	parted := open()
	parted.Select([]int{0}, nil)
	taken, kind, others := make([]float64, 1), make([]source.Kind, 1), 0
	for row := 0; ; row++ {
		if row == 1 {
			do("ALTER TABLE late INHERIT wide")
		}
		if err := parted.Next(taken, kind, nil); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if taken[0] == -1 {
			others++
		}
	}
	if parted.Close(); others > 0 {
		t.Errorf("%d rows of a table that was added meanwhile", others)
	}
	do("ALTER TABLE late NO INHERIT wide")
	broken := open()
	values, kinds := make([]float64, 4), make([]source.Kind, 4)
	if err := broken.Next(values, kinds, nil); err != nil {
		t.Fatal(err)
	}
	do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gauze'")
	for err = nil; err == nil; err = broken.Next(values, kinds, nil) {
	}
	if err == io.EOF {
		t.Error("a table without its end is one")
	}
	broken.Close()
}
