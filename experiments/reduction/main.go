// Command reduction measures the black-box reduction, which makes any learner of mixtures private:
// how many rows it needs, how far from the truth it ends, and whether it keeps silent where there
// is nothing to be found; with each learner, as practical method and as the thesis prints it, and
// beside the learners without privacy. The experiments follow Sections C and D of the restatement
// of [PPE], on random mixtures that internal/problems draws; a run has a mixture of its own.
//
//	go run ./experiments/reduction                                        # the named cells, printed
//	go run ./experiments/reduction -cells gamma -runs 5 named             # cells whose name has that in it
//	go run ./experiments/reduction -cells '2,2,40000,6 3,2,90000,6,wide' -runs 20 -method black-box -learner em    # k,d,n,separation[,family..]
//	go run ./experiments/reduction -out docs/experiments/reduction all
//
// Seeds are fresh unless -seed is given; the page says which they were.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/experiments/harness"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// options are the command line.
type options struct {
	budget   privacy.Budget
	relation privacy.Relation
	methods  []string // instead of the cells' own
	learners []string // instead of the cells' own
	cells    []string // parts of names; none for all
	custom   []cell   // instead of the experiment's
	wanted   string   // the text of those
	rows     []int    // instead of the cells' own numbers of rows
	trim     float64  // instead of the cells' own; negative for theirs
	runs     int
	seed     uint64
	workers  int
	tvRows   int
	verbose  bool
	resume   bool
	out      string
	stdout   io.Writer
}

func main() {
	o, chosen, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, o, chosen)
	}
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string) (o options, chosen []experiment, err error) {
	o.relation, o.stdout = privacy.ReplaceOne, os.Stdout
	f := flag.NewFlagSet("reduction", flag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: reduction [flags] [experiment..], experiments being %s, or all; default named\n", strings.Join(experimentNames(), ", "))
		f.PrintDefaults()
	}
	f.Float64Var(&o.budget.Epsilon, "eps", 1, "epsilon, where the cell does not say")
	f.Float64Var(&o.budget.Delta, "delta", 1e-6, "delta")
	f.Float64Var(&o.trim, "trim", -1, "part of the rows that the learner leaves out, instead of the cells' own")
	f.IntVar(&o.runs, "runs", 0, "runs of each cell, 0 for its own number")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the first run's mixture and rows, 0 for a fresh one; noise has no seed")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "runs at a time; a fit takes all cores besides")
	f.IntVar(&o.tvRows, "tv-rows", 20_000, "rows of the Monte-Carlo total variation, in several columns")
	f.BoolVar(&o.verbose, "v", false, "print every run")
	f.BoolVar(&o.resume, "resume", false, "go on with the results in the output folder; needs the -seed of those")
	f.StringVar(&o.out, "out", "", "folder for pages and results; none: print only")
	methods := f.String("method", "", "methods of gauze fit, with commas, instead of the cells' own")
	learned := f.String("learner", "", "learners, with commas, instead of the cells' own")
	cells := f.String("cells", "", "parts of names of cells, with commas: those that have one of them are run; or new cells, each k,d,n,separation[,family..], with spaces "+
		"between them, families being "+strings.Join(familyNames(), ", "))
	rows := f.String("n", "", "numbers of rows, with commas, instead of the cells' own")
	relation := f.String("relation", o.relation.String(), "neighbouring relation, where the cell does not say")
	if err := f.Parse(args); err != nil {
		return o, nil, err
	}
	if o.relation, err = privacy.ParseRelation(*relation); err != nil {
		return o, nil, err
	}
	o.methods, o.learners = split(*methods), split(*learned)
	if o.rows, err = numbers(*rows); err != nil {
		return o, nil, err
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixMicro())
	}
	if chosen, err = chooseExperiments(f.Args()); err != nil {
		return o, nil, err
	}
	if *cells != "" && strings.ContainsRune("0123456789", rune((*cells)[0])) {
		if len(f.Args()) > 0 {
			return o, nil, errors.New("-cells: new cells are an experiment of their own")
		}
		chosen, o.wanted = []experiment{custom}, *cells
		for _, text := range strings.Fields(*cells) {
			c, err := parseCell(text)
			if err != nil {
				return o, nil, err
			}
			o.custom = append(o.custom, c)
		}
	} else {
		o.cells = split(*cells)
	}
	return o, chosen, o.validate()
}

// validate returns nil or the first name that nothing has.
func (o options) validate() error {
	for _, name := range o.methods {
		if _, _, err := gauze.Methods().Choose(name, estimate.Problem{}); err != nil {
			return err
		}
	}
	for _, name := range o.learners {
		if learners[name] == nil && name != byScikit {
			return fmt.Errorf("-learner: wanted %s, %s or %s, got %q", byEM, bySpectral, byMoments, name)
		}
	}
	return nil
}

// numbers reads numbers of rows, in rising order.
func numbers(list string) (out []int, err error) {
	for _, text := range split(list) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-n: wanted numbers of rows, got %q", text)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func chooseExperiments(names []string) ([]experiment, error) {
	if len(names) == 0 {
		names = []string{experiments[0].name}
	}
	if slices.Equal(names, []string{"all"}) {
		return experiments, nil
	}
	var out []experiment
	for _, name := range names {
		i := slices.IndexFunc(experiments, func(e experiment) bool { return e.name == name })
		if i < 0 {
			return nil, fmt.Errorf("experiment: wanted one of %s, or all, got %q", strings.Join(experimentNames(), ", "), name)
		}
		out = append(out, experiments[i])
	}
	return out, nil
}

func experimentNames() []string {
	var names []string
	for _, e := range experiments {
		names = append(names, e.name)
	}
	return names
}

// run makes the experiments one after another; one that fails does not keep the others from being
// made.
func run(ctx context.Context, o options, chosen []experiment) error {
	progress := harness.NewProgress(os.Stderr, time.Now, o.verbose)
	var faults []error
	for _, e := range chosen {
		if err := e.run(ctx, o, progress); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", e.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}
