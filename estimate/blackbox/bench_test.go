package blackbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gauze-dp/gauze/estimate/estimatetest"
)

// BenchmarkFit is a whole fit at epsilon 1, by one worker and by two, which should take 1/1.8 of
// the time.
func BenchmarkFit(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []cell{issue[3], issue[6]} {
		rng := rand.New(rand.NewPCG(1, 1))
		rows := estimatetest.Draw(b, apartTruth(b, rng, c.k, c.d, 6), c.n, rng)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("k=%d/d=%d/n=%d/workers=%d", c.k, c.d, c.n, workers), func(b *testing.B) {
				runtime.GOMAXPROCS(workers)
				for b.Loop() {
					b.StopTimer()
					s, p := open(b, estimatetest.Case{Rows: rows, Columns: c.d, Epsilon: c.eps, Delta: delta, Components: c.k}, workers)
					b.StartTimer()
					if out, err := New().Fit(context.Background(), s, p); err != nil || out.Model == nil {
						b.Fatal("no model:", out.NoRelease, err)
					}
				}
			})
		}
	}
}
