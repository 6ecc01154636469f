package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gauze-dp/gauze/release"
)

// An output is a file to be written, with the flag that names it; an empty path is none.
type output struct {
	flag, path string
	reads      []string // what must stay
	force      bool     // a file that exists may be replaced
}

// check reports a file that could not be written later, when the budget is spent, or whose loss
// somebody might regret.
func (o output) check() error {
	if o.path == "" {
		return nil
	}
	bad := func(wanted, got, hint string) error {
		return wrong(o.flag, wanted, got, hint)
	}
	for _, read := range o.reads {
		if sameFile(o.path, read) {
			return bad("a file of its own", o.path+", which is used already", "name another file")
		}
	}
	info, err := os.Stat(o.path)
	link, linkErr := os.Lstat(o.path)
	switch {
	case err == nil && info.IsDir():
		return bad("a file name", "the folder "+o.path, "add a file name")
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a terminal
	case linkErr == nil && link.Mode()&fs.ModeSymlink != 0:
		return bad("a plain file", o.path+", which is a link", "name what it points to")
	case err == nil && info.Mode().Perm()&0o200 == 0:
		return bad("a file that can be written", o.path+", which is read-only", "name another, or make it writable")
	case err == nil && !o.force:
		return bad("a new file", o.path+", which exists", "name another, or replace it with --force")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return bad("a file that can be written", err.Error(), "check the path")
	}
	probe, err := os.CreateTemp(filepath.Dir(o.path), ".gauze-*")
	if err != nil {
		return bad("a file in a folder that can be written", o.path, "make the folder, or name another")
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// setAside renames a file whose place a new one was to take, where there is no new one: an old
// release does not pass for it.
func setAside(e *env, path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.old%d", path, i)
		if _, err := os.Lstat(aside); err == nil {
			continue
		}
		if err := os.Rename(path, aside); err == nil {
			e.note("note: %s is of an earlier fit: it is now %s\n", path, aside)
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

// stdinName is the INPUT, RELEASE or MODEL that stands for stdin.
const stdinName = "-"

// readRelease reads a release, or a bare model as one that promises nothing; of a release of groups
// the one that is named behind the path, as FILE#f,north.
func readRelease(e *env, path string) (*release.Release, error) {
	r, err := readAny(e, path)
	if err == nil && r.Groups != nil {
		_, err = r.Find("")
		err = fmt.Errorf("%w: %s#GROUP", err, path)
	}
	return r, err
}

// readAny is readRelease, but that it reads releases of groups too. It warns of one that does not
// verify.
func readAny(e *env, path string) (*release.Release, error) {
	r, err := readUnchecked(e, path)
	if err == nil && !r.Bare() {
		for _, fault := range faults(r) {
			e.note("warning: %s: %v\n", path, fault)
		}
	}
	return r, err
}

func readUnchecked(e *env, path string) (*release.Release, error) {
	file, group, named := strings.Cut(path, "#")
	if _, err := os.Stat(path); err == nil || !named {
		return readWhole(e, path)
	}
	r, err := readWhole(e, file)
	if err != nil {
		return nil, err
	}
	i, err := r.Find(group)
	if err != nil {
		return nil, err
	}
	if none := r.Groups[i].NoRelease; none != nil {
		return nil, &usageError{fmt.Sprintf("wanted a group with a model, got %s, which has none: %s", group, none.Reason), "name another"}
	}
	return r.Of(i), nil
}

// readWhole reads a release, of groups too, or a bare model.
func readWhole(e *env, path string) (r *release.Release, err error) {
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
