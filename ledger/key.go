package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// keyBytes is the length of a key, and of a ledger's id.
const keyBytes = 32

// drawn returns a fresh secret, in hexadecimal digits.
func drawn() (string, error) {
	var b [keyBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// makeKey makes a key file for its owner alone, or reads one that exists.
func makeKey(file string) ([]byte, error) {
	secret, err := drawn()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readKey(file)
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(file)) // remove the half-written key
	}
	return readKey(file)
}

// readKey reads a key file, which must be readable by its owner only.
func readKey(file string) ([]byte, error) {
	fault := func(got, fix string) error {
		return &privacy.FieldError{Field: "ledger key", Wanted: "the file with the ledger's key", Got: got, Fix: fix}
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault(file+", which does not exist", "put the key that was made with the ledger there, or name it with --ledger-key")
	}
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fault(fmt.Sprintf("%s, which others may read (%v)", file, mode), "chmod 600 it, and find out who has read it: the key is what tells your entries from theirs")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fault(fmt.Sprintf("%s, which holds something else", file), "bring the key that was made with the ledger")
	}
	return key, nil
}

// Fingerprint returns a keyed digest of the parts, each behind its length: it reveals nothing
// without the ledger's key.
func (l *Ledger) Fingerprint(parts ...string) string {
	return code(l.key, append([]string{"fingerprint"}, parts...)...)
}
