package main

import (
	"errors"
	"fmt"

	"github.com/gauze-dp/gauze/release"
)

func verifyCommand() command {
	return command{
		use: "verify RELEASE", short: "whether a release's certificate is consistent", least: 1, most: 1,
		run: func(e *env, args []string) error { return verify(e, args[0]) },
	}
}

func verify(e *env, path string) error {
	r, err := readAny(e, path)
	if err != nil {
		return err
	}
	if r.Bare() {
		return &usageError{fmt.Sprintf("verify: wanted a release, got %s, a bare model, which promises nothing", path), "name a release that gauze fit wrote"}
	}
	if err := errors.Join(release.Verify(r)...); err != nil {
		return err
	}
	if !r.Certificate.Recomputable() {
		e.note("note: an earlier version wrote it, without the shapes of its queries: their sensitivities were not recomputed\n")
	}
	if e.json {
		return printJSON(e, map[string]any{"consistent": true, "signed": false, "spent": r.Certificate.Spent})
	}
	_, err = fmt.Fprintf(e.stdout, "consistent: the measurements cost %s, at most what was asked. It is not signed: whoever can alter it can make up another.\n",
		spentText(r.Certificate.Spent))
	return err
}
