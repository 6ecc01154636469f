package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/source/shards"
)

// Workers that a runner finds in a pool, starts by itself, or has started by Beam's boot program,
// give the sums of memory.
func TestEnvironments(t *testing.T) {
	want := sums(t, t.TempDir(), 1, nil)
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	at, scratch, none := l.Addr().String(), t.TempDir(), filepath.Join(t.TempDir(), "none")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- program(new(workers)).Run(ctx, []string{"pool", "--listen", at, "--shards", scratch}, nil, new(bytes.Buffer), new(bytes.Buffer))
	}()
	defer func() { <-ended; stores.within("") }()
	defer stop()
	// Prism serves all at one address
	boot := filepath.Join(t.TempDir(), "boot")
	script := "#!/bin/sh\nat=${2#*=}; exec " + self + ` --worker=true "$1" --logging_endpoint=$at --control_endpoint=$at --semi_persist_dir=/tmp`
	if err := os.WriteFile(boot, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"EXTERNAL", at}, {"PROCESS", fmt.Sprintf(`{"command": %q}`, self)}, {"PROCESS", fmt.Sprintf(`{"command": %q}`, boot)}} {
		t.Run(c[0], func(t *testing.T) {
			set(t, map[string]string{"environment_type": c[0], "environment_config": c[1], "worker_binary": none})
			if got := sums(t, scratch, 2, scheduler); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// set sets flags of Beam for a test.
func set(t *testing.T, flags map[string]string) {
	t.Helper()
	for name, value := range flags {
		f := flag.Lookup(name)
		before := f.Value.String()
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Value.Set(before) })
	}
}

// A pool is told in which folder there may be work.
func TestPoolRefused(t *testing.T) {
	for _, flags := range [][]string{{}, {"--shards", "/scratch", "--listen", "nowhere"}} {
		var stderr bytes.Buffer
		if code := program(new(workers)).Run(t.Context(), append([]string{"pool"}, flags...), nil, &stderr, &stderr); code != shell.CodeBad {
			t.Errorf("%v: code %d: %s", flags, code, stderr.String())
		}
	}
	stores.within("")
}

// Work is done in one folder, if that is said, and nowhere that only looks like it.
func TestWithin(t *testing.T) {
	for in, folders := range map[string]map[string]bool{
		"":                {"/": true, "gs://b/x": true},
		"/scratch/":       {"/scratch": true, "/scratch/gauze-1": true, "/scratched": false, "/scratch/../etc": false, "/etc": false, "scratch": false},
		"gs://b/shards":   {"gs://b/shards/gauze-1": true, "gs://b/shards-of-another": false, "gs://b": false, "/gs://b/shards/x": false},
		"/scratch/gauze-": {"/scratch/gauze-1": false},
	} {
		var o opened
		o.within(in)
		for folder, want := range folders {
			if got := o.allows(folder); got != want {
				t.Errorf("%q in %q: %v", folder, in, got)
			}
		}
	}
}

// A store is forgotten once nobody has used it since it was left, and opened again then.
func TestForget(t *testing.T) {
	owner, err := shards.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	var o opened
	first, leave, err := o.open(owner.Folder())
	if err != nil {
		t.Fatal(err)
	}
	u := o.of[owner.Folder()]
	o.forget(owner.Folder(), u, 0) // in use
	leave()
	second, leave, err := o.open(owner.Folder())
	leave()
	o.forget(owner.Folder(), u, 1) // used since
	if err != nil || second != first || len(o.of) != 1 {
		t.Error("forgotten too early:", err)
	}
	o.forget(owner.Folder(), u, 2)
	if _, err := first.Read("x"); len(o.of) != 0 || err == nil {
		t.Error("not forgotten")
	}
	if third, _, err := o.open(owner.Folder()); err != nil || third == first {
		t.Error("not opened again:", err)
	}
}

// A build is that of sources which somebody can look up, or of one file.
func TestBuild(t *testing.T) {
	of := func(pairs ...string) string {
		info := new(debug.BuildInfo)
		for pair := range slices.Chunk(pairs, 2) {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pair[0], Value: pair[1]})
		}
		return revision(info)
	}
	if of() != "" || of("vcs.revision", "abc", "vcs.modified", "true") != "" || of("vcs.revision", "abc", "vcs.modified", "false") != "abc" {
		t.Error("not that of unchanged sources")
	}
	if len(build()) != 64 || strings.Contains(build(), between) { // of a test's file
		t.Error(build())
	}
}

// A job names no function that is not registered: this program has it, but no worker looks it up.
func TestRegistered(t *testing.T) {
	if _, err := (registered{}).Sym2Addr("os.RemoveAll"); err == nil {
		t.Error("found")
	}
}

// keptTo is a variable that keeps a worker of a test to a folder, as a pool is.
const keptTo = "GAUZE_KEPT_TO"

// Workers that are of another build, or may not work in the folder, are found before anything is
// charged, and the custodian is told; others are not in the way.
func TestGreeted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, append(text, 0), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept") // to a folder that no fit has
	if err := os.WriteFile(kept, []byte("#!/bin/sh\n"+keptTo+"=/nowhere exec "+self+` "$@"`), 0o700); err != nil {
		t.Fatal(err)
	}
	file, l := budgets(t)
	for _, c := range []struct {
		command, said string
		code          int
	}{
		{other, "of another build", shell.CodeBad},
		{kept, "got 0, and 0 of another build; the runner says: ", shell.CodeBad},
		{self, "released: ", shell.CodeOK},
	} {
		set(t, map[string]string{"environment_type": "PROCESS", "environment_config": fmt.Sprintf(`{"command": %q}`, c.command)})
		code, _, stderr := run(t, t.Context(), scheduler, files(t, 1, 10_000), "--components", "1", "--ledger", file, "--dataset", "visits")
		if code != c.code || !strings.Contains(stderr, c.said) {
			t.Errorf("code %d: %s", code, stderr)
		}
		b, err := l.Balances(t.Context(), "visits")
		if charged := len(b) == 1 && b[0].Spent.Epsilon > 0; err != nil || charged != (code == shell.CodeOK) {
			t.Errorf("%v: %+v", err, b)
		}
	}
}
