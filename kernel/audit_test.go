package kernel_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/query"
)

// The audit claims (3, .01) for a short adaptive program and attacks it with the likelihood ratio
// of the whole transcript, which no attack beats. The ratio is exact up to the rounding of noise
// whose sd is above 10^9 grid units.
const claimedEpsilon, claimedDelta = 3, .01

var auditPlan = kernel.Plan{Method: "audit", Steps: []kernel.Step{
	{Name: "step", Query: "directions", Share: .75, Most: 6},
	{Name: "final", Query: "clipped moments", Share: 1, Most: 1},
}}

// auditProgram centres and scales each step by what the last one released, and spends on the final
// moments whatever is left.
func auditProgram(t *testing.T, s *kernel.Session) {
	a := s.SubBudget()
	f := query.Affine{Center: []float64{0}, W: [][]float64{{1}}}
	for range 6 {
		answer, err := a.Sum("step", query.Directions{Map: f, Lift: 1}, s.Mu()*math.Sqrt(.75/6)*(1-1e-12))
		if err != nil {
			t.Fatal(err)
		}
		g := answer.Values
		f.Center[0] += math.Max(-1, math.Min(1, g[1]/math.Max(g[0], 1))) / f.W[0][0]
		f.W[0][0] *= math.Sqrt(math.Max(.5, math.Min(2, g[0]/math.Max(g[2], 1))))
	}
	q := query.ClippedMoments{Form: query.FullForm, Lift: 1, Components: []query.Component{{Map: f, Radius: 2}}}
	if _, err := a.Sum("final", q, a.LeftMu()); err != nil {
		t.Fatal(err)
	}
}

// lossOf returns ln(P(transcript on own rows) / P(the same on other rows)) and sum |difference of
// sums|^2 / sigma^2.
func lossOf(tr kerneltest.Transcript, relation privacy.Relation, other *engine.Table, noiseFactor float64) (ratio, path float64) {
	for k := range tr.Queries {
		q := tr.Queries[k].(query.Sum)
		sums := engine.PlainSum(engine.Local{Workers: 1}, other, q)
		for i, theirs := range sums {
			sigma := q.Sensitivity(relation) / tr.Mus[k] * q.Weight(i)
			y := tr.Answers[k][i] / q.Unit()
			own, other := (y-float64(tr.Sums[k][i]))/sigma/noiseFactor, (y-float64(theirs))/sigma/noiseFactor
			ratio += (other - own) * (other + own) / 2
			path += math.Pow(float64(theirs-tr.Sums[k][i])/sigma, 2)
		}
	}
	return ratio, path
}

func rawTable(values []float64) *engine.Table {
	t := engine.NewTable(1)
	for _, v := range values {
		t.Append([]float64{v})
	}
	return t
}

// attack runs the program on x and on y and counts how often the ratio of x to y exceeds epsilon;
// far is the largest pathwise loss.
func attack(t *testing.T, relation privacy.Relation, x, y []float64, runs int, noiseFactor float64) (onX, onY int, far float64) {
	tables := [2][]float64{x, y}
	seed := stattest.Seed(t)
	mu := privacy.MuOf(claimedEpsilon, claimedDelta)
	// the same total as the claim buys; opening thousands of sessions by (epsilon, delta) is slow
	rho := mu * mu / 2
	for side, own := range tables {
		table, other := kerneltest.Table(columnOf(own), 1, relation), rawTable(tables[1-side])
		for run := range runs {
			var tr kerneltest.Transcript
			s := kerneltest.Open(t, table, auditPlan, kernel.Terms{Relation: relation, Engine: engine.Local{Workers: 1},
				Budget: privacy.Budget{Rho: rho}},
				kerneltest.Options{Seed: seed + uint64(2*run+side), NoiseFactor: noiseFactor, Record: &tr})
			auditProgram(t, s)
			ratio, path := lossOf(tr, relation, other, noiseFactor)
			far = math.Max(far, path/(s.Mu()*s.Mu()))
			switch {
			case side == 0 && ratio > claimedEpsilon:
				onX++
			case side == 1 && -ratio > claimedEpsilon:
				onY++
			}
		}
	}
	return onX, onY, far
}

func columnOf(values []float64) (rows [][]float64) {
	for _, v := range values {
		rows = append(rows, []float64{v})
	}
	return rows
}

// TestAudit: the attack certifies, by Clopper-Pearson bounds, no more than the claim, half the
// noise is caught, and on every path the loss is at most mu^2, all of it under add-or-remove-one.
// Under replace-one the pairs below lose less, because no fixed pair is orthogonal in every step.
//
// False-alarm rate: 2e-9 for each of the three right mechanisms. The wrong one is caught with
// probability above 1 - 1e-3.
func TestAudit(t *testing.T) {
	t.Parallel()
	runs := 4000
	if os.Getenv("GAUZE_LONG") != "" {
		runs = 100_000
	}
	zeros := make([]float64, 20)
	with := func(v float64) []float64 { return append(slices.Clone(zeros), v) }
	for _, c := range []struct {
		name        string
		relation    privacy.Relation
		x, y        []float64
		noiseFactor float64
		path        float64 // at least this part of mu^2 is lost on some path
		caught      bool
		runs        int
	}{
		{"add-remove", privacy.AddRemoveOne, with(1e6), zeros, 1, .999, false, runs / 2},
		{"add-remove, half the noise", privacy.AddRemoveOne, with(1e6), zeros, .5, .999, true, 2 * runs},
		{"replace", privacy.ReplaceOne, with(1e6), with(-1e6), 1, 0, false, runs / 4},
		{"replace far", privacy.ReplaceOne, with(0), with(1e300), 1, .3, false, runs / 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			onX, onY, far := attack(t, c.relation, c.x, c.y, c.runs, c.noiseFactor)
			if far > 1+1e-9 || far < c.path {
				t.Errorf("the pathwise loss is up to %v of mu^2", far)
			}
			low, _ := stattest.ProportionBounds(t, onX, c.runs, 2*stattest.FalseAlarm)
			_, high := stattest.ProportionBounds(t, onY, c.runs, 2*stattest.FalseAlarm)
			epsilon := math.Log(math.Max(0, low-claimedDelta) / high)
			t.Logf("ratio beyond epsilon: %d of %d on x, %d on y: epsilon >= %.3f; pathwise loss <= %.9f mu^2", onX, c.runs, onY, epsilon, far)
			if (epsilon > claimedEpsilon) != c.caught {
				t.Errorf("certified epsilon %.3f, claimed %v", epsilon, claimedEpsilon)
			}
		})
	}
}
