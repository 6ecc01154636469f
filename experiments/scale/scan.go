package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Tables whose scans are measured: files of a shard, 64 MB each. Those of the second row of many
// hold half a second of work.
var scanned = []struct {
	rows  int
	files []int
}{{10_000_000, []int{1}}, {100_000_000, []int{1, 20}}}

// turns of scans, each by all three.
const turns = 9

// Who scans: gauze fit's engine, workers of one process without Beam, and those that Prism starts.
var by = []string{"local", "workers", "prism"}

// What may be added to a scan by the local engine.
const (
	processorBar = 1.05 // times its processor time,
	secondsBar   = .03  // and so many seconds
	memoryBar    = 20e6 // bytes
	clockBar     = 1.15 // times its time on the clock
)

// A scan is what a test of beam measures: one sum over all rows.
type scan struct {
	Rows, Files             int
	By                      string
	Turn                    int
	Processor, Wall, Memory float64
}

// scans makes the page of scans.
func scans(ctx context.Context, o engine.Options) error {
	began, tables := time.Now(), slices.Clone(scanned)
	if o.Rows != nil {
		tables = tables[:0]
		for _, n := range o.Rows {
			tables = append(tables, scanned[0])
			tables[len(tables)-1].rows = n
		}
	}
	folder, err := os.MkdirTemp("", "gauze-scale-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := filepath.Abs(filepath.Join(folder, "scan"))
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".")
	build.Dir, build.Env = "beam", append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	var all []scan
	for _, t := range tables {
		if err := enough(folder, t.rows); err != nil {
			return err
		}
		own, err := scanTable(ctx, program, folder, t.rows, t.files)
		if err != nil {
			return err
		}
		fmt.Fprintf(o.Stderr, "%d rows: %d scans, %v\n", t.rows, len(own), time.Since(began).Round(time.Second))
		all = append(all, own...)
	}
	page := scansPage(o, all, time.Since(began))
	if _, err := o.Stdout.Write(page.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return errors.Join(os.MkdirAll(o.Out, 0o777), page.Save(o.Out, "scan"))
}

// scanTable has one table scanned, in a process and a network of its own.
func scanTable(ctx context.Context, program, folder string, rows int, files []int) (all []scan, err error) {
	cmd := exec.CommandContext(ctx, "unshare", "--map-root-user", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh", program, "-test.run=^TestScan$")
	asked := fmt.Sprint(append([]int{rows, turns}, files...))
	cmd.Env = append(os.Environ(), "GAUZE_SCAN="+strings.Trim(asked, "[]"), "GAUZE_SCAN_FOLDER="+folder)
	text, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("{")) {
			var s scan
			if err := json.Unmarshal(line, &s); err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// scansPage says what scans cost.
func scansPage(o engine.Options, all []scan, took time.Duration) *engine.Page {
	p := &engine.Page{}
	p.Title("What a scan costs by workers")
	command := "go run ./experiments scale"
	if o.Rows != nil {
		command += " -n " + strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Rows), "[]"), " ", ",")
	}
	command += " scan"
	p.Header(engine.Header{Command: "`" + command + "`", Runs: fmt.Sprintf("%d of each, in turns, after one that is not counted", turns), Seed: "1, of the rows; noise has none", Commit: o.Commit})
	p.Text(fmt.Sprintf("It took %v on %g cores. A scan is one sum over all rows of %d columns, of all that one Gaussian needs: the count, the mean and the second moments of clipped rows. "+
		"The rows lie in mapped files of 64 MB. *local* is the engine of `gauze fit --memory 0`, *workers* those of `gauze-beam fit --runner here`, *prism* those that Beam's runner in the same process starts, as `gauze-beam fit` has it; "+
		"all are handed shards of so many files. All are of one process (`TestScan` of beam/), so that its processor time is that of both sides, and its memory too: the most since the scan began, of which most is the program's own.",
		took.Round(time.Second), cores, columns))
	t := engine.Table{Head: []string{"rows", "files of a shard", "by", "ns of processor a row", "s on the clock", "memory, MB", "processor, of local's", "ms beyond " + fmt.Sprint(processorBar) + " of local's", "clock, of local's", "MB beyond local's"}}
	for len(all) > 0 {
		same := func(s scan) bool { return s.Rows == all[0].Rows && s.Files == all[0].Files }
		end := slices.IndexFunc(all, func(s scan) bool { return !same(s) })
		if end < 0 {
			end = len(all)
		}
		for _, name := range by {
			rowOf(&t, all[:end], name)
		}
		all = all[end:]
	}
	p.Table(t)
	p.Text(fmt.Sprintf("Medians, with the least and the most of the turns' ratios and differences in brackets: each is of two scans of the same turn. What is asked of Prism: no more than %g times local's processor time and %g ms, %g MB, and %g times its time on the clock.",
		processorBar, secondsBar*1e3, memoryBar/1e6, clockBar))
	return p
}

// rowOf adds what scans of one table cost.
func rowOf(t *engine.Table, all []scan, name string) {
	of := func(name string, value func(scan) float64) (out []float64) {
		for _, s := range all {
			if s.By == name {
				out = append(out, value(s))
			}
		}
		return out
	}
	against := func(value func(scan) float64, compare func(own, local float64) float64) string {
		own, local := of(name, value), of(by[0], value)
		for i := range own {
			own[i] = compare(own[i], local[i])
		}
		return fmt.Sprintf("%s (%s to %s)", three(engine.Median(own)), three(slices.Min(own)), three(slices.Max(own)))
	}
	processor, wall, memory := func(s scan) float64 { return s.Processor }, func(s scan) float64 { return s.Wall }, func(s scan) float64 { return s.Memory }
	ratio := func(own, local float64) float64 { return own / local }
	row := []any{engine.Rows(all[0].Rows), all[0].Files, name, three(engine.Median(of(name, processor)) / float64(all[0].Rows) * 1e9), three(engine.Median(of(name, wall))), three(engine.Median(of(name, memory)) / 1e6)}
	if name == by[0] {
		t.Add(append(row, "", "", "", "")...)
		return
	}
	t.Add(append(row, against(processor, ratio), against(processor, func(own, local float64) float64 { return (own - processorBar*local) * 1e3 }),
		against(wall, ratio), against(memory, func(own, local float64) float64 { return (own - local) / 1e6 }))...)
}
