package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/sharded"
	"github.com/gauze-dp/gauze/source/shards"
)

// A coarse store has several files of rows in a shard.
type coarse struct {
	*shards.Store
	per int
}

const fileNumbers = 64 << 20 / 8 // of a file of rows: see source/shards

func (c coarse) Place(chunk []float64) (shard, at int, ok bool) {
	shard, at, ok = c.Store.Place(chunk)
	return shard / c.per, shard%c.per*fileNumbers + at, ok
}

func (c coarse) Rows(shard, at, n int) (numbers []float64, leave func(), err error) {
	return c.Store.Rows(shard*c.per+at/fileNumbers, at%fileNumbers, n)
}

// A scan is one sum over the rows of a table, and what it cost.
type scan struct {
	Rows, Files             int    // files of a shard
	By                      string // the local engine, workers here, Prism, or an engine with a job server
	Turn                    int
	Processor, Wall, Memory float64 // seconds, and the most bytes in memory
	// of the job server, as long as the scan took
	ServerProcessor, ServerMemory float64
}

// scanning is a variable that asks for scans: a number of rows, of turns, and of files in a shard,
// of which there may be several.
const scanning = "GAUZE_SCAN"

// TestScan measures scans of a table in files, in turns by the local engine, by workers in this
// process without Beam, and by Prism; or, of TestEngines, by the local engine and another. Each
// scan is printed as a line of JSON.
func TestScan(t *testing.T) {
	if os.Getenv(scanning) == "" {
		t.Skip(`GAUZE_SCAN is not set, such as to "1000000 3 1": rows, turns, files of a shard: minutes for many rows`)
	}
	scanTables(t, []string{localEngine, "workers", prism}, 0)
}

const localEngine = "local"

// scanTables measures scans by all of these, of which those that Beam hands out have a job server,
// or none.
func scanTables(t *testing.T, by []string, server int) {
	var numbers []int
	for _, word := range strings.Fields(os.Getenv(scanning)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	const columns = 10
	store, err := shards.NewStore(os.Getenv("GAUZE_SCAN_FOLDER"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n, turns := numbers[0], numbers[1]
	table := gaussian(n, columns, store)
	for _, per := range numbers[2:] {
		measure(t, coarse{store, per}, table, n, turns, by, server)
	}
}

// gaussian is a table of independent columns, in files.
func gaussian(n, columns int, store kernel.Room) *kernel.Table {
	builder, rng, row := kernel.NewBuilderIn(columns, store), rand.New(rand.NewPCG(1, 20)), make([]float64, columns)
	for range n {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		builder.Append(row)
	}
	return builder.Protect(privacy.ReplaceOne)
}

// measure has the same moments asked in turns.
func measure(t *testing.T, in coarse, table *kernel.Table, n, turns int, engines []string, server int) {
	defer func() { labour = do }()
	labour = func(_ store, item string) error { return sharded.Work(in, item) }
	workers, by := map[string]sharded.Scheduler{"workers": sharded.Here{Store: in}}, ""
	engine := sharded.New(in, schedule(func(ctx context.Context, items []string) error {
		if own := workers[by]; own != nil {
			return own.Run(ctx, items)
		}
		return beamed{in.Folder()}.Run(ctx, items)
	}))
	d := table.Columns()
	frame := query.Affine{Center: make([]float64, d), W: make([][]float64, d)}
	for i := range d {
		frame.W[i] = make([]float64, d)
		frame.W[i][i] = 1
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: frame, Radius: math.Sqrt(float64(2 * d))}}}
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "scan", Query: q.Kind(), Most: turns + 1, Share: 1}}}
	sessions := map[string]*kernel.Session{}
	for _, name := range engines {
		terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		if name != localEngine {
			terms.Engine = engine
		}
		sessions[name] = kerneltest.Open(t, table, plan, terms, kerneltest.Options{})
	}
	for turn := range turns + 1 { // the first checks the files
		for i := range engines {
			by = engines[(i+turn)%len(engines)]
			s := sessions[by]
			debug.FreeOSMemory()
			own := scan{Rows: n, Files: in.per, By: by, Turn: turn}
			mostMemory(t, os.Getpid(), true)
			if server != 0 {
				mostMemory(t, server, true)
				own.ServerProcessor = -processorOf(t, server)
			}
			began, before := time.Now(), processor()
			if _, err := s.SubBudget().Sum("scan", q, s.Mu()/math.Sqrt(float64(turns+2))); err != nil {
				t.Fatal(err)
			}
			own.Processor, own.Wall, own.Memory = processor()-before, time.Since(began).Seconds(), mostMemory(t, os.Getpid(), false)
			if server != 0 {
				own.ServerProcessor += processorOf(t, server)
				own.ServerMemory = mostMemory(t, server, false)
			}
			if text, err := json.Marshal(own); err != nil {
				t.Error(err)
			} else if turn > 0 {
				fmt.Println(string(text))
			}
		}
	}
}

// mostMemory is the most memory that a process had since it was forgotten.
func mostMemory(t *testing.T, pid int, forget bool) (size float64) {
	folder := fmt.Sprint("/proc/", pid, "/")
	if forget {
		if err := os.WriteFile(folder+"clear_refs", []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(folder + "status")
	_, after, ok := bytes.Cut(text, []byte("VmHWM:"))
	if err == nil && ok {
		_, err = fmt.Sscan(string(after[:bytes.IndexByte(after, '\n')]), &size)
	}
	if err != nil || !ok {
		t.Fatal("no peak of memory", err)
	}
	return size * 1024
}

// processor is the user and system seconds of this process.
func processor() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// processorOf is that of another process, in hundredths of a second.
func processorOf(t *testing.T, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprint("/proc/", pid, "/stat"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var user, system float64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return (user + system) / 100
}
