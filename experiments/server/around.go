package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// mostGrown is how much memory may grow by plans whose requests have 200 MB together, in MiB.
const mostGrown = 120

// heavy sends what may fill the server's memory, and opens more connections than it has use for.
func (f *field) heavy(ctx context.Context, t *engine.Table) {
	before, _ := strconv.Atoi(f.resident())
	statuses := map[int]int{}
	for i := range 200 {
		var names []string
		for j := range 10 {
			names = append(names, fmt.Sprintf("%q", fmt.Sprint(i, " ", j, strings.Repeat("x", 95_000))))
		}
		a := f.send(ctx, "lee", "POST", api+"/plans", `{"rows": 100000, "epsilon": 1, "delta": 1e-9, "components": 1, "columns": [`+strings.Join(names, ", ")+`]}`)
		statuses[a.status]++
	}
	after, _ := strconv.Atoi(f.resident())
	t.Add("plans of a megabyte, which are remembered", "lee", "200 times `POST /api/v1/plans`", fmt.Sprintf("at most %d MiB more", mostGrown), fmt.Sprintf("%v, %d MiB, then %d", statuses, before, after), after-before <= mostGrown && statuses[200] > 0)
	var open []net.Conn
	for range 500 {
		c, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
		if err != nil {
			break
		}
		open = append(open, c)
	}
	a := f.send(ctx, "lee", "GET", api+"/me", "")
	t.Add("500 connections that say nothing", "nobody", fmt.Sprintf("%d were opened; then lee asks", len(open)), "200, within a second", fmt.Sprintf("%d, %v", a.status, a.took.Round(time.Millisecond)), a.status == 200 && a.took < time.Second)
	for _, c := range open {
		c.Close()
	}
}

// around checks the server's surroundings: files, and where it would listen.
func (f *field) around(ctx context.Context, t *engine.Table) {
	for _, name := range []string{"", ".key", "-wal"} {
		kind, err := os.Stat(f.database + name)
		mode := os.FileMode(0o777)
		if err == nil {
			mode = kind.Mode().Perm()
		}
		t.Add("files that others may read", "another user of the machine", "`"+filepath.Base(f.database+name)+"`", "-rw-------", mode.String(), mode == 0o600)
	}
	soon, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	err := exec.CommandContext(soon, f.program, "serve", "--database", filepath.Join(f.folder, "other.db"), "--listen", "0.0.0.0:0").Run()
	code := -1
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	}
	t.Add("tokens in the clear", "who runs it", "`--listen 0.0.0.0:0` without TLS", "it ends with 2", fmt.Sprint(code), code == 2)
	second := exec.CommandContext(soon, f.program, "serve", "--database", f.database, "--listen", "127.0.0.1:0").Run()
	t.Add("two servers on one database", "who runs it", "a second one", "it ends with 2", fmt.Sprint(second), second != nil && strings.Contains(second.Error(), "status 2"))
}
