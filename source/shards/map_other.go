//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package shards

import (
	"errors"
	"os"
)

// Map returns the first bytes of a file as memory.
func Map(*os.File, int) ([]byte, error) {
	return nil, errors.New("files are not mapped on this system")
}

// Unmap does nothing here.
func Unmap([]byte) error { return nil }

// Drop does nothing here.
func Drop([]byte) {}
