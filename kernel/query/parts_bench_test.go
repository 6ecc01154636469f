package query_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gauze-dp/gauze/kernel/query"
)

// benchParts returns rows of ten separated clusters and what is asked of them: one ClippedMoments,
// one with ten components, and Parts of ten leaves that are told apart in three projected
// coordinates, in all coordinates, and within a ball first.
func benchParts(n, d int) (rows []float64, queries map[string]query.Sum) {
	const k, low = 10, 3
	rng := rand.New(rand.NewPCG(1, 2))
	lower := func(out int, center []float64) query.Affine {
		a := dense(rng, len(center), out, .1/float64(d))
		a.Center = center
		for i, w := range a.W {
			w[i] = 1
			clear(w[i+1:])
		}
		return a
	}
	var centers [k][]float64
	for j := range centers {
		centers[j] = make([]float64, d)
		for i := range low {
			centers[j][i] = 8 * rng.NormFloat64()
		}
	}
	for range n {
		for _, m := range centers[rng.IntN(k)] {
			rows = append(rows, m+rng.NormFloat64())
		}
	}
	radius := 2 * math.Sqrt(float64(d))
	moments := func(c ...query.Component) query.Sum {
		return query.ClippedMoments{Form: query.FullForm, Lift: .7, Components: c}
	}
	project := query.Partition{Project: identity(d, 1)}
	project.Project.W = project.Project.W[:low]
	full := query.Partition{}
	var each []query.Sum
	var all []query.Component
	for _, c := range centers {
		project.Components = append(project.Components, query.Component{Map: lower(low, c[:low]), Radius: 8})
		full.Components = append(full.Components, query.Component{Map: lower(d, c), Radius: 8 * math.Sqrt(float64(d))})
		all = append(all, query.Component{Map: lower(d, c), Radius: radius})
		each = append(each, moments(all[len(all)-1]))
	}
	ball := query.Partition{Regions: []query.Region{{[]query.Condition{{Map: identity(d, 1), Radius: 1e3}}}}, Below: []query.Partition{project}}
	return rows, map[string]query.Sum{
		"single": each[0], "soft": moments(all...), "project": query.Parts{Partition: project, Queries: each}, "full": query.Parts{Partition: full, Queries: each}, "ball": query.Parts{Partition: ball, Queries: each},
	}
}

// BenchmarkParts reports the median time per row of each query and its ratio to one ClippedMoments
// of one component; the rounds alternate, so that a busy machine slows all of them alike.
func BenchmarkParts(b *testing.B) {
	names := []string{"single", "project", "ball", "full", "soft"}
	for _, size := range [][2]int{{200_000, 10}, {40_000, 50}} {
		n, d := size[0], size[1]
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			rows, queries := benchParts(n, d)
			times := map[string][]float64{}
			for b.Loop() {
				for _, name := range names {
					m, sum := queries[name].Compile(d), make([]int64, queries[name].Size())
					start := time.Now()
					for piece := range slices.Chunk(rows, 1024*d) { // as the local engine reads
						m.Add(sum, piece)
					}
					times[name] = append(times[name], float64(time.Since(start).Nanoseconds())/float64(n))
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, name := range names {
				slices.Sort(times[name])
				t, base := times[name], times[names[0]]
				b.ReportMetric(t[len(t)/2], name+"-ns/row")
				b.ReportMetric(t[len(t)/2]/base[len(base)/2], name+"-ratio")
			}
		})
	}
}
