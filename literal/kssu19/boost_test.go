package kssu19

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/model"
)

// boosted is what raises a learner's success, in the third footnote of [AMN24]: of estimates from
// groups of rows of their own, the first that is within 2 alpha of two thirds of them; -1 if none
// is. It sees estimates alone, so it costs no privacy.
func boosted(estimates int, alpha float64, distance func(i, j int) float64) int {
	for i := range estimates {
		near := 0
		for j := range estimates {
			if distance(i, j) <= 2*alpha {
				near++
			}
		}
		if 3*near >= 2*estimates {
			return i
		}
	}
	return -1
}

// Where two thirds of the estimates are within alpha of the truth, one is chosen and it is within 3
// alpha, whatever the others are; so failures of probability p fall to that of more than a third of
// failures.
func TestBoostedIsNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const alpha = 1.0
	worst := 0.0
	for range 3000 {
		m := 3 * (1 + rng.IntN(6))
		points := make([][]float64, m)
		for i := range points {
			angle := 2 * math.Pi * rng.Float64()
			far := alpha * math.Sqrt(rng.Float64())
			if 3*i >= 2*m { // anywhere, and together
				angle, far = 1, alpha*(1+4*rng.Float64())
			}
			points[i] = []float64{far * math.Cos(angle), far * math.Sin(angle)}
		}
		rng.Shuffle(m, func(i, j int) { points[i], points[j] = points[j], points[i] })
		at := boosted(m, alpha, func(i, j int) float64 { return distance(points[i], points[j]) })
		if at < 0 {
			t.Fatalf("none of %v is chosen", points)
		}
		worst = math.Max(worst, distance(points[at], []float64{0, 0}))
	}
	if worst > 3*alpha || worst < 2*alpha {
		t.Errorf("the farthest that was chosen is %v alpha off, at most 3 is proved", worst)
	}
}

// The warm-up learner near the edge of what it can do, epsilon 10 and 1200 rows, where it loses a
// component in some of the runs: of every nine groups one estimate is chosen, and it is near the
// truth. The seeds are fixed: nothing fails by chance.
func TestBoosted(t *testing.T) {
	const groups, alpha = 9, .5
	at := corners(2, 6, 60, 7)
	truth := sphericalTruth(t, at, 1)
	failed := 0
	for repeat := range uint64(3) {
		var models []*model.Mixture
		for g := range uint64(groups) {
			seed := 100*repeat + g
			c := trial{rows: blobs(seed, 1200, at, 1), d: 6, k: 2, eps: 10, relation: privacy.ReplaceOne, noise: kerneltest.Options{Seed: seed}}
			models = append(models, c.fit(t, NewWarmUp(Practical())).Model)
			if mean, _ := off(truth, models[g]); !(mean < alpha) {
				failed++
			}
		}
		best := boosted(groups, alpha, func(i, j int) float64 { return meansApart(t, models[i], models[j]) })
		if best < 0 {
			t.Errorf("group %d: nothing is chosen", repeat)
		} else if mean, _ := off(truth, models[best]); mean > 3*alpha {
			t.Errorf("group %d: what is chosen is %v off", repeat, mean)
		}
	}
	t.Logf("%d of %d single runs fail", failed, 3*groups)
	if failed == 0 {
		t.Error("no single run fails: there is nothing to raise")
	}
}

// meansApart is the largest distance of two components' means, matched; infinite if one model has
// another number of components, or there is none.
func meansApart(t *testing.T, a, b *model.Mixture) float64 {
	if a == nil || b == nil || len(a.Components) != len(b.Components) {
		return math.Inf(1)
	}
	partner, _, err := madeup.Match(a, b)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, j := range partner {
		worst = math.Max(worst, distance(a.Components[i].Mean, b.Components[j].Mean))
	}
	return worst
}
