package ledger

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// besides are the endings of the files that SQLite keeps beside a database.
var besides = []string{"-wal", "-shm", "-journal"}

// lockSuffix is the ending of the lock file by which a server holds the database alone.
const lockSuffix = ".lock"

// Files returns the paths of all files that a ledger has or may come to have: its key and, for
// SQLite, the database, SQLite's files beside it, and the lock file.
func Files(place, keyFile string) []string {
	files := []string{keyFile}
	if isPostgres(place) {
		return files
	}
	for _, name := range []string{place, place + lockSuffix} {
		files = append(files, name)
		if whole := Unlinked(name); whole != name {
			files = append(files, whole)
		}
	}
	for _, name := range slices.Clone(files[1:]) {
		for _, end := range besides {
			files = append(files, name+end)
		}
	}
	return files
}

// LockFile returns the lock file by which a server holds a SQLite database alone: the same one
// whatever links name the database.
func LockFile(place string) string { return Unlinked(place) + lockSuffix }

// Unlinked returns a path without links, as SQLite finds the name of its write-ahead log; the path
// itself, made absolute, if it leads nowhere.
func Unlinked(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if linked, err := filepath.EvalSymlinks(whole); err == nil {
		return linked
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(whole)); err == nil {
		return filepath.Join(folder, filepath.Base(whole))
	}
	return whole
}

// Apart returns an error if an input is one of a ledger's files, by device and inode, whatever
// links lead to it. It opens nothing: when a process closes any descriptor of a file, the system
// drops all the locks on it that the process holds through others (POSIX). SQLite's would go, and
// the next program that closes the database would remove the log that holds the newest entries.
func Apart(files, inputs []string) error {
	for _, input := range inputs {
		if input == "" {
			continue
		}
		info, err := os.Stat(input)
		for _, file := range files {
			other, gone := os.Stat(file)
			if err == nil && gone == nil && os.SameFile(info, other) || err != nil && Unlinked(input) == Unlinked(file) {
				return &privacy.FieldError{Field: "input", Wanted: "a table", Got: "a file of the ledger", Fix: "name a table: the ledger's database, what lies beside it, and its key are never read as one"}
			}
		}
	}
	return nil
}

// ErrReplaced reports that the files of a SQLite ledger are not those that were opened.
var ErrReplaced = errors.New("ledger: its database was replaced, or its write-ahead log removed, by another program while it was open: " +
	"nothing more is counted by this one; end it, find out which program did so, and verify the ledger")

// An anchor keeps a connection to a SQLite database open, so that no program that respects SQLite's
// locks removes the write-ahead log, and knows the files that the connection has open.
type anchor struct {
	connection *sql.Conn
	files      map[string]os.FileInfo // by path
}

// anchored opens the connection, and reads something through it, so that SQLite opens the log.
func anchored(ctx context.Context, db *sql.DB, place string) (a *anchor, err error) {
	a = &anchor{files: map[string]os.FileInfo{}}
	if a.connection, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	count := 0
	if err = a.connection.QueryRowContext(ctx, sqlite.there).Scan(&count); err != nil {
		return nil, errors.Join(err, a.connection.Close())
	}
	whole := Unlinked(place)
	for _, name := range []string{whole, whole + besides[0]} {
		info, err := os.Stat(name)
		if err != nil {
			return nil, errors.Join(ErrReplaced, a.connection.Close())
		}
		a.files[name] = info
	}
	return a, nil
}

// held returns an error if other files have taken the place of the opened ones. Their inodes cannot
// be given to others meanwhile, since the connection has them open.
func (a *anchor) held() error {
	if a == nil { // of PostgreSQL
		return nil
	}
	for name, was := range a.files {
		if info, err := os.Stat(name); err != nil || !os.SameFile(info, was) {
			return ErrReplaced
		}
	}
	return nil
}

// close closes the connection.
func (a *anchor) close() error {
	if a == nil {
		return nil
	}
	return a.connection.Close()
}

// Held returns an error if the ledger was replaced while it was open, or put back to an older copy:
// then nothing that it says of what was spent can be relied on.
func (l *Ledger) Held(ctx context.Context) error {
	if err := l.anchor.held(); err != nil {
		return err
	}
	l.turn.Lock() // no commit may come between the head that is read and the last known one
	defer l.turn.Unlock()
	h, err := readHead(ctx, l.db, "")
	if err == nil {
		err = l.follows(ctx, l.db, h)
	}
	return l.failed(err)
}

// follows returns an error if the head h does not come after the last one that this process has
// seen.
func (l *Ledger) follows(ctx context.Context, q Querier, h head) error {
	if l.last.id == "" {
		return nil
	}
	hash, err := l.last.hash, error(nil)
	switch {
	case h.id != l.last.id || h.count < l.last.count:
		hash = ""
	case h.count == l.last.count:
		hash = h.hash
	case l.last.count > 0:
		err = q.QueryRowContext(ctx, l.says.bind("SELECT hash FROM gauze_ledger WHERE seq = ?"), l.last.count).Scan(&hash)
		if errors.Is(err, sql.ErrNoRows) {
			hash, err = "", nil
		}
	}
	if err == nil && hash != l.last.hash {
		err = &BrokenError{What: "was put back to an older copy, or replaced by another, while it was open: what was spent since is not in it"}
	}
	return err
}
