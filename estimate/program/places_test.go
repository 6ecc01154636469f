package program

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
)

// TestWindows: rows in one band of a ladder, or spread over several, are seen with where they lie,
// and noise alone is seen nowhere.
//
// False-alarm rate: 3e-5 for the noise (60 windows at five sds); the others hold at five
// sds.
func TestWindows(t *testing.T) {
	seed := stattest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	const sigma, clear = 20.0, 5.0
	noisy := func(add map[int]float64) *ladder {
		l := &ladders(3, 10, 8, bandStep, bandsOfColumn)[1]
		for b := range l.rows {
			l.rows[b] = sigma*rng.NormFloat64() + add[b]
		}
		return l
	}
	if found := noisy(nil).windows(sigma, clear); found != nil {
		t.Errorf("noise: %+v", found)
	}
	found := noisy(map[int]float64{6: 300}).windows(sigma, clear)
	if at := 10 + 8*math.Pow(bandStep, 6.5); len(found) != 1 || found[0].column != 3 || math.Abs(found[0].rows-300) > 6*found[0].sd || math.Abs(found[0].mean-at) > .5*at {
		t.Errorf("one band, about %v: %+v", 10+8*math.Pow(bandStep, 6.5), found)
	}
	found = noisy(map[int]float64{2: 400, 3: 400, 4: 400}).windows(sigma, clear)
	total := 0.0
	for _, w := range found {
		total += w.rows
	}
	if math.Abs(total-1200) > 300 || !(found[0].variance > 0) {
		t.Errorf("three bands: %+v", found)
	}
	if ladders(0, 0, 1e-200, bandStep, 4) != nil || ladders(0, 0, math.Inf(1), bandStep, 4) != nil {
		t.Error("a ladder that no square holds")
	}
}

// TestClear: noise makes a place in at most one of falseOf tables, and where bands that are beside
// each other are seen together in no fewer than a third of that.
//
// False-alarm rate: 1e-6 (5 sds of the expected number on either side).
func TestClear(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 2))
	const tables, columns = 20_000, 2
	clear, made := clearSDs(2*columns*bandsOfColumn), 0.0
	for range tables {
		for range 2 * columns {
			l := ladders(0, 0, 1, bandStep, bandsOfColumn)[0]
			for b := range l.rows[:farBands+1] { // beyond, more is clear
				l.rows[b] = rng.NormFloat64()
			}
			made += float64(len(l.windows(1, clear)))
		}
	}
	near := float64(farBands+1) / bandsOfColumn
	if most := tables / falseOf * near; made > most+5*math.Sqrt(most) || made < most/3-5*math.Sqrt(most/3) {
		t.Errorf("%v places in %d tables of noise, expected up to %v", made, tables, most)
	}
}
