package estimatetest

import (
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/model"
)

// A Generator draws mixtures: those of internal/madeup.
type Generator interface {
	From(rng *rand.Rand) (*model.Mixture, error)
}

// Truth draws a mixture.
func Truth(tb testing.TB, rng *rand.Rand, from Generator) *model.Mixture {
	tb.Helper()
	m, err := from.From(rng)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Draw returns n rows of m.
func Draw(tb testing.TB, m *model.Mixture, n int, rng *rand.Rand) [][]float64 {
	tb.Helper()
	s, err := model.NewSampler(m)
	if err != nil {
		tb.Fatal(err)
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, m.Dim())
		s.Row(rows[i], rng)
	}
	return rows
}

// TV returns a Monte-Carlo estimate of the total variation between a and b, and its standard error.
func TV(tb testing.TB, a, b *model.Mixture, rows int, rng *rand.Rand) (tv, sd float64) {
	tb.Helper()
	c, err := model.Compare(tb.Context(), a, b, rows, rng)
	if err != nil {
		tb.Fatal(err)
	}
	return float64(c.TV), float64(c.TVStdErr)
}
