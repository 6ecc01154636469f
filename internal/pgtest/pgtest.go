// Package pgtest starts a PostgreSQL server for a test.
package pgtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Password is the server's only user's, who is called gauze.
const Password = "hunter2-of-the-test"

// Start starts a server with an empty database, and returns its URL, with the password in it. The
// server ends with the test. Where none can be started the test is skipped, and says why. It keeps
// nothing over a crash unless more settings, as in "-c fsync=on", say so.
func Start(t testing.TB, settings ...string) string {
	t.Helper()
	bin := programs(t)
	dir, err := os.MkdirTemp("", "pgtest") // t.TempDir lets nobody else in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	port := freePort(t)
	asOther := otherUser(t)
	run := func(name string, args ...string) {
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
			t.Skipf("PostgreSQL does not start: %s: %v\n%s", name, err, said)
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
	run("pg_ctl", "-D", data, "-w", "-t", "120", "-l", filepath.Join(dir, "log"), "-o", strings.Join(all, " "), "start")
	t.Cleanup(func() { run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop") })
	return fmt.Sprintf("postgres://gauze:%s@127.0.0.1:%d/postgres", Password, port)
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
