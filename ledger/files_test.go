package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// readForeign opens a database, reads all of it, and closes it: the last to close a database
// removes its write-ahead log.
func readForeign(place string) error {
	db, err := sql.Open("sqlite", place)
	if err != nil {
		return err
	}
	says := ""
	err = db.QueryRow("PRAGMA integrity_check").Scan(&says)
	return errors.Join(err, db.Close())
}

// foreign has another process read and close a database.
func foreign(t *testing.T, place string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), foreignDatabase+"="+place)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// granted opens a fresh ledger with a grant.
func granted(t *testing.T) (place string, l *Ledger) {
	t.Helper()
	place = filepath.Join(t.TempDir(), "budgets.db")
	if err := Init(t.Context(), place, place+".key"); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), place, place+".key", clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := l.Grant(t.Context(), "a", Amount{Epsilon: 3, Delta: 1e-5}); err != nil {
		t.Fatal(err)
	}
	return place, l
}

// reserved reserves a fit.
func reserved(t *testing.T, l *Ledger) error {
	t.Helper()
	cost, err := privacy.Foreseen(privacy.Budget{Epsilon: .1, Delta: 1e-7})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Reserve(t.Context(), "a", termsOf(cost), cost, "")
	return err
}

// Another process that opens and closes the database takes nothing away. Where this process has
// closed a descriptor of its own of the file, and so lost its locks, the log is removed by it: then
// nothing more is counted, instead of being counted where nobody finds it.
func TestForeignProcess(t *testing.T) {
	place, l := granted(t)
	foreign(t, place)
	if err := reserved(t, l); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{place, place + "-shm"} { // of older SQLite the first is enough
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	foreign(t, place)
	if _, err := os.Stat(place + "-wal"); err == nil {
		t.Skip("this system keeps the locks of a process whatever it closes")
	}
	if err := reserved(t, l); !errors.Is(err, ErrReplaced) {
		t.Errorf("a fit that nobody will find was counted: %v", err)
	}
	if err := l.Held(t.Context()); !errors.Is(err, ErrReplaced) {
		t.Errorf("held: %v", err)
	}
	again, err := Open(t.Context(), place, place+".key", clock)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if b, err := again.Balances(t.Context(), "a"); err != nil || b[0].Fits != 1 {
		t.Errorf("%+v, %v; want the one fit that was counted", b, err)
	}
}

// A ledger whose file is moved away, or that is put back to an older copy under whoever has it
// open, counts nothing more.
func TestReplacedWhileOpen(t *testing.T) {
	for name, replace := range map[string]func(place string) error{
		"moved": func(place string) error {
			return errors.Join(os.Rename(place, place+".old"), copyFile(place+".old", place))
		},
		"log removed": func(place string) error { return os.Remove(place + "-wal") },
	} {
		place, l := granted(t)
		if err := errors.Join(reserved(t, l), l.Held(t.Context()), replace(place)); err != nil {
			t.Fatal(err)
		}
		if err := reserved(t, l); !errors.Is(err, ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	place, l := granted(t)
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE kept AS SELECT * FROM gauze_ledger_head")
	if err := errors.Join(reserved(t, l), l.Held(t.Context())); err != nil {
		t.Fatal(err)
	}
	run("DELETE FROM gauze_ledger_head")
	run("INSERT INTO gauze_ledger_head SELECT * FROM kept")
	run("DELETE FROM gauze_ledger WHERE seq > (SELECT count FROM kept)")
	for _, err := range []error{reserved(t, l), l.Held(t.Context())} {
		if !errors.As(err, new(*BrokenError)) || !strings.Contains(err.Error(), "put back") {
			t.Errorf("put back to an older copy: %v", err)
		}
	}
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// A file of a ledger is known as one whatever it is called, and nothing else is.
func TestApart(t *testing.T) {
	place, _ := granted(t)
	folder := t.TempDir()
	lock, err := os.Create(LockFile(place))
	if err != nil {
		t.Fatal(err)
	}
	lock.Close()
	table := filepath.Join(folder, "table.csv")
	for _, err := range []error{os.WriteFile(table, []byte("a\n1\n"), 0o600), os.Symlink(place, filepath.Join(folder, "a.csv")), os.Link(place, filepath.Join(folder, "b.csv")),
		os.Link(place+"-wal", filepath.Join(folder, "c.csv")), os.Link(place+".key", filepath.Join(folder, "d.csv")), os.Symlink(place+".lock", filepath.Join(folder, "e.csv")),
		os.Symlink(filepath.Dir(place), filepath.Join(folder, "f"))} {
		if err != nil {
			t.Skip(err) // a system without links
		}
	}
	files := Files(place, place+".key")
	for _, name := range []string{place, place + "-wal", place + "-shm", place + "-journal", place + ".key", place + ".lock", filepath.Join(folder, "a.csv"), filepath.Join(folder, "b.csv"),
		filepath.Join(folder, "c.csv"), filepath.Join(folder, "d.csv"), filepath.Join(folder, "e.csv"), filepath.Join(folder, "f", "budgets.db"), filepath.Join(folder, "f", "budgets.db-journal")} {
		if err := Apart(files, []string{table, name}); err == nil {
			t.Errorf("%s may be read", name)
		}
	}
	if err := Apart(files, []string{"", table, filepath.Join(folder, "none.csv")}); err != nil {
		t.Error(err)
	}
	// a ledger named through a link is the same
	files = Files(filepath.Join(folder, "a.csv"), "none")
	if err := Apart(files, []string{place + "-journal"}); err == nil {
		t.Error("the journal of a database that is named by a link may be read")
	}
	if LockFile(filepath.Join(folder, "a.csv")) != LockFile(place) {
		t.Error("two names of a database have two locks")
	}
}

// A database that takes nothing is not one that can be written to, nor is one that has failed to
// take something, for a while.
func TestWrites(t *testing.T) {
	place, first := granted(t)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	l, err := Open(t.Context(), place, place+".key", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	little := func(w *Tx) error { return w.Note(Note{Who: "a", What: "b"}) }
	db, _ := l.Database()
	db.SetMaxOpenConns(2) // of which one is kept by the ledger
	only := func(on int) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), fmt.Sprint("PRAGMA query_only = ", on)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.Writes(t.Context(), little), l.Write(t.Context(), little)); err != nil {
		t.Error(err)
	}
	only(1)
	if err := l.Writes(t.Context(), little); err == nil {
		t.Error("what takes nothing is said to be written to")
	}
	if err := l.Write(t.Context(), little); err == nil {
		t.Error("what takes nothing was written to")
	}
	only(0)
	if err := l.Writes(t.Context(), little); err == nil {
		t.Error("a failure to write is forgotten at once")
	}
	now = now.Add(spoiledFor)
	if err := l.Writes(t.Context(), little); err != nil {
		t.Errorf("a failure to write is never forgotten: %v", err)
	}
}
