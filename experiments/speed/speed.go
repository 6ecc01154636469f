// Package speed is benchmarks of what a fit costs beside what it is to be compared to, and the
// pages of their figures. The benchmarks are go test's, in this folder:
//
//	go test -run - -bench Gaussian -benchtime 1x -cpu 1 ./experiments/speed
//
// A page is made of several rounds of one of them, in which all programs take turns, so that a busy
// machine slows all of them alike; ratios are taken round by round.
package speed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Round is the variable that tells the benchmarks which round it is.
const Round = "GAUZE_SPEED_ROUND"

// A page is of one benchmark, in this folder or in another.
type page struct {
	name, title, benchmark, cpu string
	rounds                      int
	folder                      string
}

const here = "./experiments/speed"

var pages = []page{
	{"commands", "What whole commands cost beside scikit-learn and polars", "Commands", "1", 5, here},
	{"wide", "What whole commands cost in fifty and a hundred columns", "Wide", "1", 3, here},
	{"growth", "How what a fit costs grows with the rows", "Growth", "2", 3, here},
	{"scans", "What one scan costs a row beside memory and a plain Gram pass", "Scans", "1", 5, "./kernel/query/rings"},
	{"mixture", "What a fit costs", "Mixture", "1,2", 5, here},
	{"gaussian", "What a fit of one Gaussian costs beside a plain covariance pass", "Gaussian", "1", 5, here},
	{"unbounded", "What a fit of a mixture without any bound costs beside sorting its columns", "Unbounded", "2", 9, here},
	{"blackbox", "What a fit of the black-box reduction costs, on one core and on two", "BlackBox", "1,2", 5, here},
	{"passes", "How often fits of a large table read it", "Passes", "2", 1, here},
}

// Study is the study.
var Study = study{}

type study struct{}

func (study) Title() (name, about string) {
	return "speed", "what a fit costs: go test -bench, in rounds, and a page"
}

func (study) Names() (names []string) {
	for _, p := range pages {
		names = append(names, p.name)
	}
	return names
}

// Run makes the pages named; -runs is the number of rounds, and -only a pattern of sub-benchmarks.
func (s study) Run(ctx context.Context, o engine.Options, names []string) error {
	if len(names) == 0 || slices.Equal(names, []string{"all"}) {
		names = s.Names()
	}
	if o.Out == "" && o.Runs == 0 && o.Only == nil {
		o.Out = filepath.Join(filepath.FromSlash(engine.Pages), "speed")
	}
	for _, name := range names {
		i := slices.Index(s.Names(), name)
		if i < 0 {
			return fmt.Errorf("speed: wanted some of %s, got %q: %w", strings.Join(s.Names(), ", "), name, engine.ErrUsage)
		}
		if err := pages[i].make(ctx, o); err != nil {
			return fmt.Errorf("speed %s: %w", name, err)
		}
	}
	return nil
}

// make runs the rounds and writes the page.
func (p page) make(ctx context.Context, o engine.Options) error {
	rounds := p.rounds
	if o.Runs > 0 {
		rounds = o.Runs
	}
	pattern := "^Benchmark" + p.benchmark + "$"
	if o.Only != nil {
		pattern += "/" + strings.Join(o.Only, "|")
	}
	args := []string{"test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", "-timeout", "0", "-cpu", p.cpu, p.folder}
	var lines []sample
	for round := range rounds {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Env, cmd.Stderr = append(os.Environ(), fmt.Sprintf("%s=%d", Round, round+1)), o.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%w:\n%s", err, out)
		}
		lines = append(lines, parse(out, round)...)
	}
	command := fmt.Sprintf("go run ./experiments speed -runs %d ", rounds)
	if o.Only != nil {
		command += "-only '" + strings.Join(o.Only, ",") + "' "
	}
	h := engine.Header{Command: fmt.Sprintf("`%s%s`, which runs `go %s` in every round", command, p.name, strings.Join(args, " ")),
		Runs: fmt.Sprintf("%d, one a round; the tables have medians", rounds), Seed: "the number of the round, from 1 on; noise has none", Commit: o.Commit}
	return p.write(o, h, lines)
}

// byHand begins what a person wrote on a page: it stays when the page is made anew.
const byHand = "## How to read it\n"

func (p page) write(o engine.Options, h engine.Header, lines []sample) error {
	var out engine.Page
	out.Title(p.title)
	out.Header(h)
	out.Text("CPU is user and system time. The first program of a table is its yardstick: ratios are of CPU time to its of the same round, per scan to that times the number of measurements. " +
		"Programs named -2 run on two cores; their speed-up is wall time on one over that on two, of the same round.")
	tables(&out, lines)
	name := filepath.Join(o.Out, p.name+".md")
	if old, err := os.ReadFile(name); o.Out != "" && err == nil {
		if i := bytes.Index(old, []byte(byHand)); i >= 0 {
			out.Text(strings.TrimSpace(string(old[i:])))
		}
	} else if o.Out != "" && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := o.Stdout.Write(out.Bytes()); err != nil || o.Out == "" {
		return err
	}
	return out.Save(o.Out, p.name)
}

// A sample is a line of a benchmark's output.
type sample struct {
	group, program string
	round          int
	values         map[string]float64
	units          []string // in the order of the line
}

// parse reads what go test prints.
func parse(text []byte, round int) (out []sample) {
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		fields := strings.Fields(in.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		path := append(strings.SplitN(fields[0], "/", 3), "")
		if len(path) < 3 {
			continue
		}
		s := sample{group: path[1], program: path[2], round: round, values: map[string]float64{}}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				break
			}
			s.values[fields[i+1]] = v
			s.units = append(s.units, fields[i+1])
		}
		if s.program == "" { // a group of its own
			out = append(out, scansOf(s)...)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// onTwo ends the names of programs on two cores.
const onTwo = "-2"

// Units that have columns of their own.
const (
	cpu   = "cpu-s/op"
	wall  = "wall-s/op"
	nano  = "ns/op"
	scans = "scans"
)

// tables writes one for each group: medians over the rounds.
func tables(p *engine.Page, lines []sample) {
	for _, group := range distinct(lines, func(s sample) string { return s.group }) {
		own := slices.DeleteFunc(slices.Clone(lines), func(s sample) bool { return s.group != group })
		p.Heading(group)
		t := engine.Table{Head: []string{"program", "CPU s", "least, most", "wall s", "speed-up", "ratio", "least, most", "per scan", "more"}}
		for _, program := range distinct(own, func(s sample) string { return s.program }) {
			row(&t, own, program)
		}
		p.Table(t)
		p.Table(growth(own))
	}
}

// row adds a program's figures.
func row(t *engine.Table, own []sample, program string) {
	all := map[string][]float64{}
	var units []string
	for _, s := range own {
		if s.program != program {
			continue
		}
		units = s.units
		for _, u := range units {
			all[u] = append(all[u], s.values[u])
		}
		if yard, ok := yardstick(own, s.round); ok {
			all["ratio"] = append(all["ratio"], s.values[cpu]/yard)
			if n := s.values[scans]; n > 0 {
				all["per scan"] = append(all["per scan"], s.values[cpu]/yard/n)
			}
		}
		alone, two := strings.CutSuffix(program, onTwo)
		for _, one := range own {
			if two && one.program == alone && one.round == s.round && s.values[wall] > 0 {
				all["speed-up"] = append(all["speed-up"], one.values[wall]/s.values[wall])
			}
		}
	}
	var more []string
	for _, u := range units {
		if u != cpu && u != wall && u != nano {
			more = append(more, u+" "+engine.Number(engine.Median(all[u])))
		}
	}
	median := func(what string) string { return three(engine.Median(all[what])) }
	t.Add(program, median(cpu), ends(all[cpu]), median(wall), median("speed-up"), median("ratio"), ends(all["ratio"]), median("per scan"), strings.Join(more, ", "))
}

// yardstick is the CPU time of a round's first program.
func yardstick(own []sample, round int) (float64, bool) {
	i := slices.IndexFunc(own, func(s sample) bool { return s.round == round })
	if i < 0 {
		return 0, false
	}
	v, ok := own[i].values[cpu]
	return v, ok && v > 0
}

func distinct(lines []sample, get func(sample) string) (out []string) {
	for _, s := range lines {
		if v := get(s); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func three(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func ends(v []float64) string {
	if len(v) == 0 {
		return ""
	}
	return three(slices.Min(v)) + ", " + three(slices.Max(v))
}
