package parsed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/shards"
)

// cutRead reads a file in pieces of so many bytes, and says how many were parsed.
func cutRead(t *testing.T, path string, size int64) (rows []string, report source.Report, parsed int, failed error) {
	t.Helper()
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	reader, err := Cut(t.Context(), store, path, size, inputs.File, func(_ context.Context, items []string) error {
		for _, item := range items {
			if Work(store, item, inputs.File) == nil {
				parsed++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if reader == nil {
		return nil, report, -1, nil
	}
	table, err := source.Of(reader, asked())
	rows, report, failed = drain(t, table, err)
	if left, _ := store.Names(answerName); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	return rows, report, parsed, failed
}

func wholeRead(t *testing.T, path string) (rows []string, report source.Report, failed error) {
	t.Helper()
	table, err := inputs.Open(path, nil, asked())
	return drain(t, table, err)
}

// quotes are cells with quotes, ends of lines among them, and two that are mistakes.
var quotes = []string{`"a"`, `"a, b"`, `"a ""b"" c"`, `""`, "\"two\nlines\"", "\"\n1,2,p,l,t\n\"", "\"\r\n\n\"", `"""\n"""`, ` "a"`, `a"b`, `"a"b`}

// A file that is cut anywhere has the rows, the report and the mistakes of the whole, whatever
// quotes there are, and most are parsed in pieces.
func TestCutTwin(t *testing.T) {
	path, rng := filepath.Join(t.TempDir(), "x.csv"), rand.New(rand.NewPCG(5, 20))
	cuts, mistakes := 0, 0
	for range 400 {
		var text bytes.Buffer
		text.WriteString([]string{"x,y,who,side,other", "\n\r\nx,y,who,side,other", "\ufeffx,y,who,side,\"an\nother\"", `x,y,"who",side,other`}[rng.IntN(4)])
		end := []string{"\n", "\r\n"}[rng.IntN(2)]
		text.WriteString(end)
		kinds := []int{0, 4, 8, len(quotes)}[rng.IntN(4)]
		for range rng.IntN(60) {
			other := "text"
			if kinds > 0 && rng.IntN(4) == 0 {
				other = quotes[rng.IntN(kinds)]
			}
			fmt.Fprintf(&text, "%s,%v,%s,%s,%s%s", odd[rng.IntN(len(odd))], rng.NormFloat64(), []string{"", "é\u2028", strings.Repeat("p", 30)}[rng.IntN(3)], []string{"l", "r", "none"}[rng.IntN(3)], other, end)
			if rng.IntN(9) == 0 {
				text.WriteString(end)
			}
		}
		all := text.Bytes()
		if rng.IntN(3) == 0 {
			all = bytes.TrimRight(all, "\r\n")
		}
		if err := os.WriteFile(path, all, 0o600); err != nil {
			t.Fatal(err)
		}
		want, report, fault := wholeRead(t, path)
		got, said, parsed, failed := cutRead(t, path, 20+rng.Int64N(400))
		if parsed < 0 {
			continue
		}
		if parsed > 1 && fault == nil {
			cuts++
		}
		if fault != nil {
			mistakes++
		}
		if fmt.Sprint(failed) != fmt.Sprint(fault) || fault == nil && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(said, report)) {
			t.Fatalf("%q: %v, %d rows, want %v, %d", all, failed, len(got), fault, len(want))
		}
	}
	if cuts < 100 || mistakes < 10 {
		t.Errorf("%d files were cut, %d had mistakes", cuts, mistakes)
	}
}

// What is no plain text, of one column, or small is not cut.
func TestNotCut(t *testing.T) {
	rows := strings.Repeat("1,2,p,l,t\n", 100)
	for name, text := range map[string]string{
		"small.csv": "x,y,who,side,other\n1,2,p,l,t\n", "one.csv": "x\n" + strings.Repeat("1\n", 500), "packed.csv": "\x1f\x8b" + rows, "wide.csv": "x\x00,\x00y\x00\n\x00" + rows,
		"odd.parquet": "x,y\n" + rows, "line.csv": "x,y," + strings.Repeat("z,", 2000), "marked.csv": "\xff\xfex\x00,\x00\n\x00" + rows,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pieces := cut(path, 100); pieces != nil {
			t.Errorf("%s is cut: %v", name, pieces)
		}
	}
	if cut(t.TempDir(), 0) != nil || cut("gone", 0) != nil {
		t.Error("no file is cut")
	}
}

// A file that another is put in the place of, while workers parse pieces of it, is read as it was:
// a row that is in both could be in two pieces.
func TestCutReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	rows := func(first int) []byte {
		text := []byte("x,y,who,side,other\n")
		for i := range 400 {
			text = fmt.Appendf(text, "%d,2,p%d,l,t\n", (first+i)%400+1000, i)
		}
		return text
	}
	if err := os.WriteFile(path, rows(0), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := wholeRead(t, path)
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	reader, err := Cut(t.Context(), store, path, 1000, inputs.File, func(_ context.Context, items []string) error {
		for i, item := range items {
			if err := Work(store, item, inputs.File); (err == nil) != (i < 2) {
				t.Errorf("%s: %v", item, err)
			}
			if i != 1 {
				continue
			}
			if err := os.WriteFile(path+".new", rows(200), 0o600); err != nil {
				t.Fatal(err)
			}
			later := before.ModTime().Add(time.Second)
			if err := errors.Join(os.Chtimes(path+".new", later, later), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if err != nil || reader == nil {
		t.Fatal(reader, err)
	}
	table, err := source.Of(reader, asked())
	if got, _, err := drain(t, table, err); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %d rows, want %d as they were", err, len(got), len(want))
	}
}

// A counting store says how many of its files are open.
type counting struct {
	*shards.Store
	open, most int
}

type counted struct {
	io.ReadCloser
	of *counting
}

func (c *counting) File(name string) (io.ReadCloser, error) {
	file, err := c.Store.File(name)
	if err != nil {
		return nil, err
	}
	c.open++
	c.most = max(c.most, c.open)
	return counted{file, c}, nil
}

func (c counted) Close() error {
	c.of.open--
	return c.ReadCloser.Close()
}

// Of what has come of pieces one is open at a time: with many, in a store that is far away, the
// last would wait so long that they are closed from there.
func TestOneOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("x,y,who,side,other\n"+strings.Repeat("1,2,p,l,t\n", 900)), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	store := &counting{Store: folder}
	reader, err := Cut(t.Context(), store, path, 500, inputs.File, func(_ context.Context, items []string) error {
		each(func(item string) { _ = Work(store, item, inputs.File) }, items)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := source.Of(reader, asked())
	if rows, _, err := drain(t, table, err); err != nil || len(rows) != 900 || store.most != 1 || store.open != 0 {
		t.Errorf("%v, %d rows, %d open, %d at a time", err, len(rows), store.open, store.most)
	}
}
