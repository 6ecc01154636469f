package kernel

import (
	"fmt"
	"math"
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gauze-dp/gauze/kernel/engine/local"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/internal/rows"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// A Learner estimates something from the rows of a block, without privacy: see package learner, whose interface this is.
type Learner interface {
	// Estimates is k, the number of estimates of every block, at least 1.
	Estimates() int
	// Coordinates is the length of an estimate for rows of d columns, at least 1.
	Coordinates(d int) int
	// Learn returns k estimates from the rows, all finite, or an error. It must be a function of its arguments.
	Learn(rows [][]float64, seed uint64) ([][]float64, error)
}

// Blocks says how a table becomes a table of block estimates. All fields are public or released.
type Blocks struct {
	Learner Learner // Required: a struct of a package below learner, by value.
	Count   int     // Required: m, the number of blocks.
	// Frame maps the rows that the learner sees; the zero Affine leaves them as they are. Rows without a finite image are left out.
	Frame query.Affine
	// Radius, if positive, leaves out the rows whose image is longer.
	Radius float64
	Seed   uint64 // of the learner's own choices
}

// Blocks cuts the rows into secret blocks, runs the learner on each, and returns an allotment, with all that a had left, whose
// measurements see the table of the pooled estimates in place of the rows: m k of them, k per block. Return gives the rest back. Nothing
// is released and nothing is spent.
//
// The derived table's relation is replace-one with m k public, whatever the session's relation is; plans and certificates name its
// queries with "of blocks: " before (see OfBlocks), and every sensitivity is k times the query's own.
//
// Theorem. Let X and X' be neighbours. For each outcome L of the secret draw, coupled as below, the derived tables D(X, L) and D(X', L)
// have m k rows and differ in the k rows of at most one block:
//   - replace-one (n public): L is a uniformly random permutation, independent of the rows, cut into m runs of lengths that differ by
//     one at most. The replaced row stands in one run; the others, in content and order, are the same.
//   - add-or-remove-one (m public or released): L gives every row a uniform label of its own in {1..m}. With the same labels for the
//     common rows, one more row changes the content of one block; the order within the others stays.
//
// A block's k rows are a function of its rows, in their order, and of public numbers: the learner's estimates or, if it errs, panics, or
// returns anything but k vectors of the right length with finite values, k null rows. So no failure shows but as k rows of a table
// that is measured with noise, and no block size at all.
//
// Two tables that differ in k rows are joined by a chain of k replacements. Along it an answer moves by at most k times its sensitivity,
// in L1 and in L2; the log-probability ratios of a pure mechanism whose rate is that of k times the sensitivity add up to at most epsilon,
// and so do the intervals that they span; and at most k bins of each stability histogram, of at most k rows each, are empty on the other
// side. These are the factors that the measurements of a derived session use (grouped). So each satisfies, given L, the statement of
// its own theorem, with mu^2 charged to the session's one filter. As every outcome L is as likely for X as for X', the mixture over L
// satisfies it too (trade-off functions are convex). L is never released: under add-or-remove-one its length is the private n.
//
// Caller must ensure: nothing. Learners are handed raw rows, so they are a closed set, as queries are: structs of numbers, of
// packages below learner, which import nothing that could keep or show a row. Learners of users have to wait for a process of their own
// that can answer with estimates only. The time a learner takes depends on the rows, as that of a measurement does.
//
// Source: [KSSU19] Sections A.6 and B.11 of the restatement.
func (a *Allotment) Blocks(b Blocks) (*Allotment, error) {
	if err := trustedLearner(b.Learner); err != nil {
		return nil, err
	}
	return a.blocks(b)
}

// OfBlocks is the kind of a query of a table of block estimates, for plans.
func OfBlocks(kind string) string { return "of blocks: " + kind }

// maxPooled bounds the memory of a derived table, in rows; their number is public, so the bound is too.
const maxPooled = 1 << 22

func (a *Allotment) blocks(b Blocks) (*Allotment, error) {
	s := a.s
	if s.pooled {
		return nil, fmt.Errorf("kernel: Blocks: want the allotment of a table of rows, got one of block estimates")
	}
	var err error
	if b.Frame, err = query.Own(b.Frame); err != nil {
		return nil, err
	}
	d := s.Columns()
	if b.Frame.W != nil {
		if err := b.Frame.Validate(d); err != nil {
			return nil, err
		}
		d = b.Frame.Out()
	}
	k, width := b.Learner.Estimates(), b.Learner.Coordinates(d)
	if k < 1 || width < 1 || b.Count < 1 || k > maxPooled || b.Count > maxPooled/k {
		return nil, fmt.Errorf("kernel: Blocks: want at least one block, estimate and coordinate, and at most %d estimates in all, "+
			"got %d blocks of %d estimates of %d coordinates", maxPooled, b.Count, k, width)
	}
	if !(b.Radius >= 0) {
		return nil, fmt.Errorf("kernel: Blocks.Radius: want a positive number, or 0 for none, got %v", b.Radius)
	}
	s.mu.Lock()
	source, _ := s.random()
	of := drawBlocks(source, s.terms.Relation, s.table.rows().Len(), b.Count)
	s.mu.Unlock()
	pooled := make([][][]float64, b.Count)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(b.Count, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; int(i) < b.Count && s.ctx.Err() == nil; i = next.Add(1) - 1 {
				pooled[i] = b.learn(b.gather(s.table.rows(), of[i]), k, width)
			}
		})
	}
	wg.Wait()
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	t := rows.New(width)
	for _, estimates := range pooled {
		for j := range k {
			if estimates == nil {
				t.Append(nil) // a null row
			} else {
				t.Append(estimates[j])
			}
		}
	}
	return a.derive(t, k), nil
}

// derive moves what a has left to an allotment of a session over t that shares everything else.
func (a *Allotment) derive(t *rows.Table, k int) *Allotment {
	derived := *a.s
	derived.table = &Table{rows: func() *rows.Table { return t }}
	derived.terms.Relation = privacy.ReplaceOne
	derived.pooled, derived.group = true, float64(k)
	derived.mu.Lock()
	defer derived.mu.Unlock()
	derived.root = &Allotment{s: &derived, left: a.left}
	a.left = 0
	return derived.root
}

// grouped is a sensitivity for one replaced row of the protected table, rounded up.
func (s *Session) grouped(sensitivity float64) float64 {
	if s.group == 1 {
		return sensitivity
	}
	return privacy.MulUp(s.group, sensitivity)
}

// kindOf is the name of a query of the session's table in plans and certificates.
func (s *Session) kindOf(kind string) string {
	if s.pooled {
		return OfBlocks(kind)
	}
	return kind
}

// drawBlocks draws the rows of every block; see Allotment.Blocks.
func drawBlocks(src noise.Source, r privacy.Relation, n, m int) [][]int {
	of := make([][]int, m)
	if r != privacy.ReplaceOne {
		for i := range n {
			b := noise.Uniform(src, uint64(m))
			of[b] = append(of[b], i)
		}
		return of
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(noise.Uniform(src, uint64(i+1)))
		order[i], order[j] = order[j], order[i]
	}
	for b := range of {
		of[b] = order[b*n/m : (b+1)*n/m]
	}
	return of
}

// gather maps the rows of a block, copies all of them.
func (b Blocks) gather(t *rows.Table, of []int) (out [][]float64) {
	for _, i := range of {
		if z, ok := b.image(t.Row(i)); ok {
			out = append(out, z)
		}
	}
	return out
}

func (b Blocks) image(x []float64) (z []float64, ok bool) {
	if b.Frame.W == nil {
		z = append(z, x...)
	}
	for _, w := range b.Frame.W {
		v := 0.0
		for j, c := range b.Frame.Center {
			from := j
			if b.Frame.Columns != nil {
				from = b.Frame.Columns[j]
			}
			v += w[j] * (x[from] - c)
		}
		z = append(z, v)
	}
	norm2 := 0.0
	for _, v := range z {
		if v-v != 0 {
			return nil, false
		}
		norm2 += v * v
	}
	return z, x[0] == x[0] && (b.Radius == 0 || norm2 <= b.Radius*b.Radius)
}

// learn returns k finite estimates of the given width, or nil.
func (b Blocks) learn(block [][]float64, k, width int) (estimates [][]float64) {
	defer func() {
		if recover() != nil {
			estimates = nil
		}
	}()
	got, err := b.Learner.Learn(block, b.Seed)
	if err != nil || len(got) != k {
		return nil
	}
	for _, e := range got {
		if len(e) != width {
			return nil
		}
		for _, v := range e {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil
			}
		}
	}
	return got
}

// trustedLearner refuses a learner that is not a struct of plain numbers defined below the module's folder learner: it is handed raw
// rows. A generic type could bring the code of another package along, and a field a function, a channel or a place to keep rows.
func trustedLearner(l Learner) error {
	t := reflect.TypeOf(l)
	module := strings.TrimSuffix(reflect.TypeFor[local.Engine]().PkgPath(), "/kernel/engine/local")
	folder := path.Join(module, "learner")
	if t == nil || t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), folder+"/") || strings.Contains(t.Name(), "[") || !plain(t) {
		return fmt.Errorf("kernel: Blocks.Learner: want a struct of numbers of a package below %s, by value, got a %T", folder, l)
	}
	return nil
}

// plain reports a type made of numbers alone.
func plain(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case k == reflect.Array:
		return plain(t.Elem())
	default:
		return k >= reflect.Bool && k <= reflect.Float64 && k != reflect.Uintptr
	}
}
