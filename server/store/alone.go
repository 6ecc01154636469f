package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
)

// number names the lock of servers in a PostgreSQL database.
const number = 0x6761757a65

// How often, and how far apart, to ask for a lock that a killed server may still hold.
const (
	lockTries = 20
	lockPause = 250 * time.Millisecond
)

// Alone makes sure that no other server uses the database, until the process ends or the store is
// closed: a second server would take the first's fits for interrupted ones. Commands beside a
// server do not need this.
func (s *Store) Alone(ctx context.Context, place string) (err error) {
	for range lockTries {
		if err = s.lock(ctx, place); err == nil {
			return nil
		}
		pause(ctx, lockPause)
	}
	return &privacy.FieldError{Field: "database", Wanted: "one that no other server has", Got: fmt.Sprintf("one that cannot be had alone (%v)", err), Fix: "end the other server first"}
}

func pause(ctx context.Context, d time.Duration) {
	wait, done := context.WithTimeout(ctx, d)
	defer done()
	<-wait.Done()
}

// watchPause is the time between checks that the database is still held. A guess.
const watchPause = time.Second

// Watch holds what Alone took until ctx ends. PostgreSQL forgets a lock with its connection, for
// instance when it crashes, so the lock is taken again. Watch fails if another server has it by
// then, and at once if the ledger, or the lock file, is not the one that was opened.
func (s *Store) Watch(ctx context.Context, place string) (err error) {
	for tries := 0; ctx.Err() == nil && tries < lockTries; pause(ctx, watchPause) {
		if lost := s.replaced(ctx); lost != nil {
			return lost
		}
		if s.held(ctx) == nil {
			tries = 0
		} else if err = s.lock(ctx, place); errors.Is(err, errTaken) {
			tries++ // by another server, or by a connection of ours that the database believes alive
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	return err
}

// replaced returns an error if files of the database, or its lock file, are not those that were
// opened, or if a ledger was put back to an older copy; but not if a database does not answer.
func (s *Store) replaced(ctx context.Context) error {
	soon, done := context.WithTimeout(ctx, lockTries*lockPause)
	defer done()
	err := s.ledger.Held(soon)
	if Replaced(err) {
		return err
	}
	if err = s.held(ctx); errors.Is(err, errUnlocked) {
		return err
	}
	return nil
}

// held returns an error if what Alone took is lost. The end of ctx does not end the check: the
// connection would end with it.
func (s *Store) held(ctx context.Context) error {
	soon, done := context.WithTimeout(context.WithoutCancel(ctx), lockTries*lockPause)
	defer done()
	return s.alive(soon)
}

// errTaken says that another process has the lock, and errUnlocked that the lock file of a SQLite
// database is gone: another server may have begun.
var (
	errTaken    = errors.New("another has it")
	errUnlocked = errors.New("the file with its lock was removed or replaced")
)

func (s *Store) lock(ctx context.Context, place string) error {
	if s.bind("?") != "?" { // PostgreSQL: a lock of a session
		connection, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		got := false
		err = connection.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(number)).Scan(&got)
		if err == nil && !got {
			err = errTaken
		}
		if err != nil {
			return errors.Join(err, connection.Close())
		}
		s.locked() // release the rest of the previous lock
		s.locked, s.alive = connection.Close, connection.PingContext
		return nil
	}
	// SQLite: a file beside it, whose lock ends with the process
	path := ledger.LockFile(place)
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(100)&_pragma=journal_mode(DELETE)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	connection, err := db.Conn(ctx)
	if err == nil {
		_, err = connection.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err != nil {
		db.Close()
		return err
	}
	s.locked = func() error { return errors.Join(connection.Close(), db.Close()) }
	was, err := os.Stat(path)
	s.alive = func(context.Context) error {
		if now, gone := os.Stat(path); err != nil || gone != nil || !os.SameFile(was, now) {
			return errUnlocked
		}
		return nil
	}
	return nil
}
