//go:build linux

package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gauze-dp/gauze/kernel/internal/rowkernels"
	"github.com/gauze-dp/gauze/kernel/query"
)

// plainNatural adds up the upper triangle of the second moment, the natural loop.
func plainNatural(rows, center []float64) {
	d := len(center)
	second, diff := make([][]float64, d), make([]float64, d)
	for i := range second {
		second[i] = make([]float64, d)
	}
	for ; len(rows) >= d; rows = rows[d:] {
		for j, c := range center {
			diff[j] = rows[j] - c
		}
		for j, a := range diff {
			out := second[j]
			for k := j; k < len(diff); k++ {
				out[k] += a * diff[k]
			}
		}
	}
}

// plainTiles does the same in panels and tiles, without map and rounding and all in Go, six sums at
// a time, which is what fits the registers: the yardstick.
func plainTiles(rows, center []float64) {
	d := len(center)
	x, sums := make([]rowkernels.Column, d+3), make([][6]float64, d*d)
	for len(rows) >= d {
		n := rowkernels.Load(x[:d], rows, center)
		rows = rows[n*d:]
		t := 0
		for i := 0; i < d; i += 3 {
			for k := i; k < d; k += 2 {
				products(&sums[t], &x[i], &x[i+1], &x[i+2], &x[k], &x[k+1])
				t++
			}
		}
	}
}

// products adds the sums over the panel of au, av, bu, bv, cu and cv.
func products(s *[6]float64, a, b, c, u, v *rowkernels.Column) {
	var s0, s1, s2, s3, s4, s5 float64
	_, _, _, _, _ = a[0], b[0], c[0], u[0], v[0] // checks for nil leave the loop
	for r := range rowkernels.Rows {
		x, y := u[r], v[r]
		p := a[r]
		s0 += p * x
		s1 += p * y
		p = b[r]
		s2 += p * x
		s3 += p * y
		p = c[r]
		s4 += p * x
		s5 += p * y
	}
	s[0], s[1], s[2], s[3], s[4], s[5] = s[0]+s0, s[1]+s1, s[2]+s2, s[3]+s3, s[4]+s4, s[5]+s5
}

// fetch reads every value once: what memory, or the cache that rows fit into, takes for them.
func fetch(rows []float64) (sum float64) {
	var s0, s1, s2, s3 float64
	for ; len(rows) >= 4; rows = rows[4:] {
		s0, s1, s2, s3 = s0+rows[0], s1+rows[1], s2+rows[2], s3+rows[3]
	}
	return s0 + s1 + s2 + s3
}

// processorTime is how long this thread has run, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}

var fetched float64 // so that the compiler keeps what fetch reads

// BenchmarkScans reports, per number of columns, the median processor time per row of what a fit of
// one Gaussian asks and its ratio to the plain pass in tiles, round by round: the rounds alternate,
// so that a busy machine slows all of them alike. Ten and fifty columns are more rows than caches
// hold.
func BenchmarkScans(b *testing.B) {
	names := []string{"fetch", "natural", "columns", "distances", "tails", "directions", "directions-dense", "moments", "moments-dense"}
	for _, size := range [][2]int{{600 * 1008, 10}, {120 * 1008, 50}, {1008, 200}} {
		n, d := size[0], size[1]
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			rows := make([]float64, n*d)
			for i := range rows {
				rows[i] = rng.NormFloat64()
			}
			full := dense(rng, d, d, .1/float64(d))
			upper := query.Affine{Center: full.Center}
			for i, w := range full.W {
				w[i] = 1
				upper.W = append(upper.W, append(make([]float64, i), w[i:]...))
			}
			moments := func(f query.Affine) query.Sum {
				return query.ClippedMoments{Form: query.FullForm, Lift: .7, Components: []query.Component{{Map: f, Radius: 2 * math.Sqrt(float64(d))}}}
			}
			zeros := make([]float64, d)
			queries := map[string]query.Sum{
				"columns":   query.Counts{Edges: query.Each(zeros), As: query.Balance},
				"distances": query.Counts{Center: zeros, Edges: query.Each(slices.Repeat([]float64{.7}, d)), As: query.Balance, SkipZero: true},
				"tails":     query.Counts{Map: upper, As: query.Above, Edges: [][]float64{{float64(d)}}}, "directions": query.Directions{Map: upper, Lift: 1},
				"directions-dense": query.Directions{Map: full, Lift: 1}, "moments": moments(upper), "moments-dense": moments(full),
			}
			runtime.LockOSThread()
			times, ratios := map[string][]float64{}, map[string][]float64{}
			for b.Loop() {
				clock := func(name string, scan func()) {
					start := processorTime(b)
					scan()
					times[name] = append(times[name], float64(processorTime(b)-start)/float64(n))
				}
				clock("tiles", func() { plainTiles(rows, full.Center) })
				clock("natural", func() { plainNatural(rows, full.Center) })
				clock("fetch", func() { fetched += fetch(rows) })
				for _, name := range names[2:] {
					m, sum := queries[name].Compile(d), make([]int64, queries[name].Size())
					clock(name, func() {
						for piece := range slices.Chunk(rows, 1008*d) { // as the local engine reads
							m.Add(sum, piece)
						}
					})
				}
				last := len(times["tiles"]) - 1
				for _, name := range names {
					ratios[name] = append(ratios[name], times[name][last]/times["tiles"][last])
				}
			}
			middle := func(v []float64) float64 {
				slices.Sort(v)
				return v[len(v)/2]
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(times["tiles"]), "tiles-ns/row")
			for _, name := range names {
				b.ReportMetric(middle(times[name]), name+"-ns/row")
				b.ReportMetric(middle(ratios[name]), name+"-ratio")
			}
		})
	}
}
