package server

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
)

// WriteBackup writes a copy of a SQLite database to a new file, readable by its owner only, while
// others read and write: a snapshot of one moment. The ledger's key is not in it.
func WriteBackup(ctx context.Context, place, keyFile, out string, now func() time.Time) error {
	l, err := ledger.Open(ctx, place, keyFile, now)
	if err != nil {
		return err
	}
	defer l.Close()
	db, bind := l.Database()
	if bind("?") != "?" {
		return &privacy.FieldError{Field: "backup", Wanted: "a SQLite file", Got: "a PostgreSQL database", Fix: "pg_dump makes a copy of it"}
	}
	file, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return &privacy.FieldError{Field: "out", Wanted: "a new file", Got: err.Error(), Fix: "name another: no backup is replaced"}
	}
	if err := file.Close(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", out)
	return err
}

// RestoreBackup restores a backup where there is no database, and verifies its ledger with the key.
// It does not know what was spent after the backup was made.
func RestoreBackup(ctx context.Context, backup, place, keyFile string, now func() time.Time) (head ledger.Head, err error) {
	from, err := os.Open(backup)
	if err != nil {
		return head, &privacy.FieldError{Field: "from", Wanted: "a backup", Got: err.Error(), Fix: "gauze serve backup makes one"}
	}
	defer from.Close()
	to, err := os.OpenFile(place, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return head, &privacy.FieldError{Field: "database", Wanted: "a new file", Got: err.Error(), Fix: "move the old one away: it may know of more than the backup does"}
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err == nil {
		head, err = verified(ctx, place, keyFile, now)
	}
	if err != nil { // a ledger that fails is removed again
		err = errors.Join(err, os.Remove(place))
	}
	return head, err
}

func verified(ctx context.Context, place, keyFile string, now func() time.Time) (ledger.Head, error) {
	l, err := ledger.Open(ctx, place, keyFile, now)
	if err != nil {
		return ledger.Head{}, err
	}
	head, err := l.Verify(ctx, ledger.Head{})
	return head, errors.Join(err, l.Close())
}
