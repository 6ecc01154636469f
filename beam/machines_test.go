package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// machine begins a process on a machine of a network: in a root folder of its own, with what is
// installed here, but no folder in which anyone writes other than those it is given, no memory, no
// processes and no loopback in common with another. Arguments: the root, the name, the hosts, and
// folders as THERE=HERE up to --.
const machine = `set -e
root=$1 name=$2 hosts=$3; shift 3
mount -t tmpfs none "$root"
for d in bin sbin lib lib64 usr etc; do
	if [ -L /$d ]; then cp -a /$d "$root/$d"; elif [ -d /$d ]; then mkdir "$root/$d"; mount --rbind /$d "$root/$d"; fi
done
mount --bind "$hosts" "$root/etc/hosts"
mkdir "$root/proc" "$root/tmp" "$root/dev"
mount -t proc none "$root/proc"
for d in null zero random urandom; do : > "$root/dev/$d"; mount --bind /dev/$d "$root/dev/$d"; done
while [ "$1" != -- ]; do
	there=$root${1%%=*} here=${1#*=}
	if [ -d "$here" ]; then mkdir -p "$there"; else mkdir -p "$(dirname "$there")"; : > "$there"; fi
	mount --rbind "$here" "$there"; shift
done
shift
hostname "$name"
exec chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp "$@"`

// A lan is a network of machines, which this process looks at from a switch.
type lan struct {
	t       *testing.T
	folder  string   // of this process
	hosts   string   // file
	folders []string // that all machines have, as THERE=HERE
	names   []string
}

// network makes machines that are called so.
func network(t *testing.T, names ...string) *lan {
	l := &lan{t: t, folder: t.TempDir(), names: names}
	l.hosts = filepath.Join(l.folder, "hosts")
	text := "127.0.0.1 localhost\n"
	for i, name := range names {
		text += fmt.Sprintln(address(i), name)
	}
	if err := os.WriteFile(l.hosts, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ip := func(args string) { t.Helper(); output(t, "ip", strings.Fields(args)...) }
	output(t, "mount", "-t", "tmpfs", "none", "/run") // where ip keeps names
	ip("link set lo up")
	ip("link add switch type bridge")
	ip("address add 10.77.0.1/24 dev switch")
	ip("link set switch up")
	for i, name := range names {
		port := fmt.Sprint("port", i)
		ip("netns add " + name)
		ip("link add " + port + " type veth peer name eth0 netns " + name)
		ip("link set " + port + " master switch up")
		ip("-n " + name + " link set lo up")
		ip("-n " + name + " address add " + address(i) + "/24 dev eth0")
		ip("-n " + name + " link set eth0 up")
	}
	return l
}

func address(machine int) string { return fmt.Sprint("10.77.0.", machine+2) }

// A process runs on a machine.
type process struct {
	command *exec.Cmd
	lines   chan string // what it says, but for what nobody takes, until it has ended
	err     error       // of the end
	mu      sync.Mutex
	said    strings.Builder
}

// start has a machine run a command, in an environment of which the first arguments say all.
func (l *lan) start(name string, folders []string, args ...string) *process {
	l.t.Helper()
	root, err := os.MkdirTemp(l.folder, name)
	if err != nil {
		l.t.Fatal(err)
	}
	all := append([]string{"netns", "exec", name, "unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
		"sh", "-c", machine, "sh", root, name, l.hosts}, append(l.folders, folders...)...)
	p := &process{command: exec.Command("ip", append(append(all, "--"), args...)...), lines: make(chan string, 1000)}
	out, in := io.Pipe()
	p.command.Stdout, p.command.Stderr = in, in
	if err := p.command.Start(); err != nil {
		l.t.Fatal(err)
	}
	go p.listen(out)
	go func() { p.err = p.command.Wait(); _ = in.Close() }()
	l.t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if l.t.Failed() {
			text := p.all()
			l.t.Logf("%s, %s: %s", name, args[len(args)-1], text[max(0, len(text)-5000):])
		}
	})
	return p
}

func (p *process) listen(out io.Reader) {
	for in := bufio.NewScanner(out); in.Scan(); {
		p.mu.Lock()
		p.said.WriteString(in.Text() + "\n")
		p.mu.Unlock()
		select {
		case p.lines <- in.Text():
		default:
		}
	}
	close(p.lines)
}

// all is what it has said.
func (p *process) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// reach waits until somebody listens on a machine.
func (l *lan) reach(name, port string) {
	l.t.Helper()
	for i, n := range l.names {
		for deadline := time.Now().Add(startUp); n == name; time.Sleep(time.Second / 10) {
			if c, err := net.Dial("tcp", net.JoinHostPort(address(i), port)); err == nil {
				c.Close()
				return
			}
			if time.Now().After(deadline) {
				l.t.Fatal(name, " does not answer at ", port)
			}
		}
	}
}

// pids are the processes of a machine whose command line has a word, if it has one.
func (l *lan) pids(name, word string) (all []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		l.t.Fatal(err)
	}
	of, err := os.Stat("/run/netns/" + name)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		words := strings.Split(string(line), "\x00")
		if own, err := os.Stat(filepath.Join("/proc", e.Name(), "ns/net")); err == nil && os.SameFile(of, own) && slices.Contains(words, word) && (words[0] == "java" || words[0] == "/opt/gauze-beam") {
			all = append(all, pid)
		}
	}
	return all
}
