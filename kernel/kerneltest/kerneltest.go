// Package kerneltest opens sessions whose noise a test controls. Functions that control noise take
// a testing.TB and panic outside of tests, so that only a test can use them; the releases of such a
// session are marked as simulated.
//
// It also makes tables over which the audit observes fits ([Observed]), an engine that counts how
// often rows are read ([CountingEngine]), and what tests of secret blocks have in common.
package kerneltest

import (
	"context"
	"testing"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// Options are the parts of a session that a test controls.
type Options struct {
	Seed uint64 // of the noise; ignored if Fresh
	// Coupled draws each measurement's noise from a seed of its own. If one table has one row more
	// than another, at its end, then samples and pairs draw the same for their common rows: the
	// extra row's draws shift only the noise, and only that of one measurement.
	Coupled bool
	// Fresh draws the noise from the operating system, as in production.
	Fresh bool
	// NoiseFactor multiplies the noise that is drawn but not the noise that is stated; 0 means 1.
	NoiseFactor float64
	// Exact returns the answers without noise. Tests of block estimates then leave no room for
	// noise: Stable passes from H = Pass on, Popular from 4t^2/5 friends on, and masks multiply by
	// the identity.
	Exact bool
	// Replay replaces the answers by recorded ones, in order.
	Replay *Transcript
	// Record, if set, receives every measurement.
	Record *Transcript
}

// A Transcript holds the queries of a session and its answers. Stable and Popular are two
// measurements: 1 or 0 for the test, whose sum is H or the number of friends, and the components,
// weight, mean and root by rows; none after a failure.
type Transcript struct {
	Steps   []string
	Queries []any
	Mus     []float64
	Answers [][]float64
	Sums    [][]int64 // exact integers before noise; nil for stability histograms and gaps
}

// Open opens a session over t with controlled noise.
func Open(tb testing.TB, t *kernel.Table, plan kernel.Plan, terms kernel.Terms, o Options) *kernel.Session {
	tb.Helper()
	forTests()
	h := core.NewTestHook()
	if !o.Fresh {
		h.Source = noise.NewSeeded(o.Seed)
	}
	if o.NoiseFactor != 0 {
		h.NoiseFactor = o.NoiseFactor
	}
	if o.Exact {
		h.NoiseFactor = 0
	}
	if r := o.Replay; r != nil {
		asked := 0
		h.Replay = func() ([]float64, bool) {
			if asked++; asked > len(r.Answers) {
				tb.Errorf("measurement %d has no recorded answer: the run branched on something that was not released", asked-1)
				return nil, false
			}
			return append([]float64(nil), r.Answers[asked-1]...), true
		}
	}
	if r := o.Record; r != nil {
		h.Record = func(step string, q any, mu float64, answer []float64, exact []int64) {
			r.Steps = append(r.Steps, step)
			r.Queries = append(r.Queries, q)
			r.Mus = append(r.Mus, mu)
			r.Answers = append(r.Answers, append([]float64(nil), answer...))
			r.Sums = append(r.Sums, append([]int64(nil), exact...))
		}
	}
	if o.Coupled {
		couple(h, o.Seed)
	}
	s, err := core.Open(context.Background(), core.Hooked(t, h), plan, terms)
	if err != nil {
		tb.Fatalf("opening a session: %v", err)
	}
	return s
}

// A reseeded source is replaced after each measurement.
type reseeded struct{ noise.Source }

// couple makes a hook draw as Options.Coupled says.
func couple(h *core.TestHook, seed uint64) {
	source, record := &reseeded{noise.NewSeeded(seed)}, h.Record
	h.Source, h.Record = source, func(step string, q any, mu float64, answer []float64, exact []int64) {
		seed += 1 << 32
		source.Source = noise.NewSeeded(seed)
		if record != nil {
			record(step, q, mu, answer, exact)
		}
	}
}

// Table builds a protected table from rows of d columns.
func Table(rows [][]float64, d int, r privacy.Relation) *kernel.Table {
	b := kernel.NewBuilder(d)
	for _, r := range rows {
		b.Append(r)
	}
	return b.Protect(r)
}

// forTests panics outside a test: a program of another module could bring a testing.TB of its own.
func forTests() {
	if !testing.Testing() {
		panic("kerneltest: for tests only")
	}
}
