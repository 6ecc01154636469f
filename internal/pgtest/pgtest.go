// Package pgtest starts a PostgreSQL server for a test.
package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Password is the server's only user's, who is called gauze.
const Password = "hunter2-of-the-test"

// Start starts a server with an empty database, and returns its URL, with the password in it. The
// server ends with the test. Where none can be started the test is skipped, and says why. It keeps
// nothing over a crash unless more settings, as in "-c fsync=on", say so.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	place, _ := StartCrashing(t, settings...)
	return place
}

// startTries is how often a server is started that was killed: what is left of it may take a while
// to end.
const startTries = 60

// StartCrashing starts a server as Start does; crash kills it with all of its processes, as a loss
// of power does, and starts it again.
func StartCrashing(t testing.TB, settings ...string) (place string, crash func()) {
	t.Helper()
	bin := programs(t)
	dir, err := os.MkdirTemp("", "pgtest") // t.TempDir lets nobody else in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	port := freePort(t)
	try := trying(t, bin, dir)
	run := func(name string, args ...string) {
		t.Helper()
		if fault := try(name, args...); fault != "" {
			t.Skip("PostgreSQL does not start: ", fault)
		}
	}
	password, data := filepath.Join(dir, "password"), filepath.Join(dir, "data")
	if err := os.WriteFile(password, []byte(Password+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	run("initdb", "-D", data, "-U", "gauze", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8", "--locale=C", "-N")
	all := append([]string{fmt.Sprintf("-p %d -k %s -h 127.0.0.1 -c fsync=off -c shared_buffers=32MB", port, dir)}, settings...)
	start := []string{"-D", data, "-w", "-t", "120", "-l", filepath.Join(dir, "log"), "-o", strings.Join(all, " "), "start"}
	run("pg_ctl", start...)
	t.Cleanup(func() {
		if fault := try("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop"); fault != "" {
			t.Error("PostgreSQL does not stop: ", fault)
		}
	})
	crash = func() {
		t.Helper()
		killAll(t, filepath.Join(data, "postmaster.pid"))
		fault := ""
		for range startTries {
			if fault = try("pg_ctl", start...); fault == "" {
				return
			}
			wait, done := context.WithTimeout(t.Context(), time.Second)
			<-wait.Done()
			done()
		}
		t.Fatal("PostgreSQL does not come back: ", fault)
	}
	return fmt.Sprintf("postgres://gauze:%s@127.0.0.1:%d/postgres", Password, port), crash
}

// trying runs a program of PostgreSQL in a folder as somebody else than root, and returns what is
// wrong, "" for nothing.
func trying(t testing.TB, bin, dir string) func(name string, args ...string) string {
	t.Helper()
	asOther := otherUser(t)
	return func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		asOther(cmd)
		out, err := os.CreateTemp("", "pgtest") // no pipe: the server would hold it open
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(out.Name())
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(out.Name())
			return fmt.Sprintf("%s: %v\n%s", name, err, said)
		}
		return ""
	}
}

// killAll kills a server whose process is the first in a file, and its children: the first at once,
// so that it cannot fix anything.
func killAll(t testing.TB, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.Fields(string(text))[0]
	children, _ := os.ReadFile(filepath.Join("/proc", first, "task", first, "children")) // where there is such a file
	for _, word := range append([]string{first}, strings.Fields(string(children))...) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if process, err := os.FindProcess(pid); err == nil {
			process.Kill()
		}
	}
}

// programs finds the server's programs: those of Debian's package, or those in the path.
func programs(t testing.TB) string {
	t.Helper()
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(folders) > 0 {
		return filepath.Dir(slices.Max(folders))
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no PostgreSQL here: initdb is not in the path (on Debian: apt install postgresql)")
	}
	return filepath.Dir(initdb)
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no network on this machine: ", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
