package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/ledger"
)

// A Store is an opened database.
type Store struct {
	ledger *ledger.Ledger
	db     *sql.DB
	bind   func(string) string
	now    func() time.Time
	locked func() error                // releases what Alone took
	alive  func(context.Context) error // fails if that was lost
	// Sign, if set, signs the text of every release that is stored.
	Sign func(text string) (string, error)
}

// ErrNotFound says that something does not exist, ErrThere that it exists already, ErrSame that
// another custodian has a data set of the same rows, and ErrRetired that a data set is retired.
var (
	ErrNotFound = errors.New("server: not found")
	ErrThere    = errors.New("server: there already")
	ErrSame     = errors.New("server: the same rows as another custodian's")
	ErrRetired  = errors.New("server: the data set is retired")
)

// mostConnections bounds those to a PostgreSQL server, and readers of a SQLite file. A guess.
const mostConnections = 24

// Open opens the database of a server, a SQLite file or postgres://.., and creates it, with its
// ledger and the ledger's key, if it does not exist. It migrates a database of an older version,
// and refuses one of a newer version. The caller closes it.
func Open(ctx context.Context, place, keyFile string, now func() time.Time) (*Store, error) {
	if err := ledger.Ensure(ctx, place, keyFile); err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, place, keyFile, now)
	if err != nil {
		return nil, err
	}
	s := &Store{ledger: l, now: now, locked: func() error { return nil }, alive: func(context.Context) error { return nil }}
	s.db, s.bind = l.Database()
	s.db.SetMaxOpenConns(mostConnections)
	s.db.SetMaxIdleConns(mostConnections)
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() error {
	return errors.Join(s.locked(), s.ledger.Close())
}

// Ledger returns the database's ledger.
func (s *Store) Ledger() *ledger.Ledger { return s.ledger }

// migrations bring the tables from each version to the next; existing steps never change.
//
//go:embed migrations.sql
var migrations string

// steps returns the migrations, separated by lines of dashes; each is statements that end in
// semicolons.
func steps() []string { return strings.Split(migrations, "\n-- next\n") }

// migrate brings the tables to the last version, all or nothing.
func (s *Store) migrate(ctx context.Context) error {
	return s.ledger.Write(ctx, func(t *ledger.Tx) error {
		if _, err := t.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS gauze_server (one INTEGER PRIMARY KEY, version INTEGER NOT NULL)"); err != nil {
			return err
		}
		version := 0
		if err := t.QueryRowContext(ctx, "SELECT version FROM gauze_server WHERE one = 1").Scan(&version); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if known := len(steps()); version > known {
			return fmt.Errorf("the database is of version %d, and this program knows %d: use a newer one", version, known)
		}
		for _, step := range steps()[version:] {
			for _, statement := range strings.Split(step, ";") {
				if strings.TrimSpace(statement) == "" {
					continue
				}
				if _, err := t.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			version++
		}
		if _, err := t.ExecContext(ctx, "DELETE FROM gauze_server"); err != nil {
			return err
		}
		_, err := t.ExecContext(ctx, s.bind("INSERT INTO gauze_server (one, version) VALUES (1, ?)"), version)
		return err
	})
}

// Ping returns an error if the database does not answer, or cannot be written to. It rewrites a
// value that is there.
func (s *Store) Ping(ctx context.Context) error {
	return s.ledger.Writes(ctx, func(t *ledger.Tx) error {
		_, err := t.ExecContext(ctx, "UPDATE gauze_server SET version = version")
		return err
	})
}

// millis returns a time as it is stored; 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment returns the time that millis stored.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// exec runs a statement in a transaction, and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, t *ledger.Tx, statement string, args ...any) (int64, error) {
	done, err := t.ExecContext(ctx, s.bind(statement), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// scanner is a row or rows.
type scanner interface{ Scan(...any) error }

// list reads all rows of a query.
func list[T any](ctx context.Context, s *Store, q ledger.Querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, s.bind(query), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// Away reports whether an error is of a database that cannot be reached, was lost, or does not let
// anybody in yet, as PostgreSQL after a crash: its classes 08, connections, and 57P, who ends them.
func Away(err error) bool {
	var lost net.Error
	var said interface{ SQLState() string }
	if errors.As(err, &said) && (strings.HasPrefix(said.SQLState(), "08") || strings.HasPrefix(said.SQLState(), "57P")) {
		return true
	}
	return errors.As(err, &lost) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Replaced reports whether an error is of a database that was replaced, or put back to an older
// copy, while it was open: no later try can succeed.
func Replaced(err error) bool {
	return errors.Is(err, ledger.ErrReplaced) || errors.As(err, new(*ledger.BrokenError))
}

// found returns err, or ErrNotFound for a row that does not exist.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
