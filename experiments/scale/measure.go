package scale

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/engine/sharded"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
	"github.com/gauze-dp/gauze/source/inputs"
	"github.com/gauze-dp/gauze/source/parsed"
	"github.com/gauze-dp/gauze/source/shared"
)

// child is the variable that has this program fit once, so that its memory is that of one fit.
const child = "GAUZE_SCALE_FIT"

// The budget of all fits: delta is far below one over the most rows.
const epsilon, delta = 1, 1e-10

// What a fit in a process of its own has to do.
type task struct {
	Method, Pattern, Folder string
	Components, Columns     int
}

// passes are what workers did in a fit, all of them in one process.
type passes struct {
	Rounds     int // pieces of work that were handed out together
	ReadBytes  int64
	MovedBytes int64   // what was asked and answered
	Parsing    float64 // of the input by workers, processor seconds
	Taking     float64 // of what they have parsed into shards
	Fitting    float64
	Workers    float64 // of fitting: seconds on the clock in which workers were busy
	Wall       float64 // of fitting
	Outcome    string
}

type measured struct {
	method
	n      int
	memory float64 // the most, in bytes
	passes
}

// refused is the outcome of a fit for which there are too few rows.
const refused = "refused: too few rows"

// A counting store says what workers read, and what is moved.
type counting struct {
	*shared.Store
	read, moved atomic.Int64
}

// Rows counts the numbers.
func (c *counting) Rows(shard, at, n int) ([]float64, func(), error) {
	c.read.Add(int64(n * number))
	return c.Store.Rows(shard, at, n)
}

// Write counts the bytes.
func (c *counting) Write(name string, text []byte) error {
	c.moved.Add(int64(len(text)))
	return c.Store.Write(name, text)
}

// Read counts the bytes.
func (c *counting) Read(name string) ([]byte, error) {
	text, err := c.Store.Read(name)
	c.moved.Add(int64(len(text)))
	return text, err
}

// timed counts rounds of work and the time that they take.
type timed struct {
	sharded.Here
	to *passes
}

// Run does the work in this process.
func (t timed) Run(ctx context.Context, items []string) error {
	began := time.Now()
	defer func() { t.to.Rounds++; t.to.Workers += time.Since(began).Seconds() }()
	return t.Here.Run(ctx, items)
}

// fit does a task in this process, and prints what was counted.
func fit(ctx context.Context, text string, out io.Writer) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return err
	}
	own, err := shared.New(t.Folder)
	if err != nil {
		return err
	}
	defer own.Close()
	var p passes
	store := &counting{Store: own}
	before := processor()
	rows, err := parsed.Open(ctx, own, inputs.Files(t.Pattern), inputs.File, func(ctx context.Context, items []string) error {
		err := parallel.Each(ctx, len(items), func(i int) { _ = parsed.Work(own, items[i], inputs.File) })
		p.Parsing = processor() - before
		return err
	})
	if err != nil {
		return err
	}
	in, err := gauze.FromReader(rows, source.Named(model.DefaultColumns(columns)[:t.Columns]))
	if err != nil {
		return err
	}
	defer in.Close()
	in.Keep(own)
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		return err
	}
	p.Taking = processor() - before - p.Parsing
	request := in.Fill(gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: epsilon, Delta: delta}, Method: t.Method, Components: t.Components,
		Engine: sharded.New(store, timed{sharded.Here{Store: store}, &p})})
	began := time.Now()
	before = processor()
	result, err := gauze.Fit(ctx, table, request)
	p.Fitting, p.Wall, p.Outcome = processor()-before, time.Since(began).Seconds(), "released"
	switch {
	case errors.As(err, new(*estimate.Refusal)):
		p.Outcome = refused
	case err != nil:
		return err
	case result.NoRelease != nil:
		p.Outcome = "no release"
	}
	p.ReadBytes, p.MovedBytes = store.read.Load(), store.moved.Load()
	return json.NewEncoder(out).Encode(p)
}

// processor is the user and system seconds of this process.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// counted has a method fit once, in a process of its own.
func (s *scaling) counted(ctx context.Context, m method, pattern string, n int) (measured, error) {
	self, err := os.Executable()
	if err != nil {
		return measured{}, err
	}
	text, err := json.Marshal(task{m.name, pattern, filepath.Dir(filepath.Dir(filepath.Dir(pattern))), m.components, m.width()})
	if err != nil {
		return measured{}, err
	}
	cmd := exec.CommandContext(ctx, self, "scale")
	cmd.Env, cmd.Stderr = append(os.Environ(), child+"="+string(text)), os.Stderr
	out, err := cmd.Output()
	r := measured{method: m, n: n, memory: most(cmd)}
	if err == nil {
		err = json.Unmarshal(out, &r.passes)
	}
	return r, err
}

// most is the most memory that a process took, what it had mapped included.
func most(cmd *exec.Cmd) float64 {
	const kilobyte = 1024 // the unit of Maxrss on Linux
	return float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * kilobyte
}

// whole is what a command cost.
type whole struct {
	n               int
	processor, wall float64
	memory          float64
}

// fitArgs are a fit of one Gaussian.
func fitArgs(pattern, folder string) []string {
	return []string{"fit", pattern, "--epsilon", strconv.Itoa(epsilon), "--delta", fmt.Sprint(delta), "--columns", strings.Join(model.DefaultColumns(columns), ","),
		"--components", "1", "--shards", folder, "--progress", "none", "--out", filepath.Join(folder, "release.json"), "--force"}
}

// command runs gauze fit of one Gaussian, with all of the table in shards.
func command(ctx context.Context, program, folder, pattern string, n int) (whole, error) {
	w, err := timedCommand(ctx, append(append([]string{program}, fitArgs(pattern, folder)...), "--memory", "0"))
	w.n = n
	return w, err
}

// timedCommand runs a command, and says what it cost if it ran, whatever its exit code.
func timedCommand(ctx context.Context, args []string) (w whole, err error) {
	began := time.Now()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, text)
	}
	if cmd.ProcessState != nil {
		w = whole{processor: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), wall: time.Since(began).Seconds(), memory: most(cmd)}
	}
	return w, err
}
