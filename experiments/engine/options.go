package engine

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Options are the flags, the same for all studies. What is not set is left to the experiment.
type Options struct {
	Budget   privacy.Budget
	Relation privacy.Relation
	Methods  []string // instead of the experiment's contenders
	Only     []string // patterns or parts of names of cells
	Rows     []int    // instead of the cells' numbers of rows
	Runs     int      // of each cell
	Seed     uint64   // of the first run
	Workers  int
	Quick    bool
	Verbose  bool
	Resume   bool
	Out      string // folder for pages and results
	Stdout   io.Writer
	Stderr   *os.File
	// Commit is the version that makes the runs.
	Commit string
}

// The budget, where neither the command line nor a cell says.
const (
	usualEpsilon = 1
	usualDelta   = 1e-6
)

// Parse reads flags and returns the other arguments.
func Parse(args []string, usage string) (o Options, rest []string, err error) {
	o.Stdout, o.Stderr = os.Stdout, os.Stderr
	f := flag.NewFlagSet("experiments", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprint(f.Output(), usage)
		f.PrintDefaults()
	}
	f.Float64Var(&o.Budget.Epsilon, "epsilon", usualEpsilon, "epsilon, where the experiment does not say")
	f.Float64Var(&o.Budget.Delta, "delta", usualDelta, "delta, where the experiment does not say")
	f.IntVar(&o.Runs, "runs", 0, "runs of each cell, 0 for the experiment's own number")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the first run's problem and rows, 0 for the study's own; noise has no seed")
	f.IntVar(&o.Workers, "workers", runtime.GOMAXPROCS(0), "runs at a time")
	f.BoolVar(&o.Quick, "quick", false, "two runs of a few small cells: does it work?")
	f.BoolVar(&o.Verbose, "v", false, "print every run")
	f.BoolVar(&o.Resume, "resume", false, "go on with the results in the output folder")
	f.StringVar(&o.Out, "out", "", "folder for pages and results (default "+Pages+"/STUDY for whole experiments, none for parts of them)")
	f.Func("methods", "methods of gauze fit, with commas, instead of the experiment's contenders", list(&o.Methods))
	f.Func("only", "cells to run, with commas: parts of their names, or patterns like '5/*/C6*'", list(&o.Only))
	f.Func("n", "numbers of rows, with commas, instead of the experiment's own", func(text string) error {
		for _, part := range strings.Split(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("wanted numbers of rows, got %q", part)
			}
			o.Rows = append(o.Rows, n)
		}
		slices.Sort(o.Rows)
		return nil
	})
	o.Relation = privacy.ReplaceOne
	f.Func("relation", "neighbouring relation, where the experiment does not say (default "+o.Relation.String()+")", func(text string) (err error) {
		o.Relation, err = privacy.ParseRelation(text)
		return err
	})
	if err := f.Parse(args); err != nil {
		return o, nil, err
	}
	for _, name := range o.Methods {
		if _, _, err := gauze.Methods().Choose(name, estimate.Problem{}); err != nil {
			return o, nil, err
		}
	}
	return o, f.Args(), nil
}

func list(to *[]string) func(string) error {
	return func(text string) error {
		*to = strings.Split(text, ",")
		return nil
	}
}

// Whole says that nothing but the experiments themselves decides what is run, so that their pages
// are those of the documentation.
func (o Options) Whole() bool {
	return o.Methods == nil && o.Only == nil && o.Rows == nil && o.Runs == 0 && !o.Quick &&
		o.Budget == privacy.Budget{Epsilon: usualEpsilon, Delta: usualDelta} && o.Relation == privacy.ReplaceOne
}

// matches says whether a cell is one of those asked for.
func (o Options) matches(cell string) bool {
	return o.Only == nil || slices.ContainsFunc(o.Only, func(p string) bool {
		ok, err := path.Match(p, cell)
		return ok && err == nil || strings.Contains(cell, p)
	})
}

// command returns the command that repeats a study's experiment, up to its noise.
func (o Options) command(study, experiment string) string {
	out := "go run ./experiments " + study
	add := func(given bool, flag string, value any) {
		if given {
			out += fmt.Sprintf(" -%s %v", flag, value)
		}
	}
	add(o.Seed != 0, "seed", o.Seed)
	add(o.Budget.Epsilon != usualEpsilon, "epsilon", o.Budget.Epsilon)
	add(o.Budget.Delta != usualDelta, "delta", o.Budget.Delta)
	add(o.Relation != privacy.ReplaceOne, "relation", o.Relation)
	add(o.Runs > 0, "runs", o.Runs)
	add(o.Methods != nil, "methods", strings.Join(o.Methods, ","))
	add(o.Rows != nil, "n", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.Rows), " ", ","), "[]"))
	add(o.Only != nil, "only", "'"+strings.Join(o.Only, ",")+"'")
	if o.Quick {
		out += " -quick"
	}
	return out + " " + experiment
}

// Commit returns the version of the working tree, as git states it, with a mark for changes that
// are not committed.
func Commit() string {
	head, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	commit := strings.TrimSpace(string(head))
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", "*.go").Output()
	if err != nil || len(changed) > 0 {
		commit += " with changes"
	}
	return commit
}

// ErrUsage says that nothing was asked for that there is.
var ErrUsage = errors.New("usage")
