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
	"github.com/gauze-dp/gauze/kernel/engine/counted"
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

// run is fits of a new protected table each, with the number of measurements, how often the rows
// were read, and what each step took until it was told of.
func (t table) run(b *testing.B, name string, r gauze.Request) {
	b.Run(name, func(b *testing.B) {
		r.Columns = gauze.Named(model.DefaultColumns(t.d)...)
		scans, silent, passes := 0, 0, 0.0
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
				e := counted.New()
				r.Engine = e
				result, err := gauze.Fit(context.Background(), protected, r)
				if err != nil {
					b.Fatal(err)
				}
				lap("(after-the-last)")
				passes += e.Passes()
				if result.Release == nil {
					silent++
				}
			}
		})
		each := func(total float64, unit string) { b.ReportMetric(total/float64(b.N), unit) }
		each(float64(scans), "scans")
		each(passes, "passes")
		each(float64(silent), "silent")
		for _, step := range order {
			each(steps[step], strings.ReplaceAll(step, " ", "-")+"-cpu-s")
		}
	})
}

// python runs a script of testdata on the rows, so many times over.
func (t table) python(b *testing.B, name, script string, times int) {
	rows := filepath.Join(b.TempDir(), "rows.f64")
	if err := t.save(rows); err != nil {
		b.Fatal(err)
	}
	python(b, name, script, times, rows, fmt.Sprint(t.d), fmt.Sprint(times))
}

// python runs a script of testdata that does something so many times over, if python3 has what it
// needs, with one thread for linear algebra, and reports the times that it prints.
func python(b *testing.B, name, script string, times int, args ...string) {
	b.Run(name, func(b *testing.B) {
		if exec.Command("python3", "-c", "import sklearn, polars").Run() != nil {
			b.Skip("python3 cannot import sklearn and polars")
		}
		var sum struct{ CPU, Wall float64 }
		for range b.N {
			cmd := exec.Command("python3", append([]string{filepath.Join("testdata", script)}, args...)...)
			cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OMP_NUM_THREADS=1")
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
		b.ReportMetric(sum.CPU/float64(b.N*times), "cpu-s/op")
		b.ReportMetric(sum.Wall/float64(b.N*times), "wall-s/op")
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
