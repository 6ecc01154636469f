package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/query"
)

var tables = map[[2]int]*Table{}

// benchTable holds n rows of d independent Gaussian columns; made once.
func benchTable(n, d int) *Table {
	if t := tables[[2]int{n, d}]; t != nil {
		return t
	}
	rng := rand.New(rand.NewPCG(1, 2))
	t := NewTable(d)
	row := make([]float64, d)
	for range n {
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		t.Append(row)
	}
	tables[[2]int{n, d}] = t
	return t
}

// plainCovariance is the yardstick: the sum and the second moment of all rows in float64, the most
// natural loop.
func plainCovariance(t *Table, center []float64, workers int) [][]float64 {
	d := t.Columns()
	pieces := (t.Len() + PieceRows - 1) / PieceRows
	parts := make([][][]float64, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		m := make([][]float64, d)
		for i := range m {
			m[i] = make([]float64, d)
		}
		parts[w] = m
		wg.Go(func() {
			diff := make([]float64, d)
			read := t.Pieces()
			for i := int(next.Add(1) - 1); i < pieces; i = int(next.Add(1) - 1) {
				for piece := read(i); len(piece) >= d; piece = piece[d:] {
					for j, c := range center {
						diff[j] = piece[j] - c
					}
					for j, a := range diff {
						out := m[j]
						for k := j; k < len(diff); k++ {
							out[k] += a * diff[k]
						}
					}
				}
			}
		})
	}
	wg.Wait()
	for _, m := range parts[1:] {
		for i := range m {
			for k := range m[i] {
				parts[0][i][k] += m[i][k]
			}
		}
	}
	return parts[0]
}

// lower is a lower triangular frame, as a Cholesky whitener is.
func lower(d int, shift float64) query.Affine {
	a := query.Affine{Center: make([]float64, d), W: make([][]float64, d)}
	for i := range d {
		a.Center[i] = shift
		a.W[i] = make([]float64, d)
		for j := range i {
			a.W[i][j] = 0.1 / float64(d)
		}
		a.W[i][i] = 1
	}
	return a
}

func benchQueries(d int) map[string]query.Sum {
	radius := 2 * math.Sqrt(float64(d))
	moments := func(shifts ...float64) query.Sum {
		q := query.ClippedMoments{Form: query.FullForm, Lift: 0.7}
		for _, s := range shifts {
			q.Components = append(q.Components, query.Component{Map: lower(d, s), Radius: radius})
		}
		return q
	}
	zeros := make([]float64, d)
	return map[string]query.Sum{
		"columns":      query.Counts{Edges: query.Each(zeros), As: query.Balance},
		"distances":    query.Counts{Center: zeros, Edges: query.Each(slices.Repeat([]float64{.7}, d)), As: query.Balance, SkipZero: true},
		"directions":   query.Directions{Map: lower(d, 0.1), Lift: 1},
		"moments-1":    moments(0.1),
		"moments-5":    moments(0, 5, -5, 10, -10),
		"moments-soft": moments(0, .1, -.1, .2, -.2),
	}
}

// BenchmarkScan reports, per table and number of workers, the median time per row of each query and
// its ratio to the plain pass; the rounds alternate, so that a busy machine slows all of them
// alike.
func BenchmarkScan(b *testing.B) {
	names := []string{"columns", "distances", "directions", "moments-1", "moments-5", "moments-soft"}
	for _, size := range [][2]int{{1_000_000, 10}, {300_000, 20}, {60_000, 50}} {
		n, d := size[0], size[1]
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/workers=%d", d, workers), func(b *testing.B) {
				t := benchTable(n, d)
				center := lower(d, 0.1).Center
				queries := benchQueries(d)
				times := map[string][]float64{}
				clock := func(name string, scan func()) {
					start := time.Now()
					scan()
					times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/float64(n))
				}
				for b.Loop() {
					clock("plain", func() { plainCovariance(t, center, workers) })
					for _, name := range names {
						clock(name, func() { Sum(Local{Workers: workers}, t, queries[name]) })
					}
				}
				median := func(name string) float64 {
					slices.Sort(times[name])
					return times[name][len(times[name])/2]
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median("plain"), "plain-ns/row")
				for _, name := range names {
					b.ReportMetric(median(name), name+"-ns/row")
					b.ReportMetric(median(name)/median("plain"), name+"-ratio")
				}
			})
		}
	}
}
