package parsed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/shards"
)

// taken is what a table hands over.
type taken struct {
	rows []string
}

func (t *taken) Append(row []float64, person string, group int) {
	t.rows = append(t.rows, fmt.Sprint(row, " ", person, " ", group))
}

// odd are cells of every kind.
var odd = []string{"1.5", "-0", "1e308", "5e-324", "", "NA", "inf", "1e999", "word", "0x1p-3", "123456789012345678901"}

// folder has files of rows with cells of every kind, whose columns stand in different orders.
func folder(t *testing.T, files, rows int) (pattern string) {
	t.Helper()
	rng, dir := rand.New(rand.NewPCG(3, 20)), t.TempDir()
	for i := range files {
		var text bytes.Buffer
		names := []string{"x", "y", "who", "side", "other"}
		turn := rng.Perm(len(names))
		line := func(cells ...string) {
			for k, j := range turn {
				text.WriteString(map[bool]string{true: ","}[k > 0] + cells[j])
			}
			text.WriteByte('\n')
		}
		line(names...)
		for range rows {
			line(odd[rng.IntN(len(odd))], fmt.Sprint(rng.NormFloat64()), []string{"", "é\u2028", strings.Repeat("p", 300), "q", "7.0", "+07"}[rng.IntN(6)], []string{"l", "r", "none"}[rng.IntN(3)], "text")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".csv")), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "*.csv")
}

func asked() *source.Schema {
	return &source.Schema{Columns: source.Named([]string{"y", "x"}).Columns, Unit: "who", By: []source.Grouping{{Name: "side", Categories: []string{"l", "r"}}},
		CSV: source.Dialect{Missing: []any{"word"}}, Unreadable: source.UnreadableMissing}
}

func drain(t *testing.T, table *source.Table, err error) (rows []string, report source.Report, failed error) {
	t.Helper()
	if err != nil {
		return nil, report, err
	}
	defer table.Close()
	var sink taken
	failed = table.Read(&sink)
	return sink.rows, table.Report(), failed
}

// The rows, their order, and what is said of them are those of reading the files here, whatever
// workers do: all of it, twice, in any order, some of it, or nothing.
func TestTwin(t *testing.T) {
	input, rng := folder(t, 7, 3000), rand.New(rand.NewPCG(4, 20))
	table, err := inputs.Open(input, nil, asked())
	want, report, err := drain(t, table, err)
	if err != nil || len(want) != 21_000 {
		t.Fatal(len(want), err)
	}
	for name, schedule := range map[string]func(do func(string), items []string) error{
		"all":   func(do func(string), items []string) error { each(do, items); return nil },
		"twice": func(do func(string), items []string) error { each(do, append(items, items...)); return nil },
		"turned": func(do func(string), items []string) error {
			rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			each(do, items)
			return errors.New("what a scheduler says")
		},
		"some": func(do func(string), items []string) error { each(do, items[2:4]); panic("no more") },
		"none": func(do func(string), items []string) error { return errors.New("no workers") },
		"other": func(do func(string), items []string) error {
			each(do, []string{"parse.", "parse.7", "parse.-1", "parse.x"})
			return nil
		},
	} {
		store, err := shards.NewStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Open(t.Context(), store, inputs.Files(input), inputs.File, func(_ context.Context, items []string) error {
			return schedule(func(item string) {
				if err := Work(store, item, inputs.File); err != nil && err != errWork || !Is(item) {
					t.Error(item, err)
				}
			}, items)
		})
		if err != nil {
			t.Fatal(err)
		}
		table, err := source.Of(rows, asked())
		got, said, err := drain(t, table, err)
		if err != nil || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(said, report) {
			t.Errorf("%s: %v, %d rows, want %d; %+v, want %+v", name, err, len(got), len(want), said, report)
		}
		if left, _ := store.Names(answerName); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func each(do func(string), items []string) {
	for _, item := range items {
		do(item)
	}
}

// A mistake in a file is what reading it here says, and workers say nothing.
func TestMistakes(t *testing.T) {
	input := folder(t, 3, 10)
	if err := os.WriteFile(inputs.Files(input)[1], []byte("x,y,who,side,other\n1,2,a,l,t\n3,secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := inputs.Open(input, nil, asked())
	_, _, want := drain(t, table, err)
	if want == nil {
		t.Fatal("no mistake")
	}
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rows, err := Open(t.Context(), store, inputs.Files(input), inputs.File, func(_ context.Context, items []string) error {
		each(func(item string) {
			if err := Work(store, item, inputs.File); err != nil && err != errWork {
				t.Error(err)
			}
		}, items)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err = source.Of(rows, asked())
	if _, _, got := drain(t, table, err); got == nil || got.Error() != want.Error() {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A file that was damaged is an error, wherever a byte of it was changed or lost, and never rows.
func TestDamage(t *testing.T) {
	input := folder(t, 2, 40)
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	columns, labels := []string{"x", "y"}, []string{"who"}
	if err := (question{Paths: inputs.Files(input), Columns: columns, Labels: labels}).ask(t.Context(), store, func(context.Context, []string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := Work(store, "parse.0", inputs.File); err != nil {
		t.Fatal(err)
	}
	whole, err := store.Read(answerName + "0")
	if err != nil {
		t.Fatal(err)
	}
	all := func(text []byte) (rows int, err error) {
		if err := store.Write(answerName+"0", text); err != nil {
			t.Fatal(err)
		}
		r := read(store, 0, columns, labels)
		defer r.Close()
		for {
			if err = r.Next(make([]float64, 2), make([]source.Kind, 2), make([]string, 1)); err != nil {
				return rows, err
			}
			rows++
		}
	}
	if rows, err := all(whole); rows != 40 || err.Error() != "EOF" {
		t.Fatal(rows, err)
	}
	rng := rand.New(rand.NewPCG(5, 20))
	for range 300 {
		at := rng.IntN(len(whole))
		changed := bytes.Clone(whole)
		changed[at] ^= 1 << rng.IntN(8)
		for _, text := range [][]byte{changed, whole[:at]} {
			if rows, err := all(text); err != errBroken || rows != 0 && rows != 40 {
				t.Fatalf("at %d: %d rows, %v", at, rows, err)
			}
		}
	}
}

// A file whose name is no text is read here: in a question its name would be another file's, whose
// rows would be there twice.
func TestOddPaths(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a\xe9.csv", "a\ufffd.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "x,y,who,side,other\n%d,0,p,l,t\n", i), 0o600); err != nil {
			t.Skip(err)
		}
	}
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rows, err := Open(t.Context(), store, inputs.Files(filepath.Join(dir, "*.csv")), inputs.File, func(_ context.Context, items []string) error {
		each(func(item string) { _ = Work(store, item, inputs.File) }, items)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := source.Of(rows, asked())
	if got, _, err := drain(t, table, err); err != nil || len(got) != 2 || got[0] == got[1] {
		t.Errorf("%v, %v", got, err)
	}
}

// What cannot be read is said in the words of reading the files here.
func TestUnreadable(t *testing.T) {
	strict := asked()
	strict.Unreadable = ""
	input := folder(t, 3, 500)
	table, err := inputs.Open(input, nil, strict)
	_, _, want := drain(t, table, err)
	store, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rows, err := Open(t.Context(), store, inputs.Files(input), inputs.File, func(_ context.Context, items []string) error {
		each(func(item string) { _ = Work(store, item, inputs.File) }, items)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err = source.Of(rows, strict)
	if _, _, got := drain(t, table, err); got == nil || fmt.Sprint(got) != fmt.Sprint(want) || !strings.Contains(got.Error(), "as 9a9a-9") {
		t.Errorf("got %v, want %v", got, want)
	}
}
