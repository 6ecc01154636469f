// Package blocks brings sample and aggregate to the kernel: learners on secret blocks of rows, the
// masked mean of the estimates that agree ([Stable]) and, for literal algorithms only, a table of
// all block estimates that is measured as rows are ([Pool]).
package blocks

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/gauze-dp/gauze/dense"
	"github.com/gauze-dp/gauze/kernel/internal/agree"
	"github.com/gauze-dp/gauze/kernel/internal/core"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/internal/noise"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/parallel"
)

// Blocks say how a table becomes a table of block estimates. All fields are public or released.
type Blocks struct {
	Learner core.Learner // Required, or OfTerms: a struct of a package below learner, by value.
	// OfTerms, in place of Learner, asks for the custodian's own learner in the session's terms,
	// with that many estimates of every block.
	OfTerms int
	Count   int // Required: m, the number of blocks.
	// Of, if larger, is the number of blocks that the rows are cut into; learners run on Count of
	// them. So a large table is sampled, as secretly as the blocks are drawn. Nobody reads the rows
	// of the other blocks, and nothing is charged less.
	Of int
	// Map maps the rows that the learner sees; the zero Affine leaves them as they are. Rows
	// without a finite image are left out.
	Map query.Affine
	// Radius, if positive, leaves out the rows whose image is longer.
	Radius float64
	Seed   uint64 // of the learner's own choices; every block gets one derived from it
	// Shared passes Seed itself to every block, for estimates that mean something only if all
	// blocks have made the same choices.
	Shared bool
}

// Secret returns b, once validated, in the form that tests of agreement take. Nothing is drawn yet,
// and only the kernel can draw it: no code outside has a Draw.
//
// Caller must ensure: nothing, with Learner. Count and Of follow from public or released numbers,
// as do all arguments of a program. Learners receive raw rows, so they are a closed set, as queries
// are: structs of numbers, of packages below learner, which import nothing that could keep or show
// a row. The time a learner takes depends on the rows, as that of a measurement does.
//
// The learner of the terms is code that Gauze does not know. Its author answers for two things, and
// all of the guarantee rests on them:
//   - its result is a function of its arguments, the rows and the seed: no counter, cache or
//     generator that another block or run has touched, no clock (a time limit would let one block's
//     rows decide what another returns), no number of processors;
//   - it shows and keeps nothing: no output, log, file, connection, metric or panic of a goroutine
//     of its own, no variable or goroutine that holds a row after it returns; and it lets this
//     package alone.
//
// Whatever it does to its rows, to what it has returned, or by failing, it changes nothing but its
// own block: the rows and the estimates are copies, every block has a goroutine of its own, and an
// error, a panic, runtime.Goexit, or estimates of the wrong number, length or kind make a failed
// block. What cannot be caught ends the process: a panic in a goroutine that it started, a stack or
// a memory exhausted, a map written twice at a time. The crash is then visible, and depends on the
// rows. A learner that never returns stops the fit.
func Secret(a *core.SubBudget, b Blocks) (agree.Drawn, error) {
	c, err := b.check(a)
	if err != nil {
		return agree.Drawn{}, err
	}
	return agree.Drawn{Count: c.Count, Components: c.k, Columns: c.columns, Width: c.width, Estimates: c.mixtures}, nil
}

// mixtures returns the estimates of the blocks as mixtures, nil where a block has none.
func (b checked) mixtures(d *core.Draw) ([][]Component, error) {
	pooled, err := b.estimates(d)
	out := make([][]Component, len(pooled))
	for i, e := range pooled {
		out[i] = Decode(e, b.columns)
	}
	return out, err
}

// maxPooled bounds the memory of a derived table, in rows; their number is public, so the bound is
// too.
const maxPooled = 1 << 22

// checked is a copy of Blocks that is valid and that no other code can change.
type checked struct {
	Blocks
	learner  core.Learner // receives the rows
	columns  int          // of the rows that the learner receives
	k, width int          // number and length of a block's estimates
}

// check returns the session's own copy of b, valid.
func (b Blocks) check(a *core.SubBudget) (c checked, err error) {
	c.Blocks = b
	if c.learner, err = b.of(a); err != nil {
		return c, err
	}
	if core.Pooled(a) {
		return c, fmt.Errorf("kernel: Blocks: want the sub-budget of a table of rows, got one of block estimates")
	}
	if c.Map, err = query.Own(b.Map); err != nil {
		return c, err
	}
	c.columns = a.Session().Columns()
	if c.Map.W != nil {
		if err := c.Map.Validate(c.columns); err != nil {
			return c, err
		}
		c.columns = c.Map.Out()
	}
	c.k, c.width = c.learner.Estimates(), c.learner.Coordinates(c.columns)
	if c.k < 1 || c.width < 1 || c.Count < 1 || c.k > maxPooled || c.Count > maxPooled/c.k {
		return c, fmt.Errorf("kernel: Blocks: want at least one block, estimate and coordinate, and at most %d estimates in all, "+
			"got %d blocks of %d estimates of %d coordinates", maxPooled, c.Count, c.k, c.width)
	}
	if !(c.Radius >= 0) {
		return c, fmt.Errorf("kernel: Blocks.Radius: want a positive number, or 0 for none, got %v", c.Radius)
	}
	return c, nil
}

// of returns one of Gauze's learners, or that of the terms.
func (b Blocks) of(a *core.SubBudget) (core.Learner, error) {
	if (b.Learner == nil) == (b.OfTerms == 0) {
		return nil, fmt.Errorf("kernel: Blocks: want either Learner or OfTerms, got a %T and %d", b.Learner, b.OfTerms)
	}
	if b.OfTerms == 0 {
		return trusted(b.Learner)
	}
	return core.OwnLearner(a, b.OfTerms)
}

// estimates cuts the rows into secret blocks and returns what the learner makes of each, nil for a
// failed one.
func (b checked) estimates(d *core.Draw) ([][][]float64, error) {
	if b.OfTerms != 0 {
		d.OwnRuns()
	}
	t := d.Rows()
	of := drawBlocks(d.Source(), d.Relation(), t.Len(), b.Count, max(b.Count, b.Of))
	pooled := make([][][]float64, b.Count)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	err := parallel.Await(d.Context(), func() {
		// a goroutine for every block: if a learner ends its own, no other block notices
		parallel.Run(b.Count, func(i int) {
			slots <- struct{}{}
			defer func() { <-slots }()
			if d.Context().Err() == nil {
				pooled[i] = b.learn(i, t, of[i])
			}
		})
	})
	if err != nil {
		return nil, err // learners may still be writing to pooled
	}
	return pooled, d.Context().Err()
}

// drawBlocks cuts n rows into the given number of blocks and returns the first m, each in an order
// that is uniformly random and independent of all else: the place of rows in the table, which a
// database may choose by their values, shows in no block. Under add-or-remove-one a row takes a
// block, and then the place of any row that is in it, itself included, which goes to the end; under
// replace-one the next place falls on any row that has none yet. See Secret.
func drawBlocks(src noise.Source, r privacy.Relation, n, m, blocks int) [][]int32 {
	of := make([][]int32, m)
	if r != privacy.ReplaceOne {
		for i := range n {
			b := int(noise.Uniform(src, uint64(blocks)))
			if b >= m {
				continue
			}
			of[b] = append(of[b], int32(i))
			last := len(of[b]) - 1
			j := noise.Uniform(src, uint64(last+1))
			of[b][j], of[b][last] = of[b][last], of[b][j]
		}
		return of
	}
	order := make([]int32, n) // of a table, which has less than 2^31 rows
	for i := range order {
		order[i] = int32(i)
	}
	for i := range m * n / blocks {
		j := i + int(noise.Uniform(src, uint64(n-i)))
		order[i], order[j] = order[j], order[i]
	}
	for b := range of {
		of[b] = order[b*n/blocks : (b+1)*n/blocks]
	}
	return of
}

// gather returns the images of a block's rows, all of them copies.
func (b checked) gather(t *engine.Table, of []int32) [][]float64 {
	d := b.columns
	out, room := make([][]float64, 0, len(of)), make([]float64, len(of)*d)
	for _, i := range of {
		if z := room[:d:d]; b.image(t.Row(int(i)), z) {
			out, room = append(out, z), room[d:]
		}
	}
	return out
}

// image writes the image of x to z, and reports whether the row is to be used.
func (b Blocks) image(x, z []float64) bool {
	if b.Map.W == nil {
		copy(z, x)
	}
	for i, w := range b.Map.W {
		z[i] = 0
		for j, c := range b.Map.Center {
			from := j
			if b.Map.Columns != nil {
				from = b.Map.Columns[j]
			}
			z[i] += w[j] * (x[from] - c)
		}
	}
	return x[0] == x[0] && dense.AllFinite(z) && (b.Radius == 0 || dense.Norm2(z) <= b.Radius*b.Radius)
}

// seedOf returns the seed of block i, public as Seed is: the output number i+1 of SplitMix64
// started at Seed, unless it is shared.
func (b Blocks) seedOf(i int) uint64 {
	if b.Shared {
		return b.Seed
	}
	z := b.Seed + (uint64(i)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// learn returns block i's k finite estimates, copies, or nil.
func (b checked) learn(i int, t *engine.Table, of []int32) (estimates [][]float64) {
	defer func() {
		if recover() != nil {
			estimates = nil
		}
	}()
	got, err := b.learner.Learn(b.gather(t, of), b.seedOf(i))
	if err != nil || len(got) != b.k {
		return nil
	}
	for _, e := range got {
		own := slices.Clone(e)
		if len(own) != b.width || !dense.AllFinite(own) {
			return nil
		}
		estimates = append(estimates, own)
	}
	return estimates
}

// trusted returns a copy of a learner that is a struct of plain numbers defined below the module's
// folder learner, and an error for any other, since learners receive raw rows.
func trusted(l core.Learner) (core.Learner, error) {
	module := strings.TrimSuffix(reflect.TypeFor[engine.Local]().PkgPath(), "/kernel/internal/engine")
	folder := path.Join(module, "learner")
	return query.CopyOf(l, folder, func(any, bool) error {
		return fmt.Errorf("kernel: Blocks.Learner: want a struct of numbers of a package below %s, by value, got a %T", folder, l)
	})
}
