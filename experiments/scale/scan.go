package scale

import (
	"bytes"
	"cmp"
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

// turns is how many scans there are by each of those that are compared, unless -runs says.
func turns(o engine.Options) int { return cmp.Or(o.Runs, 9) }

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
	// of a job server
	ServerProcessor, ServerMemory float64
}

// scans makes the page of scans.
func scans(ctx context.Context, o engine.Options) error {
	began := time.Now()
	all, err := scanAll(ctx, o, "")
	if err != nil {
		return err
	}
	return publish(o, scansPage(o, all, time.Since(began)), "scan")
}

// publish prints a page, and writes it where -out says.
func publish(o engine.Options, page *engine.Page, name string) error {
	if _, err := o.Stdout.Write(page.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return errors.Join(os.MkdirAll(o.Out, 0o777), page.Save(o.Out, name))
}

// scanAll has tables scanned, beside the local engine by one with a job server, or, if none is
// named, by workers and Prism.
func scanAll(ctx context.Context, o engine.Options, server string) (all []scan, err error) {
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
		return nil, err
	}
	defer os.RemoveAll(folder)
	if folder, err = filepath.Abs(folder); err != nil { // another process's folder is not this one
		return nil, err
	}
	program := filepath.Join(folder, "scan")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".")
	build.Dir, build.Env = beamFolder, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	for _, t := range tables {
		if err := enough(folder, t.rows); err != nil {
			return nil, err
		}
		// TestEngines makes a network of its own itself, when it has its job server
		start := append(alone(program), "-test.run=^TestScan$")
		cmd := exec.CommandContext(ctx, start[0], start[1:]...)
		if server != "" {
			cmd = exec.CommandContext(ctx, program, "-test.run=^TestEngines$")
		}
		asked := fmt.Sprint(append([]int{t.rows, turns(o)}, t.files...))
		cmd.Dir, cmd.Env = beamFolder, append(os.Environ(), "GAUZE_SCAN="+strings.Trim(asked, "[]"), "GAUZE_SCAN_FOLDER="+folder, "GAUZE_ENGINES="+server)
		own, err := printed(cmd)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(o.Stderr, "%d rows: %d scans, %v\n", t.rows, len(own), time.Since(began).Round(time.Second))
		all = append(all, own...)
	}
	return all, nil
}

// beamFolder is where gauze-beam is.
const beamFolder = "beam"

// printed are the scans that a process prints.
func printed(cmd *exec.Cmd) (all []scan, err error) {
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
	scanHeader(p, o, "scan")
	p.Text(fmt.Sprintf("It took %v on %g cores. A scan is one sum over all rows of %d columns, of all that one Gaussian needs: the count, the mean and the second moments of clipped rows. "+
		"The rows lie in mapped files of 64 MB. *local* is the engine of `gauze fit --memory 0`, *workers* those of `gauze-beam fit --runner here`, *prism* those that Beam's runner in the same process starts, as `gauze-beam fit` has it; "+
		"all are handed shards of so many files. All are of one process (`TestScan` of beam/), so that its processor time is that of both sides, and its memory too: the most since the scan began, of which most is the program's own.",
		took.Round(time.Second), cores, columns))
	t := engine.Table{Head: []string{"rows", "files of a shard", "by", "ns of processor a row", "s on the clock", "memory, MB", "processor, of local's", "ms beyond " + fmt.Sprint(processorBar) + " of local's", "clock, of local's", "MB beyond local's"}}
	for _, own := range tablesOf(all) {
		for _, name := range by {
			rowOf(&t, own, name)
		}
	}
	p.Table(t)
	p.Text(fmt.Sprintf("Medians, with the least and the most of the turns' ratios and differences in brackets: each is of two scans of the same turn. What is asked of Prism: no more than %g times local's processor time and %g ms, %g MB, and %g times its time on the clock.",
		processorBar, secondsBar*1e3, memoryBar/1e6, clockBar))
	return p
}

// scanHeader says how a page of scans was made.
func scanHeader(p *engine.Page, o engine.Options, name string) {
	command := "go run ./experiments scale"
	if o.Rows != nil {
		command += " -n " + strings.ReplaceAll(strings.Trim(fmt.Sprint(o.Rows), "[]"), " ", ",")
	}
	if o.Runs > 0 {
		command += fmt.Sprint(" -runs ", o.Runs)
	}
	p.Header(engine.Header{Command: "`" + command + " " + name + "`", Runs: fmt.Sprintf("%d of each, in turns, after one that is not counted", turns(o)), Seed: "1, of the rows; noise has none", Commit: o.Commit})
}

// tablesOf takes scans apart by tables and shards.
func tablesOf(all []scan) (tables [][]scan) {
	for i, s := range all {
		if i == 0 || s.Rows != all[i-1].Rows || s.Files != all[i-1].Files {
			tables = append(tables, nil)
		}
		last := &tables[len(tables)-1]
		*last = append(*last, s)
	}
	return tables
}

// of is what scans by one took.
func of(all []scan, name string, value func(scan) float64) (out []float64) {
	for _, s := range all {
		if s.By == name {
			out = append(out, value(s))
		}
	}
	return out
}

// against compares what scans by one took with the local engine's of the same turns.
func against(all []scan, name string, value func(scan) float64, compare func(own, local float64) float64) string {
	own, local := of(all, name, value), of(all, by[0], value)
	for i := range own {
		own[i] = compare(own[i], local[i])
	}
	return spread(own)
}

// spread is the median, and the least and the most.
func spread(v []float64) string {
	return fmt.Sprintf("%s (%s to %s)", three(engine.Median(v)), three(slices.Min(v)), three(slices.Max(v)))
}

// What scans take, and how that compares.
func processorTime(s scan) float64     { return s.Processor }
func wallTime(s scan) float64          { return s.Wall }
func mostMemory(s scan) float64        { return s.Memory }
func times(own, local float64) float64 { return own / local }

// costs are the first cells of a row: what scans of one table cost.
func costs(all []scan, name string) []any {
	return []any{engine.Rows(all[0].Rows), all[0].Files, name, three(engine.Median(of(all, name, processorTime)) / float64(all[0].Rows) * 1e9), three(engine.Median(of(all, name, wallTime))), three(engine.Median(of(all, name, mostMemory)) / 1e6)}
}

// rowOf adds what scans of one table cost.
func rowOf(t *engine.Table, all []scan, name string) {
	row := costs(all, name)
	if name == by[0] {
		t.Add(append(row, "", "", "", "")...)
		return
	}
	t.Add(append(row, against(all, name, processorTime, times), against(all, name, processorTime, func(own, local float64) float64 { return (own - processorBar*local) * 1e3 }),
		against(all, name, wallTime, times), against(all, name, mostMemory, func(own, local float64) float64 { return (own - local) / 1e6 }))...)
}
