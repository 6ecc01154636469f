package sampling

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gauze-dp/gauze/experiments/engine"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/model"
)

// manyHeld rows judge the models of large tables, which differ by little.
const manyHeld = 200_000

// most and part are numbers of rows of large tables, by what a fit that asks all of them takes.
const most, part = 10_000_000, 3_000_000

// drawnAt are families of large tables, with their rows; others are left out: what takes minutes at
// so many rows, and what is about few.
var drawnAt = map[string]int{
	"plain/spheres": part, "plain/ellipsoids": part, "single/few": part, "weights/twentieths": part, "weights/fiftieth": part, "pancakes/two": part, "pancakes/three": part,
	"nested/three": part, "nested/two": part, "close/ring": part, "close/row": part, "thin/few": part, "crossing/oblique": part, "crossing/right-angle": most,
	"tails/three": part, "tails/five": part,
}

// An overlap is a mixture whose components overlap.
type overlap struct {
	madeup.Moderate
	rows   int
	sorted bool // by component, as a table put together from several has it
}

// overlaps are one Gaussian and mixtures in units of the columns' own; those of twenty components
// are more than are allowed unless rows carry them.
var overlaps = []overlap{
	{madeup.Moderate{Columns: 10, Components: 1, Kappa: 10, Unit: 30}, most, false},
	{madeup.Moderate{Columns: 2, Components: 5, Separation: 2, Kappa: 5, LeastWeight: .05, Unit: 30}, most, false},
	{madeup.Moderate{Columns: 4, Components: 5, Separation: 2, Kappa: 5, LeastWeight: .05, Unit: 30}, part, false},
	{madeup.Moderate{Columns: 4, Components: 5, Separation: 1.5, Kappa: 10, LeastWeight: .05, Unit: 30}, part, true},
	{madeup.Moderate{Columns: 4, Components: 20, Separation: 3, Kappa: 5, LeastWeight: .02, Unit: 30}, part, false},
}

func (v overlap) name() string {
	sorted := ""
	if v.sorted {
		sorted = ", sorted"
	}
	return fmt.Sprintf("overlap/d%d, k = %d, %.2g sd%s", v.Columns, v.Components, v.Separation, sorted)
}

// draw draws rows of the mixture of a seed.
func (v overlap) draw(seed, stream uint64, n int) (rows *mat.Dense, truth *model.Mixture, err error) {
	if truth, err = v.From(rand.New(rand.NewPCG(seed, 0))); err != nil {
		return nil, nil, err
	}
	sampler, err := model.NewSampler(truth)
	if err != nil {
		return nil, nil, err
	}
	row, next := make([]float64, v.Columns), make([]int, truth.K())
	if v.sorted { // the same draws say where the rows of each begin
		rng := rand.New(rand.NewPCG(seed, stream))
		for range n {
			for i := sampler.Row(row, rng) + 1; i < len(next); i++ {
				next[i]++
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, stream))
	rows = mat.NewDense(n, v.Columns, nil)
	for i := range n {
		from := sampler.Row(row, rng)
		if v.sorted {
			i = next[from]
			next[from]++
		}
		rows.SetRow(i, row)
	}
	return rows, truth, nil
}

// A large table is one of a family, or an overlap.
type drawn struct {
	rows, held *mat.Dense
	truth      *model.Mixture // of all rows; nil: none
	components int
}

func (c cell) large(seed uint64, n int) (out drawn, err error) {
	if c.overlap.Columns > 0 {
		if out.held, _, err = c.overlap.draw(seed, 2, manyHeld); err != nil {
			return out, err
		}
		out.rows, out.truth, err = c.overlap.draw(seed, 1, n)
		return out, err
	}
	t := c.Draw(seed, n)
	if out.rows, out.held = t.Rows, c.Again(seed, manyHeld).Rows; t.Stray == nil {
		out.truth = t.Truth
	}
	return out, nil
}

func largeLines(o engine.Options) (out []*line, note string) {
	for _, f := range madeup.Families() {
		if n := drawnAt[f.Sort+"/"+f.Twin]; f.Use == madeup.UseSeveral && n > 0 {
			out = append(out, cell{Family: f}.largeLine(o, f.Name(), n))
		}
	}
	for _, v := range overlaps {
		out = append(out, cell{overlap: v}.largeLine(o, v.name(), v.rows))
	}
	return out, ""
}

func (c cell) largeLine(o engine.Options, name string, n int) *line {
	return &line{Cell: c, Name: name, By: open, Rows: []int{n}, Params: params{name, false, o.Relation, o.Budget},
		Make: func(ctx context.Context, n int, seed uint64) (engine.Outcome, error) {
			return c.largePair(ctx, o, n, engine.SeedOf(name, seed))
		}}
}

// Names of values of large tables, beside those of pairs.
const (
	gainNoise   = "gain_se"
	lostWith    = "nats_lost_with" // of the truth's, per held row
	lostWithout = "nats_lost_without"
	lostPlain   = "nats_lost_plainly" // what maximum likelihood loses by drawing so many rows
	tvWith      = "tv_with"
	tvWithout   = "tv_without"
	passesWith  = "passes_with"
	passes      = "passes_without"
	trueK       = "k"
)

// alone is held by a run that measures the processor's time of this process, and has the memory of
// the machine for its table.
var alone sync.Mutex

// processor is the user and system seconds of this process.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / float64(time.Second)
}

// largePair draws a large table and fits it with and without a sample.
func (c cell) largePair(ctx context.Context, o engine.Options, n int, seed uint64) (engine.Outcome, error) {
	alone.Lock()
	defer alone.Unlock()
	t, err := c.large(seed, n)
	if err != nil {
		return engine.Outcome{}, err
	}
	_, d := t.rows.Dims()
	table := protect(t.rows, o.Relation)
	t.rows = nil
	v := engine.Values{columns: float64(d)}
	out := engine.Outcome{Values: v}
	var models, bare [2]*model.Mixture
	for i, m := range methods() {
		before := processor()
		got, err := fit(ctx, m, table, o, n, d, t.components)
		if err != nil {
			return out, err
		}
		took := processor() - before
		out.Seconds += took
		v[[...]string{withTime, withoutTime}[i]], v[[...]string{passesWith, passes}[i]] = took, got.passes
		if models[i] = got.Mixture; got.Mixture == nil {
			out.Why = "no model"
			continue
		}
		bare[i] = got.components
		v[[...]string{withK, withoutK}[i]] = float64(bare[i].K())
	}
	if models[0] == nil || models[1] == nil {
		out.Success = models[1] == nil
		return out, nil
	}
	v[gain], v[gainNoise], err = nats(t.held, models[0], models[1])
	if out.Success = v[gain] >= 0; err != nil || t.truth == nil {
		return out, err
	}
	k := float64(t.truth.K())
	v[trueK], v[lostPlain] = k, (k*float64(d*(d+3))/2+k-1)/(2*float64(n))
	for i, m := range bare {
		if v[[...]string{lostWith, lostWithout}[i]], _, err = nats(t.held, t.truth, m); err != nil {
			return out, err
		}
		if v[[...]string{tvWith, tvWithout}[i]], err = madeup.TotalVariation(t.truth, m, heldRows); err != nil {
			return out, err
		}
	}
	v[ratio] = v[tvWith] / v[tvWithout]
	return out, nil
}

// likely is the probability that so many or fewer, or as far off the other way, of n coins fall
// one way.
func likely(ok, n int) float64 {
	sum := 0.0
	for i := range n + 1 {
		if i <= min(ok, n-ok) {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(i + 1))
			c, _ := math.Lgamma(float64(n - i + 1))
			sum += 2 * math.Exp(a-b-c-float64(n)*math.Ln2)
		}
	}
	return min(1, sum)
}
