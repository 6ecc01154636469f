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
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/source/shared"
)

// A coarse store has several files of rows in a shard.
type coarse struct {
	*shared.Store
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
	By                      string // the local engine, workers here, or Prism
	Turn                    int
	Processor, Wall, Memory float64 // seconds, and the most bytes in memory
}

// TestScan measures scans of a table in files, in turns by the local engine, by workers in this
// process without Beam, and by Prism: GAUZE_SCAN is a number of rows, of turns, and of files in a
// shard, of which there may be several. Each scan is printed as a line of JSON.
func TestScan(t *testing.T) {
	text := os.Getenv("GAUZE_SCAN")
	if text == "" {
		t.Skip(`GAUZE_SCAN is not set, such as to "1000000 3 1": rows, turns, files of a shard: minutes for many rows`)
	}
	var numbers []int
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	const columns = 10
	store, err := shared.New(os.Getenv("GAUZE_SCAN_FOLDER"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n, turns := numbers[0], numbers[1]
	table := gaussian(n, columns, store)
	for _, per := range numbers[2:] {
		measure(t, coarse{store, per}, table, n, turns)
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
func measure(t *testing.T, in coarse, table *kernel.Table, n, turns int) {
	defer func() { labour = do }()
	labour = func(_ store, item string) error { return sharded.Work(in, item) }
	workers := map[string]sharded.Scheduler{"workers": sharded.Here{Store: in}, "prism": beamed{in.Folder()}}
	by := ""
	engine := sharded.New(in, schedule(func(ctx context.Context, items []string) error { return workers[by].Run(ctx, items) }))
	d := table.Columns()
	frame := query.Affine{Center: make([]float64, d), W: make([][]float64, d)}
	for i := range d {
		frame.W[i] = make([]float64, d)
		frame.W[i][i] = 1
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Frame: frame, Radius: math.Sqrt(float64(2 * d))}}}
	plan := kernel.Plan{Method: "test", Steps: []kernel.Step{{Name: "scan", Query: q.Kind(), Most: turns + 1, Share: 1}}}
	sessions := map[string]*kernel.Session{}
	engines := []string{"local", "workers", "prism"}
	for _, name := range engines {
		terms := kernel.Terms{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}}
		if name != "local" {
			terms.Engine = engine
		}
		sessions[name] = kerneltest.Open(t, table, plan, terms, kerneltest.Options{})
	}
	for turn := range turns + 1 { // the first checks the files
		for i := range engines {
			by = engines[(i+turn)%len(engines)]
			s := sessions[by]
			debug.FreeOSMemory()
			mostMemory(t, true)
			began, before := time.Now(), processor()
			if _, err := s.Allotment().Sum("scan", q, s.Mu()/math.Sqrt(float64(turns+2))); err != nil {
				t.Fatal(err)
			}
			own := scan{n, in.per, by, turn, processor() - before, time.Since(began).Seconds(), mostMemory(t, false)}
			if text, err := json.Marshal(own); err != nil {
				t.Error(err)
			} else if turn > 0 {
				fmt.Println(string(text))
			}
		}
	}
}

// mostMemory is the most memory that this process had since it was forgotten.
func mostMemory(t *testing.T, forget bool) (size float64) {
	if forget {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("/proc/self/status")
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
