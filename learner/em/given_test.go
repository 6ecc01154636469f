package em_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/learner"
	"github.com/gauze-dp/gauze/learner/em"
)

// TestLikelihood: without a prior, the mixtures are at least as likely as what EM makes of the
// truth, in 95 of 100 tables: at most 14 of 140 fail, which a rate of .05 exceeds with probability
// .004; the rate seen is below .01.
func TestLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	failed, runs := 0, 0
	for _, c := range em.Lessons() {
		for range 20 {
			truth := em.Random(rng, c[0], c[1], 4+3*rng.Float64(), 5, 3)
			rows := em.Drawn(rng, truth, c[2])
			l := em.Learner{Prior: -1}
			got, err := l.LearnMixture(rows, c[0], 1)
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			runs++
			want := em.LogLikelihood(rows, truth)
			if reference, err := em.Polish(l, rows, truth); err == nil {
				want = max(want, em.LogLikelihood(rows, reference))
			}
			if em.LogLikelihood(rows, got) < want-.05/float64(c[2]) {
				failed++
			}
		}
	}
	t.Logf("%d of %d tables have a likelier mixture near the truth", failed, runs)
	if failed > runs/10 {
		t.Errorf("%d of %d tables have a likelier mixture near the truth", failed, runs)
	}
}

// TestLogLikelihood against the sum of densities, written out for one and two columns.
func TestLogLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	truth := em.Random(rng, 2, 2, 3, 4, 3)
	truth[0].Root = [][]float64{{1, 2}, {0, 1}} // any root will do
	rows, want := em.Drawn(rng, truth, 30), 0.0
	for _, r := range rows {
		p := 0.0
		for _, c := range truth {
			a, b, e, f := c.Root[0][0], c.Root[0][1], c.Root[1][0], c.Root[1][1]
			det, x, y := a*f-b*e, r[0]-c.Mean[0], r[1]-c.Mean[1]
			u, v := (f*x-b*y)/det, (a*y-e*x)/det
			p += c.Weight / (2 * math.Pi * math.Abs(det)) * math.Exp(-(u*u+v*v)/2)
		}
		want += math.Log(p) / 30
	}
	if got := em.LogLikelihood(rows, truth); math.Abs(got-want) > 1e-9 {
		t.Errorf("got %v, want %v", got, want)
	}
	truth[1].Root[1] = []float64{0, 0}
	if got := em.LogLikelihood(rows, truth); !math.IsNaN(got) {
		t.Errorf("a singular component: got %v", got)
	}
}

// TestPolish: from the truth EM comes to rest where a search that finds the same optimum does; from
// what is no mixture, nowhere.
func TestPolish(t *testing.T) {
	rng := rand.New(rand.NewPCG(stattest.Seed(t), 1))
	truth := em.Random(rng, 2, 3, 9, 3, 2)
	rows := em.Drawn(rng, truth, 300)
	a, err := em.Polish(em.Learner{}, rows, truth)
	if err != nil {
		t.Fatal(err)
	}
	b, err := em.Learner{}.LearnMixture(rows, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v := em.Apart(a, b); !(v < 1e-2) {
		t.Errorf("polished truth and learnt mixture are %v apart", v)
	}
	for _, start := range [][]learner.Component{nil, {{}}, {truth[0], {Weight: .5, Mean: []float64{1, 2, 3}}},
		{truth[0], {Weight: math.NaN(), Mean: truth[1].Mean, Root: truth[1].Root}}, {{Weight: 1, Mean: truth[0].Mean, Root: [][]float64{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}}}} {
		if got, err := em.Polish(em.Learner{}, rows, start); err == nil {
			t.Errorf("from %v: got %v", start, got)
		}
	}
}
