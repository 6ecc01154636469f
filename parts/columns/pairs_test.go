package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

// TestPairsOfASample: of more rows than show the octaves plainly the pairs are those of a sample,
// of about as many rows as show them, and of others all; either way there are as many as is said,
// and as large a part of them is in an octave.
func TestPairsOfASample(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 10))
	const n = 600_000
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{rng.NormFloat64()}
	}
	below := math.Erf(.5) // of the pairs differ by less than 1, as |N(0, 2)| does
	for _, rel := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
		for _, c := range []struct{ rho, odds float64 }{{.5, 4}, {.5e-5, 2}, {.5e-6, 1}} {
			s := kerneltest.Open(t, kerneltest.Table(rows, 1, rel), kernel.Plan{Method: "pairs", Steps: []kernel.Step{PairUnitsStep.In("", 1)}},
				kernel.Terms{Relation: rel, Budget: privacy.Budget{Rho: c.rho}}, kerneltest.Options{Seed: 9})
			octaves, sigma, m, err := pairOctaves(s.SubBudget(), "near pairs", n, .99*s.Mu())
			if err != nil {
				t.Fatal(err)
			}
			odds := math.Floor(pairsOf(rel, n) / m)
			if rel == privacy.AddRemoveOne {
				c.odds = math.Ceil(c.odds / 2)
			}
			if odds != c.odds || m < leastPairs || odds > 1 && m*.99*s.Mu() < plentySDs*math.Sqrt2 {
				t.Errorf("%v, rho = %v: of one row in %v, %v pairs; want %v", rel, c.rho, odds, m, c.odds)
			}
			counts, slack := octaves[0], 6*math.Sqrt(m)+6*sigma*math.Sqrt(float64(len(octaves[0]))) // six sds
			if all := floats.Sum(counts); math.Abs(all-m) > slack {
				t.Errorf("%v, rho = %v: %v pairs, want %v", rel, c.rho, all, m)
			}
			if low := floats.Sum(counts[:1-lowOctave]); math.Abs(low-below*m) > slack {
				t.Errorf("%v, rho = %v: %v of %v pairs differ by less than 1, want %v", rel, c.rho, low, m, below*m)
			}
		}
	}
}
