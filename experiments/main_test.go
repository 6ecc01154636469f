package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/experiments/engine/enginetest"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"single ", "smallest, talk", "separated ", "expected ", "gaussian:coinpress", "files ", "server "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for _, args := range [][]string{{"no"}, {"single", "-n", "x"}, {"single", "smalest"}, {"files"}, {"-v"}} {
		if err := run(context.Background(), args, io.Discard); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

// The pages of the documentation are those of the experiments, and say what made them.
func TestPages(t *testing.T) {
	for _, s := range all() {
		switch name, _ := s.Title(); name {
		case "expected": // has none
			enginetest.Pages(t, "..", name, nil, false)
		case "files": // of the files of a folder
			enginetest.Pages(t, "..", name, []string{"data"}, true)
		case "describe", "columns": // and of them too
			enginetest.Pages(t, "..", name, append(s.Names(), "data"), true)
		default:
			enginetest.Pages(t, "..", name, s.Names(), true)
		}
	}
}
