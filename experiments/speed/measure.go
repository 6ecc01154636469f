package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"
)

// A cost is what one run took, in seconds.
type cost struct{ cpu, wall float64 }

// measure runs f after a garbage collection, so that nobody pays for the waste of the one before.
func measure(f func() error) (cost, error) {
	runtime.GC()
	cpu, wall := cpuSeconds(syscall.RUSAGE_SELF), time.Now()
	err := f()
	return cost{cpuSeconds(syscall.RUSAGE_SELF) - cpu, time.Since(wall).Seconds()}, err
}

func cpuSeconds(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// results are the costs per program measured, in the order of the rounds.
type results struct {
	costs map[string][]cost
	scans map[string]int
}

func (r *results) median(name string, of func(cost) float64) float64 {
	var v []float64
	for _, c := range r.costs[name] {
		v = append(v, of(c))
	}
	return median(v)
}

// ratio is the median over the rounds of a ratio of two programs in the same round.
func (r *results) ratio(a, b string, of func(cost) float64) float64 {
	var v []float64
	for i, c := range r.costs[a] {
		v = append(v, of(c)/of(r.costs[b][i]))
	}
	return median(v)
}

// fastest is the wall time of the fastest round: what a wall clock shows when others leave the
// machine alone.
func (r *results) fastest(name string) float64 {
	least := math.Inf(1)
	for _, c := range r.costs[name] {
		least = min(least, c.wall)
	}
	return least
}

// extremes are the CPU times of the cheapest round and of the dearest.
func (r *results) extremes(name string) (low, high float64) {
	low = math.Inf(1)
	for _, c := range r.costs[name] {
		low, high = min(low, c.cpu), max(high, c.cpu)
	}
	return low, high
}

func cpu(c cost) float64  { return c.cpu }
func wall(c cost) float64 { return c.wall }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

// fits are the fits that are measured.
var fits = []string{"gaussian", "mixture", "auto"}

// plainPasses is how many plain passes are timed as one, since one takes few ticks of the clock of
// CPU time.
const plainPasses = 10

// alternate measures everything in turn, round by round; with one core ("1 " before the name),
// unless the table is one of separated components, and with all.
func alternate(s settings, t *table, python string) (*results, error) {
	r := &results{costs: map[string][]cost{}, scans: map[string]int{}}
	all := runtime.GOMAXPROCS(0)
	numbers := []int{1, all}
	if s.separation != 0 {
		numbers = []int{all}
	}
	add := func(name string, f func() error) error {
		c, err := measure(f)
		r.costs[name] = append(r.costs[name], c)
		return err
	}
	for range s.rounds {
		for _, cores := range numbers {
			runtime.GOMAXPROCS(cores)
			prefix := ""
			if cores != all {
				prefix = "1 "
			}
			_ = add(prefix+"plain", func() error {
				for range plainPasses {
					plainCovariance(t, cores)
				}
				return nil
			})
			for _, what := range fits {
				if err := add(prefix+what, func() (err error) { r.scans[what], err = t.fit(s, what); return }); err != nil {
					return nil, err
				}
			}
		}
		if python != "" {
			c, err := runPython(python, s, t)
			if err != nil {
				return nil, err
			}
			r.costs["sklearn"] = append(r.costs["sklearn"], c)
		}
	}
	for _, name := range []string{"plain", "1 plain"} {
		for i, c := range r.costs[name] {
			r.costs[name][i] = cost{c.cpu / plainPasses, c.wall / plainPasses}
		}
	}
	return r, nil
}

// randomFactor is a random matrix whose rows have length about 1: the square root of a covariance
// of correlated columns.
func randomFactor(rng *rand.Rand, d int) *mat.Dense {
	f := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range i {
			f.Set(i, j, .3*rng.NormFloat64())
		}
		f.Set(i, i, .7+.6*rng.Float64())
	}
	return f
}
