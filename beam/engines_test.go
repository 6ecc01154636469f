package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// An engine is one whose job server Maven brings.
type engine struct {
	pom   string
	java  []string // what comes before the classpath
	class string
	args  []string
}

// Each repeats work that failed, before this program does. Spark stays up between jobs by a
// property that is for Beam's own tests: else a job has a context of its own, to which it hands
// every file of the class path, five seconds long.
var engines = map[string]engine{
	"flink": {"flink.xml", nil, "org.apache.beam.runners.flink.FlinkJobServerDriver", []string{"--flink-master=[local]", "--flink-conf-dir=testdata"}},
	"spark": {"spark.xml", append(opens("lang", "lang.invoke", "lang.reflect", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic"),
		"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-Dspark.ui.enabled=false", "-Dbeam.spark.test.reuseSparkContext=true", "-Dspark.driver.bindAddress=127.0.0.1", "-Dspark.driver.host=127.0.0.1"),
		"org.apache.beam.runners.spark.SparkJobServerDriver", []string{"--spark-master-url=local[2,4]"}},
}

// opens has Java 17 let Spark look into packages.
func opens(packages ...string) (flags []string) {
	for _, p := range packages {
		flags = append(flags, "--add-opens=java.base/java."+p+"=ALL-UNNAMED")
	}
	return flags
}

const (
	// asks says which engine to test, and says it again in the network that they are started in.
	asks, inside = "GAUZE_ENGINES", "GAUZE_ENGINES_INSIDE"
	// startUp is how long a job server may take.
	startUp = 2 * time.Minute
)

// TestEngines runs the tests of runners on a job server, which Maven fetches: GAUZE_ENGINES=flink,
// or spark; or measures scans by it. It is alone with it in a network, and among processes that end
// with it.
func TestEngines(t *testing.T) {
	name := os.Getenv(asks)
	if name == "" {
		t.Skip("GAUZE_ENGINES is not set, to flink or spark: minutes, and a job server by Maven")
	}
	e, ok := engines[name]
	if !ok {
		t.Fatalf("no engine is called %q", name)
	}
	if jars := os.Getenv(inside); jars != "" {
		server := e.serve(t, jars)
		if os.Getenv(scanning) != "" {
			scanTables(t, []string{localEngine, name}, server)
			return
		}
		t.Run("Sums", TestSums)
		t.Run("Runner", TestRunner)
		t.Run("Replay", TestReplay)
		return
	}
	jars := filepath.Join(t.TempDir(), "jars")
	output(t, "mvn", "-q", "-B", "-f", filepath.Join("testdata", e.pom), "dependency:build-classpath", "-Dmdep.outputFile="+jars)
	own := exec.Command("unshare", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", `ip link set lo up && exec "$@"`, "sh", os.Args[0], "-test.run=^TestEngines$", "-test.v")
	own.Env, own.Stdout, own.Stderr = append(os.Environ(), inside+"="+jars), os.Stdout, os.Stderr
	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
}

// serve starts a job server, the number of whose process it returns, and points Beam's flags at it.
func (e engine) serve(t *testing.T, jars string) int {
	path, err := os.ReadFile(jars)
	if err != nil {
		t.Fatal(err)
	}
	port := free(t)
	// a round starts a cluster, whose code is too fresh for the second compiler
	args := append(append([]string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"}, e.java...), "-cp", string(path), e.class,
		"--job-host=localhost", fmt.Sprint("--job-port=", port), "--artifact-port=0", "--expansion-port=0", "--artifacts-dir="+t.TempDir())
	var said bytes.Buffer
	server := exec.Command("java", append(args, e.args...)...)
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		size := mostMemory(t, server.Process.Pid, false)
		_ = server.Process.Kill()
		_ = server.Wait()
		t.Logf("the job server took %v of the processor, and %.0f MB", (server.ProcessState.UserTime() + server.ProcessState.SystemTime()).Round(time.Second/10), size/1e6)
		if t.Failed() {
			t.Logf("it said: %s", said.Bytes()[max(0, said.Len()-5000):])
		}
	})
	endpoint := fmt.Sprint("localhost:", port)
	for deadline := time.Now().Add(startUp); ; time.Sleep(time.Second / 10) {
		c, err := net.Dial("tcp", endpoint)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"runner": "universal", "endpoint": endpoint, "environment_type": "LOOPBACK", "parallelism": "2"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return server.Process.Pid
}

// free is a port that nobody listens at.
func free(t *testing.T) int {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func output(t *testing.T, name string, args ...string) {
	t.Helper()
	if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, said)
	}
}
