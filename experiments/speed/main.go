// Command speed measures what a fit costs, side by side with what it is to be compared to: plain
// covariance passes over the same table, ten iterations of scikit-learn's EM, one core against two,
// and the table's own size. It prints Markdown.
//
//	go run ./experiments/speed > experiments/speed/RESULTS.md
//
// The rounds alternate between all the programs measured, so that a busy machine slows all of them
// alike, and every figure is a median over rounds unless it says otherwise. CPU time is user and
// system time of the process.
//
// With -separation the table is that of a mixture of separated components, for which the method
// separated is measured; SEPARATED.md holds the tables of
//
//	go run ./experiments/speed -rounds 3 -separation 6 -fits separated,separated-auto
//	go run ./experiments/speed -rounds 3 -separation 6 -fits separated,separated-auto -d 50 -k 10
//
// With -single the table is that of one Gaussian, the fits use one core, and the yardstick is the
// cheapest of several plain passes; GAUSSIAN.md holds the tables of
//
//	go run ./experiments/speed -single -rounds 15 -n 100000 -d 50
//	go run ./experiments/speed -single -rounds 3 -n 100000 -d 200 -epsilon 8
//
// With -unbounded the tables are those of mixtures of any scales in one column and, with a tenth of
// the rows, in several, and the yardstick is sorting the columns; UNBOUNDED.md holds the tables of
//
//	go run ./experiments/speed -unbounded -rounds 9
//
// With -blackbox the fits are those of the black-box reduction at the sizes of the named problems
// of experiments/reduction, a new table for every round, on one core and on two in turn;
// BLACKBOX.md holds the tables of
//
//	go run ./experiments/speed -blackbox -rounds 7
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

type settings struct {
	n, d, k, rounds int
	separation      float64 // 0: a mixture that is not drawn for separation
	budget          privacy.Budget
}

// truth is the mixture that the table is drawn from.
func (s settings) truth() (*model.Mixture, error) {
	if s.separation == 0 {
		return randomMixture(s.k, s.d)
	}
	return problems.Spec{Columns: s.d, Components: s.k, Separation: s.separation}.Truth(1)
}

func main() {
	var s settings
	flag.IntVar(&s.n, "n", 1_000_000, "rows")
	flag.IntVar(&s.d, "d", 10, "columns")
	flag.IntVar(&s.k, "k", 5, "components of the table's mixture")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds")
	flag.Float64Var(&s.separation, "separation", 0, "C: spherical components, the closest two means C √k standard deviations apart (0: correlated columns, means about 4 apart in every column)")
	flag.Float64Var(&s.budget.Epsilon, "epsilon", 1, "epsilon")
	flag.Float64Var(&s.budget.Delta, "delta", 1e-6, "delta")
	memory := flag.Bool("memory", true, "measure the peak memory of gauze fit (not with -separation)")
	single := flag.Bool("single", false, "measure fits of one Gaussian, step by step, beside several plain passes")
	unbounded := flag.Bool("unbounded", false, "measure fits of mixtures without any bound beside sorting their columns (columns and components are its own)")
	reduction := flag.Bool("blackbox", false, "measure fits of the black-box reduction on one core and on two, by stages (columns and components are its own)")
	numpy := flag.Bool("numpy", true, "with -single: measure numpy's covariance too")
	sklearn := flag.Bool("sklearn", true, "measure scikit-learn, if python3 has it")
	flag.Func("fits", "the fits to measure, with commas between them (default gaussian,mixture,auto; others: separated, separated-auto)", func(list string) error {
		fits = strings.Split(list, ",")
		return nil
	})
	profile := flag.String("profile", "", "do nothing but one fit, with a CPU profile in FIT.prof")
	flag.Parse()
	measured := func() error { return run(s, *memory, *sklearn, *profile) }
	if *single {
		measured = func() error { return runSingle(s, *numpy) }
	}
	if *unbounded {
		measured = func() error { return runUnbounded(s) }
	}
	if *reduction {
		measured = func() error { return runBlackBox(s) }
	}
	if err := measured(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run measures and prints.
func run(s settings, memory, sklearn bool, profile string) error {
	truth, err := s.truth()
	if err != nil {
		return err
	}
	if profile != "" {
		return profiled(s, truth, profile)
	}
	folder, err := os.MkdirTemp("", "gauze-speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var peaks []peak
	// first, while this program is small: a child's peak begins with that of its parent
	if memory && s.separation == 0 {
		if peaks, err = peakMemory(s, truth, folder); err != nil {
			return err
		}
	}
	t, err := drawTable(truth, s.n)
	if err != nil {
		return err
	}
	python := ""
	if sklearn {
		if python, err = newPython(folder, t); err != nil {
			fmt.Fprintln(os.Stderr, "scikit-learn is skipped:", err)
		}
	}
	times, err := alternate(s, t, python)
	if err != nil {
		return err
	}
	if s.separation != 0 {
		writeBeside(os.Stdout, s, times, python != "")
		return nil
	}
	write(os.Stdout, s, times, python != "", peaks)
	return nil
}

// A table is the rows twice: protected, and in the open for the plain passes.
type table struct {
	protected *kernel.Table
	flat      []float64
	d         int
}

// randomMixture has components whose means differ by about four standard deviations in every
// column, each with correlated columns.
func randomMixture(k, d int) (*model.Mixture, error) {
	rng := rand.New(rand.NewPCG(1, 1))
	var weights []float64
	var components []model.Gaussian
	for j := range k {
		f := randomFactor(rng, d)
		cov, err := model.FullFromFactor(f)
		if err != nil {
			return nil, err
		}
		mean := make([]float64, d)
		for i := range mean {
			mean[i] = 100 + 3*rng.NormFloat64()
		}
		weights = append(weights, float64(j+2)/float64(k*(k+3)/2))
		components = append(components, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, weights, components)
}

// drawTable draws n rows.
func drawTable(truth *model.Mixture, n int) (*table, error) {
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 0))
	d := truth.Dim()
	t := &table{d: d, flat: make([]float64, n*d)}
	b := kernel.NewBuilder(d)
	for i := range n {
		row := t.flat[i*d : (i+1)*d]
		sampler.Row(row, rng)
		b.Append(row)
	}
	t.protected = b.Protect(privacy.ReplaceOne)
	return t, nil
}

// fit is one fit of the protected table; scans is how many measurements it made, each of which
// reads every row once.
func (t *table) fit(s settings, what string) (scans int, err error) {
	r := gauze.Request{Relation: privacy.ReplaceOne, Budget: s.budget, Method: "general", Columns: model.DefaultColumns(t.d), SchemaDeclared: true}
	switch what {
	case "gaussian":
		r.Method = "gaussian"
	case "mixture":
		r.Components = s.k
	case "separated":
		r.Method, r.Components = "separated", s.k
	case "separated-auto":
		r.Method = "separated"
	}
	result, err := gauze.Fit(context.Background(), t.protected, r)
	if err != nil {
		return 0, err
	}
	if result.Release == nil {
		return 0, fmt.Errorf("%s: no release: %s", what, result.NoRelease.Reason)
	}
	for _, step := range result.Release.Certificate.Plan {
		scans += step.Count
	}
	return scans, nil
}

// profiled makes one fit and writes a CPU profile.
func profiled(s settings, truth *model.Mixture, what string) error {
	t, err := drawTable(truth, s.n)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Clean(what + ".prof"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	c, err := measure(func() error { _, err := t.fit(s, what); return err })
	fmt.Printf("%s: %.2f s CPU, %.2f s wall\n", what, c.cpu, c.wall)
	return err
}
