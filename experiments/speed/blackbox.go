package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// A blackBoxRun is what the rounds of one size measured: fits of the black-box reduction on one
// core and on two, in turn, stage by stage.
type blackBoxRun struct {
	results
	k, d, n int
	learner string
	stages  []string // in the order in which they come
	// per number of cores and stage, wall seconds of the rounds
	parts map[string]map[string][]float64
	// rounds in which a fit ended without a release: they are made again with another mixture
	silent int
}

// blackBoxRuns are the sizes of the named problems of experiments/reduction, and the other learners
// at one of them.
func blackBoxRuns() []*blackBoxRun {
	var runs []*blackBoxRun
	for _, r := range []blackBoxRun{
		{k: 1, d: 1, n: 5000, learner: "em"}, {k: 1, d: 2, n: 10_000, learner: "em"}, {k: 2, d: 1, n: 30_000, learner: "em"}, {k: 2, d: 2, n: 40_000, learner: "em"},
		{k: 3, d: 2, n: 90_000, learner: "em"}, {k: 2, d: 5, n: 100_000, learner: "em"}, {k: 3, d: 5, n: 200_000, learner: "em"}, {k: 5, d: 2, n: 200_000, learner: "em"},
		{k: 2, d: 2, n: 90_000, learner: "spectral"}, {k: 2, d: 2, n: 90_000, learner: "moitra-valiant"},
	} {
		r.costs, r.parts = map[string][]cost{}, map[string]map[string][]float64{}
		runs = append(runs, &r)
	}
	return runs
}

// coresOf names a number of cores, and blackBoxCores are those that are compared.
func coresOf(n int) string { return fmt.Sprint(n) }

var blackBoxCores = []int{1, 2}

// mostSilent is how many mixtures of a round may end without a release before the size is given up.
const mostSilent = 3

// runBlackBox measures fits of the black-box reduction on one core beside two, and prints
// BLACKBOX.md's tables.
func runBlackBox(s settings) error {
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	runs := blackBoxRuns()
	for round := range s.rounds {
		for _, r := range runs {
			if err := r.round(s, uint64(round)); err != nil {
				return fmt.Errorf("k = %d, d = %d, %s, round %d: %w", r.k, r.d, r.learner, round+1, err)
			}
		}
	}
	writeBlackBox(os.Stdout, s, all, runs)
	return nil
}

// A timed is what one fit took.
type timed struct {
	cost
	stages []string
	parts  map[string]float64
	silent bool
}

// round fits one table with each number of cores, the one first that was last in the round before.
func (r *blackBoxRun) round(s settings, round uint64) error {
	cores := slices.Clone(blackBoxCores)
	if round%2 == 1 {
		slices.Reverse(cores)
	}
	for try := range uint64(mostSilent) {
		t, err := r.table(1 + round + try<<32)
		if err != nil {
			return err
		}
		got, silent := map[int]timed{}, false
		for _, n := range cores {
			runtime.GOMAXPROCS(n)
			if got[n], err = r.fit(s, t); err != nil {
				return err
			}
			silent = silent || got[n].silent
		}
		if silent {
			r.silent++
			continue
		}
		for n, f := range got {
			name := coresOf(n)
			r.costs[name], r.stages = append(r.costs[name], f.cost), f.stages
			if r.parts[name] == nil {
				r.parts[name] = map[string][]float64{}
			}
			for stage, seconds := range f.parts {
				r.parts[name][stage] = append(r.parts[name][stage], seconds)
			}
		}
		return nil
	}
	return nil
}

// table is a new one of a mixture of the kind of the named problems.
func (r *blackBoxRun) table(seed uint64) (*kernel.Table, error) {
	in, err := problems.BlackBox{Columns: r.d, Components: r.k, Separation: 6}.Draw(seed, r.n)
	if err != nil {
		return nil, err
	}
	b := kernel.NewBuilder(r.d)
	for i := range r.n {
		b.Append(in.Rows.RawRowView(i))
	}
	return b.Protect(privacy.ReplaceOne), nil
}

// times is how many fits are timed as one: a short one takes few ticks of the clock of CPU time.
func (r *blackBoxRun) times() int { return 1 + 100_000/r.n }

// fit makes some fits and times their stages, a mean over the fits: a stage is what happens until
// its last measurement is told of.
func (r *blackBoxRun) fit(s settings, t *kernel.Table) (timed, error) {
	out := timed{parts: map[string]float64{}}
	var last time.Time
	lap := func(stage string) {
		now := time.Now()
		if !slices.Contains(out.stages, stage) {
			out.stages = append(out.stages, stage)
		}
		out.parts[stage] += now.Sub(last).Seconds() / float64(r.times())
		last = now
	}
	request := gauze.Request{Relation: privacy.ReplaceOne, Budget: s.budget, Method: "black-box", Learner: r.learner, Components: r.k, Columns: model.DefaultColumns(r.d),
		SchemaDeclared: true, Observe: func(step string, _ float64) { lap(step) }}
	var err error
	out.cost, err = measure(func() error {
		last = time.Now()
		for range r.times() {
			result, err := gauze.Fit(context.Background(), t, request)
			if err != nil {
				return err
			}
			lap(afterLast)
			out.silent = out.silent || result.Release == nil
		}
		return nil
	})
	out.cost.cpu, out.cost.wall = out.cost.cpu/float64(r.times()), out.cost.wall/float64(r.times())
	return out, err
}

// writeBlackBox writes the totals, and the stages of one core.
func writeBlackBox(w io.Writer, s settings, all int, runs []*blackBoxRun) {
	fmt.Fprintf(w, "Medians of %d rounds on a machine of %d cores; ε = %g, δ = %g, replace-one.\n\n## One core and two\n\n", s.rounds, all, s.budget.Epsilon, s.budget.Delta)
	fmt.Fprint(w, "| k | d | n | learner | rounds without a release | CPU s | wall s, one core | wall s, two | **speed-up** | least, most | of the fastest rounds |\n"+
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	one, two := coresOf(blackBoxCores[0]), coresOf(blackBoxCores[1])
	for _, r := range runs {
		fmt.Fprintf(w, "| %d | %d | %d | %s | %d |", r.k, r.d, r.n, r.learner, r.silent)
		if r.costs[one] == nil {
			fmt.Fprint(w, " - | - | - | - | - | - |\n")
			continue
		}
		var ratios []float64
		for i, c := range r.costs[one] {
			ratios = append(ratios, c.wall/r.costs[two][i].wall)
		}
		fmt.Fprintf(w, " %.2f | %.2f | %.2f | **%.2f** | %.2f, %.2f | %.2f |\n", r.median(one, cpu), r.median(one, wall), r.median(two, wall), median(ratios),
			slices.Min(ratios), slices.Max(ratios), r.fastest(one)/r.fastest(two))
	}
	writeStages(w, runs)
}

// writeStages writes the wall seconds of the stages on one core, and on two; the stages are the
// same for all sizes.
func writeStages(w io.Writer, runs []*blackBoxRun) {
	fmt.Fprint(w, "\n## Stages\n\nWall seconds on one core, and on two. The first stage has the planning in it.\n\n")
	one, two := coresOf(blackBoxCores[0]), coresOf(blackBoxCores[1])
	head := false
	for _, r := range runs {
		if r.costs[one] == nil {
			continue
		}
		if !head {
			head = true
			fmt.Fprintf(w, "| k | d | n | learner | %s |\n|---|---|---|---|%s\n", strings.Join(r.stages, " | "), strings.Repeat("---|", len(r.stages)))
		}
		fmt.Fprintf(w, "| %d | %d | %d | %s |", r.k, r.d, r.n, r.learner)
		for _, stage := range r.stages {
			fmt.Fprintf(w, " %.3f, %.3f |", median(r.parts[one][stage]), median(r.parts[two][stage]))
		}
		fmt.Fprintln(w)
	}
}
