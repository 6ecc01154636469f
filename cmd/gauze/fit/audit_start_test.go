package fit

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
)

// An audit needs the program of the same build: without one, and with another, it is bad usage that
// says how to get it.
func TestStartRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script stands for the program")
	}
	for name, c := range map[string]struct{ script, want string }{
		"none":    {"", "beside this one or on the PATH, got none"},
		"another": {"#!/bin/sh\necho '{\"program\": \"another\"}'\n", "of this build"},
		"broken":  {"#!/bin/sh\nexit 1\n", "of this build"},
	} {
		folder := t.TempDir()
		t.Setenv("PATH", folder)
		if c.script != "" {
			if err := os.WriteFile(filepath.Join(folder, auditProgram), []byte(c.script), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		p := shell.Program{Name: "gauze", Help: embed.FS{}, Commands: []shell.Command{StartAudit()}}
		var out, said bytes.Buffer
		code := p.Run(t.Context(), strings.Fields("audit --method gaussian --epsilon 1 --delta 1e-6"), nil, &out, &said)
		if code != shell.CodeBad || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, said.String())
		}
	}
}
