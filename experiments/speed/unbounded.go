package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/internal/problems"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// The methods for mixtures without any bound.
const (
	univariate  = "univariate"
	axisAligned = "axis-aligned"
	general     = "general"
)

// Yardsticks of one column and of several.
const (
	sorting = "sorting"
	passing = "plain pass"
)

// An unboundedRun is what the rounds of one kind of mixture measured; the fits are named after what
// they were asked.
type unboundedRun struct {
	results
	method  string
	what    string
	n, d, k int
	truth   func(seed uint64) (*model.Mixture, error) // one for each round
	parts   map[string][]boxPart                      // per fit, in the order of the rounds
}

// A boxPart is how many measurements a fit made, and how many of them were of gaps and histograms,
// which are what boxes begin with, with the CPU time until each of these was told of: what the
// estimator computed before it is in it.
type boxPart struct {
	all, scans int
	cpu        float64
}

// unboundedRuns are the kinds of mixtures; those of several columns have a tenth of the rows.
func unboundedRuns(n int) []*unboundedRun {
	var runs []*unboundedRun
	add := func(method, what string, n, d, k int, truth func(uint64) (*model.Mixture, error)) {
		runs = append(runs, &unboundedRun{method: method, what: what, n: n, d: d, k: k, truth: truth,
			results: results{costs: map[string][]cost{}}, parts: map[string][]boxPart{}})
	}
	aligned := func(d, k int, a problems.Arrangement) func(uint64) (*model.Mixture, error) {
		return problems.Unbounded{Columns: d, Components: k, Arrangement: a}.Truth
	}
	add(univariate, "k = 1", n, 1, 1, aligned(1, 1, problems.Apart))
	add(univariate, "k = 3, apart", n, 1, 3, aligned(1, 3, problems.Apart))
	add(univariate, "k = 3, overlapping", n, 1, 3, aligned(1, 3, problems.Overlapping))
	add(univariate, "k = 2, nested", n, 1, 2, aligned(1, 2, problems.Nested))
	for _, d := range []int{2, 4, 8} {
		add(axisAligned, fmt.Sprintf("d = %d, k = 3", d), n/10, d, 3, aligned(d, 3, problems.Apart))
	}
	for _, d := range []int{2, 4, 8} {
		add(general, fmt.Sprintf("d = %d, k = 3, far", d), n/10, d, 3, func(seed uint64) (*model.Mixture, error) { return farMixture(seed, 3, d) })
		add(general, fmt.Sprintf("d = %d, k = 3, near", d), n/10, d, 3, func(uint64) (*model.Mixture, error) { return randomMixture(3, d) })
	}
	return runs
}

// farMixture has small components with correlated columns so far apart that a tree of counts does
// not see their shapes: what general makes boxes for.
func farMixture(seed uint64, k, d int) (*model.Mixture, error) {
	const size, away = 1e-2, 1e6
	rng := rand.New(rand.NewPCG(seed, 2))
	var gs []model.Gaussian
	for range k {
		f, mean := randomFactor(rng, d), make([]float64, d)
		f.Scale(size, f)
		for j := range mean {
			mean[j] = away * rng.NormFloat64()
		}
		cov, err := model.FullFromFactor(f)
		if err != nil {
			return nil, err
		}
		gs = append(gs, model.Gaussian{Mean: mean, Cov: cov})
	}
	return model.New(nil, nil, gs)
}

// A wish is what a fit is asked besides its method.
type wish struct {
	relation privacy.Relation
	auto     bool // k is not given
}

// wishes are what the fits are asked: in several columns the relation changes hardly anything but
// the first count.
func (r *unboundedRun) wishes() []wish {
	all := []wish{{privacy.ReplaceOne, false}, {privacy.ReplaceOne, true}, {privacy.AddRemoveOne, false}, {privacy.AddRemoveOne, true}}
	if r.d > 1 {
		return all[:2]
	}
	return all
}

func (w wish) String() string {
	if w.auto {
		return w.relation.String() + ", k found"
	}
	return w.relation.String() + ", k given"
}

// runUnbounded measures fits of mixtures without any bound beside sorting their columns, and prints
// UNBOUNDED.md's tables.
func runUnbounded(s settings) error {
	runs := unboundedRuns(s.n)
	for round := range s.rounds {
		for _, r := range runs {
			if err := r.round(s, uint64(round+1)); err != nil {
				return fmt.Errorf("%s, %s, round %d: %w", r.method, r.what, round+1, err)
			}
		}
	}
	writeUnbounded(os.Stdout, s, runs)
	return nil
}

// round measures everything once on rows of a new mixture.
func (r *unboundedRun) round(s settings, seed uint64) error {
	truth, err := r.truth(seed)
	if err != nil {
		return err
	}
	t, err := drawTable(truth, r.n)
	if err != nil {
		return err
	}
	add := func(name string, times int, f func() error) error {
		c, err := measure(f)
		r.costs[name] = append(r.costs[name], cost{c.cpu / float64(times), c.wall / float64(times)})
		return err
	}
	// that the columns are sorted: one takes few ticks of the clock
	times := max(1, 1_000_000/len(t.flat))
	columns := unsorted(t, times)
	_ = add(sorting, times, func() error {
		for _, c := range columns {
			slices.Sort(c)
		}
		return nil
	})
	_ = add(passing, plainPasses*times, func() error {
		for range plainPasses * times {
			panelCovariance(t)
		}
		return nil
	})
	for _, w := range r.wishes() {
		table := protect(t, w.relation) // a new one, since a table keeps what it has sorted
		if err := add(w.String(), 1, func() error { return r.fit(s, table, w) }); err != nil {
			return err
		}
	}
	return nil
}

// unsorted are some copies of the columns.
func unsorted(t *table, copies int) (columns [][]float64) {
	for range copies {
		for j := range t.d {
			c := make([]float64, 0, len(t.flat)/t.d)
			for i := j; i < len(t.flat); i += t.d {
				c = append(c, t.flat[i])
			}
			columns = append(columns, c)
		}
	}
	return columns
}

// protect hands the rows to a new protected table.
func protect(t *table, r privacy.Relation) *kernel.Table {
	b := kernel.NewBuilder(t.d)
	for row := range slices.Chunk(t.flat, t.d) {
		b.Append(row)
	}
	return b.Protect(r)
}

// fit makes one fit and counts its measurements.
func (r *unboundedRun) fit(s settings, t *kernel.Table, w wish) error {
	request := gauze.Request{Relation: w.relation, Budget: s.budget, Method: r.method, Components: r.k, Columns: model.DefaultColumns(r.d), SchemaDeclared: true}
	if w.auto {
		request.Components = 0
	}
	if r.method == axisAligned {
		request.Covariance = estimate.Diagonal
	}
	var part boxPart
	last := cpuSeconds(syscall.RUSAGE_SELF)
	request.Observe = func(step string, _ float64) {
		now := cpuSeconds(syscall.RUSAGE_SELF)
		part.all++
		if step == "gaps" || step == "histograms" {
			part.scans++
			part.cpu += now - last
		}
		last = now
	}
	result, err := gauze.Fit(context.Background(), t, request)
	if err != nil {
		return err
	}
	if result.Release == nil {
		return fmt.Errorf("%v: no release: %s", w, result.NoRelease.Reason)
	}
	r.parts[w.String()] = append(r.parts[w.String()], part)
	return nil
}

// writeUnbounded writes a table for one column and one for several.
func writeUnbounded(w io.Writer, s settings, runs []*unboundedRun) {
	fmt.Fprintf(w, "Medians of %d rounds on %d cores; ε = %g, δ = %g.\n", s.rounds, runtime.GOMAXPROCS(0), s.budget.Epsilon, s.budget.Delta)
	n := 0
	for _, r := range runs {
		if r.n != n {
			n = r.n
			fmt.Fprintf(w, "\n## n = %d\n\n| method | mixture | asked | CPU s | fit / sorting | least, most | scans | ms each | in plain passes | of gaps, histograms | "+
				"ms each | in plain passes |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n", n)
		}
		for _, asked := range r.wishes() {
			r.writeFit(w, asked.String())
		}
	}
}

// writeFit writes the line of one fit.
func (r *unboundedRun) writeFit(w io.Writer, fit string) {
	var ratios, scans, each, passes, boxScans, boxEach, boxPasses []float64
	for i, p := range r.parts[fit] {
		seconds, pass := r.costs[fit][i].cpu, r.costs[passing][i].cpu
		ratios, scans, boxScans = append(ratios, seconds/r.costs[sorting][i].cpu), append(scans, float64(p.all)), append(boxScans, float64(p.scans))
		one, ofBox := seconds/float64(p.all), p.cpu/float64(max(1, p.scans))
		each, passes = append(each, 1000*one), append(passes, one/pass)
		boxEach, boxPasses = append(boxEach, 1000*ofBox), append(boxPasses, ofBox/pass)
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %.3f | **%.2f** | %.2f, %.2f | %.0f | %.1f | %.1f |", r.method, r.what, fit, r.median(fit, cpu),
		median(ratios), slices.Min(ratios), slices.Max(ratios), median(scans), median(each), median(passes))
	if median(boxScans) == 0 {
		fmt.Fprint(w, " 0 | | |\n")
		return
	}
	fmt.Fprintf(w, " %.0f | %.1f | %.1f |\n", median(boxScans), median(boxEach), median(boxPasses))
}
