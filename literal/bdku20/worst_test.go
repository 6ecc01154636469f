package bdku20

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
)

var shapes = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}

// kinds are the facts that lead the fit along its different ways.
func kinds() map[string]estimate.Facts {
	return map[string]estimate.Facts{"both unknown": bounds(20, .1, 10), "origin": bounds(0, .01, 30), "identity": bounds(10, 1, 1),
		"loose": bounds(1e9, 1e-12, 1e12), "wider than float64": bounds(1e60, 1e-100, 1e100)}
}

// TestHardTables: whatever the rows, a fit ends in a sound model or in a reason, within its budget.
// (The short test tries a quarter.)
func TestHardTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, facts := range kinds() {
		for i, table := range estimatetest.Hard() {
			for j, rel := range relations {
				for _, n := range []int{0, 3, 1000} {
					if !estimatetest.Long() && rng.IntN(4) > 0 {
						continue
					}
					d := 1 + (i+j)%4
					c := estimatetest.Case{Rows: table.Rows(rng, n, d), Columns: d, Relation: rel, Mu: 2, Covariance: shapes[(i+j)%3], Facts: facts,
						Noise: kerneltest.Options{Seed: rng.Uint64()}}
					t.Run(fmt.Sprintf("%s, %s, %v, n = %d", name, table.Name, rel, n), func(t *testing.T) {
						estimatetest.RunChecked(t, New(Practical()), c)
						if n > 3 {
							estimatetest.RunChecked(t, New(Printed(3)), c)
						}
					})
				}
			}
		}
	}
}

// TestReplay: the questions and prices of a fit are functions of its answers: on a neighbouring
// table the same answers lead to the same questions, and no path loses more than mu^2. (Of pairs,
// whose draws are fresh, the kernel's tests show the loss.)
func TestReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, facts := range kinds() {
		for _, rel := range relations {
			for _, v := range []float64{1e308, math.NaN(), 0, 40} {
				const d, n = 3, 2500
				rows := standard(rng, n, d)
				row := []float64{v, v, v}
				other := append(slices.Clone(rows[1:]), row)
				if rel == privacy.AddRemoveOne {
					other = append(slices.Clone(rows), row)
				}
				c := estimatetest.Case{Rows: rows, Columns: d, Relation: rel, Mu: 1.5, Facts: facts, Noise: kerneltest.Options{Seed: rng.Uint64()}}
				if facts.MeanWithin > 0 && facts.Eigenvalues[0] < facts.Eigenvalues[1] {
					replayPairs(t, name, c, other)
					continue
				}
				f, loss := estimatetest.Neighbours(t, New(Practical()), c, other)
				if f.Session == nil {
					t.Fatalf("%s: refused: %v", name, f.Refused)
				}
				if limit := math.Pow(f.Session.Mu(), 2); loss.Path > limit*(1+1e-9) {
					t.Errorf("%s %v %v: a path loses mu^2 = %v of %v", name, rel, v, loss.Path, limit)
				}
			}
		}
	}
}

func replayPairs(t *testing.T, name string, c estimatetest.Case, other [][]float64) {
	var own, again kerneltest.Transcript
	c.Noise.Record = &own
	f := estimatetest.Run(t, New(Practical()), c)
	if f.Session == nil {
		t.Fatalf("%s: refused: %v", name, f.Refused)
	}
	c.Rows, c.Noise = other, kerneltest.Options{Replay: &own, Record: &again}
	f2 := estimatetest.Run(t, New(Practical()), c)
	if (f.Model == nil) != (f2.Model == nil) || !estimatetest.SameQuestions(own, again) {
		t.Errorf("%s %v: the same released values led elsewhere", name, c.Relation)
	}
}

// Facts that the rows contradict are found out from released values, and said. Noise and sampling
// alone do so with a probability below 1e-4; here both have fixed seeds.
func TestContradictions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const d, n = 4, 20000
	rows := standard(rng, n, d)
	far := standard(rng, n, d)
	for _, x := range far {
		x[0] += 30
	}
	for _, rel := range relations {
		for name, c := range map[string]struct {
			rows  [][]float64
			facts estimate.Facts
			bad   bool
		}{
			"right":                {rows, bounds(3, .5, 1), false},
			"right and known":      {rows, bounds(0, .5, 1), false},
			"far and right":        {far, bounds(30, .5, 1), false},
			"wider":                {rows, bounds(3, .1, .5), true},
			"wider, about 0":       {rows, bounds(0, .1, .5), true},
			"farther out":          {far, bounds(20, .5, 2), true},
			"not about the origin": {far, bounds(0, .5, 2), true},
		} {
			f := estimatetest.RunChecked(t, New(Practical()), estimatetest.Case{Rows: c.rows, Columns: d, Relation: rel, Mu: 1, Facts: c.facts})
			if f.Refused != nil || (f.NoRelease != nil) != c.bad {
				t.Errorf("%v, %s: refused %v, no release %v", rel, name, f.Refused, f.NoRelease)
			}
		}
	}
}
