package rings_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/internal/panel"
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

// plainTiles does the same in panels and tiles, as a gram does, without map and rounding: the
// yardstick.
func plainTiles(rows, center []float64) {
	d := len(center)
	g := panel.NewGram(d)
	sum := make([]int64, d*(d+1)/2)
	for len(rows) >= d {
		n := panel.Load(g.H[:d], rows, center)
		rows = rows[n*d:]
		for r := n; r < panel.Rows; r++ {
			g.Zero(r)
		}
		g.Add(sum)
	}
}

// BenchmarkScans reports, per number of columns, the median time per row of what a fit of one
// Gaussian asks and its ratio to the plain pass in tiles, round by round: the rounds alternate, so
// that a busy machine slows all of them alike.
func BenchmarkScans(b *testing.B) {
	names := []string{"natural", "columns", "distances", "tails", "directions", "directions-dense", "moments", "moments-dense"}
	for _, size := range [][2]int{{8 * 1008, 10}, {2 * 1008, 50}, {1008, 200}} {
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
				return query.ClippedMoments{Form: query.FullForm, Lift: .7, Components: []query.Component{{Frame: f, Radius: 2 * math.Sqrt(float64(d))}}}
			}
			zeros := make([]float64, d)
			queries := map[string]query.Sum{
				"columns":   query.Counts{Edges: query.Each(zeros), As: query.Balance},
				"distances": query.Counts{Center: zeros, Edges: query.Each(slices.Repeat([]float64{.7}, d)), As: query.Balance, SkipZero: true},
				"tails":     query.Counts{Frame: upper, As: query.Above, Edges: [][]float64{{float64(d)}}}, "directions": query.Directions{Frame: upper, Lift: 1},
				"directions-dense": query.Directions{Frame: full, Lift: 1}, "moments": moments(upper), "moments-dense": moments(full),
			}
			times, ratios := map[string][]float64{}, map[string][]float64{}
			for b.Loop() {
				clock := func(name string, scan func()) {
					start := time.Now()
					scan()
					times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/float64(n))
				}
				clock("tiles", func() { plainTiles(rows, full.Center) })
				clock("natural", func() { plainNatural(rows, full.Center) })
				for _, name := range names[1:] {
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
