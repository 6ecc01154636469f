//go:build unix

package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// A server is a PostgreSQL server of the test's own.
type server struct {
	t       *testing.T
	bin     string
	data    string
	port    int
	account *syscall.Credential // nil: ours
	process *exec.Cmd
}

// started is a running server. The test is skipped where there is none to be had.
func started(t *testing.T) *server {
	t.Helper()
	s := &server{t: t}
	for _, place := range append(filepath.SplitList(os.Getenv("PATH")), installed()...) {
		if _, err := os.Stat(filepath.Join(place, "postgres")); err == nil {
			s.bin = place
		}
	}
	if s.bin == "" {
		t.Skip("PostgreSQL is not installed")
	}
	folder, err := os.MkdirTemp("", "gauze-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if os.Getuid() == 0 { // the server refuses to run as root
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Skip("nobody to run PostgreSQL as")
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		s.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(folder, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	s.data = filepath.Join(folder, "data")
	if text, err := s.command("initdb", "-D", s.data, "-U", "gauze", "-A", "trust").CombinedOutput(); err != nil {
		t.Skipf("PostgreSQL cannot be set up here: %v\n%s", err, text)
	}
	s.start()
	t.Cleanup(func() { s.stop(syscall.SIGQUIT) })
	return s
}

func installed() []string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	return found
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = filepath.Dir(s.data)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return c
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://gauze@127.0.0.1:%d/postgres?sslmode=disable&connect_timeout=5", s.port)
}

// start starts the server, and waits until it answers. What a killed one has left behind may keep
// it from starting for a moment.
func (s *server) start() {
	s.t.Helper()
	for range 100 {
		s.process = s.command("postgres", "-D", s.data, "-p", fmt.Sprint(s.port), "-k", filepath.Dir(s.data), "-c", "listen_addresses=127.0.0.1")
		if err := s.process.Start(); err != nil {
			s.t.Fatal(err)
		}
		for s.process.Process.Signal(syscall.Signal(0)) == nil && !zombie(s.process.Process.Pid) {
			db, _, err := connect(s.url(), false)
			if err == nil {
				err = db.PingContext(s.t.Context())
				db.Close()
			}
			if err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		s.process.Wait()
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Fatal("PostgreSQL does not start")
}

// zombie reports a child that has ended.
func zombie(pid int) bool {
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	return got == pid || err != nil
}

// stop sends the server a signal, and waits for its end.
func (s *server) stop(how syscall.Signal) {
	s.process.Process.Signal(how)
	s.process.Wait()
}

// killBackend kills one of the server's processes that serve somebody, if there is one: the server
// then ends all of them, and recovers.
func (s *server) killBackend() {
	db, _, err := connect(s.url(), false)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var pid int
	if db.QueryRowContext(s.t.Context(), "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1").Scan(&pid) == nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (s *server) ledger() (l *Ledger, key string) {
	s.t.Helper()
	key = filepath.Join(s.t.TempDir(), "key")
	if err := Init(s.t.Context(), s.url(), key); err != nil {
		s.t.Fatal(err)
	}
	return again(s.t, s.url(), key), key
}

// On PostgreSQL a ledger is what it is in a file.
func TestPostgres(t *testing.T) {
	s := started(t)
	l, key := s.ledger()
	if err := Init(t.Context(), s.url(), key); err == nil {
		t.Error("a ledger was made over one that is there")
	}
	story(t, l)
	head, err := l.Verify(t.Context(), Head{})
	if err != nil || head.Entries != storyEntries {
		t.Errorf("%v %v", head, err)
	}
	if names, err := l.Known(t.Context(), "other", "source0", ""); err != nil || len(names) != 1 {
		t.Errorf("known: %v %v", names, err)
	}
	exactlyThree(t, l, func() *Ledger { return again(t, s.url(), key) })
	if _, err := l.db.ExecContext(t.Context(), "UPDATE gauze_ledger SET body = replace(body, '2026', '2027') WHERE seq = 7"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Verify(t.Context(), head); err == nil || !strings.Contains(err.Error(), "entry 7") {
		t.Errorf("an edited entry: %v", err)
	}
	if _, err := Open(context.Background(), strings.Replace(s.url(), "/postgres?", "/template1?", 1), key, clock); err == nil {
		t.Error("a database without a ledger was opened")
	}
}

// Whatever of a server is killed, at any moment, and whatever process that spends: the ledger has
// counted at least what was measured.
func TestKilledServer(t *testing.T) {
	s := started(t)
	l, key := s.ledger()
	grant(t, l, "a", 1e6, .5)
	notes := filepath.Join(t.TempDir(), "notes")
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	for i := range kills(3) {
		c := child(t, s.url(), key, notes)
		time.Sleep(time.Duration(30+rng.IntN(200)) * time.Millisecond)
		switch i % 3 {
		case 0: // all of the server, at once
			s.stop(syscall.SIGKILL)
		case 1:
			s.killBackend()
		default:
			s.stop(syscall.SIGQUIT) // an immediate shutdown: no checkpoint
		}
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
		c.Process.Kill()
		c.Wait()
		if i%3 != 1 {
			s.start()
		}
		holdsAll(t, l, notes)
	}
	measured, _ := noted(t, notes, "measured")
	b := balanceOf(t, l, "a")
	t.Logf("%d kills; %d fits measured, %d counted, of which %d had not ended", kills(3), measured, b.Fits, b.Open)
	if measured == 0 {
		t.Error("nothing was measured: the kills came at the wrong times")
	}
}
