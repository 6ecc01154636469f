package engine

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/query"
	"github.com/gauze-dp/gauze/kernel/query/papers"
)

// BenchmarkColumn reports what the queries of one column of 10^6 rows take of the time that
// slices.Sort takes for it, on one core: the sorted copy, the gaps from it and in two leaves, and a
// histogram of 500 bins by scan and from the copy. The rounds alternate, so that a busy machine
// slows all of them alike.
func BenchmarkColumn(b *testing.B) {
	const n = 1_000_000
	t, e := benchTable(n, 1), Local{Workers: 1}
	gaps := query.SpacingMasses{LogWindow: query.LogWindow(n)}
	parts := gaps
	parts.Partition = query.Partition{Regions: []query.Region{
		{Conditions: []query.Condition{{Map: query.Affine{Center: []float64{1}, W: [][]float64{{1}}}, Radius: 1}}}, {}}}
	edges := make([]float64, 500)
	for i := range edges {
		edges[i] = float64(i-250) / 100
	}
	bins := query.Counts{Edges: [][]float64{edges}}
	masses := func(q query.SpacingQuery) func() {
		return func() {
			p, column := q.Of()
			EachSorted(e, t, p, column, func(leaf int, sorted []float64) { q.Masses(leaf, sorted) })
		}
	}
	names := []string{"sort", "copy", "gaps", "gaps-parts", "gap-buckets", "bins-scan", "bins"}
	runs := []func(){
		func() {
			var own []float64
			for i, piece := 0, t.Pieces(); len(own) < n; i++ {
				own = append(own, piece(i)...)
			}
			slices.Sort(own)
		},
		func() {
			fresh := NewTable(1)
			for i := range n {
				fresh.Append(t.Row(i))
			}
			start := time.Now()
			EachSorted(e, fresh, query.Partition{}, 0, func(int, []float64) {})
			took = time.Since(start)
		},
		masses(gaps),
		masses(parts),
		masses(papers.SpacingBuckets{Rows: n}),
		func() { e.Scan(t, query.Summed{Of: bins}) },
		func() { Sum(e, t, bins) },
	}
	EachSorted(e, t, query.Partition{}, 0, func(int, []float64) {})
	ratios := make([][]float64, len(runs))
	for b.Loop() {
		var times []float64
		for _, run := range runs {
			took = 0
			start := time.Now()
			run()
			if took == 0 {
				took = time.Since(start)
			}
			times = append(times, took.Seconds())
		}
		for i, v := range times {
			ratios[i] = append(ratios[i], v/times[0])
		}
		b.ReportMetric(times[0]*1e3, "sort-ms")
	}
	for i, name := range names {
		slices.Sort(ratios[i])
		b.ReportMetric(math.Round(1e4*ratios[i][len(ratios[i])/2])/1e4, name)
	}
}

// took is what a round measured by itself.
var took time.Duration
