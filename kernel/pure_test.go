package kernel_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/stattest"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/internal/engine"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/pure"
	"github.com/gauze-dp/gauze/kernel/query"
)

// purePlan has every kind of measurement that is pure.
var purePlan = kernel.Plan{Method: "pure", Steps: []kernel.Step{
	{Name: "pairs", Query: "pair octaves", Share: .2, Most: 1, Pure: true},
	{Name: "count", Query: "count", Share: .5, Most: 3, Pure: true},
	{Name: "bins", Query: "histogram", Share: .2, Most: 1, Pure: true},
	{Name: "choice", Query: "select: max box count", Share: .5, Most: 9, Pure: true},
	{Name: "boxes", Query: "stability histogram", Share: .5, Most: 9, Pure: true},
	{Name: "moments", Query: "clipped moments", Share: .6, Most: 1, Pure: true},
}}

func pureTerms(r privacy.Relation, epsilon float64) kernel.Terms {
	return kernel.Terms{Relation: r, Engine: engine.Local{Workers: 1}, Budget: privacy.Budget{Epsilon: epsilon}}
}

// pureProgram spends all of the budget, and cuts its bins where the first answer says.
func pureProgram(t *testing.T, s *kernel.Session) {
	a := s.SubBudget()
	epsilon := a.Left()
	q := query.Pairs{Queries: []query.PairSum{query.PairOctaves{Columns: 1, Low: -2, High: 2}}, Buckets: []int{4}}
	answer, err := pure.LaplacePairs(a, "pairs", q, .2*epsilon)
	if err != nil {
		t.Fatal(err)
	}
	edge := math.Max(-1, math.Min(1, answer.Values[0]/100))
	if _, err := pure.Laplace(a, "bins", query.Counts{Edges: [][]float64{{edge, edge + .5}}}, .2*epsilon); err != nil {
		t.Fatal(err)
	}
	moments := query.ClippedMoments{Form: query.SphericalForm, Components: []query.Component{{Map: line(), Radius: 2}}}
	if _, err := pure.Laplace(a, "moments", moments, a.Left()); err != nil {
		t.Fatal(err)
	}
	if s.Loss() != (privacy.Loss{Epsilon: epsilon}) || a.Left() != 0 {
		t.Fatalf("spent %+v of %v, left %v", s.Loss(), epsilon, a.Left())
	}
}

// TestPureAudit: on every path the likelihood ratio of the whole transcript between neighbours is
// within epsilon, given the draws of the pairs, which are the same for both; for a row that comes
// or goes it reaches .9 of it, and twice that where the noise has half the scale: so much is
// caught. The ratio is exact but for float64: the noise of a step is P(j) ~ exp(-|j|/b).
func TestPureAudit(t *testing.T) {
	t.Parallel()
	const epsilon = 1.5
	zeros := make([]float64, 9)
	with := func(v ...float64) []float64 { return append(slices.Clone(zeros), v...) }
	seed := stattest.Seed(t)
	for _, c := range []struct {
		relation privacy.Relation
		x, y     []float64
		near     float64 // the part of epsilon that is lost on some path at least
	}{
		{privacy.AddRemoveOne, with(2), zeros, .9}, {privacy.AddRemoveOne, with(1e308), zeros, .35}, {privacy.AddRemoveOne, with(math.NaN()), zeros, 0},
		{privacy.ReplaceOne, with(.7), with(math.NaN()), .3}, {privacy.ReplaceOne, with(2), with(-2), .45}, {privacy.ReplaceOne, with(0), with(math.MaxFloat64), .4},
		{privacy.ReplaceOne, with(math.Inf(1)), with(-1e-300), .2},
	} {
		for _, factor := range []float64{1, .5} {
			most := 0.0
			for run := range uint64(300) {
				var own, other kerneltest.Transcript
				open := func(rows []float64, replay, record *kerneltest.Transcript) *kernel.Session {
					s := kerneltest.Open(t, kerneltest.Table(columnOf(rows), 1, c.relation), purePlan, pureTerms(c.relation, epsilon),
						kerneltest.Options{Seed: seed + run, NoiseFactor: factor, Replay: replay, Record: record})
					pureProgram(t, s)
					return s
				}
				s := open(c.x, nil, &own)
				open(c.y, &own, &other)
				ratio := 0.0
				for k, m := range s.Measurements() {
					for i, y := range own.Answers[k] {
						unit := own.Queries[k].(interface{ Unit() float64 }).Unit()
						z, b := y/unit, m.Noise/unit*factor
						ratio += (math.Abs(z-float64(other.Sums[k][i])) - math.Abs(z-float64(own.Sums[k][i]))) / b
					}
				}
				most = math.Max(most, math.Abs(ratio))
			}
			if most > epsilon/factor*(1+1e-6) || most < c.near*epsilon/factor {
				t.Errorf("%v, %v for %v, noise x %v: the ratio is up to %v, epsilon is %v", c.relation, c.x[9:], c.y[9:], factor, most, epsilon)
			}
			t.Logf("%v, %v for %v, noise x %v: %.3f of epsilon", c.relation, c.x[9:], c.y[9:], factor, most/epsilon)
		}
	}
}

// TestPureRefusals: a plan with a step that is not pure is refused before there is a session, and a
// measurement whose loss is not pure, or that is more than what is left, is refused and charged
// nothing, whatever its step says.
func TestPureRefusals(t *testing.T) {
	table := kerneltest.Table(columnOf([]float64{1, 2, 3}), 1, privacy.ReplaceOne)
	for name, alter := range map[string]func(*kernel.Step){
		"not pure":    func(s *kernel.Step) { s.Pure = false },
		"a threshold": func(s *kernel.Step) { s.Slack = 1 },
	} {
		plan := purePlan
		plan.Steps = slices.Clone(plan.Steps)
		alter(&plan.Steps[4])
		_, err := kernel.Open(context.Background(), table, plan, pureTerms(privacy.ReplaceOne, 1))
		var fault *privacy.FieldError
		if !errors.As(err, &fault) || fault.Field != "delta" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := kernel.Calibrate(plan, privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}); err != nil {
			t.Errorf("%s: with a delta: %v", name, err)
		}
	}
	s := kerneltest.Open(t, table, purePlan, pureTerms(privacy.ReplaceOne, 1), kerneltest.Options{})
	a := s.SubBudget()
	keys := query.BoxKeys{Grids: []query.Grid{{Map: line(), Side: []float64{1}, Offset: []float64{0}}}}
	score := selections()["boxes"]
	_, gaussian := a.Sum("count", query.Count{}, .1)
	_, _, threshold := kernel.StabilityHistogram(a, "boxes", keys, .1)
	_, _, cut := pure.TruncatedHistogram(a, "boxes", keys, .1)
	_, _, locally := pure.SelectLocal(a, "choice", score, pure.Local{Eta: 2, Test: .5}, .1)
	_, share := pure.Laplace(a, "count", query.Count{}, .51)
	_, left := pure.Laplace(a.Take(.01), "count", query.Count{}, .0101)
	for name, err := range map[string]error{"Gaussian noise": gaussian, "a threshold": threshold, "cut noise": cut, "a cut choice": locally, "more than its share": share,
		"more than is left": left} {
		if err == nil || s.Loss() != (privacy.Loss{}) || len(s.Measurements()) != 0 {
			t.Errorf("%s: %v, spent %+v", name, err, s.Loss())
		}
	}
	if !strings.Contains(gaussian.Error(), "pure losses alone") || !errors.Is(left, kernel.ErrExhausted) {
		t.Errorf("%v; %v", gaussian, left)
	}
	for range 3 { // and each of these costs its epsilon
		if _, err := pure.Select(a, "choice", score, .0625); err != nil {
			t.Fatal(err)
		}
		if _, err := pure.AboveThreshold(a, "choice", score, []int64{0}, .0625); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pure.Laplace(a, "count", query.Count{}, .5); err != nil || s.Loss() != (privacy.Loss{Epsilon: .875}) {
		t.Errorf("spent %+v, want .875: %v", s.Loss(), err)
	}
}
