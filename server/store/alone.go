package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// number names the lock of servers in a PostgreSQL database.
const number = 0x6761757a65

// How often, and how far apart, a lock is asked for that a server that was killed may still have.
const (
	lockTries = 20
	lockPause = 250 * time.Millisecond
)

// Alone makes sure that no other server has the database, until the process ends or the store is
// closed: a second one would take the first's fits for cut off. Commands beside a server need no
// such thing.
func (s *Store) Alone(ctx context.Context, place string) (err error) {
	for range lockTries {
		if err = s.lock(ctx, place); err == nil {
			return nil
		}
		wait, done := context.WithTimeout(ctx, lockPause)
		<-wait.Done()
		done()
	}
	return &privacy.FieldError{Field: "database", Wanted: "one that no other server has", Got: fmt.Sprintf("one that cannot be had alone (%v)", err), Mend: "end the other server first"}
}

func (s *Store) lock(ctx context.Context, place string) error {
	if s.bind("?") != "?" { // PostgreSQL: a lock of a session
		connection, err := s.db.Conn(ctx)
		if err != nil {
			return err
		}
		got := false
		if err := connection.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(number)).Scan(&got); err != nil || !got {
			return errors.Join(err, errors.New("another has it"), connection.Close())
		}
		s.locked = connection.Close
		return nil
	}
	// SQLite: a file beside it, whose lock ends with the process
	path, err := filepath.Abs(place + ".lock")
	if err != nil {
		return err
	}
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
	return nil
}
