package univariate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/kernel/privacy"
)

// BenchmarkFit is a whole fit of a million rows, and BenchmarkSort what sorting them takes: a fit
// should cost at most 4 of these.
func BenchmarkFit(b *testing.B) {
	for _, family := range families {
		rng := rand.New(rand.NewPCG(1, 8))
		parts := family.draw(rng)
		c := trial{rows: table(b, rng, parts, 1e6), eps: 1, relation: privacy.ReplaceOne, components: len(parts)}
		b.Run(family.name, func(b *testing.B) {
			for b.Loop() {
				if f := c.fit(b); f.Model == nil {
					b.Fatal(f.NoRelease)
				}
			}
		})
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 8))
	rows := table(b, rng, families[1].draw(rng), 1e6)
	column := make([]float64, len(rows))
	for b.Loop() {
		for i, r := range rows {
			column[i] = r[0]
		}
		slices.Sort(column)
	}
}
