package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/beam/objects/fake"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source/parsed"
)

const (
	// clustered asks for the test, and says it again in the network that it is started in: roles
	// are those of a process on one of its machines.
	clustered, role = "GAUZE_CLUSTER", "GAUZE_CLUSTER_ROLE"
	// a worker of a test says that it works, or that it does so slowly, and panics with something.
	working, slowly, secret = "working", "slowly", "a row"
	pause                   = 2 * time.Second
	bucketAt                = "store:4443"
)

// The jars lie where Beam's job server (2.62) stages nothing from: see docs/BEAM.md.
const jarsAt = "/opt/gradle/wrapper"

// TestCluster runs sums and fits on a cluster of Flink: GAUZE_CLUSTER=flink. The program that fits,
// the job server with the manager, each of two task managers with its workers, and the store of
// objects are on machines of their own.
func TestCluster(t *testing.T) {
	if os.Getenv(clustered) != "flink" {
		t.Skip("GAUZE_CLUSTER is not set, to flink: minutes, five namespaces, and a cluster by Maven")
	}
	switch of := os.Getenv(role); of {
	case "":
		jars := filepath.Join(t.TempDir(), "jars")
		output(t, "mvn", "-q", "-B", "-f", filepath.Join("testdata", "flink.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+jars)
		own := exec.Command("unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", os.Args[0], "-test.run=^TestCluster$", "-test.v")
		own.Env, own.Stdout, own.Stderr = append(os.Environ(), role+"="+jars), os.Stdout, os.Stderr
		if err := own.Run(); err != nil {
			t.Fatal(err)
		}
	case "store":
		if err := fake.At(bucketAt); err != nil {
			t.Fatal(err)
		}
		select {}
	case "fit":
		onCluster(t)
	default:
		cluster(t, of)
	}
}

// cluster starts the machines, of which the last runs the tests.
func cluster(t *testing.T, jars string) {
	l := network(t, "store", "manager", "worker1", "worker2", "custodian")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	conf, err := filepath.Abs("testdata/cluster")
	if err != nil {
		t.Fatal(err)
	}
	l.folders = []string{"/opt/gauze-beam=" + self, jarsAt + "=" + jars, "/opt/conf=" + conf}
	mounted := []string{"/scratch=" + t.TempDir()} // as a file server has it
	control := t.TempDir()
	ours := func(as string) []string {
		return []string{clustered + "=flink", role + "=" + as, "STORAGE_EMULATOR_HOST=" + bucketAt}
	}
	test := []string{"/opt/gauze-beam", "-test.run=^TestCluster$", "-test.v"}
	all := []*process{l.start("store", nil, append(ours("store"), test...)...), l.start("manager", nil, java("StandaloneSessionClusterEntrypoint")...)}
	l.reach("manager", "8081")
	all = append(all, l.start("manager", nil, java("FlinkJobServerDriver")...))
	var pools []*process
	for _, name := range []string{"worker1", "worker2"} {
		again := []string{"sh", "-c", `while :; do "$@"; sleep 1; done`, "sh"}
		all = append(all, l.start(name, nil, append(again, append(java("TaskManagerRunner"), "-Dtaskmanager.host="+name, "-Dtaskmanager.bind-host="+name)...)...))
		// both places are its own: no folder above them is on any machine
		pools = append(pools, l.start(name, append(mounted, "/control="+control), slices.Concat(ours("worker"), again, []string{"/opt/gauze-beam", "pool", "--shards", "/"})...))
	}
	l.reach("manager", "8099")
	l.reach("store", "4443")
	fit := l.start("custodian", mounted, append(ours("fit"), test...)...)
	killed := 0
	for line := range fit.lines {
		t.Log(line)
		if whom, ok := strings.CutPrefix(line, "kill "); ok {
			killed += l.kill(pools, whom, filepath.Join(control, "slow"))
		}
	}
	if fit.err != nil || killed != 3 {
		t.Errorf("%v, %d were killed", fit.err, killed)
	}
	l.spent(append(all, pools...), pools)
}

// kill ends the workers, or the task manager, of a machine in the middle of work there.
func (l *lan) kill(pools []*process, whom, slow string) int {
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		l.t.Fatal(err)
	}
	defer os.Remove(slow)
	for len(pools[1].lines) > 0 {
		<-pools[1].lines
	}
	for deadline := time.After(startUp); ; {
		select {
		case line := <-pools[1].lines:
			if line != slowly {
				continue
			}
			pids := l.pids("worker2", whom)
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					l.t.Error(err)
				}
			}
			return len(pids)
		case <-deadline:
			l.t.Error("worker2 has had no work")
			return 0
		}
	}
}

// spent says what the processes took, and looks at what they said: nothing of a row.
func (l *lan) spent(all, pools []*process) {
	for _, p := range all {
		if strings.Contains(p.all(), secret) {
			l.t.Errorf("what a worker panics with was said: %v", p.command.Args)
		}
	}
	for i, p := range pools {
		n := strings.Count(p.all(), working)
		if l.t.Logf("worker%d had %d pieces of work", i+1, n); n == 0 {
			l.t.Error("a worker had no work")
		}
	}
	for _, name := range l.names {
		for _, pid := range append(l.pids(name, "-XX:+UseSerialGC"), l.pids(name, "pool")...) {
			l.t.Logf("%s: process %d took %.1f s of the processor, and %.0f MB", name, pid, processorOf(l.t, pid), mostMemory(l.t, pid, false)/1e6)
		}
	}
}

// java is a command of a cluster.
func java(class string) []string {
	args := []string{"java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", jarsAt + "/*"}
	switch class {
	case "StandaloneSessionClusterEntrypoint":
		return append(args, "-Xmx256m", "org.apache.flink.runtime.entrypoint."+class, "--configDir", "/opt/conf")
	case "TaskManagerRunner":
		return append(args, "-Xmx320m", "org.apache.flink.runtime.taskexecutor."+class, "--configDir", "/opt/conf")
	}
	return append(args, "-Xmx256m", "org.apache.beam.runners.flink."+class, "--flink-master=manager:8081", "--flink-conf-dir=/opt/conf", "--artifacts-dir=/artifacts",
		"--job-host=manager", "--job-port=8099", "--artifact-port=8098", "--expansion-port=0")
}

// onCluster is what the custodian asks of the cluster.
func onCluster(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(none, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set(t, map[string]string{"runner": "universal", "endpoint": "manager:8099", "environment_type": "EXTERNAL", "environment_config": "localhost:50000", "parallelism": "2"})
	want := sums(t, t.TempDir(), 1, nil)
	same := func(t *testing.T, kill string) {
		set(t, map[string]string{"worker_binary": none})
		if kill != "" {
			fmt.Println("kill " + kill)
		}
		runs := 0
		if got := sums(t, "/scratch", 1, func(s store) sharded.Scheduler { return counting(s, func([]string) { runs++ }) }); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
			t.Errorf("%v, want %v", got, want)
		}
		t.Logf("%d jobs", runs) // three if Flink has repeated what was lost
	}
	t.Run("Sums", func(t *testing.T) { same(t, "") })
	t.Run("Sums of a worker that is killed", func(t *testing.T) { same(t, "pool") })
	t.Run("Sums of a task manager that is killed", func(t *testing.T) { same(t, "-XX:+UseSerialGC") })
	t.Run("Folder, one component", func(t *testing.T) { fitOn(t, inFolder(t), "/scratch", "1") })
	t.Run("Objects, one component", func(t *testing.T) { fitOn(t, inBucket(t), fake.Bucket+"shards", "1") })
	t.Run("Objects, general, a worker is killed", func(t *testing.T) {
		input := inBucket(t)
		fmt.Println("kill pool")
		fitOn(t, input, fake.Bucket+"shards", "2")
	})
}

// counting has Beam do the work, of which somebody is told.
func counting(s store, told func(items []string)) sharded.Scheduler {
	return schedule(func(ctx context.Context, items []string) error {
		told(items)
		return beamed{s.Folder()}.Run(ctx, items)
	})
}

// inFolder are files that workers see.
func inFolder(t *testing.T) (pattern string) {
	paths, err := filepath.Glob(files(t, 3, 10_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join("/scratch", filepath.Base(path)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return "/scratch/*.csv"
}

// inBucket are objects.
func inBucket(t *testing.T) (pattern string) {
	return upload(t, files(t, 3, 10_000), "gs://custodian/visits/", true)
}

// fitOn fits, and is charged once.
func fitOn(t *testing.T, input, in, components string) {
	file, l := budgets(t)
	parsing, rounds, began := 0, 0, time.Now()
	var stdout, stderr bytes.Buffer
	code := program(&workers{schedule: func(s store) sharded.Scheduler {
		return counting(s, func(items []string) {
			if rounds++; parsed.Is(items[0]) {
				parsing += len(items)
			}
		})
	}}).Run(t.Context(), []string{"fit", input, "--shards", in, "--epsilon", "1", "--delta", "1e-6", "--columns", "x,y", "--components", components,
		"--ledger", file, "--dataset", "visits"}, strings.NewReader(""), &stdout, &stderr)
	if code != shell.CodeOK || parsing != 3 {
		t.Fatalf("code %d, workers parsed %d files: %s", code, parsing, stderr.String())
	}
	once(t, l)
	t.Logf("%d jobs, %v", rounds, time.Since(began).Round(time.Second/10))
	for _, c := range read(t, stdout.String()).Model.Components[:1] {
		if components == "1" && (c.Mean[0] < 99 || c.Mean[0] > 101 || c.Mean[1] < -1 || c.Mean[1] > 1) {
			t.Errorf("the mean is %v", c.Mean)
		}
	}
}

// asOther is what this program is on another machine: a worker, or a pool of them.
func asOther(args []string) (code int, ok bool) {
	if os.Getenv(role) == "worker" {
		var once sync.Once
		labour = func(s store, item string) error {
			fmt.Println(working)
			if _, err := os.Stat("/control/slow"); err == nil {
				fmt.Println(slowly)
				time.Sleep(pause)
			}
			once.Do(func() { panic(secret) })
			return do(s, item)
		}
	}
	if in := os.Getenv(keptTo); in != "" {
		stores.within(in)
	}
	if len(args) > 0 && args[0] == "pool" {
		return program(new(workers)).Run(shell.Begin(), args, os.Stdin, os.Stdout, os.Stderr), true
	}
	return asWorker(args)
}
