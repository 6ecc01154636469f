package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// A dialect holds the differences between the two databases.
type dialect struct {
	lock  string // appended to the select of the head by writers
	begin string // the first statement of a transaction that writes
	there string // counts the tables of the head
	// number writes the parameters of a statement: ? or $1, $2, ..
	number bool
}

var (
	sqlite   = dialect{there: "SELECT COUNT(*) FROM sqlite_master WHERE name = 'gauze_ledger_head'"}
	postgres = dialect{lock: " FOR UPDATE", begin: "SET LOCAL synchronous_commit = on", number: true,
		there: "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass('gauze_ledger_head')"}
)

// tables are the tables of a ledger. The columns beside body exist for look-ups; verify compares
// them with it.
const tables = `
CREATE TABLE gauze_ledger_head (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, count BIGINT NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL);
CREATE TABLE gauze_ledger (seq BIGINT PRIMARY KEY, dataset TEXT NOT NULL, of TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL,
  source TEXT NOT NULL, content TEXT NOT NULL);
CREATE INDEX gauze_ledger_dataset ON gauze_ledger (dataset, seq);
CREATE INDEX gauze_ledger_of ON gauze_ledger (of, seq);
CREATE INDEX gauze_ledger_source ON gauze_ledger (source);
CREATE INDEX gauze_ledger_content ON gauze_ledger (content)`

// isPostgres reports whether a ledger is in a PostgreSQL database, by its URL.
func isPostgres(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// connect opens the database of a ledger; a file has to exist unless it is new.
func connect(place string, fresh bool) (*sql.DB, dialect, error) {
	if place == "" {
		return nil, dialect{}, &privacy.FieldError{Field: "ledger", Wanted: "a file or postgres://..", Got: "nothing", Fix: "for instance --ledger budgets.db"}
	}
	if isPostgres(place) {
		c, err := newConnector(place)
		if err != nil {
			return nil, postgres, err
		}
		return sql.OpenDB(c), postgres, nil
	}
	_, err := os.Stat(place)
	switch {
	case !fresh && errors.Is(err, fs.ErrNotExist):
		return nil, sqlite, &privacy.FieldError{Field: "ledger", Wanted: "a ledger", Got: place + ", which does not exist", Fix: "gauze ledger init makes one"}
	case fresh && err == nil:
		return nil, sqlite, &privacy.FieldError{Field: "ledger", Wanted: "a new file", Got: place + ", which exists", Fix: "name another: a ledger is never replaced"}
	case fresh:
		// for the owner alone, from its first byte on
		file, err := os.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, sqlite, err
		}
		if err := file.Close(); err != nil {
			return nil, sqlite, err
		}
	}
	path, err := filepath.Abs(place)
	if err != nil {
		return nil, sqlite, err
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=fullfsync(1)"}
	db, err := sql.Open("sqlite", dsn.String())
	return db, sqlite, err
}

// A Tx is a transaction that writes to the ledger's database: no other runs beside it. Tables of
// others that are kept there change together with the ledger, or not at all.
type Tx struct {
	*sql.Tx
	ctx  context.Context
	l    *Ledger
	head head
}

// Write runs f in a transaction that excludes all others, and makes it durable. If f fails, nothing
// changes. It fails with [ErrReplaced], or a *[BrokenError], if the database is not the one that
// was opened, or was put back to an older copy: an entry written there would be lost, or forget
// earlier ones.
func (l *Ledger) Write(ctx context.Context, f func(*Tx) error) error {
	err := l.write(ctx, f)
	if spoiled(err) {
		now := l.now()
		l.spoiled.Store(&now)
	}
	return err
}

// Writes returns an error if the database cannot be written to: if it does not take f, which writes
// a little, or if it has recently failed to write something else, for want of room for instance, as
// a full disk may still have room for a little.
func (l *Ledger) Writes(ctx context.Context, f func(*Tx) error) error {
	if at := l.spoiled.Load(); at != nil && l.now().Sub(*at) < spoiledFor {
		return errors.New("ledger: its database could not be written to not long ago")
	}
	return l.write(ctx, f)
}

// spoiledFor is the time that a failure to write is remembered. A guess.
const spoiledFor = time.Minute

// spoiled reports whether the error is of a database that has no room, cannot write, or is damaged:
// of SQLite READONLY, IOERR, CORRUPT, FULL, CANTOPEN and NOTADB, of PostgreSQL the classes 53 and
// 58.
func spoiled(err error) bool {
	var lite interface{ Code() int }
	if errors.As(err, &lite) {
		return slices.Contains([]int{8, 10, 11, 13, 14, 26}, lite.Code()&0xff) // the upper bits only refine the code
	}
	var said interface{ SQLState() string }
	return errors.As(err, &said) && (strings.HasPrefix(said.SQLState(), "53") || strings.HasPrefix(said.SQLState(), "58"))
}

func (l *Ledger) write(ctx context.Context, f func(*Tx) error) (err error) {
	l.turn.Lock() // in turn: a database with many waiting writers may starve some
	defer l.turn.Unlock()
	if err := l.anchor.held(); err != nil {
		return err
	}
	t, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return l.failed(err)
	}
	defer t.Rollback() // no effect after a commit
	if l.says.begin != "" {
		if _, err := t.ExecContext(ctx, l.says.begin); err != nil {
			return l.failed(err)
		}
	}
	w := &Tx{Tx: t, ctx: ctx, l: l}
	if w.head, err = readHead(ctx, t, l.says.lock); err != nil {
		return l.failed(err)
	}
	if err = w.head.check(l.key); err == nil {
		err = l.follows(ctx, t, w.head)
	}
	if err == nil {
		err = f(w)
	}
	if err == nil {
		err = t.Commit()
	}
	if err != nil {
		return l.failed(err)
	}
	l.last = w.head
	return l.anchor.held() // otherwise the commit went into a file that nobody will find
}

// Database returns the ledger's database, for tables of others beside it, and a function that
// rewrites statements for it: with ? for parameters. Writers use [Ledger.Write].
func (l *Ledger) Database() (*sql.DB, func(statement string) string) { return l.db, l.says.bind }

// failed says that an error comes from the ledger's database; it never repeats the URL, which may
// hold a password.
func (l *Ledger) failed(err error) error {
	var field *privacy.FieldError
	var broken *BrokenError
	var refused *RefusedError
	if err == nil || errors.As(err, &field) || errors.As(err, &broken) || errors.As(err, &refused) || errors.Is(err, ErrReplaced) {
		return err
	}
	return fmt.Errorf("ledger: its database: %w", err)
}

// A Querier is a database or a transaction.
type Querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func readHead(ctx context.Context, q Querier, lock string) (h head, err error) {
	err = q.QueryRowContext(ctx, "SELECT id, count, hash, mac FROM gauze_ledger_head WHERE one = 1"+lock).Scan(&h.id, &h.count, &h.hash, &h.mac)
	if errors.Is(err, sql.ErrNoRows) {
		err = &BrokenError{What: "its head is missing"}
	}
	return h, err
}

// bind returns a statement with parameters in the dialect's form.
func (d dialect) bind(statement string) string {
	if !d.number {
		return statement
	}
	var b strings.Builder
	n := 0
	for _, c := range statement {
		if c == '?' {
			n++
			fmt.Fprintf(&b, "$%d", n)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

const columns = "seq, dataset, of, body, hash, mac, source, content"

func (l *line) scan(row interface{ Scan(...any) error }) error {
	return row.Scan(&l.seq, &l.dataset, &l.of, &l.body, &l.hash, &l.mac, &l.source, &l.print)
}

// one returns the entry that a condition finds, checked; found is false if there is none.
func one(ctx context.Context, q Querier, says dialect, key []byte, where string, args ...any) (e entry, found bool, err error) {
	var l line
	err = l.scan(q.QueryRowContext(ctx, says.bind("SELECT "+columns+" FROM gauze_ledger WHERE "+where+" LIMIT 1"), args...))
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	if err == nil {
		e, err = l.open(key, "")
	}
	return e, err == nil, err
}

// append writes an entry after the last one.
func (w *Tx) append(e entry) (int64, error) {
	e.Seq = w.head.count + 1
	l, err := e.seal(w.l.key, w.head.hash)
	if err != nil {
		return 0, err
	}
	if _, err = w.ExecContext(w.ctx, w.l.says.bind("INSERT INTO gauze_ledger ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
		l.seq, l.dataset, l.of, l.body, l.hash, l.mac, l.source, l.print); err != nil {
		return 0, err
	}
	w.head.count, w.head.hash = l.seq, l.hash
	w.head = w.head.sealed(w.l.key)
	_, err = w.ExecContext(w.ctx, w.l.says.bind("UPDATE gauze_ledger_head SET count = ?, hash = ?, mac = ? WHERE one = 1"), w.head.count, w.head.hash, w.head.mac)
	return e.Seq, err
}

// account returns the state of a data set after its last entry; nil if it has none.
func (w *Tx) account(dataset string) (*state, error) {
	e, found, err := one(w.ctx, w, w.l.says, w.l.key, "dataset = ? ORDER BY seq DESC", dataset)
	if err != nil || !found {
		return nil, err
	}
	after, err := w.l.recounted(w.ctx, w, e)
	return &after, err
}
