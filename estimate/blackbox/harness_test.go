package blackbox

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/estimate/learners"
	"github.com/gauze-dp/gauze/internal/madeup"
	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/literal/ppe"
	"github.com/gauze-dp/gauze/model"
)

// everyLearner can run the learners of papers too, as the front door's does.
var everyLearner = New(ppe.Learners()...)

var (
	relations = []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne}
	shapes    = []estimate.CovarianceType{estimate.Full, estimate.Diagonal, estimate.Spherical}
)

// fresh is noise from the operating system.
var fresh = kerneltest.Options{Fresh: true}

const (
	delta = 1e-6 // of every budget in these tests
	alarm = 1e-6 // the false-alarm rate of every claim about a rate of success
)

func newRand(t testing.TB) *rand.Rand {
	seed := stattest.Seed(t)
	return rand.New(rand.NewPCG(seed, seed>>32))
}

// apartTruth is a random mixture, of condition numbers 3, whose components are at least sep apart,
// the nearest about so.
func apartTruth(t testing.TB, rng *rand.Rand, k, d int, sep float64) *model.Mixture {
	for {
		m := estimatetest.Truth(t, rng, madeup.Moderate{Columns: d, Components: k, Separation: sep * .8, Kappa: 3, LeastWeight: .6 / float64(k)})
		least := math.Inf(1)
		for i := range k {
			for j := range i {
				d, _ := madeup.Distances(m.Components[i], m.Components[j])
				least = min(least, d)
			}
		}
		if k == 1 || least > sep && least < 1.3*sep {
			return m
		}
	}
}

// problem is that of k components in d columns.
func problem(rel privacy.Relation, k, d, n int, eps float64) estimate.Problem {
	p := estimate.Problem{Columns: d, Relation: rel, Components: k, MaxComponents: 10, Budget: privacy.Budget{Epsilon: eps, Delta: delta},
		Mu: privacy.MuOf(eps, delta)}
	if rel == privacy.ReplaceOne {
		p.Rows = n
	}
	return p
}

// refusal is what the plan of p must end in.
func refusal(t testing.TB, p estimate.Problem) *estimate.Refusal {
	t.Helper()
	var r *estimate.Refusal
	if _, err := everyLearner.Plan(p); !errors.As(err, &r) {
		t.Fatalf("%+v: got %v, want a refusal", p, err)
	}
	return r
}

// open is a session for c, with so many workers, and the problem.
func open(t testing.TB, c estimatetest.Case, workers int) (*kernel.Session, estimate.Problem) {
	t.Helper()
	p := c.Problem()
	plan, err := everyLearner.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Open(t, kerneltest.Table(c.Rows, c.Columns, p.Relation), plan,
		kernel.Terms{Relation: p.Relation, Budget: p.Budget, Engine: kernel.LocalEngine{Workers: workers}, Own: learners.Own(c.Own)}, c.Noise), p
}

// fitted is the outcome of c with so many workers.
func fitted(t testing.TB, c estimatetest.Case, workers int) estimate.Outcome {
	t.Helper()
	s, p := open(t, c, workers)
	out, err := everyLearner.Fit(context.Background(), s, p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// variation is the total variation of a fit from the truth; a refusal and no release count as 1.
func variation(t testing.TB, truth *model.Mixture, f estimatetest.Fit, rng *rand.Rand) float64 {
	t.Helper()
	if f.Model == nil {
		return 1
	}
	tv, _ := estimatetest.TV(t, truth, f.Model, 20000, rng)
	return tv
}

// oracle is the total variation of maximum likelihood, found by steps of EM that start at the
// truth.
func oracle(t testing.TB, truth *model.Mixture, rows [][]float64, steps int, rng *rand.Rand) float64 {
	t.Helper()
	best, err := madeup.EM(rows, truth, steps)
	if err != nil {
		t.Fatal(err)
	}
	tv, _ := estimatetest.TV(t, truth, best, 20000, rng)
	return tv
}

// nearEM is what a fit claims beside EM without privacy.
func nearEM(tv, oracle float64) bool { return tv <= 3.5*oracle+.005 }

// twoGroups is n rows of two groups, twelve sds apart, on either side of zero.
func twoGroups(rng *rand.Rand, n, d int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64()
		}
		rows[i][0] += 12*float64(i%2) - 6
	}
	return rows
}
