package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

//go:embed covariance.py
var covarianceScript string

// fitName is the row of the fit in the results.
const fitName = "gaussian"

// afterLast names the time after the last measurement.
const afterLast = "(after the last)"

// A singleRun is what the rounds of one Gaussian measured.
type singleRun struct {
	results
	// Per step of the fit and round, CPU seconds until it was told of: the measurement and what the
	// estimator computed before it. A round's steps together are its fit.
	steps  []map[string]float64
	counts []map[string]int  // measurements per round and step, told by an observer
	kinds  map[string]string // what each step asks
	// Errors of the fits, in units of the error of the sample covariance and mean, and the largest
	// resident memory of this program.
	covariance, mean []float64
	memory           float64
}

// runSingle measures fits of one Gaussian on one core beside plain passes, and prints GAUSSIAN.md's
// tables.
func runSingle(s settings, numpy bool) error {
	truth, err := randomMixture(1, s.d)
	if err != nil {
		return err
	}
	t, err := drawTable(truth, s.n)
	if err != nil {
		return err
	}
	folder := ""
	if numpy {
		if folder, err = os.MkdirTemp("", "gauze-speed"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		if err := writeRows(folder, "covariance.py", covarianceScript, t); err != nil {
			return err
		}
	}
	runtime.GOMAXPROCS(1)
	r := &singleRun{results: results{costs: map[string][]cost{}}, kinds: map[string]string{}}
	for range s.rounds {
		if err := r.round(s, t, truth, folder); err != nil {
			return err
		}
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	const kilobyte = 1024
	r.memory = float64(u.Maxrss) * kilobyte
	r.write(os.Stdout, s, numpy)
	return nil
}

// passesOf is how many plain passes are timed as one: about as much work as a fit.
func passesOf(s settings) int { return max(1, int(4e9/(float64(s.n)*float64(s.d)*float64(s.d+10)))) }

// round measures every program once.
func (r *singleRun) round(s settings, t *table, truth *model.Mixture, python string) error {
	if err := r.plain(s, t, python); err != nil {
		return err
	}
	result, err := r.fit(s, t)
	if err != nil {
		return err
	}
	covariance, mean := errorsOf(truth.Components[0], result.Release.Model.Components[0])
	d, n := float64(s.d), float64(s.n)
	r.covariance = append(r.covariance, covariance/math.Sqrt(d*(d+1)/n))
	r.mean = append(r.mean, mean/math.Sqrt(d/n))
	return nil
}

// plain measures the plain passes.
func (r *singleRun) plain(s settings, t *table, python string) error {
	passes := passesOf(s)
	add := func(name string, c cost) {
		r.costs[name] = append(r.costs[name], cost{c.cpu / float64(passes), c.wall / float64(passes)})
	}
	for _, y := range yardsticks {
		c, err := measure(func() error {
			for range passes {
				y.pass(t)
			}
			return nil
		})
		if err != nil {
			return err
		}
		add(y.name, c)
	}
	if python != "" {
		c, err := runNumpy(python, t.d, passes)
		if err != nil {
			return err
		}
		add("numpy", c)
	}
	return nil
}

// fit measures one fit and what its steps take.
func (r *singleRun) fit(s settings, t *table) (*gauze.Result, error) {
	steps, counts := map[string]float64{}, map[string]int{}
	var result *gauze.Result
	c, err := measure(func() (err error) {
		last := cpuSeconds(syscall.RUSAGE_SELF)
		lap := func(step string) {
			now := cpuSeconds(syscall.RUSAGE_SELF)
			steps[step] += now - last
			last = now
		}
		result, err = gauze.Fit(context.Background(), t.protected, gauze.Request{
			Relation: privacy.ReplaceOne, Budget: s.budget, Method: fitName, Columns: model.DefaultColumns(t.d), SchemaDeclared: true,
			Observe: func(step string, _ float64) {
				lap(step)
				counts[step]++
			}})
		lap(afterLast)
		return err
	})
	if err != nil {
		return nil, err
	}
	if result.Release == nil {
		return nil, fmt.Errorf("no release: %s", result.NoRelease.Reason)
	}
	r.costs[fitName] = append(r.costs[fitName], c)
	r.steps, r.counts = append(r.steps, steps), append(r.counts, counts)
	for _, step := range result.Release.Certificate.Plan {
		r.kinds[step.Step] = step.Query
	}
	return result, nil
}

// runNumpy times numpy's passes.
func runNumpy(folder string, d, passes int) (cost, error) {
	cmd := exec.Command("python3", "covariance.py", "rows.f64", fmt.Sprint(d), fmt.Sprint(passes))
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	out, err := cmd.Output()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w", filepath.Join(folder, "covariance.py"), err)
	}
	var c struct{ CPU, Wall float64 }
	err = json.Unmarshal(out, &c)
	return cost{c.CPU, c.Wall}, err
}

// errorsOf are |A^-1 S A^-T - I|_F and |A^-1 (m' - m)| for the true covariance A A^T.
func errorsOf(truth, fitted model.Gaussian) (covariance, mean float64) {
	d := len(truth.Mean)
	var chol mat.Cholesky
	if !chol.Factorize(truth.Cov.Dense()) {
		return math.NaN(), math.NaN()
	}
	var a mat.TriDense
	chol.LTo(&a)
	var white, s mat.Dense
	if err := white.Solve(&a, fitted.Cov.Factor()); err != nil {
		return math.NaN(), math.NaN()
	}
	s.Mul(&white, white.T())
	diff := mat.NewDense(d, 1, nil)
	for i := range d {
		s.Set(i, i, s.At(i, i)-1)
		diff.Set(i, 0, fitted.Mean[i]-truth.Mean[i])
	}
	var m mat.Dense
	if err := m.Solve(&a, diff); err != nil {
		return math.NaN(), math.NaN()
	}
	return mat.Norm(&s, 2), mat.Norm(&m, 2)
}

// write writes the tables of one size.
func (r *singleRun) write(w io.Writer, s settings, numpy bool) {
	best := yardsticks[0].name
	for _, y := range yardsticks {
		if r.median(y.name, cpu) < r.median(best, cpu) {
			best = y.name
		}
	}
	fmt.Fprintf(w, "## n = %d, d = %d, ε = %g\n\nMedians of %d rounds on one core; δ = %g, replace-one. Ratios are of CPU time, round by round.\n\n"+
		"| program | scans | CPU s | CPU / (scans × cheapest plain pass) |\n|---|---|---|---|\n", s.n, s.d, s.budget.Epsilon, s.rounds, s.budget.Delta)
	names := []string{}
	for _, y := range yardsticks {
		names = append(names, y.name)
	}
	if numpy {
		names = append(names, "numpy")
	}
	for _, name := range names {
		fmt.Fprintf(w, "| %s | 1 | %.4f | %.2f |\n", name, r.median(name, cpu), r.ratio(name, best, cpu))
	}
	whole := r.perScan(best, func(i int) (seconds float64, scans int) {
		for _, n := range r.counts[i] {
			scans += n
		}
		return r.costs[fitName][i].cpu, scans
	})
	fmt.Fprintf(w, "| `gaussian` | %.0f | %.3f | **%.2f** |\n\n", whole.scans, whole.seconds, whole.ratio)
	fmt.Fprint(w, "| part of the fit | asks | scans | CPU s | per scan, in plain passes |\n|---|---|---|---|---|\n")
	for _, step := range append(slices.Sorted(maps.Keys(r.kinds)), afterLast) {
		p := r.perScan(best, func(i int) (float64, int) { return r.steps[i][step], r.counts[i][step] })
		fmt.Fprintf(w, "| %s | %s | %.0f | %.3f | %.2f |\n", step, r.kinds[step], p.scans, p.seconds, p.ratio)
	}
	fmt.Fprintf(w, "\nErrors, in units of the non-private rate: covariance %.2f, mean %.2f (medians). Largest memory of this program, which holds the table twice "+
		"(%.0f MB each): %.0f MB.\n\n", median(r.covariance), median(r.mean), 8*float64(s.n)*float64(s.d)/1e6, r.memory/1e6)
}

// A share is a part of the fit: medians over the rounds.
type share struct{ scans, seconds, ratio float64 }

// perScan relates the CPU seconds of a part of the fit to its scans (one, if it has none) and to
// the plain pass of the same round.
func (r *singleRun) perScan(best string, of func(round int) (seconds float64, scans int)) share {
	var scans, seconds, ratios []float64
	for i, plain := range r.costs[best] {
		s, n := of(i)
		scans, seconds = append(scans, float64(n)), append(seconds, s)
		ratios = append(ratios, s/plain.cpu/float64(max(1, n)))
	}
	return share{median(scans), median(seconds), median(ratios)}
}
