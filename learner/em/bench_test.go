package em

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkBlocks: one block of the sizes that the reduction makes; 430 of the first are a table of
// 40,000 rows.
func BenchmarkBlocks(b *testing.B) {
	for _, c := range []struct {
		name    string
		k, d, n int
	}{{"k2d1n80", 2, 1, 80}, {"k2d2n93", 2, 2, 93}, {"k3d2n200", 3, 2, 200}, {"k2d5n170", 2, 5, 170}, {"k3d5n330", 3, 5, 330},
		{"k5d2n425", 5, 2, 425}, {"k2d10n300", 2, 10, 300}, {"k5d10n800", 5, 10, 800}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var tables [][][]float64
			for range 20 {
				tables = append(tables, drawn(rng, random(rng, c.k, c.d, 6, 3, 2), c.n))
			}
			i := 0
			for b.Loop() {
				if _, err := (Learner{}).LearnMixture(tables[i%len(tables)], c.k, 1); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
