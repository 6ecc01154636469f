package speed

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/model"
)

// round is which run of the benchmarks this is: it seeds what is new in every round.
func round() uint64 {
	n, err := strconv.ParseUint(os.Getenv(Round), 10, 64)
	if err != nil {
		return 1
	}
	return n
}

// group runs a group's programs, named after what they share.
func group(b *testing.B, format string, args []any, f func(*testing.B)) {
	b.Run(fmt.Sprintf(format, args...), f)
}

// measure runs b.N times what f prepares, after a garbage collection, so that nobody pays for the
// waste of the one before, and reports the CPU time, user and system, of a program that does it
// several times over.
func measure(b *testing.B, times int, f func() func()) {
	b.Helper()
	var cpu float64
	b.StopTimer()
	b.ResetTimer()
	for range b.N {
		run := f()
		runtime.GC()
		before := cpuSeconds()
		b.StartTimer()
		run()
		b.StopTimer()
		cpu += cpuSeconds() - before
	}
	b.ReportMetric(cpu/float64(b.N*times), "cpu-s/op")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*times), "wall-s/op")
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// A table is rows, one after another.
type table struct {
	flat []float64
	d    int
}

// drawTable draws n rows.
func drawTable(b *testing.B, truth *model.Mixture, err error, n int) table {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(round(), 0))
	t := table{d: truth.Dim(), flat: make([]float64, n*truth.Dim())}
	for row := range slices.Chunk(t.flat, t.d) {
		sampler.Row(row, rng)
	}
	return t
}

// plainPasses is how many plain passes are timed as one, since one takes few ticks of the clock of
// CPU time.
const plainPasses = 10

func (t table) plain(b *testing.B, pass func(table)) {
	measure(b, plainPasses, func() func() {
		return func() {
			for range plainPasses {
				pass(t)
			}
		}
	})
}

// run is fits of a new protected table each, with the number of measurements and what each step
// took until it was told of.
func (t table) run(b *testing.B, name string, r gauze.Request) {
	b.Run(name, func(b *testing.B) {
		r.Columns = gauze.Named(model.DefaultColumns(t.d)...)
		scans, silent := 0, 0
		var order []string
		steps, last := map[string]float64{}, 0.0
		lap := func(step string) {
			now := cpuSeconds()
			if !slices.Contains(order, step) {
				order = append(order, step)
			}
			steps[step] += now - last
			last = now
		}
		r.Observe = func(step string, _ float64) {
			scans++
			lap(step)
		}
		measure(b, 1, func() func() {
			builder := kernel.NewBuilder(t.d)
			for row := range slices.Chunk(t.flat, t.d) {
				builder.Append(row)
			}
			protected := builder.Protect(r.Relation)
			return func() {
				last = cpuSeconds()
				result, err := gauze.Fit(context.Background(), protected, r)
				if err != nil {
					b.Fatal(err)
				}
				lap("(after-the-last)")
				if result.Release == nil {
					silent++
				}
			}
		})
		each := func(total float64, unit string) { b.ReportMetric(total/float64(b.N), unit) }
		each(float64(scans), "scans")
		each(float64(silent), "silent")
		for _, step := range order {
			each(steps[step], strings.ReplaceAll(step, " ", "-")+"-cpu-s")
		}
	})
}

// python runs a script of testdata on the rows, if python3 can, and reports the times that it
// prints.
func (t table) python(b *testing.B, name, script string, argument int) {
	b.Run(name, func(b *testing.B) {
		if exec.Command("python3", "-c", "import sklearn").Run() != nil {
			b.Skip("python3 cannot import sklearn")
		}
		rows := filepath.Join(b.TempDir(), "rows.f64")
		if err := t.save(rows); err != nil {
			b.Fatal(err)
		}
		var sum struct{ CPU, Wall float64 }
		for range b.N {
			cmd := exec.Command("python3", filepath.Join("testdata", script), rows, fmt.Sprint(t.d), fmt.Sprint(argument))
			cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OMP_NUM_THREADS=1")
			if script == "em.py" {
				cmd.Env = os.Environ()
			}
			out, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			var c struct{ CPU, Wall float64 }
			if err := json.Unmarshal(out, &c); err != nil {
				b.Fatal(err)
			}
			sum.CPU, sum.Wall = sum.CPU+c.CPU, sum.Wall+c.Wall
		}
		times := float64(b.N)
		if script == "covariance.py" {
			times *= float64(argument)
		}
		b.ReportMetric(sum.CPU/times, "cpu-s/op")
		b.ReportMetric(sum.Wall/times, "wall-s/op")
	})
}

// save writes the rows as little-endian float64.
func (t table) save(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	var b [8]byte
	for _, v := range t.flat {
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		_, _ = w.Write(b[:]) // Flush returns the first error
	}
	return errors.Join(w.Flush(), f.Close())
}

// A command is gauze, built, with a file of simulated rows.
type command struct {
	gauze, rows, columns, folder string
	size                         float64
}

func newCommand(b *testing.B, truth *model.Mixture, err error, n int) command {
	b.Helper()
	folder := b.TempDir()
	c := command{gauze: filepath.Join(folder, "gauze"), rows: filepath.Join(folder, "rows.csv"), folder: folder,
		columns: strings.Join(model.DefaultColumns(truth.Dim()), ","), size: 8 * float64(n) * float64(truth.Dim())}
	text, err2 := json.Marshal(truth)
	name := filepath.Join(folder, "truth.json")
	if err := errors.Join(err, err2, os.WriteFile(name, text, 0o600), exec.Command("go", "build", "-o", c.gauze, "github.com/gauze-dp/gauze/cmd/gauze").Run()); err != nil {
		b.Fatal(err)
	}
	out, err := os.Create(c.rows)
	if err != nil {
		b.Fatal(err)
	}
	simulate := exec.Command(c.gauze, "simulate", name, "--rows", fmt.Sprint(n), "--seed", fmt.Sprint(round()))
	simulate.Stdout = out
	if err := errors.Join(simulate.Run(), out.Close()); err != nil {
		b.Fatal(err)
	}
	return c
}

// run reports the largest memory of some fits, in MB and in sizes of the table.
func (c command) run(b *testing.B, name string, args ...string) {
	b.Run(name, func(b *testing.B) {
		peak, cpu := 0.0, 0.0
		for range b.N {
			cmd := exec.Command(c.gauze, append([]string{"fit", c.rows, "--epsilon", "1", "--delta", fmt.Sprint(delta), "--columns", c.columns, "--progress", "none",
				"--out", filepath.Join(c.folder, "release.json")}, args...)...)
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			const kilobyte = 1024 // the unit of Maxrss on Linux
			peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)*kilobyte)
			cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "wall-s/op")
		b.ReportMetric(peak/1e6, "peak-MB")
		b.ReportMetric(peak/c.size, "peak/table")
	})
}

// randomFactor is a random matrix whose rows have length about 1: the square root of a covariance
// of correlated columns.
func randomFactor(rng *rand.Rand, d int) *mat.Dense {
	f := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range i {
			f.Set(i, j, .3*rng.NormFloat64())
		}
		f.Set(i, i, .7+.6*rng.Float64())
	}
	return f
}
