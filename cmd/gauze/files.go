package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/release"
)

// readRelease reads a release, or a bare model as one that promises nothing; of a release of groups
// the one that is named behind the path, as FILE#f,north.
func readRelease(e *shell.Env, path string) (*release.Release, error) {
	r, err := readAny(e, path)
	switch {
	case err != nil:
	case r.Groups != nil:
		err = noGroup(path, r)
	case r.Model == nil:
		err = noModel(path)
	}
	return r, err
}

// noGroup returns the error for a release of groups whose group is not named, for a command that
// takes one model.
func noGroup(path string, r *release.Release) error {
	const most = 4 // are named
	var names []string
	for i := range r.Groups {
		if r.Groups[i].Model == nil {
			continue
		}
		if len(names) == most {
			names = append(names, "..")
			break
		}
		names = append(names, words.Quoted(path+"#"+r.Groups[i].Name(r.Certificate.By)))
	}
	return &shell.UsageError{Message: fmt.Sprintf("%s holds one model for each group, and this command takes one model", path), Hint: "name a group: " + strings.Join(names, ", ")}
}

// noModel returns the error for a release that holds a profile of columns, for a command that needs
// a model.
func noModel(path string) error {
	return &shell.UsageError{Message: fmt.Sprintf("wanted a release with a model, got %s, a profile of columns", path), Hint: "gauze fit makes a model; gauze report and gauze verify take both"}
}

// readAny reads a release as readRelease does, but also one of groups. It warns of one that does
// not verify.
func readAny(e *shell.Env, path string) (*release.Release, error) {
	r, err := readUnchecked(e, path)
	if err == nil && !r.Bare() {
		for _, fault := range gauze.Verify(r).Faults {
			e.Note("warning: %s: %v\n", path, fault)
		}
	}
	return r, err
}

func readUnchecked(e *shell.Env, path string) (*release.Release, error) {
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
		return nil, &shell.UsageError{Message: fmt.Sprintf("wanted a group with a model, got %s, which has none: %s", group, none.Reason), Hint: "name another"}
	}
	return r.Of(i), nil
}

// readWhole reads a release, of groups too, or a bare model.
func readWhole(e *shell.Env, path string) (r *release.Release, err error) {
	if path == shell.StdinName {
		r, err = release.Read(e.Stdin)
	} else {
		r, err = release.ReadFile(path)
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		return nil, &shell.UsageError{Message: fmt.Sprintf("%s: %v", path, system.Err), Hint: "check the path: it has to be a release or a model"}
	}
	return r, err
}
