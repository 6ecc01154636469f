package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gauze-dp/gauze/release"
)

// checkWritable reports a file that could not be written later, when the budget is spent. An empty
// path is no file.
func checkWritable(flag, path string) error {
	if path == "" {
		return nil
	}
	bad := func(wanted, got, hint string) error {
		return &usageError{fmt.Sprintf("%s: wanted %s, got %s", flag, wanted, got), hint}
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return bad("a file name", "the folder "+path, "add a file name")
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a terminal
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return bad("a file that can be written", err.Error(), "check the path")
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".gauze-*")
	if err != nil {
		return bad("a file in a folder that can be written", path, "make the folder, or name another")
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// sameFile reports that two paths name one plain file; an empty path names none.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
	}
	return errA != nil && errB != nil && filepath.Clean(a) == filepath.Clean(b)
}

// stdinName is the INPUT, RELEASE or MODEL that stands for stdin.
const stdinName = "-"

// readRelease reads a release, or a bare model as one that promises nothing.
func readRelease(e *env, path string) (r *release.Release, err error) {
	if path == stdinName {
		r, err = release.Read(e.stdin)
	} else {
		r, err = release.ReadFile(path)
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		return nil, &usageError{fmt.Sprintf("wanted a release or a model, got %v", system), "check the path"}
	}
	return r, err
}
