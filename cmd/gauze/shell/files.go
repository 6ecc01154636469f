package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An Output is a file to be written, with the flag that names it; an empty path is none.
type Output struct {
	Flag, Path string
	Reads      []string // what must stay
	Force      bool     // a file that exists may be replaced
}

// Check reports a file that could not be written later, when the budget is spent, or whose loss
// somebody might regret.
func (o Output) Check() error {
	if o.Path == "" {
		return nil
	}
	bad := func(wanted, got, hint string) error {
		return Wrong(o.Flag, wanted, got, hint)
	}
	for _, read := range o.Reads {
		if sameFile(o.Path, read) {
			return bad("a file of its own", o.Path+", which is used already", "name another file")
		}
	}
	info, err := os.Stat(o.Path)
	link, linkErr := os.Lstat(o.Path)
	switch {
	case err == nil && info.IsDir():
		return bad("a file name", "the folder "+o.Path, "add a file name")
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a terminal
	case linkErr == nil && link.Mode()&fs.ModeSymlink != 0:
		return bad("a plain file", o.Path+", which is a link", "name what it points to")
	case err == nil && info.Mode().Perm()&0o200 == 0:
		return bad("a file that can be written", o.Path+", which is read-only", "name another, or make it writable")
	case err == nil && !o.Force:
		return bad("a new file", o.Path+", which exists", "name another, or replace it with --force")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return bad("a file that can be written", err.Error(), "check the path")
	}
	probe, err := os.CreateTemp(filepath.Dir(o.Path), ".gauze-*")
	if err != nil {
		return bad("a file in a folder that can be written", o.Path, "make the folder, or name another")
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// SetAside renames a file whose place a new one was to take, where there is no new one: an old
// release does not pass for it.
func (e *Env) SetAside(path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.old%d", path, i)
		if _, err := os.Lstat(aside); err == nil {
			continue
		}
		if err := os.Rename(path, aside); err == nil {
			e.Note("note: %s is of an earlier fit: it is now %s\n", path, aside)
		}
		return
	}
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

// StdinName is the INPUT, RELEASE or MODEL that stands for stdin.
const StdinName = "-"
