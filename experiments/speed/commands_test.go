package speed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/source"
)

// BenchmarkCommands is whole commands on CSV files, reading and all, beside ten iterations of
// scikit-learn's EM on the first of them, without its reading; and reading alone beside polars'.
func BenchmarkCommands(b *testing.B) {
	const d, k = 10, 5
	for _, n := range []int{1_000_000, 200_000} {
		group(b, "n=%d,d=%d,k=%d", []any{n, d, k}, func(b *testing.B) {
			file := func(truth *model.Mixture, err error) command { return newCommand(b, truth, err, n) }
			overlapping := file(randomMixture(k, d))
			python(b, "sklearn", "em.py", 1, overlapping.rows, fmt.Sprint(d), fmt.Sprint(k))
			file(randomMixture(1, d)).run(b, "one,gaussian", "--components", "1")
			overlapping.run(b, "overlapping,auto")
			overlapping.run(b, "overlapping,given", "--components", fmt.Sprint(k))
			separated := file(madeup.Spec{Columns: d, Components: k, Separation: 6}.Truth(round()))
			separated.run(b, "separated,auto")
			separated.run(b, "separated,separated", "--method", "separated")
			separated.run(b, "separated,given", "--method", "separated", "--components", fmt.Sprint(k))
		})
	}
	const n = 1_000_000
	group(b, "reading,n=%d,d=%d", []any{n, d}, func(b *testing.B) {
		truth, err := randomMixture(k, d)
		c := newCommand(b, truth, err, n)
		python(b, "polars", "reading.py", 1, c.rows)
		b.Run("gauze", c.reading)
	})
}

// BenchmarkWide is whole commands on CSV files of many columns, a new table in every round.
func BenchmarkWide(b *testing.B) {
	const k = 3
	for _, d := range []int{50, 100} {
		n := 1000 * d // half of it is refused at d = 100
		for _, t := range []struct {
			name  string
			truth func() (*model.Mixture, error)
		}{
			{"one", func() (*model.Mixture, error) { return randomMixture(1, d) }},
			{"k=3", func() (*model.Mixture, error) {
				return madeup.Spec{Columns: d, Components: k, Gap: 5, Covariance: madeup.Ellipsoid}.Truth(round())
			}},
		} {
			group(b, "n=%d,d=%d,%s", []any{n, d, t.name}, func(b *testing.B) {
				truth, err := t.truth()
				c := newCommand(b, truth, err, n)
				c.run(b, "gaussian", "--components", "1")
				c.run(b, "auto")
				c.run(b, "heavy-tailed", "--method", "heavy-tailed")
				c.run(b, "separated", "--method", "separated")
				c.run(b, "given", "--components", fmt.Sprint(k))
			})
		}
	}
}

// BenchmarkGrowth is fits of the first rows of one table, more and more of them, with sizes on both
// sides of where the way of a fit changes: at this budget general asks a sample of every second row
// from 409,000 on, of every third from 613,000, every fourth from 818,000 and every fifth from 3.28
// million; the runs that pairs are drawn by have 1008 rows from 1,032,192 on.
func BenchmarkGrowth(b *testing.B) {
	const d, k = 10, 5
	few := []int{100_000, 300_000, 1_000_000, 3_000_000, 10_000_000}
	many := []int{100_000, 200_000, 400_000, 430_000, 600_000, 640_000, 800_000, 840_000, 1_032_191, 1_032_192, 2_000_000, 3_200_000, 3_400_000, 10_000_000}
	grow := func(what string, truth *model.Mixture, err error, sizes map[string][]int) {
		group(b, "%s,d=%d,k=%d", []any{what, d, k}, func(b *testing.B) {
			t := drawTable(b, truth, err, many[len(many)-1])
			for _, method := range []string{"gaussian", "general", "separated"} {
				for _, n := range sizes[method] {
					r := asked(method, 0)
					r.Budget.Delta = delta / 10
					table{d: d, flat: t.flat[:n*d]}.run(b, fmt.Sprint(method, rowsOf, n), r)
				}
			}
		})
	}
	truth, err := randomMixture(k, d)
	grow("overlapping", truth, err, map[string][]int{"gaussian": many, "general": many})
	truth, err = madeup.Spec{Columns: d, Components: k, Separation: 6}.Truth(1)
	grow("separated", truth, err, map[string][]int{"general": few, "separated": few})
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

// noRelease is the command's exit code where a fit ends in no release.
const noRelease = 3

// run reports the CPU time of some fits and their largest memory, in MB and in sizes of the table.
func (c command) run(b *testing.B, name string, args ...string) {
	b.Run(name, func(b *testing.B) {
		peak, cpu, silent := 0.0, 0.0, 0.0
		for range b.N {
			cmd := exec.Command(c.gauze, append([]string{"fit", c.rows, "--epsilon", "1", "--delta", fmt.Sprint(delta), "--columns", c.columns, "--progress", "none",
				"--force", "--out", filepath.Join(c.folder, "release.json")}, args...)...)
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() == noRelease {
				silent++
			} else if err != nil {
				b.Fatal(err)
			}
			const kilobyte = 1024 // the unit of Maxrss on Linux
			peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)*kilobyte)
			cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "wall-s/op")
		b.ReportMetric(silent, "silent")
		b.ReportMetric(peak/1e6, "peak-MB")
		b.ReportMetric(peak/c.size, "peak/table")
	})
}

// reading is what the command does before it fits, in this process: the file's rows in a protected
// table, at the collector's pace that the command sets.
func (c command) reading(b *testing.B) {
	const gcPercent = 50 // cmd/gauze's
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	measure(b, 1, func() func() {
		return func() {
			in, err := gauze.Open(c.rows, nil, &source.Schema{Infer: true})
			if err == nil {
				_, err = in.Load(privacy.ReplaceOne, nil)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
